"""Agents that cannot play lose the games that they cannot play on, and no others."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from arena_agents import lowest
from registered import FewestDiscs

from boardenvs.agents import as_agent
from boardenvs.agents.history import History
from boardenvs.agents.simple import RandomAgent
from boardenvs.arena import play_match
from boardenvs.arena.executor import FIRST, NOBODY, SECOND
from boardenvs.arena.match import _Part as Part
from boardenvs.arena.player import FORFEIT, Player, PlayerStats, time_text
from boardenvs.arena.recorder import match_of, record_match
from boardenvs.game.openings import Openings, distinct_openings
from boardenvs.game.state import IntArray, State
from boardenvs.games import Game, make

GAME = make("othello")


Change = Callable[[State, IntArray], Any]


def changed(change: Change) -> Any:
    """Plays at random, and hands state and actions to `change`."""

    def act(game: Game, state: State, rng: np.random.Generator) -> Any:
        return change(state, game.sample(state, rng))

    return act


def ask(change: Change, state: State) -> tuple[IntArray, PlayerStats]:
    player, rng = Player(as_agent(changed(change))), np.random.default_rng(0)
    actions = player.act(GAME, state, rng)
    return actions, player.stats


def raising(error: BaseException) -> Any:
    raise error


WHOLE_BATCH = {
    "an exception": lambda state, actions: raising(RuntimeError("no idea")),
    "sys.exit": lambda state, actions: sys.exit("enough"),
    "a wrong shape": lambda state, actions: np.zeros((len(actions), 2), np.int64),
    "floats": lambda state, actions: actions.astype(float),
    "a ragged list": lambda state, actions: [[1], [2, 3]],
}


@pytest.mark.parametrize("change", WHOLE_BATCH.values(), ids=WHOLE_BATCH)
def test_what_fails_on_every_board_forfeits_all_games(change: Change) -> None:
    agents = changed(change), RandomAgent()
    for guilty in (0, 1):
        result = play_match(GAME, agents[guilty], agents[1 - guilty], 5)
        assert (result.wins, result.losses) == (10 * guilty, 10 - 10 * guilty)
        assert (result.forfeits == 1 + guilty).all()
        assert [stats.forfeits for stats in result.stats] == [10 - 10 * guilty, 10 * guilty]
        assert [bool(stats.message) for stats in result.stats] == [guilty == 0, guilty == 1]
        (fault,) = result.faults
        who = ("first", "second")[guilty]
        assert fault.startswith(f"the {who} player forfeited 10 of 10 games")
        assert str(result).endswith(f"\n{fault}")
        assert "forfeited 10 of 10 games" in result._repr_html_()


@pytest.mark.parametrize("number", [-1, 3, FORFEIT])
def test_an_illegal_action_forfeits_its_own_row_alone(number: int) -> None:
    def change(state: State, actions: IntArray) -> IntArray:
        actions[2] = number  # square 3 (d1) is no first move
        return actions

    actions, stats = ask(change, GAME.init(5))
    assert (actions == FORFEIT).tolist() == [False, False, True, False, False]
    assert GAME.is_legal(GAME.init(5), actions).sum() == 4
    assert (stats.forfeits, stats.repeats) == (1, 0)
    message = str(stats.message)
    assert message.startswith(f"action {max(number, FORFEIT + 1)}")
    assert message.endswith(" is not legal in '8/8/8/3wb3/3bw3/8/8/8 black 0'")


def test_a_failing_board_does_not_cost_the_boards_beside_it() -> None:
    state = GAME.init(6)
    state.ply[4] = 9  # what the agent cannot handle
    batches: list[int] = []

    def change(state: State, actions: IntArray) -> IntArray:
        batches.append(len(actions))
        return raising(ValueError("ply 9")) if (state.ply == 9).any() else actions

    actions, stats = ask(change, state)
    assert np.flatnonzero(actions == FORFEIT).tolist() == [4]
    assert batches == [6, 1, 1, 1, 1, 1, 1]
    assert (stats.forfeits, stats.repeats) == (1, 1)


def test_a_board_that_is_asked_about_alone_has_its_own_history() -> None:
    class Replaying:
        def act(self, game: Game, state: State, rng: object, history: History) -> IntArray:
            (plies,) = map(history.plies, range(len(state.ply)))
            return np.array([{20: 19, 43: 42}[plies[0]]])

    games = History(np.array([[20], [43]], np.int32))
    state, rng = GAME.step(GAME.init(2), games.actions[:, 0]), np.random.default_rng(0)
    player = Player(Replaying())  # type: ignore[arg-type]
    answers = player.act(GAME, state, rng, games)
    assert (answers != FORFEIT).all()


def test_a_forfeit_in_the_middle_counts_whatever_the_board_says() -> None:
    result = play_match(
        GAME,
        changed(lambda state, actions: np.where(state.ply < 20, actions, GAME.noop)),
        RandomAgent(),
        20,
    )
    assert result.losses == 40
    assert result.mean_plies < 22
    assert result.actions is not None
    # What was played is recorded, the illegal action is not.
    assert ((result.actions >= 0).sum(axis=2) <= 22).all()


def test_an_exception_is_named_with_its_place_and_boards_cannot_be_changed() -> None:
    def cheat(state: State, actions: IntArray) -> IntArray:
        state.own[:], state.opp[:] = state.own | state.opp, 0
        return actions

    honest, cheated = (
        play_match(GAME, player, player, 10, seed=4) for player in (RandomAgent(), changed(cheat))
    )
    assert np.array_equal(honest.scores, cheated.scores)
    result = play_match(GAME, changed(WHOLE_BATCH["an exception"]), RandomAgent(), 1)
    assert "RuntimeError: no idea (test_forfeits.py, line" in str(result.stats[0].message)


def test_ctrl_c_is_no_forfeit() -> None:
    interrupted = changed(lambda state, actions: raising(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        play_match(GAME, interrupted, RandomAgent(), 2)


@pytest.mark.parametrize("game", [GAME, FewestDiscs()], ids=lambda game: game.id)
def test_recorded_games_are_the_games(game: Game) -> None:
    """Which are won as their own rules say, by role and over all."""
    result = play_match(game, "greedy", lowest, 8, seed=5)
    assert result.actions is not None
    for role, lines in enumerate(result.actions.tolist()):
        goals = []
        for line in lines:
            position = game.start()
            for action in filter(lambda action: action >= 0, line):
                assert position.is_legal(action)
                position = position.step(action)
            assert position.terminated
            goals.append(position.result()[role])
        assert goals == (100 * result.scores[role]).tolist()
        assert result.by_role[role] == tuple(goals.count(goal) for goal in (100, 50, 0))
    counts = result.wins, result.draws, result.losses
    assert counts == tuple(np.sum(result.by_role, axis=0))
    assert result.score == (result.wins + result.draws / 2) / 16
    assert result.mean_plies == (result.actions >= 0).sum(axis=2).mean()


def test_a_match_is_read_back_from_its_games() -> None:
    """Of fewer distinct openings than pairs, and with a forfeit."""
    game, names = make("tictactoe"), ("a", "b")
    illegal = changed(lambda state, actions: np.where(state.ply == 4, game.noop, actions))
    played = play_match(game, illegal, RandomAgent(), 12, opening_plies=(1, 1))
    again = match_of(record_match(game, played, names), names)
    assert again.openings == played.openings == 9
    assert np.array_equal(again.scores, played.scores)
    assert np.array_equal(again.forfeits, played.forfeits)
    assert (again.stats, again.mean_plies) == (played.stats, played.mean_plies)


def test_thinking_is_counted_without_the_first_batch() -> None:
    result = play_match(GAME, RandomAgent(), RandomAgent(), 5)
    for stats in result.stats:
        assert stats.moves - 10 <= stats.timed_moves < stats.moves
        assert stats.cpu_seconds > 0


class Elsewhere:
    """Plays at random as an engine of its own process, of which a batch takes a second."""

    cpu_seconds = 0.0

    def act(self, game: Game, state: State, rng: np.random.Generator) -> IntArray:
        self.cpu_seconds += 1
        return game.sample(state, rng)


def test_thinking_in_other_processes_counts() -> None:
    agent = Elsewhere()
    counted = play_match(GAME, agent, RandomAgent(), 1).stats[0].cpu_seconds
    assert agent.cpu_seconds - 1 <= counted < agent.cpu_seconds


def test_the_generators_of_libraries_begin_by_the_seed_and_the_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Which are seeded before players are made and again after, since they may import torch."""
    torch = list[int]()
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(manual_seed=torch.append))
    start = Openings(make("connect_four").init(4), np.full((4, 1), -1))

    def played(player: str, seed: int, first: int) -> Any:
        players = (f"python:arena_agents:{player}",) * 2
        return Part(make("connect_four"), players, start, first, seed).run().actions

    for player in ("rolling", "by_global_chance"):
        torch.clear()
        one, again, *others = (played(player, *x) for x in ((1, 0), (1, 0), (1, 4), (2, 0)))
        assert np.array_equal(one, again)
        assert not any(np.array_equal(one, other) for other in others)
        assert torch[:4] == torch[:1] * 4
        assert len({*torch}) == 3


class Counting(RandomAgent):
    """Counts what it is asked, and what no number of a file can be."""

    asked = 0

    def act(self, game: Game, state: State, rng: np.random.Generator | None = None) -> Any:
        self.asked += len(state.ply)
        return super().act(game, state, rng)

    def report(self) -> dict[str, float]:
        return {"asked": self.asked, "nothing": 0.0, "endless": float("inf")}


def test_counts_of_an_agent_are_those_of_the_match() -> None:
    agent = Counting()
    for _ in range(2):
        stats = play_match("tictactoe", "random", agent, 3).stats[1]
        assert stats.counts == {"asked": stats.moves}
    assert agent.asked > stats.moves


def test_statistics_of_matches_add_up() -> None:
    one = PlayerStats(repeats=2, moves=3, timed_moves=1, cpu_seconds=0.5, counts={"nodes": 4})
    both = PlayerStats.sum([one, one])
    assert (both.repeats, both.moves, both.timed_moves, both.cpu_seconds) == (4, 6, 2, 1.0)
    assert both.counts == {"nodes": 8}
    failed = [PlayerStats(repeats=n, message="ill").explain("it", 4) for n in range(2)]
    assert failed == [None, "it failed 1 times on several boards at once, and then played them "
                            "one by one: ill"]  # fmt: skip


def test_a_part_whose_process_dies_twice_is_lost_by_the_side_whose_code_ran() -> None:
    openings = distinct_openings(GAME, 3, (2, 4), np.random.default_rng(0))
    part = Part(GAME, ("random", "random"), openings, 0, 0)
    for side, score in ((FIRST, 0), (SECOND, 1)):
        lost = part.lost(side)
        assert (lost.score, lost.stats[side - 1].forfeits) == (score, 6)
        assert lost.stats[2 - side] == PlayerStats()
    with pytest.raises(RuntimeError, match="its process died, twice"):
        part.lost(NOBODY)


def test_times_have_three_digits_and_the_unit_that_suits_them() -> None:
    texts = {
        None: "",
        0.0123: "12.3 µs",
        0.9994: "999 µs",
        0.9996: "1 ms",
        1.0: "1 ms",
        12.34: "12.3 ms",
        999.4: "999 ms",
        999.6: "1 s",
        1000.0: "1 s",
        12345.0: "12.3 s",
    }
    assert {time: time_text(time) for time in texts} == texts
