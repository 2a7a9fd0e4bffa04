"""Environments for RLlib against Gymnasium's, and its weights as a policy, without Ray."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch as th

import boardenvs
from boardenvs.envs.rllib import MaskedVectorEnv, masked, policy_from_rllib, set_opponent

CAPPED = "wolf_and_sheep:rules=described,max_plies=9"


def planes_first(planes: Any) -> Any:
    return np.moveaxis(planes, -1, -3)


@pytest.mark.parametrize(("game", "opponent"), [("tictactoe", None), (CAPPED, "greedy")])
def test_the_masked_environment_is_vec_env_with_masks_in_what_it_shows(game, opponent) -> None:
    options = {"opponent": opponent, "opening_plies": (0, 3)}
    ours = MaskedVectorEnv({"game": game, "num_envs": 4, **options})
    other = boardenvs.vec_env(game, 4, autoreset_mode="NextStep", **options)
    observed, infos = ours.reset(seed=3)
    expected: Any
    expected, expected_infos = other.reset(seed=3)
    rng = np.random.default_rng(0)
    ended = 0
    for _ in range(30):
        assert infos == {}
        assert ours.observation_space.contains(observed)
        assert (observed["observations"] == planes_first(expected).reshape(4, -1)).all()
        mask, legal = observed["action_mask"], expected_infos["action_mask"]
        going = legal.any(axis=1)
        assert (mask[going] == legal[going]).all()
        # A network must choose something when a game is over, too: noop, which is ignored.
        assert (mask[~going] == np.eye(ours.game.num_actions)[ours.game.noop]).all()
        ended += (~going).sum()
        actions = (rng.random(mask.shape) * mask).argmax(axis=1)
        observed, *stepped, infos = ours.step(actions)
        expected, *expected_step, expected_infos = other.step(actions)
        for found, wanted in zip(stepped, expected_step, strict=True):
            assert (found == wanted).all()
    assert ended


def test_a_seat_plays_against_random_by_default() -> None:
    """As all of Gymnasium's environments that are made by an id."""
    boards: Any = MaskedVectorEnv({"game": "othello", "num_envs": 2}).unwrapped
    assert not boards.batch.self_play.any()


def test_unknown_settings_are_named() -> None:
    with pytest.raises(TypeError, match="hole"):
        MaskedVectorEnv({"game": "othello", "hole": 1})


def test_a_policy_has_the_weights_of_a_module_by_their_names() -> None:
    """Two hidden layers that policy and value share, as torch computes them."""
    game, rng = boardenvs.games.make("tictactoe"), np.random.default_rng(0)
    weights, sizes = (
        {},
        {"encoder.0": (16, 18), "encoder.2": (8, 16), "vf.0": (1, 8), "pi.0": (10, 8)},
    )
    for name, size in sizes.items():
        weights[f"{name}.weight"] = rng.normal(size=size).astype(np.float32)
        weights[f"{name}.bias"] = rng.normal(size=size[0]).astype(np.float32)
    policy = policy_from_rllib(weights, game, {"by": "me"})
    state = game.init(9)
    for _ in range(3):
        state = game.step(state, game.sample(state, rng))
    shown = masked(game.observe(state), game.legal(state))

    def layer(name: str, rows: th.Tensor) -> th.Tensor:
        own = (th.from_numpy(weights[f"{name}.{part}"]) for part in ("weight", "bias"))
        return th.nn.functional.linear(rows, *own)

    hidden = th.from_numpy(shown["observations"])
    for name in ("encoder.0", "encoder.2"):
        hidden = layer(name, hidden).relu()
    legal = th.from_numpy(shown["action_mask"]) > 0
    chances = layer("pi.0", hidden).masked_fill(~legal, -th.inf).softmax(1)
    probabilities, values = policy.evaluate(game, state)
    np.testing.assert_allclose(chances, probabilities, atol=1e-5)
    np.testing.assert_allclose(layer("vf.0", hidden)[:, 0].clip(-1, 1), values, atol=1e-5)
    assert dict(policy.notes) == {"by": "me"}


def test_an_opponent_is_replaced_in_all_runners_that_have_boards() -> None:
    boards: Any = MaskedVectorEnv({"game": "tictactoe", "num_envs": 2})
    runners = [SimpleNamespace(env=boards), SimpleNamespace(env=None)]
    group = SimpleNamespace(foreach_env_runner=lambda place: [*map(place, runners)])
    set_opponent(SimpleNamespace(env_runner_group=group), "greedy")
    assert boards.unwrapped.batch._groups[0].opponent == boardenvs.make_agent("greedy")
