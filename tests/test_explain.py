"""What agents say of positions: `boardenvs.agents.explain`."""

import json
import math
from dataclasses import asdict, replace

import numpy as np
import pytest
from negamax import lead_with_best_play, worths
from variants import is_compiled

from boardenvs.agents import explain, explain_steadily, make_agent
from boardenvs.agents.trained import trained_policy
from boardenvs.game.contract import stack
from boardenvs.game.openings import random_openings
from boardenvs.game.rules import MAX_VALUE
from boardenvs.games import GAMES, make
from boardenvs.kernel import set_backend
from boardenvs.search.evaluation import Evaluation, Terms
from boardenvs.search.evaluation_file import save_evaluation
from boardenvs.tablebase import Tablebase

AGENTS = [
    "random",
    "greedy",
    "positional",
    "alphabeta:depth=2",
    "alphabeta:nodes=300",
    "trained",
    "trained:shield=true",
    "mcts:rollouts=60",
    "mcts:rollouts=40,policy=trained,leaves=4",
    "perfect",
    "python:arena_agents:lowest",
]
DRAWN = ("random",)  # what they play is not what comes first


def cases():
    for game_id in GAMES:
        for spec in AGENTS:
            if spec != "perfect" or game_id == "wolf_and_sheep":
                yield game_id, spec


def some_positions(game, count, plies=None, seed=0):
    rng = np.random.default_rng(seed)
    return game.positions(random_openings(game, count, plies or game.opening_plies, rng))


def play_line(game, position, line):
    """Play a line; fails where an action of it is not legal."""
    for action in line:
        assert not position.is_over()
        assert position.is_legal(action)
        position = position.step(action)
    return position


@pytest.fixture
def backend(request):
    """Python where no machine code is to be made."""
    asked = request.node.callspec.params
    compiled = is_compiled(asked.get("spec", "alphabeta"), asked["game_id"])
    set_backend(None if compiled else "numpy")
    yield
    set_backend(None)


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize(("game_id", "spec"), list(cases()))
def test_what_every_explanation_holds(game_id, spec):
    game, agent = make(game_id), make_agent(spec)
    for position in some_positions(game, 3):
        found = explain(agent, game, position, np.random.default_rng(5))
        played = agent.act(game, stack([position]), np.random.default_rng(5))
        if spec not in DRAWN:
            assert found.moves[0].action == played[0]
        legal = position.legal_actions()
        actions = sorted(move.action for move in found.moves)
        assert actions == (legal if not spec.startswith("python") else played.tolist())
        assert found.line[0] == found.moves[0].action
        for move in found.moves:
            assert move.name == game.action_name(move.action, position)
            assert move.line[0] == move.action
            play_line(game, position, move.line)
        play_line(game, position, found.line)
        values = [found.value, *(move.value for move in found.moves)]
        most = {"score": 1, "margin": 64, "heuristic": MAX_VALUE}[found.unit]
        assert all(-most <= value <= most for value in values if value is not None)
        chances = [move.probability for move in found.moves if move.probability is not None]
        assert not chances or math.isclose(sum(chances), 1, rel_tol=1e-4)
        assert found.seconds > 0
        json.dumps(asdict(found), allow_nan=False)
        again = explain(agent, game, position, np.random.default_rng(5))
        assert replace(again, seconds=0) == replace(found, seconds=0)


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("game_id", GAMES)
def test_alphabeta_values_every_move_by_full_search(game_id):
    game = make(game_id)
    for depth in (1, 2):
        for position in some_positions(game, 3, seed=depth):
            found = explain(make_agent(f"alphabeta:depth={depth}"), game, position)
            if found.unit != "heuristic":
                continue
            plain = worths(game, position, depth)
            for move in found.moves:
                assert move.value == np.clip(plain[move.action], -MAX_VALUE, MAX_VALUE)
            assert found.value == max(found.value, *(move.value for move in found.moves))


@pytest.mark.parametrize(
    ("game_id", "unit", "size"), [("othello", "margin", 100), ("lines_of_action", "score", 10_000)]
)
def test_learnt_evaluations_foresee_the_result(game_id, unit, size, tmp_path):
    """In points where these count, else between a loss and a win."""
    game, rng = make(game_id), np.random.default_rng(0)
    weights = rng.integers(-5000, 5000, (1, Terms(game, ((27,),), game.feature_sizes).size))
    shape = ((27,),), (0,) * 65, weights.astype(np.int16), (0.0,)
    evaluation = Evaluation(game, *shape, features=game.feature_sizes)
    save_evaluation(evaluation, tmp_path / "a.npz")
    (position,) = some_positions(game, 1, seed=4)
    agent = make_agent(f"alphabeta:depth=1,evaluation={tmp_path / 'a.npz'}")
    found = explain(agent, game, position)
    assert (found.unit, found.exact) == (unit, False)
    after = [position.step(move.action) for move in found.moves]
    foreseen = -evaluation.values(stack(after)) / size
    largest = math.inf if unit == "margin" else 1
    assert [move.value for move in found.moves] == np.clip(foreseen, -largest, largest).tolist()
    assert found.value == found.moves[0].value


def end_of_othello(empty, seed):
    game = make("othello")
    return game, some_positions(game, 1, (60 - empty, 60 - empty), seed)[0]


def test_alphabeta_knows_the_margin_near_the_end():
    for seed in range(4):
        game, position = end_of_othello(6, seed)
        found = explain(make_agent("alphabeta:depth=2,endgame=12"), game, position)
        assert found.exact
        assert found.unit == "margin"
        leads = {
            action: -lead_with_best_play(game, position.step(action))
            for action in position.legal_actions()
        }
        assert found.value == max(leads.values())
        for move in found.moves:
            assert move.value == leads[move.action]
            end = play_line(game, position, move.line)
            assert end.terminated
            sign = 1 if end.to_move == position.to_move else -1
            assert sign * (end.own.bit_count() - end.opp.bit_count()) == move.value
        assert found.outcome == ("win" if found.value > 0 else "loss" if found.value else "draw")


def test_perfect_says_what_the_tablebase_knows():
    game = make("wolf_and_sheep")
    table = Tablebase.load(game)
    for position in some_positions(game, 10, (2, 12)):
        found = explain(make_agent("perfect"), game, position)
        value, plies = table.lookup(stack([position]))
        assert found.exact
        assert (found.value, found.plies) == (value[0], plies[0])
        for move in found.moves:
            end = play_line(game, position, move.line)
            assert end.is_over()
            assert len(move.line) == move.plies
            won = end.result()[position.to_move] == 100
            assert move.value == (1 if won else -1)


def test_perfect_counts_the_cap_as_its_end():
    game = make("wolf_and_sheep", max_plies=4)
    found = explain(make_agent("perfect"), game, game.start())
    end = play_line(game, game.start(), found.line)
    assert end.is_truncated()
    assert found.plies == 4
    assert found.value == (1 if end.result()[0] == 100 else -1)


def test_trained_shows_its_policy():
    game = make("lines_of_action")
    position = some_positions(game, 1)[0]
    found = explain(make_agent("trained"), game, position)
    probabilities, value = trained_policy(game).evaluate(game, stack([position]))
    assert found.value == pytest.approx(value[0], abs=1e-5)
    for move in found.moves:
        assert move.probability == pytest.approx(probabilities[0, move.action], abs=1e-5)
        after = stack([position.step(move.action)])
        assert move.value == pytest.approx(
            -trained_policy(game).evaluate(game, after)[1][0], abs=1e-5
        )
    chances = [move.probability for move in found.moves]
    assert chances == sorted(chances, reverse=True)


def test_the_tree_accounts_for_its_rollouts():
    game = make("othello")
    position = some_positions(game, 1)[0]
    found = explain(make_agent("mcts:rollouts=200"), game, position)
    assert sum(move.visits for move in found.moves) == found.positions == 200
    visits = [move.visits for move in found.moves]
    assert visits == sorted(visits, reverse=True)


def test_a_win_at_once_is_seen_by_all_that_look():
    """Lines of Action, one move before the end of a game that black wins."""
    game = make("lines_of_action")
    rng = np.random.default_rng(3)
    while True:
        position = game.start()
        while not position.is_over():
            before = position
            position = position.step(int(rng.choice(position.legal_actions())))
        if position.result()[before.to_move] == 100:
            break
    for spec in ("greedy", "positional", "alphabeta:depth=2"):
        found = explain(make_agent(spec), game, before)
        assert found.exact
        assert (found.outcome, found.plies) == ("win", 1)
        assert before.step(found.line[0]).result()[before.to_move] == 100


def test_a_game_that_is_over_has_no_explanation():
    game = make("othello")
    over = game.position((1, 0))
    with pytest.raises(ValueError, match="over"):
        explain(make_agent("greedy"), game, over)
    with pytest.raises(ValueError, match="over"):
        next(explain_steadily(make_agent("mcts"), game, over, lambda: False))


def test_agents_say_what_they_cannot_play():
    game = make("othello")
    with pytest.raises(ValueError, match="perfect"):
        explain(make_agent("perfect"), game, game.start())


class After:
    """Says stop after so many questions."""

    def __init__(self, questions):
        self.left = questions

    def __call__(self):
        self.left -= 1
        return self.left < 0


@pytest.mark.parametrize("spec", ["mcts:rollouts=10", "alphabeta", "trained", "greedy"])
def test_a_search_that_is_stopped_at_once_has_said_something(spec):
    game = make("othello")
    found = list(explain_steadily(make_agent(spec), game, game.start(), lambda: True))
    assert len(found) == 1
    assert len(found[0].moves) == 4


def test_the_tree_grows_as_one_tree():
    """What is seen after n rollouts is what an agent of n rollouts sees."""
    game = make("othello")
    position = some_positions(game, 1)[0]
    seen = list(explain_steadily(make_agent("mcts"), game, position, After(12)))
    counts = [found.positions for found in seen]
    assert len(counts) >= 3
    assert counts == sorted(set(counts))
    for found in seen:
        alone = explain(make_agent(f"mcts:rollouts={found.positions}"), game, position)
        assert replace(alone, seconds=0) == replace(found, seconds=0)


def test_alphabeta_goes_on_to_the_proof():
    game, position = end_of_othello(10, 1)
    *_, last = explain_steadily(make_agent("alphabeta:endgame=0"), game, position, lambda: False)
    whole = explain(make_agent("alphabeta:depth=1,endgame=10"), game, position)
    assert last.exact
    assert (last.value, last.unit) == (whole.value, whole.unit)


def test_alphabeta_is_stopped_in_the_middle_of_a_search():
    game = make("othello")
    position = some_positions(game, 1)[0]
    seen = list(explain_steadily(make_agent("alphabeta"), game, position, After(60)))
    for depth, found in enumerate(seen[:3], start=1):
        plain = worths(game, position, depth)
        assert {move.action: move.value for move in found.moves} == plain
