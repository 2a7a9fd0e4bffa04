"""Networks that begin as a policy that was trained before."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from boardenvs.agents.export import policy_from_sb3
from boardenvs.agents.policy import Policy
from boardenvs.agents.policy_file import load_policy
from boardenvs.agents.trained import trained_policy
from boardenvs.agents.trunk import begin_from
from boardenvs.game.openings import random_openings
from boardenvs.games import make
from training.config import Config
from training.gumbel.network import NetworkEvaluator, PolicyValueNetwork
from training.gumbel.settings import GumbelConfig
from training.model import make_env, make_model
from training.ppo import main
from training.start import widened

TINY = """
game: othello
steps: 64
self_play: {boards: 4}
ppo: {hidden: [24, 20], steps_per_update: 16, batch_size: 64}
evaluation: {opponents: [random], pairs: 4}
report: {opponents: [random], pairs: 4}
"""


@pytest.mark.parametrize("name", ["othello", "lines_of_action"])
def test_a_wider_policy_gives_nearly_the_same_with_all_units_at_work(name: str) -> None:
    game, rng = make(name), np.random.default_rng(0)
    policy, state = trained_policy(game), random_openings(game, 60, (4, 20), rng)
    expected = policy.evaluate(game, state)
    widths = tuple(len(biases) for _, biases in policy.hidden)
    for more, tolerance in ((0, 0), (100, 0.1)):
        hidden = tuple(width + more for width in widths)
        wide = widened(policy, hidden, rng)
        for found, known in zip(wide.evaluate(game, state), expected, strict=True):
            np.testing.assert_allclose(found, known, atol=tolerance)
        weights = wide.hidden[-1][0]
        assert len(np.unique(weights.round(6), axis=1).T) == hidden[-1]


def _settings(policy: Policy) -> dict[str, Any]:
    return {
        "name": "x", "game": policy.game.id, "steps": 1, "start": "trained",
        "self_play": {"boards": 32},
    }  # fmt: skip


def _of_gumbel(policy: Policy) -> Policy:
    hidden = [len(biases) for _, biases in policy.hidden]
    config = GumbelConfig.model_validate(_settings(policy) | {"learning": {"hidden": hidden}})
    network = PolicyValueNetwork(policy.game, config.hidden, "float32")
    start = config.start_policy()
    assert start is not None
    begin_from(start, network.trunk, network.policy_head, network.value_head)
    judged = NetworkEvaluator(network)
    state = random_openings(policy.game, 20, (4, 20), np.random.default_rng(1))
    exported = network.as_policy({})
    for found, known in zip(
        judged.evaluate(policy.game, state), exported.evaluate(policy.game, state), strict=True
    ):
        np.testing.assert_allclose(found, known, atol=1e-5)
    return exported


def _of_ppo(policy: Policy) -> Policy:
    hidden = [len(biases) for _, biases in policy.hidden]
    config = Config.model_validate(_settings(policy) | {"ppo": {"hidden": hidden}})
    env = make_env(config)
    model = make_model(config, env)
    env.close()
    return policy_from_sb3(model, policy.game)


@pytest.mark.parametrize("trained_by", [_of_gumbel, _of_ppo])
@pytest.mark.parametrize("name", ["othello", "lines_of_action", "wolf_and_sheep"])
def test_trainings_begin_as_the_policy_that_they_are_told(
    name: str, trained_by: Callable[[Policy], Policy]
) -> None:
    policy = trained_policy(make(name))
    begun = trained_by(policy)
    state = random_openings(policy.game, 60, (4, 20), np.random.default_rng(0))
    for found, known in zip(
        begun.evaluate(policy.game, state), policy.evaluate(policy.game, state), strict=True
    ):
        np.testing.assert_allclose(found, known, atol=1e-5)


def test_a_training_goes_on_from_the_policy_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is evaluated before the first step is the policy that it starts from."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("training.report.metrics_over_steps", lambda *_: b"")
    Path("tiny.yaml").write_text(TINY)
    assert main(["tiny.yaml"]) == 0
    rate = ["ppo.learning_rate=1e-30", "ppo.final_learning_rate=1e-30"]  # it learns nothing
    more = ["name=more", "start=runs/tiny/policy.npz", *rate]
    assert main(["tiny.yaml", *(x for change in more for x in ("--set", change))]) == 0
    old, new = (load_policy(Path("runs") / name / "policy.npz") for name in ("tiny", "more"))
    for (weights, biases), (others, other_biases) in zip(
        [*old.hidden, old.policy_head, old.value_head],
        [*new.hidden, new.policy_head, new.value_head],
        strict=True,
    ):
        np.testing.assert_allclose(weights, others, atol=1e-3)
        np.testing.assert_allclose(biases, other_biases, atol=1e-3)
    capsys.readouterr()
    assert main(["tiny.yaml", "--set", "start=runs/tiny/policy.npz", "--set", "name=other",
                 "--set", "ppo.hidden=[24, 16]"]) == 2  # fmt: skip
    message = " ".join(capsys.readouterr().err.split())
    assert "as many layers as ppo.hidden, (24, 16), none of them wider" in message
