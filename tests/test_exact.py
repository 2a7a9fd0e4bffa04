"""The examination by the exact solution, with players of which it is known what must come out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest

from boardenvs.agents import make_agent
from boardenvs.game.contract import Game, Position, stack
from boardenvs.game.state import IntArray, State, take
from boardenvs.games import make
from boardenvs.tablebase import Tablebase

exact = pytest.importorskip("training.exact")


@dataclass(frozen=True)
class First:
    """The first legal action, or the last one."""

    last: bool = False

    def act(self, game: Game, state: State, rng: np.random.Generator) -> IntArray:
        legal = game.legal(state)
        actions: IntArray = legal.argmax(axis=1)
        if self.last:
            actions = legal.shape[1] - 1 - legal[:, ::-1].argmax(axis=1)
        return actions


@dataclass(frozen=True)
class Spoiler:
    """Gives a win away wherever it can."""

    def act(self, game: Game, state: State, rng: np.random.Generator) -> IntArray:
        legal, keeps = game.legal(state), Tablebase.load(game).preserving(state)
        actions: IntArray = (legal + 2 * (legal & ~keeps)).argmax(axis=1)
        return actions


SHEEP = {"sheep keeps", "sheep only", "sheep punishes"}


def test_perfect_play_is_found_perfect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "POSITIONS", 5000)
    monkeypatch.setattr(exact, "MISTAKES", 200)
    game, perfect = make("wolf_and_sheep"), make_agent("perfect")
    metrics = exact.examine(game, perfect, 0)
    assert metrics.pop("sheep leaks") == 0
    assert set(metrics.values()) == {1.0}
    assert metrics.keys() == SHEEP | {"wolf keeps", "wolf only", "wolf punishes"}
    # Of a role that wins nothing, as the sheep under the described rules, there is nothing to say.
    won = exact.won_positions

    def won_by_wolf(game: Game, role: int) -> State:
        return take(won(game, role), slice(0 if role else None))

    monkeypatch.setattr(exact, "won_positions", won_by_wolf)
    assert exact.examine(game, perfect, 0).keys() == metrics.keys() - SHEEP | {"sheep leaks"}


def test_a_spoiler_keeps_only_what_cannot_be_lost() -> None:
    metrics = exact.examine(make("wolf_and_sheep"), Spoiler(), 0)
    assert metrics["sheep only"] == metrics["wolf only"] == 0
    assert 0 < metrics["sheep keeps"] < 0.1
    assert metrics["sheep leaks"] > 0


@pytest.mark.parametrize("last", [False, True])
def test_leaks_are_those_that_a_walk_over_all_lines_finds(last: bool) -> None:
    game = make("wolf_and_sheep")
    agent, table, rng = First(last), Tablebase.load(game), np.random.default_rng(0)
    leaks: set[tuple[int, int]] = set()

    @cache
    def lost(position: Position) -> bool:
        """Whether the wolf wins some line from here."""
        if position.terminated:
            return position.result()[0] == 100
        if position.to_move == 0:
            replies = [lost(position.step(a)) for a in position.legal_actions()]
            return any(replies)
        state = stack([position])
        (action,) = agent.act(game, state, rng).tolist()
        if table.lookup(state)[0] > 0 and not table.preserving(state)[0, action]:
            leaks.add((position.own, position.opp))
        return lost(position.step(action))

    assert lost(game.start()) == bool(leaks)
    assert exact.examine(game, agent, 0)["sheep leaks"] == len(leaks)


def test_only_a_solved_game_is_examined() -> None:
    assert exact.examine(make("othello"), First(), 0) == {}
