"""Moves as people and other programs write them, and as they are shown to them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from boardenvs.board.bitboard import square_name
from boardenvs.game.contract import Game, Position
from boardenvs.game.errors import IllegalActionError
from boardenvs.game.notation import PASS
from boardenvs.games.othello import Othello
from boardenvs.utils.checks import cut

_SEPARATORS = re.compile(r"[\s\-x:>]+")
_SHOWN = 12  # legal moves in a message


def turned(square: int) -> int:
    """The square that has this one's name when rows are counted from the other end."""
    return square ^ 56


@dataclass(frozen=True)
class MoveNotation:
    """Writes and reads the moves of a game.

    tournament: in the Othello family, rows counted from the top, as tournaments and most other
    programs do: where the game's own notation says f4, theirs says f5.
    """

    game: Game
    tournament: bool = False

    def __post_init__(self) -> None:
        if self.tournament and not isinstance(self.game, Othello):
            raise ValueError(
                f"{self.game.id} has no tournament coordinates: only games of the Othello family do"
            )

    def write(self, action: int, position: Position | None = None) -> str:
        """The action as `Game.action_name` writes it, or in tournament coordinates."""
        if self.tournament and action != self.game.noop:
            return square_name(turned(action))
        return self.game.action_name(action, position)

    def legal(self, position: Position) -> dict[str, int]:
        """The legal actions by name; none where the game is over."""
        if position.is_over():
            return {}
        return {self.write(action, position): action for action in position.legal_actions()}

    def parse(self, text: str, position: Position) -> int:
        """The legal action that a text means.

        Capitals, spaces and what stands between two squares are free: "D3", "b1 b3" and "B1xB3"
        are read. IllegalActionError, with what is legal, where the text is no legal move.
        """
        legal = self.legal(position)
        for name, action in legal.items():
            if _plain(name) == _plain(text):
                return action
        raise IllegalActionError(f"{cut(text.strip())!r} is no legal move: {_listed(legal)}")


def _plain(text: str) -> str:
    return _SEPARATORS.sub("", text.strip().lower())


def _listed(legal: dict[str, int]) -> str:
    if not legal:
        return "the game is over"
    if list(legal) == [PASS]:
        return f"there is no move but {PASS!r}"
    names = list(legal)
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"legal are {', '.join(names[:_SHOWN])}{more}"
