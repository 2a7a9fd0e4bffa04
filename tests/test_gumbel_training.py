"""Training by Gumbel search: how plies are played, what is learnt, exact resume."""

from __future__ import annotations

import csv
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("pydantic")

import torch as th
import yaml
from returns import over, played_on
from rich.console import Console
from same import same
from test_robust_processes import DYING
from three_in_a_row import ThreeInARow
from variants import make

from boardenvs.agents.network import BoardNetwork
from boardenvs.agents.policy_file import load_policy
from boardenvs.envs.batch import EndedGames
from boardenvs.game.game import Game
from boardenvs.game.openings import random_openings
from boardenvs.game.position import Position, stack
from boardenvs.game.rules import WIN
from boardenvs.game.state import FloatArray, State, concat, take
from boardenvs.games import parse
from boardenvs.search import Limits
from boardenvs.search.evaluation_file import trained_evaluation
from boardenvs.search.halving import GumbelSettings
from boardenvs.search.solver import search_position
from training.command import read_settings
from training.folder import RunError, load_newest
from training.gumbel.__main__ import GumbelRun, main
from training.gumbel.drills import Drills
from training.gumbel.gumbel_settings import GumbelConfig, LearningSettings, SearchSettings
from training.gumbel.network import JudgedNetwork, NetworkLearner
from training.gumbel.replay import ReplayBatch, ReplayBuffer
from training.gumbel.self_play import SelfPlay
from training.gumbel.workers import Round, total
from training.run import game_metrics

BOARDS = 12
NEVER = 1e-9  # a share of the plies that none of those played here is in
FOLLOWED = "python:returns:FirstLegal"  # an opponent whose replies are known

th.set_num_threads(1)


class First:
    """Likes the first legal action a little more than the others, and sees a number in a position
    that stands for its value.
    """

    def evaluate(self, game: Game, state: State) -> tuple[FloatArray, FloatArray]:
        likes = game.legal(state) * 1.0
        likes[np.arange(len(likes)), likes.argmax(axis=1)] += 0.1
        x = (state.own * np.uint64(7) ^ state.opp * np.uint64(13)) % np.uint64(101)
        return likes / likes.sum(axis=1, keepdims=True), x / 50.0 - 1


class Recorder:
    """What self-play gives to learn from: for each ply the positions, policies, whether they are
    learnt, values and numbers of games; and the results, by ply and board.
    """

    def __init__(self) -> None:
        self.plies: list[Any] = []
        self.ended: list[dict[str, EndedGames]] = []
        self.results: FloatArray = np.full((1 << 10, BOARDS), np.nan)

    def play(self, play: SelfPlay) -> None:
        """A ply."""
        (state, *columns), results, ended, *_ = play.play(First(), 1)
        self.ended.append(ended)
        self.plies.append((play.game.unpacked(state), *columns))
        for game, result in zip(*results, strict=True):
            for ply, (*_, games) in enumerate(self.plies):
                assert np.isnan(self.results[ply, games == game]).all()
                self.results[ply, games == game] = result


def begun(search: dict[str, Any], **self_play: Any) -> tuple[SelfPlay, Any]:
    """Games of Othello that begin from the start, if nothing else is said."""
    settings = GumbelConfig.model_validate(
        {
            "name": "tiny",
            "game": "othello",
            "steps": 1,
            "self_play": {"boards": BOARDS, "opening_plies": [0, 0], **self_play},
            "search": search,
            "report": {"opponents": ["random"]},
        }
    )
    play = SelfPlay(settings, settings.make_game())
    play.begin(0)
    return play, Recorder()


def seen(play: SelfPlay, recorder: Any, plies: int) -> Iterator[tuple[State, State]]:
    """The boards before and after each of so many plies."""
    for _ in range(plies):
        before = take(play.boards.state, slice(None))
        recorder.play(play)
        yield before, play.boards.state


def after_first(play: SelfPlay, before: State) -> State:
    """The boards when the first legal action was played on all, and answered by an opponent."""
    actions = play.game.legal(before).argmax(axis=1)
    return played_on(play.game, before, actions, ~play.boards.self_play)


# ---- playout caps, roles and opponents -----------------------------------------------------------


def test_a_share_of_the_plies_is_searched_in_full_with_noise_and_learnt() -> None:
    """The network plays the others by itself, where no quick search is asked for."""
    play, recorder = begun({"simulations": 4, "considered": 4, "full_share": 0.4})
    noisy = set()
    for before, after in seen(play, recorder, 40):
        _, policy, full, values, _ = recorder.plies[-1]
        judged = First().evaluate(play.game, before)[1]
        np.testing.assert_allclose(values[~full], judged[~full])
        assert policy.sum(axis=1) == pytest.approx(full * 1.0, abs=0.01)
        expected = after_first(play, before)
        assert ((after.own == expected.own) | over(play.game, expected))[~full].all()
        noisy |= set(after.own[full & (before.ply == 0)].tolist())
    assert len(noisy) > 1  # from one position
    share = np.mean([full for _, _, full, _, _ in recorder.plies])
    assert abs(share - 0.4) < 4 * np.sqrt(0.4 * 0.6 / (40 * BOARDS))


def test_quick_searches_have_no_noise() -> None:
    search = {"simulations": 4, "considered": 4, "full_share": 0.4, "playout_cap_simulations": 4}
    play, recorder = begun(search)
    ((_, after),) = seen(play, recorder, 1)  # of one position on all boards
    full = recorder.plies[0][2]
    assert len({*after.own[~full].tolist()}) == 1 < len({*after.own[full].tolist()})


def test_the_settings_of_a_search_are_those_of_the_run() -> None:
    settings = SearchSettings(considered=3, c_scale=0.9).with_simulations(7)
    assert settings == GumbelSettings(simulations=7, considered=3, c_scale=0.9)
    small = {"name": "x", "game": "lines_of_action", "steps": 1, "network": {"hidden": [8]}}
    assert GumbelConfig.model_validate(small).game_to_train() == parse(
        "lines_of_action:max_steps=200"  # from scratch without the usual limit
    )


def test_one_side_plays_without_search_and_against_an_opponent_the_network_does() -> None:
    """The other side of a game of its own is searched quickly."""
    capped = {"playout_cap_simulations": 4, "playout_cap_role_share": 1.0}
    play, recorder = begun({"full_share": NEVER, **capped}, opponents={FOLLOWED: 0.5})
    searched = set[tuple[int, int]]()
    for before, after in seen(play, recorder, 20):
        expected = after_first(play, before)
        boards = np.flatnonzero((after.own != expected.own) & ~over(play.game, expected))
        assert play.boards.self_play[boards].all()
        searched |= set(zip(boards.tolist(), before.to_move[boards].tolist(), strict=True))
    own = np.flatnonzero(play.boards.self_play).tolist()
    assert sorted(board for board, _ in searched) == own
    assert {role for _, role in searched} == {0, 1}


def test_evaluations_kept_from_a_ply_before_are_of_the_position_played() -> None:
    """They are forgotten between two calls: ten plies in one are as ten of one ply each."""
    search = {"simulations": 6, "considered": 4, "full_share": 0.8, "playout_cap_role_share": 0.7}
    once, _ = begun(search, opponents={FOLLOWED: 0.5})
    state, *columns = once.play(First(), 10).positions
    play, recorder = begun(search, opponents={FOLLOWED: 0.5})
    for _ in seen(play, recorder, 10):
        pass
    states, *others = zip(*recorder.plies, strict=True)
    assert same(state, once.game.packed(concat(states)))
    for found, expected in zip(columns, map(np.concatenate, others), strict=True):
        np.testing.assert_allclose(found, expected, 1e-3)


@pytest.mark.parametrize("opponents", [{}, {FOLLOWED: 0.5}])
def test_games_leave_their_results_at_their_own_positions(opponents: dict[str, float]) -> None:
    """As the rules have them, to the first role; and what an opponent lets be won is a metric."""
    play, recorder = begun({"full_share": NEVER}, opponents=opponents, opening_plies=[44, 50])
    for _ in range(30):
        recorder.play(play)
    results, points, plies = recorder.results[:30], [], []
    for (state, *_), result in zip(recorder.plies, results, strict=True):
        after = after_first(play, state)
        ended = over(play.game, after)
        np.testing.assert_array_equal(result[ended], play.game.results(after)[ended, 0] / 50 - 1)
        of_mover = np.where(state.to_move == 0, result, -result) / 2 + 0.5
        points += of_mover[ended & (~play.boards.self_play)].tolist()
        plies += after.ply[ended].tolist()
    games = np.array([numbers for *_, numbers in recorder.plies])
    goes_on = games[1:] == games[:-1]
    np.testing.assert_array_equal(results[1:][goes_on], results[:-1][goes_on])
    assert len(plies) > 10
    metrics = game_metrics(total(recorder.ended))
    assert metrics["games/plies"] == pytest.approx(np.mean(plies))
    for spec in opponents:
        assert metrics[f"games/{spec}"] == pytest.approx(np.mean(points))
        assert np.isnan(game_metrics(play.boards.take_ended())[f"games/{spec}"])


def test_workers_share_the_boards_and_play_games_of_their_own() -> None:
    """And players that draw from NumPy's own generator get numbers of their own."""
    play, _ = begun({"workers": 2}, opening_plies=[10, 20])
    begins, drawn = [], list[float]()
    for worker in (0, 1, 0):
        play.begin(worker)
        begins.append((play.boards.state.own.tolist(), deepcopy(play.snapshot())))
        play.play(First(), 1)
        drawn.append(np.random.random())  # noqa: NPY002
    assert drawn[0] == drawn[2] != drawn[1]
    (_, one), (_, other), _ = begins
    assert len(one["games"]) == BOARDS // 2
    assert not {*one["games"]} & {*other["games"]}
    assert one["begun"] == BOARDS // 2  # the number of the next game
    assert begins[0][0] != begins[1][0]
    assert one["rng"] != other["rng"]
    assert same(begins[0], begins[2])


# ---- what is kept --------------------------------------------------------------------------------


def test_the_latest_positions_are_kept_and_wait_for_their_own_game() -> None:
    game = make("othello")
    replay = ReplayBuffer(game, 4, search_value=0.25)

    def add(*known_by: int, number: int) -> None:
        count = len(known_by)
        state = game.init(count)
        state.own[:] = [(1 << k) - 1 for k in known_by]  # as many pieces, under any symmetry
        state.to_move[:] = [k % 2 for k in known_by]
        nothing, values = np.zeros((count, game.num_actions)), np.full(count, 0.4)
        replay.add(state, nothing, np.ones(count, bool), values, np.full(count, number))

    def drawn() -> set[tuple[int, float]]:
        rng = np.random.default_rng(0)
        batch = replay.batch(rng.choice(replay.ready(), 200), rng)
        values = batch.value.astype(float).round(3).tolist()
        return set(zip(np.bitwise_count(batch.state.own).tolist(), values, strict=True))

    add(0, 1, 2, 3, number=0)
    add(4, 5, number=1)  # in the place of the two oldest
    replay.finish(np.array([0]), np.ones(1))
    assert drawn() == {(2, 0.85), (3, -0.65)}
    assert (len(replay.ready()), replay.added) == (2, 6)
    replay.finish(np.array([1]), -np.ones(1))
    assert drawn() == {(2, 0.85), (3, -0.65), (4, -0.65), (5, 0.85)}
    add(0, 1, number=2)
    assert len(replay.ready()) == 2


@pytest.mark.parametrize(
    "name", ["othello", "lines_of_action", "wolf_and_sheep", "boardenvs_breakthrough:Breakthrough"]
)
def test_batches_are_turned_with_their_policies(name: str) -> None:
    """The policies here are all legal actions alike, by the rules; the values are pieces."""
    game, rng = make(name), np.random.default_rng(0)
    state = random_openings(game, 40, (2, 12), rng)

    def policy_of(state: State) -> FloatArray:
        anew = [
            game.position((p.opp, p.own) if p.to_move else (p.own, p.opp), p.to_move, p.ply)
            for p in game.positions(state)
        ]
        legal = game.legal(stack(anew))
        found: FloatArray = legal / legal.sum(axis=1, keepdims=True)
        return found

    replay = ReplayBuffer(game, 40, search_value=1.0)
    values = np.bitwise_count(state.own) / 64
    replay.add(state, policy_of(state), np.ones(40, bool), values, np.zeros(40, int))
    replay.finish(np.array([0]), np.zeros(1))
    batch = replay.batch(rng.choice(replay.ready(), 200), rng)
    np.testing.assert_allclose(batch.policy, policy_of(batch.state), atol=1e-3)
    np.testing.assert_array_equal(batch.policy > 0, game.legal(batch.state))
    np.testing.assert_allclose(batch.value, np.bitwise_count(batch.state.own) / 64)
    assert (~np.isin(batch.state.own, state.own)).sum() > 20
    assert batch.state.to_move.any() == (game.mover_symmetry is None)


# ---- a judge beside the network ------------------------------------------------------------------


def test_a_judge_has_half_of_each_value_and_no_share_of_the_policy() -> None:
    game = make("othello")
    evaluation = trained_evaluation(game)
    assert evaluation is not None
    state = random_openings(game, 6, (4, 20), np.random.default_rng(0))
    policy, both = JudgedNetwork(First(), evaluation).evaluate(game, state)
    expected, own = First().evaluate(game, state)
    np.testing.assert_array_equal(policy, expected)
    found = [search_position(p, Limits(2), evaluation=evaluation) for p in game.positions(state)]
    judged = np.tanh(np.array([x.value for x in found], float) / 12)
    np.testing.assert_allclose(both, own / 2 + judged / 2, atol=1e-6)


# ---- drills --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["connect_four", "othello"])
def test_drills_have_safe_moves_and_others_and_no_win(name: str) -> None:
    """By the game tree: a safe move ends no game and has no reply that wins."""
    game = make(name)
    drills = Drills(game, 5, (6, 20), np.random.default_rng(0))
    for position, safe in [*zip(game.positions(drills.state), drills.safe, strict=True)][:40]:
        moves = position.legal_actions()
        assert not any(wins(position, move) for move in moves)
        lost = set()
        for move in moves:
            after = position.step(move)
            if any(wins(after, reply) for reply in after.legal_actions()):
                lost.add(move)
        assert {*np.flatnonzero(safe)} == {*moves} - lost
        assert 0 < len(lost) < len(moves)


def wins(position: Position, move: int) -> bool:
    """Whether the move ends the game and its side wins."""
    after = position.step(move)
    return after.is_over() and after.result()[position.to_move] == WIN


def test_a_network_learns_what_is_safe() -> None:
    game, rng = make("tictactoe"), np.random.default_rng(0)
    drills, others = Drills(game, 100, (3, 3), rng), Drills(game, 100, (3, 3), rng)
    th.manual_seed(0)
    network = BoardNetwork(game, {"hidden": [32]})
    optimizer = th.optim.Adam(network.parameters(), 1e-2)

    def share() -> float:
        """In how many of the others the most probable move is safe."""
        arrays = game.observe_planes(others.state), game.legal(others.state)
        logits, _ = network(*map(th.from_numpy, arrays))
        return float(others.safe[range(len(others.safe)), logits.argmax(dim=1)].mean())

    before = share()
    for _ in range(100):
        optimizer.zero_grad()
        drills.loss(network, rng).backward()
        optimizer.step()
    assert before < 0.5
    assert share() > 0.95


@pytest.mark.parametrize("count", [1, 100])
def test_a_game_without_drills_soon_says_so(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("training.gumbel.drills._OPENINGS", 1024)
    error = rf"learning\.drills is {count}, but 7168 openings of checkers have 0"
    with pytest.raises(RunError, match=error):
        Drills(make("checkers"), count, (0, 4), np.random.default_rng(0))


def test_a_batch_is_learnt_down_the_gradient_of_its_loss() -> None:
    """Of the cross-entropy with the policies that are to be learnt, and the squared error of all
    values; a drill's loss is added. The average of weights follows slowly.
    """
    game, rng = make("tictactoe"), np.random.default_rng(0)
    th.manual_seed(0)
    learner = NetworkLearner(game, BoardNetwork(game, {"hidden": [8]}), LearningSettings())
    state = random_openings(game, 20, (0, 6), rng)
    legal = game.legal(state)
    policy = rng.random(legal.shape) * legal
    policy = (policy / policy.sum(axis=1, keepdims=True)).astype(np.float16)
    kinds, values = rng.random(20) < 0.5, rng.uniform(-1, 1, 20).astype(np.float32)
    batch = ReplayBatch(state, policy, kinds, values)
    weights = [*learner.network.parameters()]
    directions = [th.randn_like(x) for x in weights]

    def losses(distance: float = 0.0) -> list[float]:
        """At this distance from the weights: of the policy, of values, and the entropy."""
        with th.no_grad():
            for x, direction in zip(weights, directions, strict=True):
                x.add_(distance * direction)
            planes = th.from_numpy(game.observe_planes(state))
            logits, predicted = learner.network(planes, th.from_numpy(legal))
            for x, direction in zip(weights, directions, strict=True):
                x.sub_(distance * direction)
        likely = np.exp(logits.double().numpy()) * legal
        likely /= likely.sum(axis=1, keepdims=True)
        logs = np.log(np.where(legal, likely, 1))
        errors = np.array([predicted[row] - values[row] for row in range(20)])
        learnt = [-(policy[row] * logs[row]).sum() for row in range(20) if kinds[row]]
        return [np.mean(learnt), np.mean(errors**2), -(likely * logs).sum(axis=1).mean()]

    more = sum(x.sum() for x in weights) / 100
    assert learner.learn(batch, 0.0, more).tolist() == pytest.approx(losses(), abs=1e-3)
    slope = (sum(losses(1e-2)[:2]) - sum(losses(-1e-2)[:2])) / 2e-2
    slope += sum(float(x.sum()) for x in directions) / 100
    gradients = [x.grad for x in weights if x.grad is not None]
    found = sum(float((x * y).sum()) for x, y in zip(gradients, directions, strict=True))
    assert found == pytest.approx(slope, rel=1e-2)
    before = [x.detach().clone() for x in weights]
    learner.learn(batch, 0.1)
    for x, old, slow in zip(weights, before, learner.player.parameters(), strict=True):
        moved = (x.detach() - old).abs().max()
        assert float(moved) == pytest.approx(0.1, rel=0.5)  # as Adam does
        assert th.allclose(slow, 0.998 * old + 0.002 * x, atol=1e-6)


def test_no_batch_changes_a_network_by_more_than_a_gradient_of_length_one() -> None:
    game = make("tictactoe")
    learner = NetworkLearner(game, BoardNetwork(game, {"hidden": [8]}), LearningSettings())
    policy, kinds = np.full((4, game.num_actions), 0.1, np.float16), np.ones(4, np.bool_)
    learner.learn(ReplayBatch(game.init(4), policy, kinds, np.full(4, 99, np.float32)), 1e-3)
    lengths = [float(x.grad.norm()) for x in learner.network.parameters() if x.grad is not None]
    assert np.linalg.norm(lengths) == pytest.approx(1, rel=1e-3)


# ---- runs ----------------------------------------------------------------------------------------

TINY: dict[str, Any] = {
    "game": "othello",
    "steps": 256,
    "checkpoint_every": 128,
    "self_play": {"boards": 8, "opening_plies": [40, 50], "opponents": {"greedy": 0.25}},
    "search": {
        "simulations": 4, "considered": 2, "playout_cap_simulations": 1,
        "playout_cap_role_share": 0.5,
    },
    "network": {"hidden": [16]},
    "learning": {"replay": 512, "batch_size": 32},
    "evaluation": {"every": 128, "pairs": 1, "opponents": ["random"], "opening_plies": [40, 44]},
    "report": {"pairs": 1, "opponents": ["random"], "opening_plies": [40, 44]},
}  # fmt: skip


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("tiny.yaml").write_text(yaml.safe_dump(TINY))
    return "tiny.yaml"


def result(folder: Path) -> list[Any]:
    """All that a run's last checkpoint has but times."""
    content = load_newest(folder / "checkpoints")[0]
    assert content is not None
    return [content[name] for name in ("steps", "to_learn", "learner", "replay", "round")]


def test_nothing_is_learnt_before_a_batch_of_positions_has_results(tmp_path: Path) -> None:
    own = {"boards": 8, "opening_plies": [0, 0]}
    small = {**TINY, "name": "tiny", "self_play": own, "search": {"simulations": 1}}
    run = GumbelRun(GumbelConfig.model_validate(small), tmp_path)
    with closing(run._rounds):
        metrics = run._update()
    assert (run.steps, run._to_learn, metrics["train/gradient_steps"]) == (64, 0, 0)
    assert np.isnan(metrics["train/policy_loss"])


def test_games_too_long_for_the_replay_buffer_are_told(tmp_path: Path) -> None:
    own = {"boards": 8, "opening_plies": [0, 0]}
    long = {**TINY, "name": "tiny", "game": "lines_of_action", "self_play": own}
    run = GumbelRun(GumbelConfig.model_validate(long | {"search": {"simulations": 1}}), tmp_path)
    with closing(run._rounds), pytest.warns(UserWarning, match="games are longer than 64 plies"):
        all(run._update() for _ in range(26))


def test_a_run_that_resumes_goes_on_bit_for_bit(tiny: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tower; a fully connected network does in the tests of workers. Each position is learnt
    twice, each time with drills.
    """
    sets = [
        "network={channels: 4, blocks: 2}",
        "learning.drills=1",
        "learning.batch_size=48",  # which leaves something to learn
        "game=connect_four",
        "self_play.opening_plies=[6, 20]",
        "evaluation.opening_plies=[2, 4]",
        "report.opening_plies=[2, 4]",
    ]
    settings = read_settings(GumbelConfig, Path(tiny), sets)
    monkeypatch.setattr("training.report.draw_learning_curve", lambda results, best: b"<svg/>")
    assert main([tiny, *(word for item in sets for word in ("--set", item))]) == 0
    folder = Path("runs/tiny")
    expected = result(folder)
    assert 256 <= expected[0] < 384
    assert load_policy(folder / "policy.npz").notes["run"] == "tiny"
    sorted((folder / "checkpoints").iterdir())[-1].unlink()
    run = GumbelRun(settings, folder)
    run.resume(Console(quiet=True))
    assert run.steps < expected[0]
    rates, drilled, loss = {}, list[th.Tensor](), Drills.loss

    def noted(*arguments: Any) -> th.Tensor:
        drilled.append(loss(*arguments))
        return drilled[-1]

    monkeypatch.setattr(Drills, "loss", noted)
    gradients = 0.0
    while run.steps < expected[0]:
        steps, left = run.steps, run._to_learn
        metrics = run._update()
        rates[run.steps] = metrics["train/learning_rate"]
        gradients += (taken := metrics["train/gradient_steps"])
        assert run._to_learn - left == 2 * (run.steps - steps) - 48 * taken
    assert len(drilled) == gradients > 0
    assert [rate for steps, rate in rates.items() if steps >= 256] == [pytest.approx(5e-5)]
    falling = {steps: 1e-3 - steps / 256 * (1e-3 - 5e-5) for steps in rates if steps < 256}
    assert {steps: rates[steps] for steps in falling} == pytest.approx(falling)
    assert falling
    run._saved = 0
    run.save()
    assert same(result(folder), expected)


# ---- workers -------------------------------------------------------------------------------------


def test_a_round_that_is_played_again_is_the_same(tiny: str) -> None:
    """As where a worker has died over it, and with an opponent that draws from Python's numbers."""
    opponents = "self_play.opponents={'python:arena_agents:rolling': 0.25}"
    settings = read_settings(GumbelConfig, Path(tiny), [opponents])
    network, games = BoardNetwork(make("othello"), {"hidden": [16]}), None
    weights = {name: x.numpy() for name, x in network.state_dict().items()}
    for _ in range(2):
        one, again = (Round(settings.model_dump_json(), 0, weights, games).run() for _ in range(2))
        games = one.games
        assert same(one._replace(seconds=0), again._replace(seconds=0))
        assert 0 < one.seconds + again.seconds < time.process_time()


def test_ctrl_c_reaches_the_learner_alone_which_goes_on_bit_for_bit(
    tiny: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a terminal sends it, to all processes; and one worker plays as none does."""
    words, step = [tiny, "--set", "steps=384"], GumbelRun._step
    assert main([*words, "--set", "name=none"]) == 0
    words += ["--set", "search.workers=1"]
    capfd.readouterr()

    def step_and_ctrl_c(run: GumbelRun) -> None:
        step(run)
        if run.steps == 256:
            os.killpg(0, signal.SIGINT)

    def train() -> None:
        os.setsid()
        monkeypatch.setattr(GumbelRun, "_step", step_and_ctrl_c)
        sys.exit(main(words))

    learner = multiprocessing.get_context("fork").Process(target=train)
    learner.start()
    learner.join()
    said = "".join(capfd.readouterr())
    assert learner.exitcode == 130, said
    assert "died" not in said
    assert main([*words, "--resume"]) == 0
    assert same(result(Path("runs/tiny")), result(Path("runs/none")))
    assert not multiprocessing.active_children()
    with Path("runs/tiny/evaluations.csv").open() as file:
        assert float(list(csv.DictReader(file))[-1]["cpu_minutes"]) > 0


def test_a_worker_that_keeps_dying_ends_the_run_with_the_reason(
    tiny: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("sitecustomize.py").write_text(DYING)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([".", os.environ.get("PYTHONPATH", "")]))
    assert main([tiny, "--set", "search.workers=1"]) == 2
    said = capsys.readouterr()
    assert said.out.count("a worker died, by signal 9 (SIGKILL): its work is repeated") == 1
    assert "a worker process died before it played, by signal 9 (SIGKILL)" in said.err


def kept(game: Game, policy: Any, state: State) -> float:
    """The share of positions in which the policy's move keeps what best play gives."""
    from negamax import lead_with_best_play as leads

    actions = policy.evaluate(game, state)[0].argmax(axis=1)
    after = game.positions(game.step(state, actions))
    pairs = zip(game.positions(state), after, strict=True)
    return float(np.mean([-leads(game, q) == leads(game, p) for p, q in pairs]))


def test_it_learns_a_small_game_from_scratch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = GumbelConfig.model_validate(
        {
            **TINY,
            "name": "tiny",
            "game": "three_in_a_row:ThreeInARow",
            "self_play": {"boards": 32, "opening_plies": [0, 4]},
            "search": {"simulations": 9, "considered": 9, "full_share": 1, "c_scale": 0.2},
            "network": {"hidden": [64]},
            "learning": {
                "replay": 3000, "batch_size": 128, "reuse": 8,
                "learning_rate": 8e-3, "search_value": 0.5,
            },
            "steps": 3000,
        }
    )  # fmt: skip
    game = ThreeInARow()
    state = random_openings(game, 300, (0, 5), np.random.default_rng(5))
    monkeypatch.setattr(LearningSettings, "PLIES_PER_UPDATE", 4)
    monkeypatch.setattr(LearningSettings, "AVERAGE", 0.95)
    run, steps, rates = GumbelRun(settings, tmp_path), 0.0, []
    before = kept(game, run._policy(), state)
    while run.steps < settings.steps:
        metrics = run._update()
        steps += metrics["train/gradient_steps"]
        rates.append(metrics["train/learning_rate"])
    assert before < 0.65
    assert kept(game, run._policy(), state) > 0.72
    assert steps == pytest.approx(8 * run.steps / 128, abs=8)
    assert rates == sorted(rates, reverse=True)
    assert rates[-1] == pytest.approx(5e-5)
