"""Training with RLlib: settings, a run and its resume on another cluster, runners that fail."""

from __future__ import annotations

import json
import os
import signal
import time
from functools import partial
from typing import Any

import numpy as np
import pytest
import yaml

pytest.importorskip("ray.rllib", reason="RLlib is not installed here: make rllib")

import torch as th
from ray.rllib.algorithms.algorithm import Algorithm
from ray.rllib.core.columns import Columns
from rich.console import Console

import boardenvs
from boardenvs.agents.policy import Policy
from boardenvs.agents.policy_file import load_policy, save_policy
from boardenvs.envs.batch import BoardGroup
from boardenvs.envs.rllib.league import League
from boardenvs.envs.rllib.ppo import BoardPPOConfig, NoRunnersError
from boardenvs.envs.rllib.vector import ACTION_MASK, OBSERVATIONS
from boardenvs.game.openings import random_openings
from training.folder import resume_from
from training.rllib.__main__ import main
from training.rllib.algorithm import league_of, running
from training.rllib.cluster import joined
from training.rllib.run import RLlibRun
from training.rllib.settings import RLlibSettings
from training.settings import ConfigError, read_settings

th.set_num_threads(1)

SETTINGS: dict[str, Any] = {
    "game": "othello",
    "steps": 6000,
    "checkpoint_every": 2000,
    "precision": "float32",
    "self_play": {
        "boards": 32,
        "opponents": {"greedy": 0.25},
        "pool": {"share": 0.25, "every": 2000, "at_once": 2, "size": 3},
    },
    "ppo": {
        "hidden": [16],
        "steps_per_update": 16,
        "batch_size": 128,
        "final_learning_rate": 1e-4,
        "entropy_bonus": 0.05,
        "final_entropy_bonus": 0.01,
    },
    "cluster": {"runners": 2},
    "evaluation": {"every": 3000, "opponents": ["random"], "pairs": 4},
    "report": {"opponents": ["random"], "pairs": 4},
}
UPDATE = 2 * 32 * 16


def write(folder, **changes):
    path = folder / "small.yaml"
    path.write_text(yaml.safe_dump({**SETTINGS, **changes}))
    return path


def read(folder, *overrides, **changes):
    return read_settings(RLlibSettings, write(folder, **changes), overrides)


# ---- settings --------------------------------------------------------------------------------


def test_gamma_of_minus_one_is_refused_with_the_reason(tmp_path) -> None:
    """Wherever it is said."""
    with pytest.raises(ConfigError, match=r"not given.*counts with -1 already"):
        read(tmp_path, rllib={"gamma": -1})
    with pytest.raises(ConfigError, match=r"not given.*counts with -1 already"):
        read(tmp_path, "rllib.gamma=-1.0")
    config = BoardPPOConfig()
    with pytest.raises(ValueError, match="counts with -1 already"):
        config.training(gamma=-1.0)
    config.gamma = -1.0
    with pytest.raises(ValueError, match="counts with -1 already"):
        config.build_algo()
    with pytest.raises(ValueError, match=r"gamma is -0.5: it must be above 0"):
        BoardPPOConfig().training(gamma=-0.5)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rllib": {"num_env_runners": 3}}, "num_env_runners is set by cluster.runners"),
        (
            {"rllib": {"sample_timeout": 3}},
            "setting of RLlib 'sample_timeout'. Did you mean 'sample_timeout_s'",
        ),
        ({"device": "cuda"}, "cluster.gpus_per_learner"),
        ({"cluster": {"runners": -1}}, "cluster.runners"),
        ({"cluster": {"runners": 1, "learners": 8}}, "for each of 8 learners"),
        ({"ppo": {"target_kl": 0.1}}, "ppo.target_kl"),
    ],
)
def test_wrong_settings_are_told(tmp_path, changes, message) -> None:
    with pytest.raises(ConfigError, match=message):
        read(tmp_path, **changes)


def test_settings_of_rllib_go_through(tmp_path) -> None:
    assert read(tmp_path, rllib={"sample_timeout_s": 30}).rllib == {"sample_timeout_s": 30}


def test_the_configurations_are_right() -> None:
    from pathlib import Path

    paths = sorted(Path("configs/rllib").glob("*.yaml"))
    assert paths
    for path in paths:
        read_settings(RLlibSettings, path)


def test_an_address_where_nothing_is_is_told_at_once(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    path = str(write(tmp_path))
    assert main([path, "--address", "127.0.0.1:1"]) == 2
    assert "nothing listens at 127.0.0.1:1" in capsys.readouterr().err


# ---- runs ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A folder with a run that has ended, and the exit code."""
    folder = tmp_path_factory.mktemp("rllib")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        code = main([str(write(folder))])
    return folder, code


def test_a_run_has_the_files_and_figures_of_every_run(run) -> None:
    folder, code = run
    assert code == 0
    files = {path.name for path in (folder / "runs/small").iterdir()}
    assert files == {
        "config.yaml", "result.json", "report.md", "report.html", "metrics.csv", "policy.npz",
        "learning_curve.png", "ratings.png", "metrics.png", "checkpoints", "pool", "tensorboard",
    }  # fmt: skip
    metrics = np.genfromtxt(folder / "runs/small/metrics.csv", delimiter=",", names=True)
    assert metrics["steps"].tolist() == list(range(UPDATE, 6000 + UPDATE, UPDATE))
    # Schedules end where they should; each step is learnt from in two epochs.
    assert metrics["trainlearning_rate"][-1] == pytest.approx(1e-4, rel=1e-3)
    assert metrics["trainentropy_bonus"][-1] == pytest.approx(0.01, rel=1e-3)
    assert (metrics["trainepochs"] == 2).all()
    assert (np.diff(metrics["trainentropy_bonus"]) < 0).all()
    result = json.loads((folder / "runs/small/result.json").read_text())
    assert "ray" in result["made_with"]
    # Those of the runners too, which alone have imported torch and Ray by then.
    assert result["cpu_minutes"] > result["minutes"] / 10


def test_a_resumed_run_on_another_cluster_has_pool_counters_and_best_policy(run, capsys) -> None:
    """And goes on where a runner is killed, and says so at once where all are."""
    folder, _ = run
    config = read(folder, "steps=100000")
    best = load_policy(folder / "runs/small/policy.npz")
    console = Console(quiet=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        home = folder / "runs/small"
        with joined(config, None), running(config, home) as algorithm:
            training = RLlibRun(config, home, algorithm)
            assert resume_from(home, config, training.load, console)
            _is_as_it_was(training, algorithm, best)
            algorithm.train()
            assert algorithm.steps == 6 * UPDATE + UPDATE
            assert algorithm.iteration == 7
            _goes_on_without_a_runner(algorithm)
            for pid in _pids(algorithm):
                os.kill(pid, signal.SIGKILL)
            with pytest.raises(NoRunnersError, match="no env runner has played"):
                _train_thrice(algorithm)  # an update may have been sampled before


def _is_as_it_was(training, algorithm, best) -> None:
    assert algorithm.steps == 6 * UPDATE
    assert [r.steps for r in training.history.results] == [0, 3 * UPDATE, 6 * UPDATE]
    assert len(training.history.metrics) == 6
    assert training.history.best.steps == best.notes["steps"]
    training.write_best()
    again = load_policy(training.folder / "policy.npz")
    for (weights, _), (expected, _) in zip(again.hidden, best.hidden, strict=True):
        assert (weights == expected).all()
    assert len(league_of(algorithm).pool) == 3
    assert league_of(algorithm).problems == []
    assert _opponents(algorithm) == ["GreedyAgent", "PolicyAgent", "PolicyAgent"] * 2


def _goes_on_without_a_runner(algorithm) -> None:
    os.kill(_pids(algorithm)[0], signal.SIGKILL)
    steps, group, healthy = algorithm.steps, algorithm.env_runner_group, []
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        algorithm.train()
        assert algorithm.steps > steps
        steps = algorithm.steps
        healthy.append(group.num_healthy_remote_env_runners())
        if healthy[-1] == 2 and 1 in healthy:
            break
    assert healthy[-1] == 2
    algorithm.train()
    # The one that is new has the pool's opponents, and the learner's weights.
    assert _opponents(algorithm) == ["GreedyAgent", "PolicyAgent", "PolicyAgent"] * 2
    one, other = group.foreach_env_runner(
        lambda runner: runner.module.get_state(), local_env_runner=False
    )
    assert all((one[name] == other[name]).all() for name in one)


def _train_thrice(algorithm) -> None:
    for _ in range(3):
        algorithm.train()


def _pids(algorithm):
    return algorithm.env_runner_group.foreach_env_runner(
        lambda runner: os.getpid(), local_env_runner=False
    )


def _opponents(algorithm):
    found = algorithm.env_runner_group.foreach_env_runner(
        lambda runner: [
            type(opponent).__name__ for opponent in runner.env.boards.opponents if opponent
        ],
        local_env_runner=False,
    )
    return [name for names in found for name in names]


def test_rllibs_own_checkpoint_has_the_pool_too(tmp_path) -> None:
    """A pool in a callback's memory is lost there."""
    config = read(tmp_path, cluster={"runners": 0})
    with joined(config, None):
        rllib = (
            BoardPPOConfig()
            .boards("othello", [BoardGroup(16), *[BoardGroup(4, "random", name="pool")] * 2])
            .network((16,))
            .training(minibatch_size=64, train_batch_size_per_learner=24 * 32, num_epochs=1)
            .callbacks(partial(League, folder=tmp_path / "pool", every=1000))
            .debugging(seed=0)
        )
        algorithm = rllib.build_algo()
        for _ in range(4):
            algorithm.train()
        names = sorted(path.name for path in (tmp_path / "pool").iterdir())
        assert len(names) == 4  # after the first update, and where 1000, 2000 and 3000 were passed
        state = tmp_path / "state"
        algorithm.save_to_path(state)
        algorithm.train()  # what is added after the checkpoint is not of the run that is restored
        algorithm.train()
        algorithm.stop()
        assert len(list((tmp_path / "pool").iterdir())) > 4
        restored = Algorithm.from_checkpoint(state)
        assert restored.steps == 4 * 24 * 32
        assert len(league_of(restored).pool) == 4
        played = [type(opponent).__name__ for opponent in restored.env_runner.env.boards.opponents]
        assert played == ["NoneType", "PolicyAgent", "PolicyAgent"]
        _plays_the_same(restored)
        restored.stop()


def test_a_run_begins_as_the_policy_that_it_is_told(tmp_path) -> None:
    """The learner, and who plays."""
    game = boardenvs.games.make("othello")
    policy = _small_policy(game)
    save_policy(policy, tmp_path / "small.npz", stored="float32")
    ppo = {**SETTINGS["ppo"], "hidden": [20]}
    start = str(tmp_path / "small.npz")
    config = read(tmp_path, cluster={"runners": 1}, start=start, ppo=ppo)
    state = random_openings(game, 50, (0, 40), np.random.default_rng(0))
    expected = policy.evaluate(game, state)
    with joined(config, None), running(config, tmp_path) as algorithm:
        found = algorithm.env_runner_group.foreach_env_runner(
            lambda runner: runner.module.network.as_policy(game), local_env_runner=False
        )
        for begun in (algorithm.as_policy(), *found):
            chances, values = begun.evaluate(game, state)
            assert chances == pytest.approx(expected[0], abs=1e-5)
            assert values == pytest.approx(expected[1], abs=1e-5)


def _small_policy(game) -> Policy:
    rng = np.random.default_rng(3)
    inputs = int(np.prod(game.observation_shape))

    def layer(inputs: int, outputs: int):
        return rng.normal(0, 0.3, (inputs, outputs)).astype(np.float32), np.zeros(outputs, "f4")

    return Policy(game, (layer(inputs, 20),), layer(20, game.num_actions), layer(20, 1))


def _plays_the_same(algorithm) -> None:
    """The policy without torch as the network that was trained."""
    game = boardenvs.games.make("othello")
    state = random_openings(game, 200, (0, 40), np.random.default_rng(0))
    seen = {
        OBSERVATIONS: th.from_numpy(game.observe(state)),
        ACTION_MASK: th.from_numpy(game.legal(state).view(np.int8)),
    }
    module = algorithm.get_module()
    with th.no_grad():
        found = module.forward_inference({Columns.OBS: seen})
        values = module.compute_values({Columns.OBS: seen}).numpy()
    chances, judged = algorithm.as_policy().evaluate(game, state)
    expected = th.softmax(found[Columns.ACTION_DIST_INPUTS], dim=1).numpy()
    assert chances == pytest.approx(expected, abs=1e-5)
    assert judged == pytest.approx(np.clip(values, -1, 1), abs=1e-5)


def test_several_learners_learn_as_one(tmp_path) -> None:
    """Each has its share of the steps, and all have the same weights after an update."""
    config = read(
        tmp_path, cluster={"runners": 1, "learners": 2}, evaluation={"opponents": ["random"]}
    )
    with joined(config, None), running(config, tmp_path) as algorithm:
        learnt = algorithm.train()["learners"]["default_policy"]
        # All of 512 steps, in minibatches of 128, two times.
        assert learnt["minibatches"] == 8
        weights = algorithm.learner_group.foreach_learner(
            lambda learner: learner.module["default_policy"].unwrapped().get_state()
        )
        one, other = (found.get() for found in weights)
        assert all((one[name] == other[name]).all() for name in one)
        assert algorithm.steps == 32 * 16
