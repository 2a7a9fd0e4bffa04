"""Policies in files: what they compute, what is refused, and how they play."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from boardenvs import games
from boardenvs.agents import check_game, make_agent
from boardenvs.agents import trained as trained_module
from boardenvs.agents.policy import Layer, Policy, PolicyAgent
from boardenvs.agents.policy_file import load_policy, save_policy
from boardenvs.agents.trained import TrainedAgent, trained_policy
from boardenvs.arena import play_match
from boardenvs.game.contract import Game, stack
from boardenvs.game.fen import parse_position
from boardenvs.game.openings import random_openings
from boardenvs.game.state import concat
from boardenvs.games.files import file_name


def random_policy(game: Game, hidden: tuple[int, ...] = (24, 16), seed: int = 0) -> Policy:
    """An untrained policy whose outputs differ clearly from position to position."""
    rng = np.random.default_rng(seed)

    def layer(inputs: int, outputs: int) -> Layer:
        weights = rng.normal(scale=2 / np.sqrt(inputs), size=(inputs, outputs))
        return weights.astype(np.float32), rng.normal(size=outputs).astype(np.float32)

    sizes = (int(np.prod(game.observation_shape)), *hidden)
    layers = tuple(layer(*pair) for pair in zip(sizes, hidden, strict=False))
    return Policy(
        game, layers, layer(sizes[-1], game.num_actions), layer(sizes[-1], 1), {"steps": 7}
    )


def positions(game: Game, count: int = 40) -> Any:
    plies = (0, 12 if game.id == "wolf_and_sheep" else 30)
    return random_openings(game, count, plies, np.random.default_rng(1))


def by_loop(policy: Policy, squares: list[list[bool]]) -> tuple[list[float], float]:
    """The network said once more: number by number, over the squares set in each plane."""
    inputs = [float(on) for plane in squares for on in plane]
    for weights, biases in policy.hidden:
        columns = weights.astype(float).T.tolist()
        inputs = [
            max(0.0, sum(x * w for x, w in zip(inputs, column, strict=True)) + float(bias))
            for column, bias in zip(columns, biases, strict=True)
        ]
    outputs = []
    for weights, biases in (policy.policy_head, policy.value_head):
        columns = weights.astype(float).T.tolist()
        outputs.append(
            [
                sum(x * w for x, w in zip(inputs, column, strict=True)) + float(bias)
                for column, bias in zip(columns, biases, strict=True)
            ]
        )
    return outputs[0], outputs[1][0]


def test_it_computes_the_network_that_its_file_describes(game: Game) -> None:
    policy = random_policy(game)
    state = positions(game, 3)
    logits, values = policy.forward(game.observe(state))
    chances, clipped = policy.evaluate(game, state)
    assert logits.dtype == values.dtype == chances.dtype == clipped.dtype == np.float32
    for row, position in enumerate(game.positions(state)):
        planes = position.planes()
        squares = [[bool(word >> s & 1) for s in range(64)] for word in planes]
        expected, value = by_loop(policy, squares)
        assert np.allclose(logits[row], expected, atol=1e-3)
        assert values[row] == pytest.approx(value, abs=1e-3)
        legal = position.legal_actions()
        weights = np.exp(np.array(expected)[legal])
        assert np.allclose(chances[row, legal], weights / weights.sum(), atol=1e-3)
        assert chances[row].sum() == pytest.approx(1, abs=1e-5)
        assert np.count_nonzero(chances[row]) <= len(legal)
        assert clipped[row] == pytest.approx(min(1, max(-1, value)), abs=1e-3)


def test_a_game_that_is_over_has_noop_alone() -> None:
    game = games.make("othello")
    over = parse_position(game, "8/8/8/8/8/8/8/bbb5 black 40")
    state = concat([stack([over]), game.init(2)])
    chances, _ = random_policy(game).evaluate(game, state)
    assert chances[0].argmax() == game.noop
    assert chances[0].sum() == 1
    assert chances[1:, game.noop].tolist() == [0, 0]


@pytest.mark.parametrize(("stored", "error"), [("float32", 0.0), ("float16", 0.05)])
def test_a_file_holds_the_policy(game: Game, tmp_path: Path, stored: str, error: float) -> None:
    policy, path = random_policy(game), tmp_path / "policy.npz"
    save_policy(policy, path, stored=stored)
    loaded = load_policy(path)
    assert loaded.game == game
    assert loaded.notes == {"steps": 7}
    observation = game.observe(positions(game))
    for expected, found in zip(
        policy.forward(observation), loaded.forward(observation), strict=True
    ):
        assert np.abs(expected - found).max() <= error


def test_the_largest_network_in_use_fits_two_megabytes(game: Game, tmp_path: Path) -> None:
    save_policy(random_policy(game, (512, 512)), tmp_path / "policy.npz")
    assert (tmp_path / "policy.npz").stat().st_size < 2_000_000


def test_the_agent_plays_the_most_probable_action_or_draws_by_probability() -> None:
    game = games.make("othello")
    policy, state = random_policy(game), concat([game.init(1)] * 4000)
    chances = policy.evaluate(game, game.init(1))[0][0]
    best = PolicyAgent(policy).act(game, state, np.random.default_rng(0))
    assert best.dtype == np.int64
    assert set(best.tolist()) == {int(chances.argmax())}
    drawn = PolicyAgent(policy, sample=True).act(game, state, np.random.default_rng(0))
    shares = np.bincount(drawn, minlength=65) / 4000
    assert np.count_nonzero(shares) > 1
    assert np.abs(shares - chances).max() < 0.03  # four standard deviations


# ---- what is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("trained_for", "played", "message"),
    [
        ("othello", "othello_holes", "policy.npz plays othello, not othello_holes"),
        ("wolf_and_sheep", "wolf_and_sheep:rules=described", "not wolf_and_sheep:rules=described"),
        ("lines_of_action", "lines_of_action:max_steps=60", "not lines_of_action:max_steps=60"),
    ],
)
def test_another_game_or_other_rules_are_refused(
    tmp_path: Path, trained_for: str, played: str, message: str
) -> None:
    path = tmp_path / "policy.npz"
    save_policy(random_policy(games.parse(trained_for)), path)
    agent, game = make_agent(f"policy:{path}"), games.parse(played)
    with pytest.raises(ValueError, match=message):
        check_game(agent, game)
    with pytest.raises(ValueError, match=message):
        agent.act(game, game.init(1), np.random.default_rng(0))


def damaged(path: Path, change: str) -> None:
    """Change a good file as told."""
    data = path.read_bytes()
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files}
    about = json.loads(str(arrays["metadata"]))
    match change:
        case "cut":
            path.write_bytes(data[: len(data) // 2])
        case "empty":
            path.write_bytes(b"")
        case "flipped":
            middle = len(data) // 2
            path.write_bytes(data[:middle] + bytes([data[middle] ^ 255]) + data[middle + 1 :])
        case "text":
            path.write_text("weights")
        case "array":
            np.save(path.open("wb"), np.zeros(3))
        case "foreign":
            np.savez(path, x=np.zeros(3))
        case "newer":
            about["format"] = 3
        case "evaluation":
            about["tuples"] = about.pop("hidden")
        case "unknown rules":
            about["rules"] = {"board": 10}
        case "unknown game":
            about["game"] = "chess"
        case "shape":
            arrays["weight_0"] = arrays["weight_0"][1:]
        case "missing":
            del arrays["bias_value"]
        case "nan":
            arrays["weight_1"][0, 0] = np.nan
        case "integers":
            arrays["weight_1"] = arrays["weight_1"].astype(int)
    if change in {
        "newer", "evaluation", "unknown rules", "unknown game", "shape", "missing", "nan",
        "integers",
    }:  # fmt: skip
        arrays["metadata"] = np.array(json.dumps(about))
        np.savez(path, **arrays)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("cut", "is not a policy file, or is damaged"),
        ("empty", "is not a policy file, or is damaged"),
        ("flipped", "is not a policy file, or is damaged"),
        ("text", "is not a policy file, or is damaged"),
        ("array", "is not a policy file, or is damaged"),
        ("foreign", "is not a policy file, or is damaged"),
        ("newer", "has format 3, written by boardenvs .*: this version reads formats 1 and 2"),
        ("evaluation", "is not a policy file, or is damaged .*or no layers"),
        ("unknown rules", "unknown parameter of othello 'board'"),
        ("unknown game", "unknown game 'chess'"),
        ("shape", r"weight_0 is float16 of shape \(127, 24\): it must .* of shape \(128, 24\)"),
        ("missing", "bias_value"),
        ("nan", "weight_1 holds other things than finite numbers"),
        ("integers", "weight_1 is int64 of shape .*: it must be float16 or float32"),
    ],
)
def test_files_that_hold_no_policy_are_named(tmp_path: Path, change: str, message: str) -> None:
    path = tmp_path / "policy.npz"
    save_policy(random_policy(games.make("othello")), path)
    damaged(path, change)
    with pytest.raises(ValueError, match=message) as error:
        load_policy(path)
    assert str(path) in str(error.value)
    assert type(error.value).__name__ == "PolicyFileError"


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"there is no policy file .*nothing\.npz"):
        make_agent(f"policy:{tmp_path / 'nothing.npz'}")


class Explosive:
    """Runs code when it is unpickled."""

    def __reduce__(self) -> Any:
        return Path.touch, (Path("exploded"),)


def test_loading_runs_no_code_from_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    np.savez("a.npz", metadata=np.array([Explosive()], object))
    Path("b.npz").write_bytes(pickle.dumps(Explosive()))
    for name in ("a.npz", "b.npz"):
        with pytest.raises(ValueError, match="is not a policy file"):
            load_policy(name)
    assert not Path("exploded").exists()


def test_a_weight_too_large_for_its_file_is_refused(tmp_path: Path) -> None:
    policy = random_policy(games.make("othello"))
    policy.hidden[0][0][0, 0] = 1e6
    with pytest.raises(ValueError, match="weight_0 has values that float16 cannot hold"):
        save_policy(policy, tmp_path / "policy.npz")
    with pytest.raises(ValueError, match="Did you mean 'float16'"):
        save_policy(policy, tmp_path / "policy.npz", stored="float61")


# ---- by specification --------------------------------------------------------------------------


def test_a_file_plays_by_its_specification(tmp_path: Path) -> None:
    game = games.make("othello")
    policy, path = random_policy(game), tmp_path / "policy.npz"
    save_policy(policy, path, stored="float32")
    state, rng = positions(game), np.random.default_rng
    plain = make_agent(f"policy:{path}").act(game, state, rng(0))
    assert np.array_equal(plain, PolicyAgent(policy).act(game, state, rng(0)))
    sampled = make_agent(f"policy:{path},sample=true").act(game, state, rng(0))
    assert not np.array_equal(plain, sampled)
    assert np.array_equal(sampled, PolicyAgent(policy, sample=True).act(game, state, rng(0)))
    with pytest.raises(ValueError, match="lacks path"):
        make_agent("policy")


def test_names_of_files_tell_rules_that_are_not_as_usual() -> None:
    assert file_name(games.make("wolf_and_sheep")) == "wolf_and_sheep"
    assert file_name(games.make("wolf_and_sheep", rules="described")) == "wolf_and_sheep_described"
    assert file_name(games.make("lines_of_action", max_steps=60)) == "lines_of_action_60"


def test_trained_finds_the_policy_of_the_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trained_module, "FOLDER", tmp_path)
    trained_policy.cache_clear()
    agent, rng = make_agent("trained"), np.random.default_rng(0)
    assert agent == TrainedAgent()
    for spec in ("wolf_and_sheep", "wolf_and_sheep:rules=described"):
        game = games.parse(spec)
        with pytest.raises(ValueError, match=f"no trained policy for {spec}: there are"):
            check_game(agent, game)
        policy = random_policy(game, seed=len(spec))
        save_policy(policy, tmp_path / f"{file_name(game)}.npz", stored="float32")
        check_game(agent, game)
        state = positions(game)
        expected = PolicyAgent(policy).act(game, state, rng)
        assert np.array_equal(agent.act(game, state, rng), expected)
    trained_policy.cache_clear()


TRAINED = [*games.BUILT_IN, "wolf_and_sheep:rules=described"]


def test_policies_that_come_with_the_package_are_small_and_of_all_games() -> None:
    paths = sorted(trained_module.FOLDER.glob("*.npz"))
    assert {path.stem for path in paths} == {
        file_name(games.parse(spec)) for spec in TRAINED if spec != "reversi"
    }
    assert all(path.stat().st_size < 2_000_000 for path in paths)


@pytest.mark.parametrize("spec", TRAINED)
def test_trained_beats_random(spec: str) -> None:
    game = games.parse(spec)
    assert trained_policy(game).game.has_rules_of(game)
    # The described wolf wins all games, so there the best score is a half.
    best = 0.5 if spec.endswith("described") else 1.0
    result = play_match(game, "trained", "random", 50, seed=0)
    assert result.score > best - 0.05


def test_trained_plays_without_torch() -> None:
    code = (
        "import sys; sys.modules['torch'] = None; "
        "import numpy as np, boardenvs; game = boardenvs.games.make('othello'); "
        "print(boardenvs.make_agent('trained').act(game, game.init(2), np.random.default_rng(0)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("[")
