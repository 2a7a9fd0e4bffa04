"""How positions came about, as engines are told it."""

from __future__ import annotations

from collections.abc import Sequence

from boardenvs.engines.protocol import Ply, notation_of
from boardenvs.game.contract import Position

_KEPT = 1000  # games that go on side by side


class Lines:
    """The plies from the start of games, of which the latest are remembered: they go on."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, ...], tuple[Position, tuple[Ply, ...]]] = {}

    def to(self, position: Position, actions: Sequence[int]) -> tuple[Ply, ...] | None:
        """The plies to the position; None where these actions do not lead there from the start."""
        game, every = position.game, tuple(actions)
        at, plies, begun = game.start(), tuple[Ply, ...](), 0
        for end in range(len(every), 0, -1):
            known = self._known.get(every[:end])
            if known is not None and known[0].game == game:
                (at, plies), begun = known, end
                del self._known[every[:end]]
                break
        notation = notation_of(game)
        for action in every[begun:]:
            if not at.is_legal(action):
                return None
            plies += (Ply(at.to_move, action, notation.write(action, at)),)
            at = at.step(action)
        self._known[every] = at, plies
        if len(self._known) > _KEPT:
            del self._known[next(iter(self._known))]
        return plies if at == position else None
