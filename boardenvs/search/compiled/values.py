"""The value of a position to its side to move in alpha-beta search: at the end of the game, and
before it by a learnt evaluation or the game's heuristic.
"""

from __future__ import annotations

from boardenvs.kernel.loops import ONE, Word, evaluate, inline, margin_counts, number, turned
from boardenvs.search.compiled.memory import SearchMemory
from boardenvs.search.compiled.position import PackedPosition, final_margin
from boardenvs.search.compiled.tuples import keep_position, tuple_value

# The value of a decided game is this, plus the margin or less the plies until then.
WIN = 1_000_000
DECIDED = WIN // 2  # values beyond it are of games that are won or lost
INFINITE = 2_000_000


def final_value(words: tuple[Word, ...], to_move: Word, distance: int) -> int:
    """The end of a game, so many plies from the root."""
    margin = final_margin(words, to_move)
    if margin_counts():
        return value_of_margin(margin)
    if margin == 0:
        return 0
    return WIN - distance if margin > 0 else distance - WIN


def value_of_margin(margin: int) -> int:
    """The value of a score margin at the end, where it counts."""
    if margin == 0:
        return 0
    return WIN + margin if margin > 0 else margin - WIN


def margin_of(value: int) -> int:
    """The inverse of `value_of_margin`."""
    if value == 0:
        return 0
    return value - WIN if value > 0 else value + WIN


@inline
def static_value(words: tuple[Word, ...], to_move: Word, ply: Word, memory: SearchMemory) -> int:
    """To the side to move."""
    if memory.judged_by_tables == 1:
        return tuple_value(words, to_move, ply, memory.tables)
    mine, theirs = evaluate(*words, to_move, ply)
    return number(mine) - number(theirs)


@inline
def static_value_of(position: PackedPosition, memory: SearchMemory) -> int:
    """The same of a position as it is kept."""
    return static_value(position.words, position.to_move, position.ply, memory)


@inline
def judge_near(position: PackedPosition, memory: SearchMemory) -> None:
    """What is judged next are positions after moves of this one: that makes it cheap."""
    if memory.judged_by_tables == 1:
        words = turned(*position.words)
        keep_position(words, position.to_move ^ ONE, memory.tables)
