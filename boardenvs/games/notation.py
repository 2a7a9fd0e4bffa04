"""Moves as people and other programs write them, and as they are shown to them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from boardenvs.game.contract import Game
from boardenvs.game.errors import IllegalActionError
from boardenvs.game.look import Look
from boardenvs.game.notation import PASS
from boardenvs.game.position import Position
from boardenvs.utils.checks import cut

_SEPARATORS = re.compile(r"[\s\-x:>]+")
_SHOWN = 12  # legal moves in a message


def turned(square: int) -> int:
    """The square that has this one's name when rows are counted from the other end."""
    return square ^ 56


@dataclass(frozen=True)
class MoveNotation:
    """Writes and reads the moves of a game as people know them, and names the sides so.

    rule_sheet: as the game's rule sheet does, where people know it otherwise: in the Othello family
    the first move f5 is the sheet's f4, whose rows count from the bottom, and white is its red.
    """

    game: Game
    rule_sheet: bool = False

    @property
    def sides(self) -> tuple[str, str]:
        """The names of the sides, by role."""
        return self._look.sides or self.game.roles

    @property
    def _look(self) -> Look:
        return self.game.look.chosen(self.rule_sheet)

    def write(self, action: int, position: Position | None = None) -> str:
        """The action as it is shown."""
        return self._look.write(self.game.action_name(action, position), self.game.board.rows)

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
