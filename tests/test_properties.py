"""What holds in every game, on positions of random games."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from variants import make, random_position

from boardenvs.board import bitboard
from boardenvs.board.bitboard import DIRECTIONS
from boardenvs.board.symmetry import ALL_EIGHT
from boardenvs.game.check import check_rules, is_symmetric
from boardenvs.game.contract import stack
from boardenvs.game.state import State, concat, put, take, where

SEEDS = st.integers(0, 2**32 - 1)


def batch_of(game, seed, rows=5):
    """Positions of several random games at several plies, in one batch, some of them over."""
    return [random_position(game, seed + row, (seed + 17 * row) % 71) for row in range(rows)]


def assert_equal(a, b):
    assert isinstance(a, State)
    for x, y in zip(a, b, strict=True):
        assert x.dtype == y.dtype
        np.testing.assert_array_equal(x, y)


def test_rules_are_consistent(game):
    """Names, texts, observations, symmetries, heuristic and backends in each position of a game."""
    check_rules(game, 3, num_games=1)


@settings(max_examples=6)
@given(seed=SEEDS)
def test_step_leaves_its_input_and_finished_rows(game, seed):
    state = stack(batch_of(game, seed))
    before = copy.deepcopy(state)
    actions = game.sample(state, np.random.default_rng(seed))
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


def test_is_legal_and_legal_agree(game):
    positions = batch_of(game, 7, rows=30)
    state = stack(positions)
    mask = game.legal(state)
    assert (mask.shape, mask.dtype) == ((30, game.num_actions), np.bool_)
    for action in range(game.num_actions):
        asked = game.is_legal(state, np.full(30, action))
        np.testing.assert_array_equal(asked, mask[:, action])
    for outside in (-1, -64, game.num_actions, game.num_actions + 63, 2**40, -(2**63)):
        assert not game.is_legal(state, np.full(30, outside)).any()
    assert not any(p.is_legal(a) for p in positions for a in (game.num_actions, 10**6))


def test_rows_are_cut_and_joined():
    game = make("lines_of_action")
    positions = batch_of(game, 5, rows=6)
    state = stack(positions)
    assert game.positions(state) == positions
    for row in game.positions(state):
        types = (int, int, tuple, int, int, bool, type(game))
        assert [type(x) for x in row] == [*types]
        assert {type(x) for x in row.legal_bits} == {int}
    assert_equal(concat([take(state, slice(0, 2)), take(state, [2, 3, 4, 5])]), state)
    keep = np.array([True, False, True, True, False, False])
    kept = [positions[row] for row in np.flatnonzero(keep)]
    assert game.positions(take(state, keep)) == kept
    start = game.init(6)
    chosen = where(keep, state, start)
    expected = [p if k else game.start() for p, k in zip(positions, keep, strict=True)]
    assert game.positions(chosen) == expected
    put(start, keep, take(state, keep))
    assert_equal(start, chosen)
    with pytest.raises(ValueError, match="at least one"):
        stack([])


def test_games_are_values(game):
    """Equal parameters make equal games, and a copy of one plays the same, by the same compiled
    rules: machine code is never unloaded.
    """
    for other in (copy.deepcopy(game), copy.copy(game), pickle.loads(pickle.dumps(game))):
        assert other == game
        assert hash(other) == hash(game)
        assert other.kernels is game.kernels
    assert len({make(n) for n in ("othello", "othello_holes", "reversi")}) == 3
    assert make("wolf_and_sheep") != make("wolf_and_sheep_described")


def test_names_of_all_actions_are_read_back_without_a_position(game):
    """An action that leaves the board has no name in a game where steps are single."""
    for action in range(game.num_actions):
        assert game.parse_action(game.action_name(action)) == action
        assert game.parse_gdl(game.action_gdl(action)) == action
    assert (game.action_name(game.noop), game.action_gdl(game.noop)) == ("pass", "noop")


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


# ---- sampling ------------------------------------------------------------------------------------


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("name", ["othello", "lines_of_action"])
def test_sample_is_legal_and_uniform(game):
    """Chi-square over many draws from each of a few positions, with a fixed seed; a finished game
    draws noop, and a seed repeats itself.
    """
    positions = [random_position(game, s, plies) for s, plies in enumerate((0, 9, 20, 99))]
    assert positions[-1].terminated
    draws = 4_000
    state = stack(positions * draws)
    actions = game.sample(state, np.random.default_rng(11))
    np.testing.assert_array_equal(actions, game.sample(state, np.random.default_rng(11)))
    np.testing.assert_array_equal(game.is_legal(state, actions), ~state.terminated)
    *live, over = actions.reshape(draws, len(positions)).T
    assert (over == game.noop).all()
    for position, drawn in zip(positions, live, strict=False):
        legal = position.legal_actions()
        counts = np.bincount(drawn, minlength=game.num_actions)[legal]
        expected = draws / len(legal)
        chi_square = ((counts - expected) ** 2 / expected).sum()
        freedom = len(legal) - 1
        # The mean of the distribution and five standard deviations.
        assert chi_square <= freedom + 5 * np.sqrt(2 * freedom), position
