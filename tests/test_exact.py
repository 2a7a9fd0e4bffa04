"""The examination by the exact solution, with players of which it is known what must come out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from boardenvs.agents import make_agent
from boardenvs.game.game import Game
from boardenvs.game.state import Array, IntArray, State, take
from boardenvs.games import make
from boardenvs.tablebase import Tablebase

exact = pytest.importorskip("training.exact")

GAME = make("wolf_and_sheep")


@dataclass(frozen=True)
class Liking:
    """Plays the first of the actions that it likes most."""

    like: Callable[[State], Array]

    def act(self, game: Game, state: State, rng: np.random.Generator) -> IntArray:
        actions: IntArray = self.like(state).argmax(axis=1)
        return actions


# It gives a win away wherever it can.
SPOILER = Liking(lambda s: GAME.legal(s) * (2 - Tablebase.load(GAME).preserving(s)))


def test_shares_of_kept_wins_are_those_of_perfect_play_and_of_a_spoiler(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(exact, "POSITIONS", 5000)
    assert exact.examine(GAME, make_agent("perfect"), 0) == {"sheep keeps": 1, "wolf keeps": 1}
    spoilt = exact.examine(GAME, SPOILER, 0)
    assert 0 < spoilt["sheep keeps"] < 0.1  # where every move keeps the win
    won = exact.won_positions

    def won_by_wolf(game: Game, role: int) -> State:
        return take(won(game, role), slice(0 if role else None))

    monkeypatch.setattr(exact, "won_positions", won_by_wolf)
    assert exact.examine(GAME, SPOILER, 0).keys() == {"wolf keeps"}
    assert exact.examine(make("othello"), SPOILER, 0) == {}
