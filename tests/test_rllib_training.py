"""Training with RLlib: settings, a run and its resume on another cluster, runners that fail."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

pytest.importorskip("ray.rllib", reason="RLlib is not installed here: make rllib")

import torch as th
from ray.rllib.algorithms.algorithm import Algorithm
from rich.console import Console

from boardenvs.agents.policy import Policy
from boardenvs.agents.policy_file import load_policy
from boardenvs.envs.batch import BoardGroup
from boardenvs.envs.rllib.ppo import BoardPPOConfig, NoRunnersError
from boardenvs.utils.files import written
from training.command import read_settings
from training.folder import WRITTEN
from training.rllib.__main__ import RLlibRun, main, running
from training.rllib.cluster import joined
from training.rllib.settings import RLlibSettings
from training.run_settings import ConfigError

th.set_num_threads(1)

SETTINGS: dict[str, Any] = {
    "game": "othello",
    "steps": 6000,
    "checkpoint_every": 2000,
    "self_play": {
        "boards": 64,
        "opponents": {"greedy": 0.25},
        "pool": {"share": 0.25, "every": 2000},
    },
    "ppo": {
        "hidden": [16],
        "steps_per_update": 16,
        "batch_size": 128,
        "final_learning_rate": 1e-4,
        "entropy_bonus": 0.05,
        "final_entropy_bonus": 0.01,
    },
    "cluster": {"runners": 1},
    "evaluation": {"every": 3000, "opponents": ["random"], "pairs": 4},
    "report": {"opponents": ["random"], "pairs": 4},
}
UPDATE = 64 * 16


def write(folder, **changes):
    path = folder / "small.yaml"
    path.write_text(yaml.safe_dump({**SETTINGS, **changes}))
    return path


def read(folder, *overrides, **changes):
    return read_settings(RLlibSettings, write(folder, **changes), overrides)


# ---- settings --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rllib": {"gamma": -1}}, "not given.*counts with -1 already"),
        ({"rllib": {"num_env_runners": 3}}, "num_env_runners is set by cluster.runners"),
        (
            {"rllib": {"sample_timeout": 3}},
            "setting of RLlib 'sample_timeout'. Did you mean 'sample_timeout_s'",
        ),
        ({"device": "cuda"}, "cluster.gpus_per_learner"),
        ({"cluster": {"runners": -1}}, "cluster.runners"),
        ({"cluster": {"runners": 1, "learners": 9}}, "for each of 9 learners"),
    ],
)
def test_wrong_settings_are_told(tmp_path, changes, message) -> None:
    with pytest.raises(ConfigError, match=message):
        read(tmp_path, **changes)


@pytest.mark.parametrize(
    ("gamma", "message"), [(-1.0, "counts with -1 already"), (-0.5, "it must be above 0")]
)
def test_negative_gamma_is_refused_with_the_reason(gamma, message) -> None:
    with pytest.raises(ValueError, match=message):
        BoardPPOConfig().training(gamma=gamma).build_algo()


def test_right_settings_are_read(tmp_path) -> None:
    assert read(tmp_path, rllib={"sample_timeout_s": 30}).rllib == {"sample_timeout_s": 30}
    for path in Path("configs/rllib").glob("*.yaml"):
        assert read_settings(RLlibSettings, path).game


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("127.0.0.1:1", "nothing listens at 127.0.0.1:1"),
        ("ray://127.0.0.1:10001", "through Ray Client (ray://) the learner would not be"),
    ],
)
def test_an_address_that_does_not_do_is_named_at_once(
    tmp_path, monkeypatch, capsys, address, message
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([str(write(tmp_path)), "--address", address]) == 2
    assert message in " ".join(capsys.readouterr().err.split())


# ---- runs ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A folder with a run that has ended."""
    folder = tmp_path_factory.mktemp("rllib")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        began = time.process_time()
        assert main([str(write(folder))]) == 0
        (folder / "cpu_here").write_text(str(time.process_time() - began))
    return folder


@pytest.fixture(scope="module")
def cluster(run, tmp_path_factory):
    """One Ray for the other tests, begun when the run's own has ended."""
    largest = {"runners": 1, "learners": 2}
    with joined(read(tmp_path_factory.mktemp("cluster"), cluster=largest), None):
        yield


def test_a_run_has_the_files_and_metrics_of_every_run(run) -> None:
    home = run / "runs/small"
    assert set(home.rglob("*.*")) == set(written(home, WRITTEN))
    metrics = np.genfromtxt(home / "metrics.csv", delimiter=",", names=True)
    assert metrics["steps"].tolist() == list(range(UPDATE, 6000 + UPDATE, UPDATE))
    # Schedules end where they should; each step is learnt from in two epochs.
    assert metrics["trainlearning_rate"][-1] == pytest.approx(1e-4, rel=1e-3)
    assert metrics["trainentropy_bonus"][-1] == pytest.approx(0.01, rel=1e-3)
    assert (metrics["trainepochs"] == 2).all()
    assert (np.diff(metrics["trainentropy_bonus"]) < 0).all()
    result = json.loads((home / "result.json").read_text())
    assert "ray" in result["made_with"]
    # Those of the runner too, which alone has imported torch and Ray in that time.
    assert 60 * result["cpu_minutes"] > float((run / "cpu_here").read_text())


def test_a_resumed_run_on_other_runners_has_pool_counters_and_best_policy(run, cluster) -> None:
    """And goes on where a runner is killed, and says so at once where all are."""
    config = read(run, "steps=100000", "cluster.runners=2")
    home = run / "runs/small"
    best = load_policy(home / "policy.npz")
    with running(config, home) as algorithm:
        training = RLlibRun(config, home, algorithm)
        training.resume(Console(quiet=True))
        assert algorithm.steps == 6 * UPDATE
        assert [r.steps for r in training.results] == [UPDATE, 3 * UPDATE, 6 * UPDATE]
        assert len(training.metrics) == 6
        assert training.best.steps == best.notes["steps"]
        # A file has 16 bits a weight.
        assert weights(training._best) == pytest.approx(weights(best), abs=1e-3)
        assert algorithm.pool is not None
        assert len(algorithm.pool) == 4
        assert algorithm.problems == []
        assert _opponents(algorithm) == ["GreedyAgent", *["PolicyAgent"] * 4] * 2
        algorithm.train()
        assert (algorithm.steps, algorithm.iteration) == (8 * UPDATE, 7)
        _goes_on_without_a_runner(algorithm)
        for pid in _pids(algorithm):
            os.kill(pid, signal.SIGKILL)
        with pytest.raises(NoRunnersError, match="no env runner has played"):
            _train(algorithm, 3)  # an update may have been sampled before


def _train(algorithm, times) -> None:
    for _ in range(times):
        algorithm.train()


def _goes_on_without_a_runner(algorithm) -> None:
    os.kill(_pids(algorithm)[0], signal.SIGKILL)
    steps, group, healthy = algorithm.steps, algorithm.env_runner_group, [2]
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline and (healthy[-1] != 2 or 1 not in healthy):
        algorithm.train()
        assert algorithm.steps > steps
        steps = algorithm.steps
        healthy.append(group.num_healthy_remote_env_runners())
    assert healthy[-1] == 2
    algorithm.train()
    # The one that is new has the pool's opponents, and the learner's weights.
    assert _opponents(algorithm) == ["GreedyAgent", *["PolicyAgent"] * 4] * 2
    one, other = _of_runners(algorithm, lambda runner: runner.module.get_state())
    assert all((one[name] == other[name]).all() for name in one)


def _of_runners(algorithm, ask):
    return algorithm.env_runner_group.foreach_env_runner(ask, local_env_runner=False)


def _pids(algorithm):
    return _of_runners(algorithm, lambda runner: os.getpid())


def _opponents(algorithm):
    def names(runner):
        return [type(opponent).__name__ for opponent in runner.env.opponents if opponent]

    return [name for found in _of_runners(algorithm, names) for name in found]


def test_rllibs_own_checkpoint_has_the_pool_too(cluster, tmp_path) -> None:
    """A pool in memory is lost there."""
    algorithm = (
        BoardPPOConfig()
        .boards("othello", [BoardGroup(16), *[BoardGroup(4, "random", name="pool")] * 2])
        .network((16,))
        .training(minibatch_size=64, train_batch_size_per_learner=24 * 32, num_epochs=1)
        .league(tmp_path / "pool", every=1000)
        .debugging(seed=0)
        .build_algo()
    )
    _train(algorithm, 4)
    assert (
        len(list((tmp_path / "pool").iterdir())) == 4
    )  # after the first update, and where 1000, 2000 and 3000 were passed
    algorithm.save_to_path(tmp_path / "state")
    saved = algorithm.as_policy()
    _train(algorithm, 2)  # what is added after the checkpoint is not of the run that is restored
    algorithm.stop()
    assert len(list((tmp_path / "pool").iterdir())) > 4
    restored = Algorithm.from_checkpoint(tmp_path / "state")
    assert restored.steps == 4 * 24 * 32
    assert len(restored.pool) == 4
    played = [type(opponent).__name__ for opponent in restored.env_runner.env.opponents]
    assert played == ["NoneType", "PolicyAgent", "PolicyAgent"]
    assert (weights(restored.as_policy()) == weights(saved)).all()
    # The policy without torch plays as the network that was trained.
    runner = restored.env_runner
    logits, values = runner._evaluate(runner.env.seen_by_network())
    game, seen = runner.env.game, runner.env.seen
    probabilities, found = saved.evaluate(game, seen)
    assert probabilities == pytest.approx(th.softmax(logits, dim=1).numpy(), abs=1e-5)
    assert found == pytest.approx(np.clip(values, -1, 1), abs=1e-5)
    restored.stop()


def test_several_learners_begin_as_the_policy_of_the_settings_and_learn_as_one(
    run, cluster, tmp_path
) -> None:
    """And so do who plays; each learner has its share of the steps."""
    start = run / "runs/small/policy.npz"
    config = read(tmp_path, cluster={"runners": 1, "learners": 2}, start=str(start))
    with running(config, tmp_path) as algorithm:
        game = algorithm.config.env_config["game"]
        (plays,) = _of_runners(algorithm, lambda runner: runner.module.network.as_policy(game))
        for begun in (algorithm.as_policy(), plays):
            assert weights(begun) == pytest.approx(weights(load_policy(start)), abs=1e-3)
        learnt = algorithm.train()["learners"]["default_policy"]
        # All of 1024 steps, in minibatches of 128, two times.
        assert learnt["minibatches"] == 16
        one, other = algorithm.learner_group.foreach_learner(
            lambda learner: learner.module["default_policy"].unwrapped().get_state()
        )
        assert all((one.get()[name] == other.get()[name]).all() for name in one.get())
        assert algorithm.steps == UPDATE


def weights(policy: Policy) -> Any:
    return np.concatenate([x.ravel() for layer in policy.layers for x in layer])
