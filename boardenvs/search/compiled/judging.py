"""What a position that is not over seems to be worth, by a learnt evaluation or the heuristic."""

from __future__ import annotations

from boardenvs.kernel.loops import ONE, Word, evaluate, inline, number
from boardenvs.search.compiled.memory import SearchMemory
from boardenvs.search.compiled.position import Position
from boardenvs.search.compiled.tuples import keep_position, tuple_value


@inline
def static_value(own: Word, opp: Word, to_move: Word, ply: Word, memory: SearchMemory) -> int:
    """To the side to move."""
    if memory.judged_by_tables == 1:
        return tuple_value(own, opp, to_move, ply, memory.tables)
    mine, theirs = evaluate(own, opp, to_move, ply)
    return number(mine) - number(theirs)


@inline
def static_value_of(position: Position, memory: SearchMemory) -> int:
    """The same of a position as it is kept."""
    return static_value(position.own, position.opp, position.to_move, position.ply, memory)


@inline
def judge_near(position: Position, memory: SearchMemory) -> None:
    """What is judged next are positions after moves of this one: that makes it cheap."""
    if memory.judged_by_tables == 1:
        keep_position(position.opp, position.own, position.to_move ^ ONE, memory.tables)
