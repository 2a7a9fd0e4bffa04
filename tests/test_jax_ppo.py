"""`training.jax_ppo`: returns, symmetries and openings; settings; that it resumes, and learns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import yaml
from jax_rules import jax

from boardenvs.agents.jax_ppo import advantages
from boardenvs.agents.policy import Policy
from boardenvs.agents.policy_file import load_policy
from boardenvs.game.jax_rules import positions_of
from boardenvs.games import make
from training import jax_ppo
from training.command import read_settings
from training.jax_boards import Boards
from training.jax_ppo import JaxConfig, Trainer
from training.settings import ConfigError

jnp = jax.numpy
ROOT = Path(__file__).parents[1]
TINY: dict[str, Any] = {
    "game": "othello",
    "steps": 4096,
    "checkpoint_every": 1,
    "self_play": {
        "boards": 32,
        "opening_plies": [0, 20],
        "opponents": {"random": 0.25},
        "pool": {"share": 0.25, "every": 1024, "size": 2, "at_once": 2},
    },
    "ppo": {"hidden": [16], "steps_per_update": 32, "batch_size": 256, "target_kl": 0.05},
    "evaluation": {"every": 2048, "pairs": 4, "opponents": ["greedy"]},
    "report": {"pairs": 6, "opponents": ["greedy"]},
}


def config(**changes: Any) -> JaxConfig:
    return JaxConfig.model_validate({"name": "tiny", **TINY, **changes})


@pytest.fixture(scope="module")
def trainer() -> Trainer:
    return Trainer(config())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.yaml").write_text(yaml.safe_dump(TINY))
    return tmp_path


# ---- boards --------------------------------------------------------------------------------------


def test_returns_are_results() -> None:
    """With values of 0 and nothing cut, the advantage of a step is what its game then brought who
    acted; in self-play that is the winner, seen from whose ply it was.
    """
    steps, signs = 40, np.repeat([-1, 1], 8)
    rng = np.random.default_rng(0)
    over = rng.random((steps, 16)) < 0.1
    rewards = np.where(over, rng.integers(-1, 2, over.shape), 0)
    expected = np.zeros((steps, 16))
    for t in reversed(range(steps)):
        later = expected[t + 1] if t + 1 < steps else 0
        expected[t] = np.where(over[t], rewards[t], signs * later)
    values = jnp.zeros((steps, 16))
    arrays: Any = map(jnp.asarray, (rewards, over, np.tile(signs, (steps, 1))))
    rewarded, ended, factors = arrays
    found: Any = advantages(rewarded, ended, values, values[0], factors, 1.0)
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_the_sign_of_the_next_state_is_the_boards(trainer: Trainer) -> None:
    boards = trainer.boards
    signs = np.asarray(begin(boards).discounts)
    kinds = {name: set(signs[boards.names == name].tolist()) for name in set(boards.names)}
    assert kinds == {"self-play": {-1.0}, "random": {1.0}, "pool": {1.0}}


class Begun(NamedTuple):
    """Openings, games that begin with them, what is seen, and all after the first legal action."""

    openings: Any
    games: Any
    seen: Any
    after: Any
    discounts: Any


def begin(boards: Boards) -> Begun:
    def run(key: Any) -> Begun:
        openings, _ = boards.openings(key, ())
        games = boards.begin(key, openings)
        seen = boards.view(games)
        after, result = boards.step(games, seen.legal.argmax(axis=1), key, openings, ())
        return Begun(openings, games, seen, after, result.discounts)

    found: Begun = jax.jit(run)(jax.random.key(0))
    return found


@pytest.fixture(scope="module")
def begun(trainer: Trainer) -> Begun:
    return begin(trainer.boards)


def test_games_are_seen_under_symmetries(trainer: Trainer, begun: Begun) -> None:
    """Planes and legal actions are those of the turned position, and actions are turned back."""
    game, size = trainer.boards.rules.game, trainer.boards.size
    chosen = np.asarray(begun.games.symmetry)
    assert len(set(chosen.tolist())) == len(game.symmetries)
    state = positions_of(begun.games.board)
    planes = np.asarray(begun.seen.planes).reshape(size, -1, 8, 8).transpose(0, 2, 3, 1)
    for row, index in enumerate(chosen):
        symmetry = game.symmetries[index]
        turned = state._replace(words=game.image(symmetry, state.words))
        np.testing.assert_array_equal(planes[row], game.observe(turned)[row])
        images = game.action_images(symmetry)
        seen = set(np.flatnonzero(begun.seen.legal[row]).tolist())
        assert seen == {int(images[a]) for a in np.flatnonzero(game.legal(state)[row])}
    meant = [
        game.action_images(game.symmetries[index]).tolist().index(action)
        for index, action in zip(chosen, np.asarray(begun.seen.legal).argmax(axis=1), strict=True)
    ]
    after, expected = positions_of(begun.after.board), game.step(state, np.array(meant))
    alone = trainer.boards.names == "self-play"  # where nobody replies
    going = alone & (after.ply == state.ply + 1)
    assert going.sum() > size / 4
    np.testing.assert_array_equal(after.own[going], expected.own[going])


def test_openings_and_seats(trainer: Trainer, begun: Begun) -> None:
    """Lengths spread over the range, nothing is over, and against opponents the learner has both
    roles.
    """
    state = positions_of(begun.openings)
    assert state.ply.min() < 3
    assert 17 < state.ply.max() <= 21
    assert not trainer.boards.rules.game.is_over(state).any()
    names = np.repeat(trainer.boards.names, 2)
    for name in set(names):
        assert set(state.to_move[names == name].tolist()) == {0, 1}


def test_one_role_alone_may_learn_and_flat_planes_are_one_input() -> None:
    sheep = {"boards": 8, "learn": "sheep", "opponents": {"random": 1}, "opening_plies": [0, 4]}
    trainer = Trainer(config(game="wolf_and_sheep", self_play=sheep))
    game = trainer.boards.rules.game
    begun = begin(trainer.boards)
    assert (np.asarray(begun.openings.to_move) == game.roles.index("sheep")).all()
    observed = trainer.inputs(begun.seen.planes)
    seen = np.asarray(begun.seen.planes).reshape(len(observed), -1, 64)
    flat = (seen == seen[:, :, :1]).all(axis=(0, 2))
    pieces = seen[:, ~flat].reshape(len(observed), -1)
    assert 0 < flat.sum() < len(flat)
    np.testing.assert_array_equal(observed, np.hstack([pieces, 4.0 * seen[:, flat, 0]]))


def test_with_64_bit_numbers_the_program_computes_in_32() -> None:
    """It is traced alone, which takes no compiling."""
    with jax.enable_x64(True):
        trainer = Trainer(config())
        learner, _ = jax.eval_shape(trainer.untrained, jax.random.key(0))
        after, *_ = jax.eval_shape(trainer.update, learner, (), 1e-3, 0.01)
    assert jax.tree.map(lambda x: (x.shape, x.dtype), after) == jax.tree.map(
        lambda x: (x.shape, x.dtype), learner
    )
    found = {x.dtype for x in jax.tree.leaves((after.network, after.optimizer))}
    assert np.dtype("float64") not in found


# ---- settings ------------------------------------------------------------------------------------


def test_a_learner_begins_as_the_policy_that_it_is_told(trainer: Trainer) -> None:
    network = trainer.layers(trainer.new(1))
    begun = trainer.layers(trainer.new(0, Policy(make("othello"), *network)))
    for found, known in zip(jax.tree.leaves(begun), jax.tree.leaves(network), strict=True):
        np.testing.assert_allclose(found, known, atol=1e-6)


def test_the_configurations_can_be_read() -> None:
    for path in sorted((ROOT / "configs" / "jax").glob("*.yaml")):
        assert read_settings(JaxConfig, path).name


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ("self_play.opponents={positional: 0.5}", "'positional' does not play in JAX"),
        ("self_play.threads=2", "self_play.threads is 2: opponents are part of the compiled"),
        ("precision=bfloat16", "precision is 'bfloat16'"),
        ("device=mps", "device is 'mps'"),
        ("ppo.batch_size=100", "ppo.batch_size is 100: it must divide"),
        ("device=cuda:7", "device is 'cuda:7': JAX has"),
    ],
)
def test_wrong_settings_are_named(
    folder: Path, capsys: pytest.CaptureFixture[str], changes: str, message: str
) -> None:
    assert jax_ppo.main(["tiny.yaml", "--set", changes]) == 2
    assert message in capsys.readouterr().err


def test_openings_that_no_game_lasts_are_named() -> None:
    long = config(
        game="three_in_a_row:ThreeInARow", self_play={"boards": 8, "opening_plies": [20, 20]}
    )
    with pytest.raises(ConfigError, match=r"opening_plies: no game lasts so long"):
        Trainer(long).new(0)


# ---- runs ----------------------------------------------------------------------------------------


def weights(path: Path) -> list[Any]:
    policy = load_policy(path)
    layers = [*policy.hidden, policy.policy_head, policy.value_head]
    return [array.tolist() for layer in layers for array in layer]


def test_a_run_that_is_interrupted_ends_as_one_that_is_not(
    folder: Path, trainer: Trainer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jax_ppo, "Trainer", lambda config: trainer)  # compiled once
    assert jax_ppo.main(["tiny.yaml", "--set", "name=whole"]) == 0
    update, done = jax_ppo.JaxRun._update, []

    def interrupted(run: jax_ppo.JaxRun) -> dict[str, float]:
        done.append(run.steps)
        if len(done) == 3:
            raise KeyboardInterrupt
        return update(run)

    monkeypatch.setattr(jax_ppo.JaxRun, "_update", interrupted)
    assert jax_ppo.main(["tiny.yaml"]) == 130
    assert jax_ppo.main(["tiny.yaml", "--resume"]) == 0
    assert done == [0, 1024, 2048, 2048, 3072]
    whole, parts = folder / "runs/whole", folder / "runs/tiny"
    assert weights(parts / "policy.npz") == weights(whole / "policy.npz")
    for name in ("000000002048.npz", "000000004096.npz"):
        assert weights(parts / "pool" / name) == weights(whole / "pool" / name)
    result = json.loads((whole / "result.json").read_text())
    assert result["steps"] == 4096
    assert {"jax", "optax"} <= result["made_with"].keys()
