"""How tournament Othello writes games: rows counted from the top, and no passes."""

from __future__ import annotations

from collections.abc import Sequence

from boardenvs.game.contract import Game
from boardenvs.records.batch import play, starts_of
from boardenvs.records.record import Record


def turned(square: int) -> int:
    """The square that has this one's name when rows are counted from the other end."""
    return square ^ 56


def from_moves(game: Game, moves: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """The actions of games that are given as squares of discs, without passes; rank 1 is at the
    bottom.

    The rules put the passes in. An illegal move and what follows it stay as they are.
    """
    if not moves:
        return []
    played = play(game, starts_of(game, [None] * len(moves)), moves, insert_passes=True)
    return [
        actions + tuple(given[len(given) - left :])
        for actions, given, left in zip(played.actions, moves, played.left.tolist(), strict=True)
    ]


def to_moves(record: Record) -> list[int]:
    """The squares of the discs placed; the inverse of `from_moves` up to a pass at the very end.

    ValueError where the game did not begin at the start, which these formats cannot say.
    """
    if record.start is not None:
        raise ValueError(
            "the game began at a position of its own, which only .jsonl can hold: "
            "save it as .jsonl or .jsonl.gz"
        )
    return [action for action in record.actions if action != record.game.noop]
