"""Moves as people and other programs write them."""

from __future__ import annotations

import re

from boardenvs.game.errors import IllegalActionError
from boardenvs.game.notation import PASS
from boardenvs.game.position import Position
from boardenvs.utils.checks import cut

_SEPARATORS = re.compile(r"[\s\-x:>=]+")
_SHOWN = 12  # legal moves in a message


def legal_names(position: Position) -> dict[str, int]:
    """Return the legal actions by name; none where the game is over."""
    if position.is_over():
        return {}
    return {position.game.action_name(a, position): a for a in position.legal_actions()}


def legal_spellings(position: Position) -> dict[str, int]:
    """Return the legal actions by name, and by the further names that are read."""
    game = position.game
    return {
        spelling: action
        for name, action in legal_names(position).items()
        for spelling in (name, *game.notation.spellings(game, action, position))
    }


def parse_move(text: str, position: Position) -> int:
    """Return the legal action that a text means.

    Capitals, spaces and what stands between two squares are free: "D3", "b1 b3" and "B1xB3" are
    read. IllegalActionError, with what is legal, where the text is no legal move.
    """
    legal = legal_names(position)
    for name, action in legal_spellings(position).items():
        if _plain(name) == _plain(text):
            return action
    for action in legal.values():
        other = position.game.other_name(action, position)
        if other and _unmarked(other) == _unmarked(text):
            return action
    raise IllegalActionError(f"{cut(text.strip())!r} is no legal move: {_listed(legal)}")


def _plain(text: str) -> str:
    return _SEPARATORS.sub("", text.strip().lower())


def _unmarked(text: str) -> str:
    """Return a name of a move in chess without signs of check, promotion and quality."""
    return re.sub(r"[+#=!?\s]", "", text).replace("0", "O")


def _listed(legal: dict[str, int]) -> str:
    if not legal:
        return "the game is over"
    if list(legal) == [PASS]:
        return f"there is no move but {PASS!r}"
    names = list(legal)
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"legal are {', '.join(names[:_SHOWN])}{more}"
