"""Search as plainly as it can be written, for comparison: every line of play, one at a time."""

from __future__ import annotations

from functools import cache

from boardenvs.game.game import Game
from boardenvs.game.position import Position

WIN = 1_000_000


def is_over(game: Game, position: Position) -> bool:
    """Whether the game ends here, by its rules or by its cap."""
    return position.terminated or position.is_truncated()


def final_worth(game: Game, position: Position, distance: int) -> int:
    """To the side to move: a million for a win, more by the points or less by its plies."""
    mine = position.result()[position.to_move]
    if mine == 50:
        return 0
    mine_ahead, theirs = game.kernels.points.one(*position.words, position.to_move)
    bonus = abs(mine_ahead - theirs) if game.margin_counts else -distance
    return WIN + bonus if mine == 100 else -WIN - bonus


@cache  # many lines come to the same positions
def worth(game: Game, position: Position, depth: int, distance: int = 0) -> int:
    """To the side to move, by the heuristic after `depth` plies."""
    if is_over(game, position):
        return final_worth(game, position, distance)
    if depth == 0:
        return settled(game, position)
    return max(worths(game, position, depth, distance).values())


def settled(game: Game, position: Position) -> int:
    """To the side to move, after all forcing moves; a win counts less than a proven one."""
    if is_over(game, position):
        return max(-99_999, min(final_worth(game, position, 0), 99_999))
    forcing = game.kernels.forcing.one(*position.words, position.to_move, *position.legal_bits)
    actions = position._replace(legal_bits=tuple(forcing)).legal_actions()
    found = []
    for after in map(position.step, actions):
        found.append(settled(game, after) * (1 if after.to_move == position.to_move else -1))
    if actions != position.legal_actions():
        mine, theirs = game.kernels.evaluate.one(*position.words, position.to_move, position.ply)
        found.append(mine - theirs)
    return max(found)


def worths(game: Game, position: Position, depth: int, distance: int = 0) -> dict[int, int]:
    """The same of each legal action."""
    found = {}
    for action in position.legal_actions():
        after = position.step(action)
        value = worth(game, after, depth - 1, distance + 1)
        found[action] = value if after.to_move == position.to_move else -value
    return found


@cache
def lead_with_best_play(game: Game, position: Position) -> int:
    """The points that the side to move will be ahead, both playing for as many as they can."""
    if position.terminated:
        mine, theirs = game.kernels.points.one(*position.words, position.to_move)
        return mine - theirs
    return max(leads(game, position).values())


def leads(game: Game, position: Position) -> dict[int, int]:
    """The same of each legal action."""
    return {a: -lead_with_best_play(game, position.step(a)) for a in position.legal_actions()}


def wins_within(game: Game, position: Position, plies: int) -> bool:
    """Whether the side to move can force its win within so many plies, its own included."""
    return plies > 0 and any(
        after.result()[position.to_move] == 100
        if is_over(game, after)
        else loses_within(game, after, plies - 1)
        for after in map(position.step, position.legal_actions())
    )


def loses_within(game: Game, position: Position, plies: int) -> bool:
    """Whether whatever the side to move does, it has lost after so many plies."""
    return plies > 0 and all(
        after.result()[position.to_move] == 0
        if is_over(game, after)
        else wins_within(game, after, plies - 1)
        for after in map(position.step, position.legal_actions())
    )
