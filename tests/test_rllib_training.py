"""Environments for RLlib against Gymnasium's and the rules, and the training by RLlib's own PPO."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("ray.rllib", reason="RLlib is not installed here: make rllib")

import torch as th
from ray.rllib.core.columns import Columns

import boardenvs
from boardenvs.agents.policy import PolicyAgent
from boardenvs.agents.policy_file import load_policy
from boardenvs.envs.rllib import BoardMultiAgentEnv, MaskedVectorEnv, masked
from training.rllib.__main__ import RllibSettings, built, main, policy_of, ray_for, set_opponent

CAPPED = "wolf_and_sheep:rules=described,max_plies=9"
SMALL = [
    *("--boards", "32", "--steps-per-update", "16", "--batch-size", "256", "--hidden", "64"),
    *("--evaluate-every", "30000", "--pairs", "50", "--runners", "2"),
]


def planes_first(planes: Any) -> Any:
    return np.moveaxis(planes, -1, -3)


# ---- environments --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("game", "opponent"), [("othello", None), ("lines_of_action", None), (CAPPED, "greedy")]
)
def test_the_masked_environment_is_vec_env_with_masks_in_what_it_shows(game, opponent) -> None:
    options = {"opponent": opponent, "opening_plies": (0, 5)}
    ours = MaskedVectorEnv({"game": game, "num_envs": 8, **options})
    other = boardenvs.vec_env(game, 8, autoreset_mode="NextStep", **options)
    observed, infos = ours.reset(seed=3)
    expected: Any
    expected, expected_infos = other.reset(seed=3)
    rng = np.random.default_rng(0)
    ended = 0
    for _ in range(130):
        assert infos == {}
        assert ours.observation_space.contains(observed)
        assert (observed["observations"] == planes_first(expected).reshape(8, -1)).all()
        mask, legal = observed["action_mask"], expected_infos["action_mask"]
        going = legal.any(axis=1)
        assert (mask[going] == legal[going]).all()
        # A network must choose something when a game is over, too: noop, which is ignored.
        assert (mask[~going].nonzero()[1] == ours.game.noop).all()
        ended += (~going).sum()
        actions = (rng.random(mask.shape) * mask).argmax(axis=1)
        observed, *stepped, infos = ours.step(actions)
        expected, *expected_step, expected_infos = other.step(actions)
        for found, wanted in zip(stepped, expected_step, strict=True):
            assert (found == wanted).all()
    assert ended or game == "lines_of_action"


def test_a_seat_plays_against_random_by_default() -> None:
    """As all of Gymnasium's environments that are made by an id."""
    boards: Any = MaskedVectorEnv({"game": "othello", "num_envs": 2}).unwrapped
    assert not boards.batch.self_play.any()


def test_two_agents_play_by_the_rules() -> None:
    """To the end and to the cap on plies; an illegal action loses."""
    for number in range(6):
        game = ("othello", CAPPED)[number % 2]
        ours, other = BoardMultiAgentEnv({"game": game}), boardenvs.env(game, reward="zero_sum")
        rng, roles = np.random.default_rng(number), other.possible_agents
        other.reset()
        observed, _ = ours.reset()
        ended = False
        while not ended:
            mover = other.position.to_move
            seen = observed.pop(mover)
            assert not observed
            assert ours.observation_spaces[mover].contains(seen)
            expected = other.observe(roles[mover])
            assert (seen["observations"] == planes_first(expected["observation"]).ravel()).all()
            assert (seen["action_mask"] == expected["action_mask"]).all()
            actions = np.flatnonzero(seen["action_mask"] == (number < 4 or rng.random() < 0.9))
            action = int(rng.choice(actions))
            other.step(action)
            observed, rewards, terminated, truncated, _ = ours.step({mover: action})
            assert rewards == {i: other.rewards[role] for i, role in enumerate(roles)}
            assert terminated["__all__"] == any(other.terminations.values())
            assert truncated["__all__"] == any(other.truncations.values())
            ended = terminated["__all__"] or truncated["__all__"]
        assert observed == {}


def test_unknown_settings_are_named() -> None:
    for kind in (MaskedVectorEnv, BoardMultiAgentEnv):
        with pytest.raises(TypeError, match="hole"):
            kind({"game": "othello", "hole": 1})


# ---- training ------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_policy_computes_what_rllibs_network_does_and_opponents_are_replaced() -> None:
    game, rng = boardenvs.games.make("othello"), np.random.default_rng(0)
    settings = RllibSettings(boards=8, steps_per_update=4, batch_size=8, runners=0, hidden=(16, 8))
    with ray_for(settings), built(settings) as algorithm:
        policy, state = policy_of(algorithm), game.init(50)
        for _ in range(9):
            state = game.step(state, game.sample(state, rng))
        seen = masked(game.observe(state), game.legal(state))
        module = algorithm.learner_group._learner.module["default_policy"].unwrapped()
        batches = [{Columns.OBS: {k: th.from_numpy(x) for k, x in seen.items()}} for _ in range(2)]
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


def test_a_run_with_two_env_runners_learns_is_resumed_and_writes_what_can_be_played(
    capsys: pytest.CaptureFixture[str],
) -> None:
    main([*SMALL, "--steps", "30000"])
    with pytest.raises(SystemExit):
        main(SMALL)
    assert "runs/rllib has a run: add --resume" in capsys.readouterr().err
    settings = Path("runs/rllib/settings.json")
    settings.write_text(settings.read_text().replace('"steps": 30000', '"steps": 60000'))
    metrics = Path("runs/rllib/metrics.json")
    (row,) = json.loads(metrics.read_text())
    metrics.write_text(json.dumps([row, row | {"steps": 60_000}]))  # killed before the checkpoint
    with pytest.raises(SystemExit):
        main(["--resume"])
    assert "checkpoint, which can hold code" in capsys.readouterr().err
    main(["--resume", "--trust"])
    rows = json.loads(metrics.read_text())
    assert [row["steps"] // 10_000 for row in rows] == [3, 6]
    assert rows[-1]["score_random"] > 0.7
    assert len(list(Path("runs/rllib/pool").iterdir())) == 2
    assert load_policy("runs/rllib/policy.npz").notes["steps"] == rows[-1]["steps"]


def test_an_unknown_game_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--game", "otello"])
    assert "Did you mean 'othello'" in capsys.readouterr().err
    assert not Path("runs").exists()
