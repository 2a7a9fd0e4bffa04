"""`training.ppo_jax`: the signs of returns and the samples; that it learns, and resumes exactly."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from jax_rules import jax, positions_of

from boardenvs.agents.policy_file import load_policy
from boardenvs.envs.sb3_buffer import advantages as in_numpy
from training import ppo_jax
from training.ppo_jax import JaxSettings, Trainer, advantages

jnp = jax.numpy
SMALL = [
    *("--game", "three_in_a_row:ThreeInARow", "--opening-plies", "0", "4", "--hidden", "16"),
    *("--boards", "64", "--steps-per-update", "16", "--batch-size", "256"),
]
BREAKTHROUGH = [
    *("--game", "boardenvs_breakthrough:Breakthrough", "--hidden", "64", "64"),
    *("--opening-plies", "0", "30", "--entropy-bonus", "0.03", "--final-learning-rate", "2e-4"),
    *("--steps", "60000", "--evaluate-every", "60000"),
]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def rows(name: str) -> list[dict[str, float]]:
    found: list[dict[str, float]] = json.loads(Path("runs", name, "metrics.json").read_text())
    return found


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


def test_a_sample_is_what_was_seen_and_played() -> None:
    trainer = Trainer(JaxSettings(boards=16, steps_per_update=1, batch_size=16, hidden=(16,)))
    game, state = trainer.env.game, jax.jit(trainer.begin)()
    play = jax.jit(jax.vmap(trainer.play, in_axes=(None, 0, 0)))
    after, samples = play(state.network, state.games, jax.random.split(jax.random.key(1), 16))
    before = positions_of(game, state.games.board)
    assert len(set(before.ply.tolist())) > 5
    seen = np.moveaxis(game.observe(before), -1, 1).reshape(16, -1)
    np.testing.assert_array_equal(samples.planes[:, 0], seen)
    np.testing.assert_array_equal(samples.legal[:, 0], game.legal(before))
    expected = game.step(before, np.asarray(samples.actions)[:, 0])
    going = ~game.is_over(expected)
    np.testing.assert_array_equal(positions_of(game, after.board).own[going], expected.own[going])


def test_a_run_that_is_interrupted_ends_as_one_that_is_not(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*SMALL, "--steps", "4096", "--evaluate-every", "2048", "--pairs", "2"]
    ppo_jax.main([*words, "--name", "whole"])
    write = ppo_jax.write_checkpoint
    calls: list[None] = []

    def interrupted(*arguments: object) -> None:
        write(*arguments)  # type: ignore[arg-type]
        calls.append(None)
        if len(calls) == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(ppo_jax, "write_checkpoint", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ppo_jax.main([*words, "--name", "parts"])
    kept = Path("runs/parts/checkpoint.npz")
    content = kept.read_bytes()
    other = Path("runs/whole/checkpoint.npz").read_bytes()
    for damaged, said in ((content[:-99], "not a checkpoint file"), (other, "other settings")):
        kept.write_bytes(damaged)
        with pytest.raises(SystemExit):
            ppo_jax.main(["--name", "parts", "--resume"])
        assert re.search(f"checkpoint.npz is .*{said}", capsys.readouterr().err)
    kept.write_bytes(content)
    ppo_jax.main(["--name", "parts", "--resume", "--trust"])
    assert [row["steps"] for row in rows("parts")] == [2048, 4096]
    whole, parts = (load_policy(f"runs/{name}/policy.npz") for name in ("whole", "parts"))
    for name, array in whole.arrays.items():
        np.testing.assert_array_equal(parts.arrays[name], array)


def test_a_game_of_another_package_is_learnt() -> None:
    ppo_jax.main([*BREAKTHROUGH, "--name", "breakthrough"])
    (row,) = rows("breakthrough")
    assert row["score_random"] >= 0.9
    assert row["score_greedy"] >= 0.8


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--batch-size", "1000"], "--batch-size is 1000: it must divide --boards times"),
        (["--boards", "0"], "--boards is 0: it must be 1 or more"),
        (["--game", "otello"], "Did you mean 'othello'"),
        (["--resume"], "unknown run to resume 'runs/jax'. Known: none."),
    ],
)
def test_wrong_settings_are_named(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        ppo_jax.main(words)
    assert message in capsys.readouterr().err
    assert not Path("runs").exists()
