"""Networks of RLlib, and search on Ray; its environments are in test_rllib_boards.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

pytest.importorskip("ray.rllib", reason="RLlib is not installed here: make rllib")

import ray
import torch as th
import yaml
from ray.cluster_utils import Cluster
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from same import same
from test_gumbel_training import TINY

import boardenvs
from boardenvs.agents.policy import PolicyAgent
from boardenvs.envs.rllib import MaskedVectorEnv, masked, policy_from_rllib, set_opponent
from training.folder import load_newest
from training.gumbel.__main__ import GumbelRun, main as gumbel


def test_a_policy_computes_what_rllibs_network_does_and_opponents_are_replaced() -> None:
    game, rng = boardenvs.games.make("othello"), np.random.default_rng(0)
    network = {"fcnet_hiddens": [16, 8], "fcnet_activation": "relu", "vf_share_layers": True}
    config = (
        PPOConfig()
        .environment(MaskedVectorEnv, env_config={"game": game})
        .env_runners(
            num_env_runners=0,
            num_envs_per_env_runner=32,
            gym_env_vectorize_mode=gym.VectorizeMode.VECTOR_ENTRY_POINT,
        )
        .rl_module(rl_module_spec=RLModuleSpec(ActionMaskingTorchRLModule, model_config=network))
    )
    ray.init("local", include_dashboard=False)
    try:
        algorithm, state = config.build_algo(), game.init(50)
        weights = algorithm.learner_group.get_weights()["default_policy"]
        policy = policy_from_rllib(weights, game, {"by": "me"})
        for _ in range(9):
            state = game.step(state, game.sample(state, rng))
        rows = masked(game.observe(state), game.legal(state))
        module = algorithm.learner_group._learner.module["default_policy"].unwrapped()
        batches = [{Columns.OBS: {k: th.from_numpy(x) for k, x in rows.items()}} for _ in range(2)]
        with th.no_grad():
            logits = module.forward_exploration(batches[0])[Columns.ACTION_DIST_INPUTS]
            judged = module.compute_values(batches[1])
        probabilities, values = policy.evaluate(game, state)
        np.testing.assert_allclose(th.softmax(logits, 1), probabilities, atol=1e-5)
        np.testing.assert_allclose(judged.clip(-1, 1), values, atol=1e-5)
        opponent = PolicyAgent(policy, sample=True)
        set_opponent(algorithm, opponent)
        (group,) = algorithm.env_runner.env.unwrapped.batch._groups
        assert group.opponent is opponent
        algorithm.stop()
    finally:
        ray.shutdown()


def test_search_plays_on_two_nodes_of_which_one_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends with the weights that processes lead to. A node plays one round at a time."""
    monkeypatch.chdir(tmp_path)
    Path("tiny.yaml").write_text(yaml.safe_dump(TINY))
    words = ["tiny.yaml", "--set", "search.workers=2"]
    assert gumbel([*words, "--set", "name=processes"]) == 0
    cluster, learn = Cluster(), GumbelRun._learn
    nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]

    def learn_and_kill(run: GumbelRun) -> dict[str, float]:
        if run.steps == 128:
            cluster.remove_node(nodes[1], allow_graceful=False)
        return learn(run)

    monkeypatch.setattr(GumbelRun, "_learn", learn_and_kill)
    monkeypatch.setenv("RAY_ADDRESS", cluster.address)
    try:
        assert gumbel([*words, "--set", "name=ray", "--set", "search.workers_on=ray"]) == 0
    finally:
        ray.shutdown()
        cluster.shutdown()
    found: list[Any] = [
        load_newest(Path("runs", name, "checkpoints"))[0] for name in ("processes", "ray")
    ]
    parts = [[content[x] for x in ("steps", "learner", "round")] for content in found]
    assert same(*parts)
