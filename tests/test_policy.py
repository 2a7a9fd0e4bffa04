"""Policies in files: what they hold, what is refused, what a stranger's may ask for, and play."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tracemalloc
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from variants import FIVE

from boardenvs import games
from boardenvs.agents import as_agent, check_game, make_agent, trained as trained_module
from boardenvs.agents.policy import Policy, PolicyAgent
from boardenvs.agents.policy_file import PolicyFileError, load_policy, save_policy
from boardenvs.agents.policy_network import NUMPY, Layer, PolicyNetwork, shapes_of, trunk
from boardenvs.agents.shield import Shield
from boardenvs.agents.trained import trained_policy
from boardenvs.arena import play_match
from boardenvs.board import Symmetry
from boardenvs.game.game import Game
from boardenvs.game.openings import random_openings
from boardenvs.game.position import stack
from boardenvs.game.state import Array, State
from boardenvs.game.views import over_symmetries
from boardenvs.games import TicTacToe
from boardenvs.games.files import file_name

OTHELLO = games.make("othello")
MOST_MEMORY = 20_000_000  # bytes; the file's own network has 5 kB


FULLY_CONNECTED: dict[str, Any] = {"hidden": [24, 16], "flat": [], "activation": "relu"}
TOWER: dict[str, Any] = {"channels": 8, "blocks": 2, "flat": [], "activation": "relu"}


def random_policy(game: Game, size: dict[str, Any] = FULLY_CONNECTED, seed: int = 0) -> Policy:
    """An untrained policy whose outputs differ clearly from position to position."""
    rng = np.random.default_rng(seed)
    layers: dict[str, Layer] = {}
    for name, shape in shapes_of(game, size).items():
        weights = rng.normal(scale=2 / np.sqrt(np.prod(shape[:-1])), size=shape)
        layers[name] = weights.astype(np.float32), rng.normal(size=shape[-1]).astype(np.float32)
    return Policy(game, PolicyNetwork(layers, size), {"steps": 7})


def positions(game: Game, count: int = 40) -> Any:
    plies = (0, 12 if game.id == "wolf_and_sheep" else 30)
    return random_openings(game, count, plies, np.random.default_rng(1))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "policy.npz"


# ---- what it computes, and what its file holds ---------------------------------------------------


@pytest.mark.parametrize("size", [FULLY_CONNECTED, TOWER], ids=["fully connected", "tower"])
@pytest.mark.parametrize(("stored", "error"), [("float32", 1e-5), ("float16", 0.05)])
def test_a_file_holds_the_policy(
    game: Game, path: Path, size: dict[str, Any], stored: str, error: float
) -> None:
    """Also of weights that lie in memory by columns, as those of torch do; and an older file, whose
    weights are float32.
    """
    policy = random_policy(game, size | {"flat": [1]})
    layers = {name: (np.asfortranarray(w), b) for name, (w, b) in policy.network.layers.items()}
    by_columns = replace(policy, network=replace(policy.network, layers=layers))
    save_policy(by_columns, path)
    if stored == "float32":
        with np.load(path) as archive:
            arrays = dict(archive)
        for name, (weights, biases) in layers.items():
            arrays |= {f"weight_{name}": weights, f"bias_{name}": biases}
        np.savez(path, **arrays)
    loaded = load_policy(path)
    assert loaded.network.size == policy.network.size
    assert (loaded.game, loaded.notes) == (game, {"steps": 7})
    observation = game.observe(positions(game))
    for expected, found in zip(*(p.forward(observation) for p in (policy, loaded)), strict=True):
        assert expected.dtype == found.dtype == np.float32
        assert np.abs(expected - found).max() <= error


@pytest.mark.parametrize(("ranks", "files", "channels"), [(6, 7, 48), (1, 1, 16)])
@pytest.mark.usefixtures("in_machine_code", "as_written")
def test_towers_in_machine_code_are_those_of_numpy(ranks: int, files: int, channels: int) -> None:
    """Also of weights that lie in memory by columns."""
    rng, blocks = np.random.default_rng(channels), 2
    square, convolution = (channels, channels), (3, 3, channels, channels)
    shapes = {"stem": (3, 3, 5, channels), "flat": (2, channels)}
    for i in range(blocks):
        shapes |= {f"first_{i}": convolution, f"second_{i}": convolution}
    shapes["pool_1"] = square
    layers: dict[str, Layer] = {}
    for name, shape in shapes.items():
        weights = rng.normal(0, (2 / np.prod(shape[:-1])) ** 0.5, shape).astype(np.float32)
        layers[name] = np.asfortranarray(weights), rng.normal(size=channels).astype(np.float32)
    network = PolicyNetwork(layers, {"channels": channels, "blocks": blocks, "flat": [0, 1]})
    assert network.compiled_trunk
    for boards in (0, 1, 3, 64):
        full = rng.integers(0, 2, (boards, 5, ranks, files)).astype(np.float32)
        flat = rng.normal(size=(boards, 2)).astype(np.float32)
        expected, computed = (way(NUMPY, network, full, flat) for way in (trunk, NUMPY.trunk))
        assert computed.dtype == np.float32
        assert computed.shape == expected.shape
        np.testing.assert_allclose(computed, expected, rtol=1e-4, atol=1e-4)
    assert replace(network, size={**network.size, "channels": 8}).compiled_trunk is None


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_a_flat_plane_enters_a_layer_as_one_number_four_times_as_large(activation: str) -> None:
    """After the squares of all other planes, plane by plane."""
    rng, planes = np.random.default_rng(0), np.zeros((2, 3, 2, 2), np.int8)
    planes[:, ::2] = rng.integers(0, 2, (2, 2, 2, 2))
    planes[0, 1] = 1
    sizes = {"0": (9, 5), "policy": (5, 6), "value": (5, 1)}
    layers: dict[str, Any] = {
        n: (rng.normal(size=s), rng.normal(size=s[1])) for n, s in sizes.items()
    }
    size = {"hidden": [5], "flat": [1], "activation": activation}
    found = PolicyNetwork(layers, size).outputs(planes)
    for row in range(2):
        seen = [*planes[row, 0].flat, *planes[row, 2].flat, 4 * planes[row, 1, 0, 0]]
        hidden = np.dot(seen, layers["0"][0]) + layers["0"][1]
        hidden = np.tanh(hidden) if activation == "tanh" else np.maximum(hidden, 0)
        for name, outputs in zip(("policy", "value"), found, strict=True):
            expected = hidden @ layers[name][0] + layers[name][1]
            np.testing.assert_allclose(np.atleast_1d(outputs[row]), expected, rtol=1e-5)


def test_a_tower_that_says_what_is_not_computed_is_refused() -> None:
    """Towers have ReLU, and no pool in the first block."""
    network = random_policy(OTHELLO, TOWER).network
    with pytest.raises(ValueError, match="tanh"):
        Policy(OTHELLO, replace(network, size=TOWER | {"activation": "tanh"}))
    layers = {**network.layers, "pool_0": network.layers["pool_1"]}
    with pytest.raises(ValueError, match=r"the layers are .*'pool_0', .*: they must be "):
        Policy(OTHELLO, replace(network, layers=layers))


@pytest.mark.parametrize("spec", ["hex", "checkers", "chess"])
@settings(max_examples=2)
@given(seed=st.integers(0, 2**32 - 1))
def test_both_sides_of_a_board_are_played_alike(tmp_path: Path, spec: str, seed: int) -> None:
    """With the mover's view, and a file says so; the first side is seen as it is."""
    game, size = games.make(spec), FULLY_CONNECTED | {"hidden": [8]}
    policy, mover = random_policy(game, size, seed), game.mover_symmetry
    assert mover is not None
    save_policy(replace(policy, mover_view=True), tmp_path / "seen.npz")
    loaded = load_policy(tmp_path / "seen.npz")
    some = random_openings(game, 8, (0, 40), np.random.default_rng(seed))
    positions = [p.image(Symmetry(board=game.board)) for p in game.positions(some)]  # no history
    here, there = stack(positions), stack([p.image(mover, swapped=True) for p in positions])
    probabilities, values = loaded.evaluate(game, here)
    theirs, worth = loaded.evaluate(game, there)
    np.testing.assert_allclose(theirs[:, game.action_images(mover)], probabilities, atol=1e-6)
    np.testing.assert_allclose(worth, values, atol=1e-6)
    first = here.to_move == 0
    plainly, _ = replace(loaded, mover_view=False).evaluate(game, here)
    np.testing.assert_allclose(probabilities[first], plainly[first], atol=1e-6)
    assert (probabilities[~first] != plainly[~first]).any()


def test_a_policy_of_more_steps_plays_the_same_game_of_fewer() -> None:
    """The game to train in has 200 steps, and its last 50 are the whole of the usual one."""
    game = games.make("lines_of_action")
    assert game.for_training == games.make("lines_of_action:max_steps=200")
    tournament = games.make("lines_of_action:rules=tournament")  # which has steps of its own
    assert tournament.for_training == tournament
    longer = games.make("lines_of_action:rules=tournament,max_steps=200")
    assert longer.plies_before(tournament) is None
    policy = random_policy(game.for_training)
    state = random_openings(game, 8, (0, 40), np.random.default_rng(0))
    played = policy.evaluate(game, state)
    for values, expected in zip(
        played, policy.evaluate(policy.game, state._replace(ply=state.ply + 150)), strict=True
    ):
        np.testing.assert_array_equal(values, expected)
    for other in ("lines_of_action:max_steps=201", "lines_of_action:rules=tournament"):
        with pytest.raises(ValueError, match="plays lines_of_action:max_steps=200, not lines_of"):
            policy.evaluate(games.make(other), state)


def test_the_agent_plays_the_most_probable_action_or_draws_by_probability() -> None:
    policy, state = random_policy(OTHELLO), OTHELLO.init(4000)
    probabilities = policy.evaluate(OTHELLO, state)[0][0]
    best = PolicyAgent(policy).act(OTHELLO, state)
    assert best.dtype == np.int64
    assert set(best.tolist()) == {int(probabilities.argmax())}
    drawn = PolicyAgent(policy, sample=True).act(OTHELLO, state, np.random.default_rng(0))
    shares = np.bincount(drawn, minlength=65) / 4000
    assert np.count_nonzero(shares) > 1
    assert np.abs(shares - probabilities).max() < 0.03  # four standard deviations


@dataclass(frozen=True)
class Cornered(TicTacToe):
    """A field that is a tuple, as JSON has none."""

    id: str = "cornered"
    corners: tuple[int, ...] = (0, 2)


def test_a_file_has_parameters_of_all_types(path: Path) -> None:
    save_policy(random_policy(Cornered()), path)
    assert load_policy(path).game == Cornered()


def test_a_shield_is_there_where_the_text_asks_for_it(path: Path) -> None:
    """What is measured as a user's own network is the network, and every name tells."""
    game = games.make("lines_of_action")
    save_policy(random_policy(game), path)
    state, policy = positions(game, 400), load_policy(path)
    alone = PolicyAgent(policy).act(game, state)
    assert (Shield(PolicyAgent(policy)).act(game, state) != alone).any()
    for player in (f"policy:{path}", f"policy:{path},shield=false", policy):
        assert (as_agent(player).act(game, state, np.random.default_rng(0)) == alone).all()
    rng = np.random.default_rng
    shielded = Shield(PolicyAgent(trained_policy(game))).act(game, state, rng(0))
    assert (make_agent("trained:shield=true").act(game, state, rng(0)) == shielded).all()


def test_a_player_takes_the_mean_over_the_symmetries(game: Game, path: Path) -> None:
    save_policy(random_policy(game), path)
    policy, state, rng = load_policy(path), positions(game, 10), np.random.default_rng(0)
    agent: Any = make_agent(f"policy:{path},symmetries=true")
    found = agent.evaluate(game, state)
    for row, position in enumerate(game.positions(state)):
        outputs = []
        for symmetry in game.symmetries:
            (policy_of_image,), value = policy.evaluate(game, stack([position.image(symmetry)]))
            outputs.append([*policy_of_image[game.action_images(symmetry)], *value])
        np.testing.assert_allclose([*found[0][row], found[1][row]], np.mean(outputs, 0), atol=1e-6)
    np.testing.assert_array_equal(agent.act(game, state, rng), found[0].argmax(axis=1))


def test_images_of_a_position_have_the_same_means_bit_for_bit() -> None:
    """The evaluator's arrays are not written to."""

    def evaluate(game: Game, state: State) -> tuple[Array, Array]:
        values = np.sin(state.own % np.uint64(1009)).astype(np.float32)
        likes = np.ones((len(values), game.num_actions), np.float32)
        likes.flags.writeable = False
        return likes, values

    state = positions(OTHELLO)
    _, values = over_symmetries(evaluate, OTHELLO, state)
    for symmetry in OTHELLO.symmetries:
        images = stack([position.image(symmetry) for position in OTHELLO.positions(state)])
        np.testing.assert_array_equal(over_symmetries(evaluate, OTHELLO, images)[1], values)


def test_the_trained_player_takes_the_mean_too() -> None:
    state, agent = positions(OTHELLO), cast(Any, make_agent("trained:symmetries=true"))
    policy, values = PolicyAgent(trained_policy(OTHELLO), symmetries=True).evaluate(OTHELLO, state)
    np.testing.assert_array_equal(agent.evaluate(OTHELLO, state)[1], values)
    played = agent.act(OTHELLO, state, np.random.default_rng(0))
    np.testing.assert_array_equal(played, policy.argmax(axis=1))
    assert (played != make_agent("trained").act(OTHELLO, state, np.random.default_rng(0))).any()


# ---- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("trained_for", "played", "message"),
    [
        ("othello", "othello_holes", "policy.npz plays othello, not othello_holes"),
        ("wolf_and_sheep", "wolf_and_sheep:rules=described", "not wolf_and_sheep:rules=described"),
    ],
)
def test_another_game_or_other_rules_are_refused(
    path: Path, trained_for: str, played: str, message: str
) -> None:
    save_policy(random_policy(games.parse(trained_for)), path)
    agent, game = make_agent(f"policy:{path}"), games.parse(played)
    for judged_by_it in (agent, make_agent(f"mcts:policy={path}"), Shield(agent)):
        with pytest.raises(ValueError, match=message):
            check_game(judged_by_it, game)
    with pytest.raises(ValueError, match=message):
        agent.act(game, game.init(1), np.random.default_rng(0))


def array(shape: tuple[int, ...], content: bytes = b"", kind: str = "<f4") -> bytes:
    """An array in NumPy's format that says it has this shape."""
    buffer = io.BytesIO()
    about: dict[str, Any] = {"descr": kind, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(buffer, about)
    return buffer.getvalue() + content


def metadata(text: str) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.array(text))
    return buffer.getvalue()


def about(**changes: object) -> dict[str, bytes]:
    whole = {"format": 1, "game": "othello", "rules": {"holes": 0}, "hidden": [24, 16], "notes": {}}
    return {"metadata": metadata(json.dumps(whole | changes))}


def tower(**changes: object) -> dict[str, bytes]:
    return about(format=3, network=TOWER | changes)


@pytest.mark.parametrize("weight", [1e5, np.nan])
def test_weights_that_a_file_cannot_hold_are_not_written(weight: float, tmp_path: Path) -> None:
    policy = random_policy(OTHELLO)
    policy.network.layers["0"][0][0, 0] = weight
    with pytest.raises(ValueError, match="weight_0 has values that float16 cannot hold"):
        save_policy(policy, tmp_path / "policy.npz")
    assert not (tmp_path / "policy.npz").exists()


NOT_FINITE = {"weight_0": array((128, 24), np.full((128, 24), np.nan, np.float32).tobytes())}
ANY = r"policy\.npz"
# What members of a good file are replaced by, and what is said then.
CASES: dict[str, tuple[dict[str, bytes], str]] = {
    "newer": (about(format=4), "has format 4, written by .*: this version reads formats 1 to 3"),
    "a tower too tall": (tower(blocks=1 << 40), r"has \[8, 1099511627776\]: .* from 1 to 16384"),
    "too wide": (tower(channels=1 << 13), "weights and biases: at most 16777216 are read"),
    "planes that are not there": (tower(flat=[1, 2]), r"flat is \[1, 2\]: .* a list of planes"),
    "planes in another order": (tower(flat=[1, 0]), r"flat is \[1, 0\]: .* a list of planes"),
    "no planes": (tower(flat=[True]), r"flat is \[True\]: .* a list of planes"),
    "no size": (about(format=3, network={"flat": []}), "channels"),
    "shape": (
        {"weight_0": array((127, 24), bytes(127 * 24 * 4))},
        r"weight_0 is float32 of shape \(127, 24\): it must .* of shape \(128, 24\)",
    ),
    "missing": (about(hidden=[24, 16, 16]), "weight_2"),
    "nan": (NOT_FINITE, "layer 0 has numbers that are not below"),
    "a header that asks for terabytes": ({"weight_0": array((1 << 20, 1 << 20))}, ANY),
    "a bomb": ({"weight_0": array((128, 24), bytes(40_000_000))}, ANY),
    "code": (about(game="antigravity:Game"), ANY),
    "no numbers": ({"weight_0": array((128, 24), bytes(128 * 24), "|O")}, ANY),
}


@pytest.mark.parametrize("case", CASES)
def test_what_holds_no_policy_ends_as_one_line_that_names_the_file(path: Path, case: str) -> None:
    changes, message = CASES[case]
    save_policy(random_policy(OTHELLO), path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, changes.get(name.removesuffix(".npy"), content))
    tracemalloc.start()
    try:
        with pytest.raises(PolicyFileError, match=message) as caught:
            load_policy(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < MOST_MEMORY
    assert "policy.npz" in str(caught.value)
    assert len(str(caught.value)) < 1000
    assert "\n" not in str(caught.value)


# ---- by specification ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spec", [*FIVE, "checkers", "connect_four", "hex", "wolf_and_sheep:rules=described"]
)
def test_policies_that_come_with_the_package_are_small_and_beat_random(spec: str) -> None:
    game = games.parse(spec)
    policy = trained_policy(game)
    assert policy.game.has_rules_of(game)
    assert (trained_module.FOLDER / f"{file_name(policy.game)}.npz").stat().st_size < 2_000_000
    # The described wolf wins all games, which are long, so there the best score is a half.
    best, pairs = (0.5, 1) if spec.endswith("described") else (1.0, 15)
    result = play_match(game, "trained", "random", pairs, seed=0)
    assert result.score > best - 0.05


def test_trained_plays_without_torch() -> None:
    code = (
        "import sys; sys.modules['torch'] = None; "
        "import numpy as np, boardenvs; game = boardenvs.games.make('othello'); "
        "print(boardenvs.make_agent('trained').act(game, game.init(2), np.random.default_rng(0)))"
    )
    said = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert said.startswith("[")


def test_the_page_plays_what_a_file_holds_now(path: Path) -> None:
    """As that of a training that goes on."""
    agent_of = pytest.importorskip("boardenvs.web.worker")._agent
    weights = []
    for seed in (1, 2):
        save_policy(random_policy(games.make("tictactoe"), seed=seed), path)
        weights.append(agent_of(f"policy:{path}").policy.network.layers["policy"][0])
    assert not np.array_equal(*weights)


def test_pipes_are_not_waited_for(path: Path) -> None:
    os.mkfifo(path)
    with pytest.raises(PolicyFileError, match="it is no file"):
        load_policy(path)
