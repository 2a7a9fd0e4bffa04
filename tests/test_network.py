"""The network that learns: what it computes, what it begins as, and how it leaves torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch as th
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.distributions import MaskableCategoricalDistribution
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.vec_env import VecNormalize
from three_in_a_row import ThreeInARow
from variants import GAMES

from boardenvs import games
from boardenvs.agents.export import policy_from_sb3
from boardenvs.agents.network import NEVER, BoardNetwork, draw, flat_planes
from boardenvs.agents.policy import Policy
from boardenvs.agents.policy_file import PolicyFileError, load_policy, save_policy
from boardenvs.agents.trained import trained_policy
from boardenvs.envs.sb3 import BoardVecEnv
from boardenvs.game.openings import random_openings
from boardenvs.games import make
from boardenvs.kernel import spread
from training.gumbel.__main__ import GumbelRun
from training.gumbel.gumbel_settings import GumbelConfig
from training.gumbel.network import NetworkEvaluator
from training.ppo import make_env, make_learner
from training.run_settings import PPOConfig

th.set_num_threads(1)

SIZES: list[dict[str, Any]] = [{"hidden": [64, 48]}, {"channels": 16, "blocks": 2}]


def shaken(network: th.nn.Module) -> None:
    """Weights far from those that training begins with, which give nearly the same everywhere."""
    with th.no_grad():
        for values in network.parameters():
            values.copy_(th.randn(values.shape, generator=th.Generator().manual_seed(1)) * 0.2)


# ---- what it computes ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("game_id", "size"),
    [*product([*GAMES, "hex"], SIZES), *product(["connect_four", "chess", "go"], SIZES[1:])],
)
def test_numpy_and_torch_agree(
    game_id: str, size: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a network that takes over a policy is what the policy was made of, to the bit."""
    monkeypatch.setattr("boardenvs.agents.network._MOST_PLIES", 60)  # which show the flat planes
    game = make(game_id)
    network, other = BoardNetwork(game, size), BoardNetwork(game, size)
    shaken(network)
    policy = network.as_policy(game, {"steps": 1})
    assert policy.notes == {"steps": 1}
    other.take(policy)
    for mine, theirs in zip(network.parameters(), other.parameters(), strict=True):
        assert th.equal(mine, theirs)
    state = random_openings(game, 16, (0, 8), np.random.default_rng(0))
    legal = game.legal(state)
    with th.no_grad():
        planes = th.as_tensor(game.observe_planes(state))
        logits, values = network(planes, th.as_tensor(legal))
    found, worth = policy.forward(game.observe(state))
    scale = logits.numpy()[legal].std()
    assert scale > 0.1
    np.testing.assert_allclose(found[legal], logits.numpy()[legal], atol=1e-5 * scale)
    np.testing.assert_allclose(worth, values.numpy(), atol=1e-4)
    assert (logits.numpy()[~legal] == NEVER).all()


def config(**changes: Any) -> PPOConfig:
    return PPOConfig.model_validate({"name": "x", "game": "othello", "steps": 1, **changes})


@pytest.mark.parametrize("masked", [True, False])
def test_sb3_learns_what_its_own_masked_distribution_gives(
    monkeypatch: pytest.MonkeyPatch, masked: bool
) -> None:
    settings = config(network={"hidden": [32]}, self_play={"boards": 32})
    monkeypatch.setattr("training.ppo.find_precision", lambda _: "float32")
    env = make_env(settings)
    policy = make_learner(settings, env).policy
    shaken(policy)
    game = env.game
    state = random_openings(game, 200, (0, 40), np.random.default_rng(0))
    observation, legal = th.as_tensor(game.observe(state)), game.legal(state)
    actions = th.as_tensor(legal.argmax(axis=1))

    def ours() -> Sequence[th.Tensor]:
        masks = th.as_tensor(legal).float() if masked else None
        found: Sequence[th.Tensor] = policy.evaluate_actions(observation, actions, masks)
        return found

    def theirs() -> Sequence[th.Tensor]:
        everything = th.ones(len(legal), game.num_actions, dtype=th.bool)
        logits, values = policy.network(observation.permute(0, 3, 1, 2), everything)
        distribution = MaskableCategoricalDistribution(game.num_actions)
        distribution.proba_distribution(logits)
        if masked:
            distribution.apply_masking(legal[None])
        return values, distribution.log_prob(actions), distribution.entropy()

    results = []
    for learn in (ours, theirs):
        values, log_prob, entropy = learn()
        loss = log_prob.sum() + 3 * entropy.sum() + values.sum()
        (gradient,) = th.autograd.grad(loss, policy.network.layers["policy"].weight)
        results.append([values.flatten(), log_prob, entropy, gradient])
    tolerances = 1e-3, 1e-3, 1e-3, 1e-2
    for found, expected, tolerance in zip(*results, tolerances, strict=True):
        th.testing.assert_close(found, expected, atol=tolerance, rtol=tolerance)
    chosen, _ = policy.predict(game.observe(state), action_masks=legal, deterministic=True)
    best = policy.as_policy(game).evaluate(game, state)[0].argmax(axis=1)
    np.testing.assert_array_equal(chosen, best)


def test_trainers_and_their_policies_see_the_board_as_the_mover(tmp_path: Path) -> None:
    """What the network of PPO chooses on its boards is what the exported policy plays on them, and
    what search asks is what its policy knows; the start of a training must see the same.
    """
    settings = config(
        game="boardenvs_breakthrough:Breakthrough",
        network={"hidden": [32]},
        self_play={"boards": 64, "opening_plies": [1, 20]},
    )
    env = make_env(settings)
    learner, game = make_learner(settings, env), env.game
    shaken(learner.policy)
    env.reset()
    snapshot = env.snapshot()
    snapshot["symmetries"][:] = 0
    observation, state = env.restore(snapshot), env.state
    chosen, _ = learner.predict(observation, action_masks=env.action_masks(), deterministic=True)
    assert env.boards.symmetries is not None
    meant = env.boards.symmetries.meant(state, chosen)
    policy = policy_from_sb3(learner, game)
    expected = policy.evaluate(game, state)[0].argmax(axis=1)
    sides = [np.mean((meant == expected)[state.to_move == role]) for role in (0, 1)]
    assert min(sides) > 0.9  # in bfloat16 two may be equal
    search = GumbelConfig.model_validate(
        {**settings.model_dump(include={"name", "game", "steps"}), "learning": {"replay": 2**16}}
    )
    run = GumbelRun(search, tmp_path)
    shaken(run.learner.player)
    expected, found = (
        x.evaluate(game, state)[0] for x in (run._policy(), NetworkEvaluator(run.learner.player))
    )
    found = found * game.legal(state)
    found /= found.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found, expected, atol=0.02)
    save_policy(replace(policy, mover_view=False), tmp_path / "plain.npz")
    with pytest.raises(ValueError, match=r"mover_view.: False.: network is .*mover_view.: True"):
        config(game=settings.game, network={"hidden": [32]}, start=str(tmp_path / "plain.npz"))


def test_draws_are_by_probability_and_never_of_what_has_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    generator = th.Generator().manual_seed(0)
    legal = th.rand(3, 65, generator=generator) < 0.1
    legal[:, 5] = True
    logits = (3 * th.randn(3, 65, generator=generator)).masked_fill(~legal, -1e8)
    probabilities = th.softmax(logits, dim=1)
    drawn = draw(probabilities.repeat(20_000, 1), generator).reshape(20_000, 3)
    for row in range(3):
        shares = np.bincount(drawn[:, row], minlength=65) / 20_000
        assert (shares[~legal[row].numpy()] == 0).all()
        assert np.abs(shares - probabilities[row].numpy()).max() < 0.015
    for number in (0.0, 1 - 2**-24):  # the least and the largest that `rand` may give
        monkeypatch.setattr(th, "rand", lambda *size, number=number, **_: th.full(size, number))
        assert legal[th.arange(3), draw(probabilities)].all()


# ---- what it begins as ---------------------------------------------------------------------------


def test_untrained_weights_are_as_large_as_signals_need() -> None:
    """He's for ReLU in towers, smaller where a network is to begin even; or orthogonal ones."""
    th.manual_seed(0)
    game = make("othello")
    tower = BoardNetwork(game, {"channels": 64, "blocks": 2})
    found = {}
    for name, layer in tower.layers.items():
        weights = layer.weight.detach()[-8 if name == "maps" else 0 :]
        found[name] = float(weights.std() * (weights[0].numel() / 2) ** 0.5)
        assert not layer.bias.any()
    expected = dict.fromkeys(found, 1.0) | dict.fromkeys(
        ("second_0", "second_1", "pool_1", "policy", "value"), 0.1
    )
    assert found == pytest.approx(expected, rel=0.2)
    assert tower.layers["maps"].weight[:-8].std() < 0.2 * tower.layers["maps"].weight[-8:].std()
    flat = BoardNetwork(game, {"hidden": [32]})
    flat.begin_orthogonal()
    for name, gain in (("0", 2**0.5), ("policy", 0.01), ("value", 1.0)):
        weights = flat.layers[name].weight.detach().numpy()
        weights = weights if len(weights) <= weights.shape[1] else weights.T
        np.testing.assert_allclose(weights @ weights.T, gain**2 * np.eye(len(weights)), atol=1e-4)


def _by_ppo(settings: dict[str, Any], network: dict[str, Any]) -> Policy:
    ppo = PPOConfig.model_validate({**settings, "network": network})
    return policy_from_sb3(make_learner(ppo, make_env(ppo)), ppo.make_game())


def _by_gumbel(settings: dict[str, Any], network: dict[str, Any]) -> Policy:
    config = GumbelConfig.model_validate({**settings, "network": network})
    return GumbelRun(config, Path("none"))._policy()


@pytest.mark.parametrize("name", ["othello", "lines_of_action", "wolf_and_sheep", "chess"])
def test_trainings_begin_as_the_policy_that_they_are_given(name: str, tmp_path: Path) -> None:
    """By its name or in a file."""
    game, start = make(name), "trained"
    if name == "chess":
        policy = BoardNetwork(game, SIZES[1]).as_policy(game, mover_view=True)
    else:
        policy = trained_policy(game)
    if name in ("othello", "chess"):
        start = str(tmp_path / "policy.npz")
        save_policy(policy, start)
        policy = load_policy(start)
    settings = {"name": "x", "game": name, "steps": 1, "self_play": {"boards": 32}, "start": start}
    size = policy.network.size
    network = {name: size[name] for name in ("hidden", "channels", "blocks") if name in size}
    state = random_openings(policy.game, 20, (4, 8), np.random.default_rng(0))
    for training in (_by_ppo, _by_gumbel)[: 1 + (name == "wolf_and_sheep")]:
        begun = training(settings, network)
        results = [x.evaluate(policy.game, state) for x in (begun, policy)]
        for found, known in zip(*results, strict=True):
            np.testing.assert_allclose(found, known, atol=1e-5)


def test_planes_are_flat_that_random_play_has_shown_so() -> None:
    class Unseen(ThreeInARow):
        def planes(self, own: Any, opp: Any, to_move: Any) -> Any:
            return own, opp, spread(to_move), own & opp

    assert flat_planes(Unseen()) == (2,)


def test_a_start_with_other_planes_is_refused_with_the_game_that_it_plays(tmp_path: Path) -> None:
    long, path = "lines_of_action:max_steps=200", tmp_path / "long.npz"
    save_policy(BoardNetwork(make(long), SIZES[1]).as_policy(make(long), mover_view=True), path)
    config = {"name": "x", "steps": 1, "network": SIZES[1], "start": str(path)}
    for settings in (GumbelConfig, PPOConfig):
        settings.model_validate({**config, "game": long})
        with pytest.raises(ValueError, match=f"{long}: game must be that"):
            settings.model_validate({**config, "game": "lines_of_action"})


# ---- models of anyone's --------------------------------------------------------------------------

MODELS: dict[str, tuple[Any, dict[str, Any]]] = {
    "as sb3 makes them": (PPO, {}),
    "of different depths": (
        MaskablePPO,
        {"net_arch": {"pi": [40], "vf": [32, 24, 8]}, "activation_fn": th.nn.ReLU},
    ),
    "with layers for the value alone": (
        MaskablePPO,
        {"net_arch": {"pi": [], "vf": [24, 8]}, "activation_fn": th.nn.ReLU},
    ),
}


@pytest.mark.parametrize("shape", MODELS)
def test_models_of_stable_baselines_leave_torch_too(tmp_path: Path, shape: str) -> None:
    game = games.make("othello_holes")  # with a plane that is the same on all boards
    env = BoardVecEnv(game, 4, seed=1)
    algorithm, layers = MODELS[shape]
    model = algorithm("MlpPolicy", env, gamma=-1.0, policy_kwargs=layers, seed=3)
    shaken(model.policy)
    policy = policy_from_sb3(model, game, {"by": "me"})
    with pytest.raises(ValueError, match="has no mover_symmetry"):
        policy_from_sb3(model, game, mover_view=True)
    state = random_openings(game, 200, (0, 40), np.random.default_rng(0))
    observation = th.as_tensor(game.observe(state).copy())
    with th.no_grad():
        expected = model.policy.get_distribution(observation).distribution.logits.numpy()
        values = model.policy.predict_values(observation).flatten().numpy()
    logits, found = policy.forward(game.observe(state))
    logits = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    assert np.abs(logits - expected).max() < 1e-3
    assert np.abs(found - values).max() < 1e-3
    assert np.ptp(found) > 0.1  # no constant, which would agree by itself
    save_policy(policy, str(tmp_path / "mine.npz"))
    again = load_policy(tmp_path / "mine.npz")
    assert (again.network.size, again.notes) == (policy.network.size, {"by": "me"})


def test_what_cannot_be_exported_says_why(tmp_path: Path) -> None:
    game = games.make("othello")
    env = BoardVecEnv(game, 4, seed=1)
    with pytest.raises(TypeError, match="DQN has no mlp_extractor: it must be an algorithm of"):
        policy_from_sb3(DQN("MlpPolicy", env, buffer_size=10), game)
    shape = {"net_arch": {"pi": [8], "vf": [8, 8]}}
    with pytest.raises(ValueError, match="have 1 and 2 layers with tanh: with it they"):
        policy_from_sb3(MaskablePPO("MlpPolicy", env, policy_kwargs=shape), game)
    with pytest.raises(
        ValueError, match="the model has 192 inputs: an observation of othello has 128"
    ):
        policy_from_sb3(MaskablePPO("MlpPolicy", BoardVecEnv(games.make("othello_holes"), 4)), game)
    with pytest.raises(ValueError, match="learnt behind VecNormalize, which a policy does not"):
        policy_from_sb3(MaskablePPO("MlpPolicy", VecNormalize(env)), game)
    path = tmp_path / "model.zip"
    MaskablePPO("MlpPolicy", env).save(path)
    with pytest.raises(PolicyFileError, match="is a model of Stable-Baselines3: load it and write"):
        load_policy(path)
