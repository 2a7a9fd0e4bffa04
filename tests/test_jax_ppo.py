"""`training.ppo_jax`: the signs of returns, the samples, and that it learns."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from jax_rules import jax, positions_of

import boardenvs
from boardenvs.agents.policy import PolicyAgent
from boardenvs.agents.policy_file import load_policy
from boardenvs.envs.sb3_buffer import advantages as in_numpy
from training import ppo_jax
from training.ppo_jax import Trainer, advantages, parse_args

jnp = jax.numpy
SMALL = [
    *("--game", "three_in_a_row:ThreeInARow", "--opening-plies", "0", "4", "--hidden", "16"),
    *("--boards", "64", "--steps-per-update", "16", "--batch-size", "256"),
    *("--steps", "4096", "--evaluate-every", "2048", "--pairs", "2"),
]
BREAKTHROUGH = [
    *("--game", "boardenvs_breakthrough:Breakthrough", "--hidden", "64", "64"),
    *("--opening-plies", "0", "30", "--entropy-bonus", "0.03", "--final-learning-rate", "2e-4"),
    *("--steps", "60000", "--evaluate-every", "60000"),
]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_advantages_are_those_of_numpy() -> None:
    """A value counts negatively where the other side moves next, and not at all after the end."""
    rng, steps = np.random.default_rng(0), 200
    over, values = rng.random((steps, 1)) < 0.1, rng.random((steps + 1, 1), np.float32)
    rewards = np.where(over, rng.integers(-1, 2, over.shape), 0).astype(np.float32)
    discounts = rng.choice(np.array([-1, 1], np.float32), over.shape)
    expected = in_numpy(rewards.astype(np.int8), over, values, discounts, 0.9)
    moves = values[:-1], rewards, np.where(over, 0, discounts)
    before, paid, factors = (jnp.asarray(x[:, 0]) for x in moves)
    found = advantages(before, paid, factors, jnp.asarray(values[-1, 0]), 0.9)
    np.testing.assert_allclose(found, expected[:, 0], atol=1e-5)


def test_a_game_in_plain_python_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse_args(["--game", "sowing:Sowing"])
    assert "is written in plain Python" in capsys.readouterr().err


def test_a_sample_is_what_was_seen_and_played() -> None:
    words = "--boards 16 --steps-per-update 1 --batch-size 16 --hidden 16"
    trainer = Trainer(parse_args(words.split()))
    game, state = trainer.env.game, trainer.begin()
    play = jax.jit(jax.vmap(trainer.play, in_axes=(None, 0, 0)))
    after, samples = play(state.network, state.games, jax.random.split(jax.random.key(1), 16))
    before = positions_of(game, state.games.board)
    assert len(set(before.ply.tolist())) > 5
    planes = np.moveaxis(game.observe(before), -1, 1).reshape(16, -1)
    np.testing.assert_array_equal(samples.planes[:, 0], planes)
    np.testing.assert_array_equal(samples.legal[:, 0], game.legal(before))
    expected = game.step(before, np.asarray(samples.actions)[:, 0])
    going = ~game.is_over(expected)
    np.testing.assert_array_equal(positions_of(game, after.board).own[going], expected.own[going])


def test_the_same_seed_gives_the_same_policy() -> None:
    for name in ("one", "other"):
        ppo_jax.main(parse_args([*SMALL, "--out", f"{name}.npz"]))
    one, other = (load_policy(f"{name}.npz") for name in ("one", "other"))
    assert one.notes == {"seed": 0, "steps": 4096}
    for name, layer in one.network.layers.items():
        for mine, theirs in zip(layer, other.network.layers[name], strict=True):
            np.testing.assert_array_equal(mine, theirs)


def test_a_game_of_another_package_is_learnt() -> None:
    ppo_jax.main(parse_args(BREAKTHROUGH))
    policy = load_policy("policy.npz")
    for opponent, least in (("random", 0.9), ("greedy", 0.8)):
        assert boardenvs.play_match(policy.game, PolicyAgent(policy), opponent, 100).score >= least


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--batch-size", "1000"], "--batch-size must divide --boards times --steps-per-update"),
        (["--boards", "0"], "--boards is 0: it must be 1 or more"),
        (["--game", "otello"], "Did you mean 'othello'"),
    ],
)
def test_wrong_settings_are_named(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        parse_args(words)
    assert message in capsys.readouterr().err
