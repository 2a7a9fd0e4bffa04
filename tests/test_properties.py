"""What holds in every game, on positions of random games."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from variants import make, random_line, random_position

from boardenvs import games
from boardenvs.board import bitboard
from boardenvs.board.bitboard import DIRECTIONS
from boardenvs.board.symmetry import ALL_EIGHT
from boardenvs.game.check import check_rules, is_symmetric
from boardenvs.game.contract import stack
from boardenvs.game.state import State, concat, put, take, where

SEEDS = st.integers(0, 2**32 - 1)
PLIES = st.integers(0, 70)


def batch_of(game, seed, rows=5):
    """Positions of several random games at several plies, in one batch, some of them over."""
    return [random_position(game, seed + row, (seed + 17 * row) % 71) for row in range(rows)]


def action_of(game, position, seed):
    """A legal action; noop where there is none."""
    actions = position.legal_actions()
    return actions[seed % len(actions)] if actions else game.noop


def assert_equal(a, b):
    assert isinstance(a, State)
    for x, y in zip(a, b, strict=True):
        assert x.dtype == y.dtype
        np.testing.assert_array_equal(x, y)


# ---- one board, one row, many rows -----------------------------------------------------------


@given(seed=SEEDS)
def test_step_leaves_its_input_and_finished_rows(game, seed):
    positions = batch_of(game, seed)
    state = stack(positions)
    before = copy.deepcopy(state)
    actions = np.array([action_of(game, p, seed) for p in positions])
    given_actions = actions.copy()
    after = game.step(state, actions)
    assert_equal(state, before)
    np.testing.assert_array_equal(actions, given_actions)
    for old, new in zip(state, after, strict=True):
        assert not np.shares_memory(old, new)
        np.testing.assert_array_equal(new[state.terminated], old[state.terminated])
    # Whatever the action, also one that is none, a finished row stays.
    over = take(state, state.terminated)
    if len(over.own):
        assert_equal(game.step(over, np.full(len(over.own), 3)), over)


@settings(max_examples=20)
@given(seed=SEEDS)
def test_is_legal_and_legal_agree(game, seed):
    state = stack(batch_of(game, seed))
    mask = game.legal(state)
    assert mask.shape == (len(state.own), game.num_actions)
    assert mask.dtype == np.bool_
    for action in range(game.num_actions):
        asked = game.is_legal(state, np.full(len(state.own), action))
        np.testing.assert_array_equal(asked, mask[:, action])
    for outside in (-1, -64, game.num_actions, game.num_actions + 63, 2**40, -(2**63)):
        assert not game.is_legal(state, np.full(len(state.own), outside)).any()
    positions = game.positions(state)
    assert not any(p.is_legal(a) for p in positions for a in (game.num_actions, 10**6))


@given(seed=SEEDS)
def test_rows_are_cut_and_joined(game, seed):
    positions = batch_of(game, seed, rows=6)
    state = stack(positions)
    assert game.positions(state) == positions
    for row in game.positions(state):
        types = (int, int, tuple, int, int, bool, type(game))
        assert [type(x) for x in row] == [*types]
        assert {type(x) for x in row.legal_bits} == {int}
    assert_equal(concat([take(state, slice(0, 2)), take(state, [2, 3, 4, 5])]), state)
    keep = np.array([True, False, True, True, False, False])
    assert game.positions(take(state, keep)) == [
        p for p, k in zip(positions, keep, strict=True) if k
    ]
    start = game.init(6)
    chosen = where(keep, state, start)
    expected = [p if k else game.start() for p, k in zip(positions, keep, strict=True)]
    assert game.positions(chosen) == expected
    put(start, keep, take(state, keep))
    assert_equal(start, chosen)
    with pytest.raises(ValueError, match="at least one"):
        stack([])


# ---- what games' authors check as well ---------------------------------------------------------


@settings(max_examples=10)
@given(seed=SEEDS)
def test_rules_are_consistent(game, seed):
    """Names, texts, observations, symmetries, heuristic and backends in each position of a game."""
    check_rules(game, seed, num_games=1)


# ---- the course of a game ----------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["numpy"], indirect=True)
@pytest.mark.parametrize("max_steps", [1, 7, 64])
@pytest.mark.usefixtures("backend")
def test_the_last_step_can_be_chosen(max_steps):
    """The game ends with exactly that step, if not before."""
    game = games.make("lines_of_action", max_steps=max_steps)
    lengths = set()
    for seed in range(30):
        positions, _ = random_line(game, seed, 200)
        lengths.add(positions[-1].ply)
    assert max(lengths) == max_steps


@pytest.mark.parametrize("backend", ["numpy"], indirect=True)
@pytest.mark.usefixtures("backend")
def test_the_cap_truncates(name):
    """`max_plies` ends a described Wolf and Sheep undecided; it never marks it as over."""
    if not name.startswith("wolf_and_sheep"):
        assert make(name).max_plies is None
        return
    rules = "described" if name.endswith("described") else "classic"
    capped = games.make("wolf_and_sheep", rules=rules, max_plies=5)
    free = games.make("wolf_and_sheep", rules=rules, max_plies=None)
    for seed in range(5):
        line, _ = random_line(capped, seed, 9)
        assert line == [p._replace(game=capped) for p in random_line(free, seed, 9)[0]]
        for position in line:
            assert position.is_truncated() == (position.ply >= 5 and not position.terminated)
            assert not position._replace(game=free).is_truncated()
        state = stack(line)
        np.testing.assert_array_equal(capped.is_truncated(state), [p.is_truncated() for p in line])
        assert not free.is_truncated(state).any()


# ---- symmetry ------------------------------------------------------------------------------------


def test_no_symmetry_is_missing(game):
    """Each of the eight that a game does not list changes its rules somewhere."""
    positions = [random_position(game, seed, seed) for seed in range(20)]
    for symmetry in set(ALL_EIGHT) - set(game.symmetries):
        assert not all(is_symmetric(game, symmetry, p) for p in positions), symmetry


def test_symmetries_act_as_one_on_words_squares_and_actions():
    rng = np.random.default_rng(3)
    words = rng.integers(1 << 64, size=20, dtype=np.uint64)
    for symmetry in ALL_EIGHT:
        assert sorted(symmetry.squares) == list(range(64))
        for square, to in enumerate(symmetry.squares):
            assert symmetry.apply(1 << square) == 1 << to
        applied = symmetry.apply(words)
        assert applied.tolist() == [symmetry.apply(int(w)) for w in words]
        assert make("othello").action_images(symmetry).tolist() == [*symmetry.squares, 64]
        moves = make("lines_of_action").action_images(symmetry)
        assert moves[512] == 512
        for d, direction in enumerate(DIRECTIONS):
            for square in range(64):
                target = bitboard.step(1 << square, direction)
                to = DIRECTIONS[moves[64 * d + square] // 64]
                assert moves[64 * d + square] % 64 == symmetry.squares[square]
                assert bitboard.step(symmetry.apply(1 << square), to) == symmetry.apply(target)


# ---- copies --------------------------------------------------------------------------------------


@given(seed=SEEDS, plies=PLIES)
def test_copies_are_equal_and_work(game, seed, plies):
    position = random_position(game, seed, plies)
    state = stack([position])
    for duplicate in (copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))):
        assert duplicate(position) == position
        assert_equal(duplicate(state), state)


def test_games_are_values(game):
    """Equal parameters make equal games, and a copy of one plays the same, by the same compiled
    rules: machine code is never unloaded.
    """
    for other in (copy.deepcopy(game), copy.copy(game), pickle.loads(pickle.dumps(game))):
        assert other == game
        assert hash(other) == hash(game)
        assert other.kernels is game.kernels
        assert other.start() == game.start()
        assert_equal(
            other.step(other.init(2), np.array(other.start().legal_actions()[:2])),
            game.step(game.init(2), np.array(game.start().legal_actions()[:2])),
        )
    assert len({make(n) for n in ("othello", "othello_holes", "reversi")}) == 3
    assert make("wolf_and_sheep") != make("wolf_and_sheep_described")


# ---- observations --------------------------------------------------------------------------------


# ---- sampling ------------------------------------------------------------------------------------


@pytest.mark.usefixtures("backend")
def test_sample_is_legal_and_uniform(game):
    """Chi-square over many draws from each of a few positions, with a fixed seed."""
    rng = np.random.default_rng(11)
    draws = 20_000
    for position in (game.start(), *(random_position(game, s, 8 + 5 * s) for s in range(4))):
        state = stack([position] * draws)
        actions = game.sample(state, rng)
        assert actions.shape == (draws,)
        if position.terminated:
            assert (actions == game.noop).all()
            continue
        assert game.is_legal(state, actions).all()
        legal = position.legal_actions()
        counts = np.bincount(actions, minlength=game.num_actions)[legal]
        expected = draws / len(legal)
        chi_square = ((counts - expected) ** 2 / expected).sum()
        freedom = len(legal) - 1
        # The mean of the distribution and five standard deviations.
        assert chi_square <= freedom + 5 * np.sqrt(2 * freedom), position


@given(seed=SEEDS)
def test_sample_of_mixed_rows(game, seed):
    """Each row draws from its own actions; a finished one draws noop; a seed repeats itself."""
    state = stack(batch_of(game, seed, rows=7))
    actions = game.sample(state, np.random.default_rng(seed))
    legal = game.is_legal(state, actions)
    np.testing.assert_array_equal(legal, ~state.terminated)
    assert (actions[state.terminated] == game.noop).all()
    again = game.sample(state, np.random.default_rng(seed))
    np.testing.assert_array_equal(actions, again)


# ---- notation ------------------------------------------------------------------------------------


def test_names_of_all_actions_are_read_back_without_a_position(game):
    """An action that leaves the board has no name in a game where steps are single."""
    for action in range(game.num_actions):
        assert game.parse_action(game.action_name(action)) == action
        assert game.parse_gdl(game.action_gdl(action)) == action
    assert (game.action_name(game.noop), game.action_gdl(game.noop)) == ("pass", "noop")
