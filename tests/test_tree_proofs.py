"""What tree search proves, against exact solutions; its limits, and trees kept between moves."""

from __future__ import annotations

import copy
import time

import numpy as np
import pytest
from negamax import lead_with_best_play
from variants import make, random_position

from boardenvs import analyse, play_match
from boardenvs.agents import make_agent
from boardenvs.agents.mcts import MCTSAgent
from boardenvs.game.contract import Game, Position, stack
from boardenvs.game.fen import parse_position
from boardenvs.game.state import Array, State
from boardenvs.search import Trees, TreeSettings, search_trees
from boardenvs.tablebase import Tablebase

OTHELLO = make("othello")


class Fair:
    """Likes all actions alike and all positions too; counts what it was asked."""

    def __init__(self) -> None:
        self.calls = self.positions = 0

    def evaluate(self, game: Game, state: State) -> tuple[Array, Array]:
        self.calls += 1
        self.positions += len(state.ply)
        legal = game.legal(state).astype(np.float64)
        return legal / np.maximum(legal.sum(axis=1, keepdims=True), 1), np.zeros(len(state.ply))


def ends(plies: int, rows: int) -> list[Position]:
    found = [random_position(OTHELLO, seed, plies) for seed in range(rows)]
    return [position for position in found if len(position.legal_actions()) > 1]


@pytest.mark.parametrize("evaluator", [None, Fair()])
def test_bounds_hold_in_wolf_and_sheep(evaluator: Fair | None) -> None:
    game = make("wolf_and_sheep")
    positions = [random_position(game, seed, 20 + seed % 30) for seed in range(60)]
    state = stack([position for position in positions if not position.terminated])
    seeds = np.arange(len(state.ply), dtype=np.uint64)
    found = search_trees(game, state, seeds, simulations=150, c=1.0, evaluator=evaluator)
    moves = Tablebase.load(game).moves(state)
    lower, upper = (bounds[moves.rows, moves.actions] for bounds in (found.lower, found.upper))
    assert (lower <= moves.value).all()
    assert (moves.value <= upper).all()
    proven = lower == upper
    assert 0.1 < proven.mean() < 1
    assert set(moves.value[proven].tolist()) == {-1, 1}
    assert (found.values[moves.rows, moves.actions][proven] == moves.value[proven]).all()


@pytest.mark.usefixtures("in_python")
@pytest.mark.parametrize("evaluator", [None, Fair()])
def test_what_has_not_been_tried_may_win(evaluator: Fair | None) -> None:
    """Whatever White plays, one of Black's moves wins at once and another one loses at once."""
    game = make("lines_of_action")
    position = parse_position(game, "8/8/8/6w1/8/3w4/8/b2b4 white 11")
    lost = []
    for action in position.legal_actions():
        after = position.step(action)
        results = [after.step(reply).result() for reply in after.legal_actions()]
        lost += [action] if (100, 0) in results and not after.terminated else []
    assert len(lost) > 10
    state, seeds = stack([position] * 40), np.arange(40, dtype=np.uint64)
    found = search_trees(game, state, seeds, simulations=40, c=1.0, evaluator=evaluator)
    assert (found.lower[:, lost] == -1).all()


@pytest.mark.usefixtures("in_python")
@pytest.mark.parametrize("evaluator", [None, Fair()])
def test_bounds_hold_after_few_rollouts(evaluator: Fair | None) -> None:
    positions = ends(57, 60)
    state, seeds = stack(positions), np.arange(len(positions), dtype=np.uint64)
    exact = [
        {a: -np.sign(lead_with_best_play(OTHELLO, p.step(a))) for a in p.legal_actions()}
        for p in positions
    ]
    told = 0
    for simulations in (3, 6, 12, 24):
        found = search_trees(
            OTHELLO, state, seeds, simulations=simulations, c=1.0, evaluator=evaluator
        )
        for row, values in enumerate(exact):
            for action, value in values.items():
                lower, upper = int(found.lower[row, action]), int(found.upper[row, action])
                assert lower <= value <= upper
                told += (lower, upper) != (-1, 1)
    assert told > 100


@pytest.mark.parametrize("evaluator", [None, Fair()])
def test_ends_of_othello_are_played_and_told_exactly(evaluator: Fair | None) -> None:
    agent, outcomes = MCTSAgent(3000, evaluator=evaluator), set()
    for position in ends(55, 16):
        exact = {
            action: -int(np.sign(lead_with_best_play(OTHELLO, position.step(action))))
            for action in position.legal_actions()
        }
        best = max(exact.values())
        found = analyse(position, agent)
        assert found.proven
        assert found.value == best
        assert found.outcome == {-1: "loss", 0: "draw", 1: "win"}[best]
        assert exact[found.moves[0].action] == best
        chosen = agent.act(OTHELLO, stack([position]), np.random.default_rng(1))
        assert exact[int(chosen[0])] == best
        outcomes.add(found.outcome)
    assert outcomes >= {"win", "loss"}


def test_draws_are_proven_and_taken() -> None:
    drawn = [p for p in ends(56, 150) if lead_with_best_play(OTHELLO, p) == 0]
    assert len(drawn) >= 2
    for position in drawn:
        found = analyse(position, MCTSAgent(3000))
        assert (found.proven, found.value, found.outcome) == (True, 0, "draw")
        after = position.step(found.moves[0].action)
        assert lead_with_best_play(OTHELLO, after) == 0


def test_a_proof_ends_the_search() -> None:
    game = make("lines_of_action")
    text = "2w5/3w2ww/5w2/8/1w2wbwb/7b/1w2bb2/1w1b2w1 black 42"
    found = analyse(parse_position(game, text), "mcts:time=1000")
    assert (found.proven, found.outcome) == (True, "win")
    assert found.moves[0].value == 1
    assert parse_position(game, text).step(found.line[0]).result()[0] == 100


def test_the_first_limit_that_is_met_ends_a_move() -> None:
    few = analyse(OTHELLO, "mcts:simulations=40,time=1000")
    assert few.nodes == 40
    began = time.monotonic()
    found = analyse(OTHELLO, "mcts:time=0.05")
    assert found.nodes >= 1
    assert time.monotonic() - began >= 0.05
    agent = make_agent("mcts:time=0.01,policy=trained")
    state = stack([OTHELLO.start()] * 2)
    assert OTHELLO.is_legal(state, agent.act(OTHELLO, state, np.random.default_rng(0))).all()
    with pytest.raises(ValueError, match=r"time is 0\.0: it must be more than 0 seconds"):
        make_agent("mcts:time=0")


def test_guesses_spare_calls_and_change_nothing() -> None:
    state, seeds = OTHELLO.init(3), np.arange(3, dtype=np.uint64)
    found, asked = [], []
    for leaves in (1, 4, 12, None):
        evaluator = Fair()
        found.append(
            search_trees(
                OTHELLO, state, seeds, simulations=120, c=1.5, leaves=leaves, evaluator=evaluator
            )
        )
        asked.append(evaluator)
    for other in found[1:]:
        for one, same in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(one, same)
    assert asked[0].calls == 121
    assert all(evaluator.calls < 70 for evaluator in asked[1:])


def test_a_kept_tree_is_what_the_search_knew() -> None:
    """A search that begins with it asks less, and ends as one that begins with nothing."""
    evaluator = Fair()
    settings = TreeSettings(200, 1.0, 4, evaluator)
    seeds = np.zeros(1, np.uint64)
    trees = Trees(OTHELLO, OTHELLO.init(1), seeds, settings)
    trees.search(200)
    position = OTHELLO.start()
    for action in trees.line(0, position.legal_actions()[0])[:2]:
        position = position.step(action)
    first, reply = trees.line(0, OTHELLO.start().legal_actions()[0])[:2]
    known = trees.keep(0, first)
    assert known is not None
    known = known.after(reply)
    asked = evaluator.positions
    later = Trees(OTHELLO, stack([position]), seeds, settings, [known])
    begun = int(later.visits()[0])
    assert 0 < begun < 200
    assert evaluator.positions == asked  # not even about the root
    seen = later.read()
    assert seen.visits.sum() == begun
    line = trees.line(0, first)
    assert later.line(0, line[2]) == line[2:]
    later.search(200)
    alone = Trees(OTHELLO, stack([position]), seeds, settings)
    alone.search(200)
    for one, same in zip(later.read(), alone.read(), strict=True):
        np.testing.assert_array_equal(one, same)


@pytest.mark.usefixtures("in_python")
def test_what_is_proven_is_kept() -> None:
    """Two plies later, before anything is searched."""
    settings, seeds, proven = TreeSettings(300, 1.0), np.zeros(1, np.uint64), 0
    for position in ends(54, 4):
        trees = Trees(OTHELLO, stack([position]), seeds, settings)
        trees.search(300)
        for action in position.legal_actions():
            known, between = trees.keep(0, action), position.step(action)
            for reply in between.legal_actions() if known and not between.terminated else ():
                after = between.step(reply)
                if (kept := known and known.after(reply)) and not after.terminated:
                    later = Trees(OTHELLO, stack([after]), seeds, settings, [kept])
                    (lower,), (upper,) = later.proven()
                    assert lower <= np.sign(lead_with_best_play(OTHELLO, after)) <= upper
                    proven += lower == upper
    assert proven > 3


def test_matches_keep_trees_and_repeat() -> None:
    """The same games again, with the same agent and with a copy; and the same, with more positions
    judged, by an agent that is not told how games came about.
    """

    class Forgetful:
        def __init__(self, agent: MCTSAgent) -> None:
            self.act = agent.act

    def play(agent: object) -> list[int]:
        result = play_match(OTHELLO, agent, "random", pairs=1, seed=3)
        assert result.actions is not None
        assert not result.faults[0].forfeits
        actions: list[int] = result.actions.tolist()
        return actions

    evaluator = Fair()
    agent = MCTSAgent(24, evaluator=evaluator)
    first = play(agent)
    kept = evaluator.positions
    assert play(agent) == first
    assert play(copy.deepcopy(agent)) == first
    evaluator.positions = 0
    assert play(Forgetful(agent)) == first
    assert kept < evaluator.positions


def test_what_is_kept_is_for_one_generator() -> None:
    """Another begins anew: so many positions are judged as by an agent that was never asked."""

    def judged(seed: int, asked_before: bool) -> int:
        evaluator = Fair()
        agent, rng = MCTSAgent(80, evaluator=evaluator), np.random.default_rng(5)
        if asked_before:
            agent.act_after(OTHELLO, OTHELLO.init(1), np.zeros((1, 0), np.int16), rng)
            evaluator.positions = 0
        agent.act_after(OTHELLO, now, plies, rng if seed == 5 else np.random.default_rng(seed))
        return evaluator.positions

    rng, none = np.random.default_rng(5), np.zeros((1, 0), np.int16)
    first = MCTSAgent(80, evaluator=Fair()).act_after(OTHELLO, OTHELLO.init(1), none, rng)
    after = OTHELLO.start().step(int(first[0]))
    reply = after.legal_actions()[0]
    now = stack([after.step(reply)])
    plies = np.array([[first[0], reply]], np.int16)
    assert judged(6, asked_before=True) == judged(6, asked_before=False)
    assert judged(5, asked_before=True) < judged(5, asked_before=False)
