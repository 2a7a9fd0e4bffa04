"""Search as plainly as it can be written, for comparison: every line of play, one at a time."""

from __future__ import annotations

from functools import cache

from boardenvs.game.contract import Game, Position
from boardenvs.games import Othello

WIN = 1_000_000


def is_over(game: Game, position: Position) -> bool:
    """Whether the game ends here, by its rules or by its cap."""
    return position.terminated or position.is_truncated()


def final_worth(game: Game, position: Position, distance: int) -> int:
    """To the side to move: a million for a win, more by the discs or less by the plies until it."""
    mine = position.result()[position.to_move]
    if mine == 50:
        return 0
    if isinstance(game, Othello):
        lead = position.own.bit_count() - position.opp.bit_count()
        return WIN + lead if mine == 100 else lead - WIN
    return WIN - distance if mine == 100 else distance - WIN


def worth(game: Game, position: Position, depth: int, distance: int = 0) -> int:
    """To the side to move, by the heuristic after `depth` plies."""
    if is_over(game, position):
        return final_worth(game, position, distance)
    if depth == 0:
        mine, theirs = game.kernels.evaluate.one(*position[:2], *position[3:5])
        return mine - theirs
    return max(worths(game, position, depth, distance).values())


def worth_by_memory(game: Game, position: Position, depth: int) -> int:
    """The same where many lines come to the same positions."""
    known: dict[tuple[int, int, int], int] = {}

    def value(here: Position, left: int) -> int:
        if left == 0 or is_over(game, here):
            return worth(game, here, 0, depth - left)
        key = (here.own, here.opp, left)
        if key not in known:
            known[key] = max(-value(here.step(a), left - 1) for a in here.legal_actions())
        return known[key]

    return value(position, depth)


def worths(game: Game, position: Position, depth: int, distance: int = 0) -> dict[int, int]:
    """The same of each legal action."""
    return {
        action: -worth(game, position.step(action), depth - 1, distance + 1)
        for action in position.legal_actions()
    }


@cache  # many lines come to the same positions
def lead_with_best_play(game: Game, position: Position) -> int:
    """The discs that the side to move will be ahead, both playing for as many as they can."""
    if position.terminated:
        return position.own.bit_count() - position.opp.bit_count()
    return max(
        -lead_with_best_play(game, position.step(action)) for action in position.legal_actions()
    )


def wins_within(game: Game, position: Position, plies: int) -> bool:
    """Whether the side to move can force its win within so many plies, its own included."""
    if plies < 1:
        return False
    for action in position.legal_actions():
        after = position.step(action)
        if is_over(game, after):
            if after.result()[position.to_move] == 100:
                return True
        elif loses_within(game, after, plies - 1):
            return True
    return False


def loses_within(game: Game, position: Position, plies: int) -> bool:
    """Whether whatever the side to move does, it has lost after so many plies."""
    if plies < 1:
        return False
    for action in position.legal_actions():
        after = position.step(action)
        if is_over(game, after):
            if after.result()[position.to_move] != 0:
                return False
        elif not wins_within(game, after, plies - 1):
            return False
    return True
