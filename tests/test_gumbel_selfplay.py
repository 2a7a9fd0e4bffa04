"""Self-play by Gumbel search: who plays which ply and how, and what is learnt of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("pydantic")

import torch as th
from same import same
from variants import make

from boardenvs.game.contract import Game
from boardenvs.game.state import BoolArray, FloatArray, IntArray, State, concat, put, take
from boardenvs.search.gumbel import GumbelSettings, gumbel_search
from training.gumbel.games import SelfPlay
from training.gumbel.network import NetworkLearner, PolicyValueNetwork
from training.gumbel.replay import ReplayBatch, ReplayBuffer
from training.gumbel.run import GumbelRun
from training.gumbel.settings import GumbelConfig

BOARDS = 12
NEVER = 1e-9  # a share of the plies that none of those played here is in

th.set_num_threads(1)
pytestmark = pytest.mark.usefixtures("in_python")


class First:
    """Likes the first legal action a little more than the others, and sees a number in a position
    that stands for its worth.
    """

    def evaluate(self, game: Game, state: State) -> tuple[FloatArray, FloatArray]:
        likes = game.legal(state) * 1.0
        likes[np.arange(len(likes)), likes.argmax(axis=1)] += 0.1
        x = (state.own * np.uint64(7) ^ state.opp * np.uint64(13)) % np.uint64(101)
        return likes / likes.sum(axis=1, keepdims=True), x / 50.0 - 1


def begun(search: dict[str, Any], **self_play: Any) -> tuple[SelfPlay, ReplayBuffer]:
    """Games that begin from the start, if nothing else is said."""
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
    game = settings.make_game()
    replay = ReplayBuffer(game, 4096, search_value=1.0, symmetries=False)
    return SelfPlay(settings, game, replay), replay


def seen(play: SelfPlay, plies: int) -> Iterator[tuple[State, State]]:
    """The boards before and after each of so many plies."""
    for _ in range(plies):
        before = take(play._state, slice(None))
        play.play(First(), 1)
        yield before, play._state


def first_played(game: Game, before: State, after: State) -> BoolArray:
    """On which boards the first legal action was played."""
    expected = game.step(before, game.legal(before).argmax(axis=1))
    found: BoolArray = (expected.own == after.own) & (expected.opp == after.opp)
    return found


# ---- playout caps and noise ----------------------------------------------------------------------


def test_plies_searched_in_full_are_played_with_noise_and_learnt() -> None:
    play, replay = begun({"simulations": 4, "considered": 4, "full_share": 1})
    play.play(First(), 6)
    assert len(np.unique(play._state.own)) > BOARDS // 2
    assert replay._has_policy[: replay.added].all()
    assert replay._policy[: replay.added].astype(float).sum(axis=1) == pytest.approx(1, abs=0.01)


def test_other_plies_are_played_after_a_quick_search_without_noise() -> None:
    """So boards that begin alike go alike, and nothing but values is learnt of them."""
    search = {"simulations": 30, "considered": 4, "full_share": NEVER, "quick_simulations": 3}
    play, replay = begun(search)
    quick = GumbelSettings(3, 4, c_scale=0.5)
    differs = 0
    for before, after in seen(play, 12):
        noise = np.zeros((BOARDS, play.game.num_actions))
        found = gumbel_search(play.game, before, noise, quick, First())
        expected = play.game.step(before, found.actions)
        np.testing.assert_array_equal(after.own, expected.own)
        values = replay._value[replay.added - BOARDS : replay.added]
        np.testing.assert_allclose(values, found.values, atol=1e-6)
        differs += not first_played(play.game, before, after)[0]
    assert differs
    assert len(np.unique(play._state.own)) == 1
    assert not replay._has_policy.any()


def test_or_as_the_network_plays_by_itself() -> None:
    play, replay = begun({"full_share": NEVER, "quick_simulations": 0})
    for before, after in seen(play, 12):
        assert first_played(play.game, before, after).all()
        values = replay._value[replay.added - BOARDS : replay.added]
        np.testing.assert_allclose(values, First().evaluate(play.game, before)[1], atol=1e-6)
    assert not replay._has_policy.any()


def test_a_share_of_the_plies_is_searched_in_full() -> None:
    play, replay = begun({"simulations": 2, "full_share": 0.2}, opening_plies=[10, 30])
    play.play(First(), 40)
    share = replay._has_policy[: replay.added].mean()
    assert abs(share - 0.2) < 4 * np.sqrt(0.2 * 0.8 / replay.added)


# ---- roles ---------------------------------------------------------------------------------------


def test_one_role_plays_what_the_network_plays_by_itself() -> None:
    """In all games here, also where each ply is searched and learnt; and, where the other role is
    an opponent's, it is the learner's.
    """
    search = {"simulations": 4, "considered": 4, "full_share": 1, "alone_share": 1}
    play, replay = begun(search, opponents={"greedy": 0.25})
    plies = list(seen(play, 16))
    first = np.array([first_played(play.game, *ply) for ply in plies])  # (plies, boards)
    role = plies[0][0].to_move[0]
    alone = np.array([first[k::2].all(axis=0) for k in range(2)])
    assert (alone.sum(axis=0) == 1).all()
    assert replay._has_policy[: replay.added].all()
    learnt = [set(replay._state.to_move[replay._game_number == k].tolist()) for k in range(BOARDS)]
    assert [len(roles) for roles in learnt] == [2] * 9 + [1] * 3
    for board in range(9, BOARDS):
        assert learnt[board] == {role ^ int(alone[1, board])}
    assert 0 < alone[0, :9].sum() < 9


def test_an_opponent_plays_its_role_and_its_scores_are_told() -> None:
    """Nothing is learnt of its plies; and it beats who plays the first legal action."""
    play, replay = begun({"full_share": NEVER}, opponents={"positional": 0.5}, opening_plies=[2, 9])
    its = 0
    for before, after in seen(play, 150):
        same_game = after.ply == before.ply + 1
        its += int((~first_played(play.game, before, after) & same_game).sum())
    assert its > 200
    assert replay.added <= 150 * BOARDS * 0.78
    numbers = np.unique(replay._game_number[replay._game_number >= 0])
    roles = [len(set(replay._state.to_move[replay._game_number == k].tolist())) for k in numbers]
    assert set(roles) == {1, 2}
    metrics = play.take_metrics()
    assert metrics["games/positional"] < 0.3
    assert 40 < metrics["games/plies"] < 64
    assert np.isnan(play.take_metrics()["games/positional"])


# ---- what is kept --------------------------------------------------------------------------------


def positions(count: int) -> tuple[Game, State]:
    game = make("othello")
    state = concat([game.init(1)] * count)
    put(state, np.arange(count), state._replace(own=np.arange(count, dtype=np.uint64)))
    return game, state


def test_values_are_mixed_of_the_search_and_the_result() -> None:
    game, state = positions(2)
    state = state._replace(to_move=np.array([0, 1], np.int8))
    replay = ReplayBuffer(game, 2, search_value=0.25, symmetries=False)
    none = np.zeros((2, game.num_actions))
    replay.add(state, none, np.ones(2, bool), np.array([0.4, 0.4]), np.zeros(2, int))
    replay.finish(np.arange(2), np.zeros(2, int), np.ones(2))
    assert replay._value == pytest.approx([0.25 * 0.4 + 0.75, 0.25 * 0.4 - 0.75])


def test_the_latest_positions_are_kept_and_wait_for_their_own_game() -> None:
    game, state = positions(6)
    replay = ReplayBuffer(game, 4, search_value=0.0, symmetries=False)

    def add(rows: IntArray, number: int) -> None:
        none, count = np.zeros((len(rows), game.num_actions)), len(rows)
        full, values = np.ones(count, bool), np.zeros(count)
        replay.add(take(state, rows), none, full, values, np.full(count, number))

    add(np.arange(4), 0)
    add(np.arange(4, 6), 1)  # in the place of the two oldest
    replay.finish(np.arange(4), np.zeros(4, int), np.ones(4))
    drawn = replay.sample(200, np.random.default_rng(0))
    assert set(drawn.state.own.tolist()) == {2, 3}
    assert (replay.ready, replay.added) == (2, 6)
    replay.finish(np.arange(2), np.ones(2, int), -np.ones(2))
    drawn = replay.sample(200, np.random.default_rng(0))
    assert {(int(p), float(v)) for p, v in zip(drawn.state.own, drawn.value, strict=True)} == {
        (2, 1.0), (3, 1.0), (4, -1.0), (5, -1.0),
    }  # fmt: skip
    add(np.arange(2), 2)
    assert replay.ready == 2


# ---- what is learnt ------------------------------------------------------------------------------


def learner(decay: float = 0.0) -> NetworkLearner:
    th.manual_seed(0)
    game, _ = positions(1)
    return NetworkLearner(PolicyValueNetwork(game, (16,), "float32"), decay, 0.0)


def batch_of(value: float, policy_of: int) -> ReplayBatch:
    """Four positions, of which the first two have a policy."""
    game, _ = positions(1)
    legal = game.start().legal_actions()
    policy = np.zeros((4, game.num_actions), np.float16)
    policy[:2, legal[0]] = 1
    policy[2:, legal[policy_of]] = 1
    has = np.array([True, True, False, False])
    state = concat([game.init(1)] * 4)
    return ReplayBatch(state, policy, has, np.full(4, value, np.float32))


def weights(network: th.nn.Module) -> list[th.Tensor]:
    return [x.detach().clone() for x in network.parameters()]


def test_policies_are_learnt_of_plies_that_were_searched_in_full() -> None:
    """Of four equal moves: the loss is that of the first two positions, whatever the others say."""
    found = []
    for other in (1, 2):
        one = learner()
        losses = one.learn(batch_of(0.5, other), 1e-2, 1.0).tolist()
        found.append(weights(one.network))
        assert losses[0] == pytest.approx(np.log(4), abs=0.1)
        assert losses[1] == pytest.approx(0.25, abs=0.1)
        assert losses[2] == pytest.approx(np.log(4), abs=0.01)
    assert same(*found)


def test_values_are_learnt_with_their_weight_and_the_rate() -> None:
    one, other, still = learner(), learner(), learner()
    before = weights(still.network)
    one.learn(batch_of(0.5, 1), 1e-2, 1.0)
    other.learn(batch_of(0.5, 1), 1e-2, 0.0)
    still.learn(batch_of(0.5, 1), 0.0, 1.0)
    assert same(weights(still.network), before)
    assert same(weights(other.network.value_head), weights(still.network.value_head))
    assert not same(weights(one.network.value_head), weights(still.network.value_head))


def test_the_average_of_the_latest_weights_plays() -> None:
    one = learner(decay=0.75)
    expected = weights(one.network)
    for _ in range(3):
        one.learn(batch_of(0.5, 1), 1e-2, 1.0)
        latest = weights(one.network)
        expected = [0.75 * a + 0.25 * b for a, b in zip(expected, latest, strict=True)]
    for found, wanted in zip(weights(one.player), expected, strict=True):
        th.testing.assert_close(found, wanted)
    assert not same(weights(one.player), weights(one.network))


def test_each_position_is_learnt_from_so_often_and_in_smaller_steps(tmp_path: Any) -> None:
    settings = GumbelConfig.model_validate(
        {
            "name": "tiny",
            "game": "three_in_a_row:ThreeInARow",
            "steps": 600,
            "self_play": {"boards": 16, "opening_plies": [0, 2]},
            "search": {"simulations": 2, "considered": 2},
            "learning": {
                "hidden": [8], "plies_per_update": 8, "replay": 1024, "batch_size": 32, "reuse": 3,
                "learning_rate": 1e-3, "final_learning_rate": 1e-4,
            },
            "evaluation": {"opponents": ["random"]},
            "report": {"opponents": ["random"]},
        }
    )  # fmt: skip
    run, steps, rates = GumbelRun(settings, tmp_path), 0.0, []
    while run.steps < settings.steps:
        metrics = run._update()
        steps += metrics["train/gradient_steps"]
        rates.append(metrics["train/learning_rate"])
    assert steps == pytest.approx(3 * run.steps / 32, abs=1)
    assert rates == sorted(rates, reverse=True)
    assert rates[0] < 1e-3
    assert rates[-1] == pytest.approx(1e-4)
