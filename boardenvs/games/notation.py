"""Moves as people and other programs write them."""

from __future__ import annotations

from boardenvs.game.errors import IllegalActionError
from boardenvs.game.notation import PASS
from boardenvs.game.position import Position
from boardenvs.utils.checks import cut

_SHOWN = 12  # legal moves in a message


def legal_names(position: Position) -> dict[str, int]:
    """Return the legal actions by name; none where the game is over."""
    if position.is_over():
        return {}
    return {position.game.action_name(a, position): a for a in position.legal_actions()}


def read_turn(text: str, position: Position) -> tuple[int, ...]:
    """Return the legal actions that a text means: one, or all of a turn such as "d4xf6xd8".

    Capitals, spaces and what stands between two squares are free: "D3", "b1 b3" and "B1xB3" are
    read. IllegalActionError, with what is legal, where the text is no legal move, or several.
    """
    turns = [] if position.is_over() else position.game.notation.turns(text, position)
    if len(turns) == 1:
        return turns[0]
    wrong = f"may mean {len(turns)} moves" if turns else f"is no legal move: {_listed(position)}"
    raise IllegalActionError(f"{cut(text.strip())!r} {wrong}")


def parse_move(text: str, position: Position) -> int:
    """Return the legal action that a text means, of a longer turn the first; see `read_turn`."""
    return read_turn(text, position)[0]


def _listed(position: Position) -> str:
    names = [position.game.usual_name(a, position) for a in legal_names(position).values()]
    if not names:
        return "the game is over"
    if names == [PASS]:
        return f"there is no move but {PASS!r}"
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"legal are {', '.join(names[:_SHOWN])}{more}"
