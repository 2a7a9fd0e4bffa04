"""The examination by the exact solution, with players of which it is known what must come out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest

from boardenvs.agents import make_agent
from boardenvs.game.contract import Game
from boardenvs.game.position import Position, stack
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


FIRST = Liking(GAME.legal)
# It gives a win away wherever it can.
SPOILER = Liking(lambda s: GAME.legal(s) * (2 - Tablebase.load(GAME).preserving(s)))

SHEEP = {"sheep keeps", "sheep only", "sheep punishes"}


@pytest.fixture(autouse=True)
def few_positions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "POSITIONS", 5000)
    monkeypatch.setattr(exact, "MISTAKES", 200)


def test_perfect_play_is_found_perfect(monkeypatch: pytest.MonkeyPatch) -> None:
    metrics = exact.examine(GAME, make_agent("perfect"), 0)
    assert metrics.pop("sheep leaks") == 0
    assert set(metrics.values()) == {1.0}
    assert metrics.keys() == SHEEP | {"wolf keeps", "wolf only", "wolf punishes"}
    # Of a role that wins nothing, as the sheep under the described rules, there is nothing to say.
    won = exact.won_positions

    def won_by_wolf(game: Game, role: int) -> State:
        return take(won(game, role), slice(0 if role else None))

    monkeypatch.setattr(exact, "won_positions", won_by_wolf)
    assert exact.examine(GAME, FIRST, 0).keys() == metrics.keys() - SHEEP | {"sheep leaks"}


def test_a_spoiler_keeps_only_what_cannot_be_lost() -> None:
    metrics = exact.examine(GAME, SPOILER, 0)
    assert metrics["sheep only"] == metrics["wolf only"] == 0
    assert 0 < metrics["sheep keeps"] < 0.1
    assert metrics["sheep leaks"] > 0


def test_leaks_are_those_that_a_walk_over_all_lines_finds() -> None:
    table, leaks = Tablebase.load(GAME), set[tuple[int, int]]()

    @cache
    def lost(position: Position) -> bool:
        """Whether the wolf wins some line from here."""
        if position.terminated:
            return position.result()[0] == 100
        if position.to_move == 0:
            replies = [lost(position.step(action)) for action in position.legal_actions()]
            return any(replies)
        state = stack([position])
        (action,) = FIRST.like(state).argmax(axis=1).tolist()
        if table.lookup(state)[0] > 0 and not table.preserving(state)[0, action]:
            leaks.add((position.own, position.opp))
        return lost(position.step(action))

    assert lost(GAME.start())
    assert exact.examine(GAME, FIRST, 0)["sheep leaks"] == len(leaks)


def test_only_a_solved_game_is_examined() -> None:
    assert exact.examine(make("othello"), FIRST, 0) == {}
