"""The examination by the exact solution, with players of which it is known what must come out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest

from boardenvs.agents import make_agent
from boardenvs.game.contract import Game, Position, stack
from boardenvs.game.state import IntArray, State
from boardenvs.games import make
from boardenvs.tablebase import Tablebase

exact = pytest.importorskip("training.exact")

RULES = ["classic", "described"]


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


@pytest.mark.parametrize("rules", RULES)
def test_perfect_play_is_found_perfect(rules: str) -> None:
    metrics = exact.examine(make("wolf_and_sheep", rules=rules), make_agent("perfect"), 0)
    leaks = "sheep leaks" if rules == "classic" else "wolf leaks"
    assert metrics.pop(leaks) == 0
    assert set(metrics.values()) == {1.0}
    shares = {"wolf keeps", "wolf only"}
    if rules == "classic":  # with described rules the wolf has won everywhere
        shares |= {"sheep keeps", "sheep only", "sheep punishes", "wolf punishes"}
    assert metrics.keys() == shares


@pytest.mark.parametrize("rules", RULES)
def test_a_spoiler_keeps_only_what_cannot_be_lost(rules: str) -> None:
    game = make("wolf_and_sheep", rules=rules)
    metrics = exact.examine(game, Spoiler(), 0)
    assert metrics.get("sheep only", 0) == 0
    if rules == "classic":
        assert metrics["wolf only"] == 0
        assert 0 < metrics["sheep keeps"] < 0.1
        assert metrics["sheep leaks"] > 0
    else:
        assert metrics["wolf keeps"] == 1  # nothing can be lost


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
