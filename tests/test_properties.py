"""What holds in every game, on positions of random games."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from variants import KINDS, VARIANTS, make, random_position

from boardenvs import games
from boardenvs.board.bitboard import from_squares, squares_of
from boardenvs.board.symmetry import ALL_EIGHT, symmetries_of
from boardenvs.game import check
from boardenvs.game.check import check_rules, is_symmetric
from boardenvs.game.game import Game
from boardenvs.game.position import stack
from boardenvs.game.state import State, concat, put, take, where
from boardenvs.game.views import reorder
from boardenvs.games import Othello

pytestmark = pytest.mark.usefixtures("as_written")


def batch_of(game, seed, rows=5):
    """Positions of several random games at several plies, in one batch, some of them over."""
    return [random_position(game, seed + row, (seed + 17 * row) % 71) for row in range(rows)]


def assert_equal(a, b):
    first, second = (x.arrays if isinstance(x, State) else x for x in (a, b))
    for x, y in zip(first, second, strict=True):
        assert x.dtype == y.dtype
        np.testing.assert_array_equal(x, y)


def test_rules_are_consistent(game, name, monkeypatch):
    """Names, texts, observations, symmetries, heuristic and backends in each position of a game;
    of each kind one in machine code.
    """
    if name not in KINDS:
        monkeypatch.setattr(check, "find_spec", lambda name: None)
    most = 12 if game.id == "lines_of_action" else 70  # of 50, which take longest
    check_rules(game, 3, num_games=1, max_plies=most)


@settings(max_examples=4)
@given(seed=st.integers(0, 2**32 - 1))
def test_step_leaves_its_input_and_finished_rows(game, seed):
    """Whatever the action in a finished row is, also where it is none."""
    state = stack(batch_of(game, seed))
    actions = np.where(
        state.terminated, seed % 65 - 3, game.sample(state, np.random.default_rng(seed))
    )
    before, given_actions = copy.deepcopy(state), actions.copy()
    for way in ("numba", "numpy"):  # in rows of machine code a ply costs less than a copy
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Game, "backend", way)
            after = game.step(state, actions)
        assert_equal([*state.arrays, actions], [*before.arrays, given_actions])
        for old, new, action in zip(*map(game.positions, (state, after)), actions, strict=True):
            assert new == (old if old.terminated else old.step(action))
        assert not any(
            np.shares_memory(old, new) for old, new in zip(state.arrays, after.arrays, strict=True)
        )


def test_rows_are_cut_and_joined():
    game = make("lines_of_action")
    positions = batch_of(game, 5, rows=6)
    state, other = stack(positions), game.init(6)
    assert game.positions(state) == positions
    keep = np.array([True, False, True, True, False, False])
    chosen = where(keep, state, other)
    expected = [p if k else game.start() for p, k in zip(positions, keep, strict=True)]
    assert game.positions(chosen) == expected
    put(other, keep, take(state, keep))
    assert_equal(other, chosen)
    assert_equal(concat([take(state, slice(0, 2)), take(state, np.arange(2, 6))]), state)


def test_games_are_values(game):
    """Equal parameters make equal games, and a copy of one plays the same, by the same compiled
    rules: machine code is never unloaded.
    """
    for other in (copy.deepcopy(game), copy.copy(game), pickle.loads(pickle.dumps(game))):
        assert {other} == {game}
        assert other.kernels is game.kernels
    assert len({make(name) for name in VARIANTS}) == len(VARIANTS)


# ---- symmetry ------------------------------------------------------------------------------------

TILTED = [Othello(holes=1 << square) for square in (0, 7, 8)]


@pytest.mark.parametrize("game", [*map(make, VARIANTS), *TILTED], ids=games.spec_of)
def test_its_symmetries_are_all_that_there_are(game):
    """Each of the eight that a game does not list changes its rules somewhere, no other does."""
    positions = [random_position(game, seed, seed) for seed in range(20)]
    kept = [s for s in ALL_EIGHT if all(is_symmetric(game, s, p) for p in positions)]
    assert set(game.symmetries) == set(kept)


@pytest.mark.parametrize("name", [*games.BUILT_IN, "boardenvs_breakthrough:Breakthrough"])
def test_the_mover_s_symmetries_are_declared_where_networks_see_the_role(name):
    """The first symmetry that gives each position to the other side; where planes do not tell whose
    it is, or the sides differ by more, there is none.
    """
    game = games.make(name)
    shown = [game.kernels.planes.one(*game.start().words, role, 0) for role in (0, 1)]
    positions = [random_position(game, seed, seed) for seed in range(20)]
    kept = [
        symmetry
        for symmetry in symmetries_of(game.board)
        if all(moves_as_far(game, symmetry, position) for position in positions)
    ]
    if not kept or shown[0] == shown[1]:
        assert game.mover_symmetry is None
    else:
        assert game.mover_symmetry in kept


def moves_as_far(game, symmetry, position):
    try:
        return is_symmetric(game, symmetry, position, swapped=True)
    except ValueError:  # a direction in which no piece goes
        return False


VIEWED = [*KINDS, "hex", "chess", "checkers", "connect_four", "go"]


@pytest.mark.parametrize(
    ("name", "backend"),
    [
        *((name, "numpy") for name in VIEWED),
        # One of each kind: without a view of the mover, with one, and on several words.
        *((name, "numba") for name in ("wolf_and_sheep", "checkers", "hex")),
    ],
    indirect=["backend"],
)
@settings(max_examples=3)
@given(seed=st.integers(0, 2**32 - 1))
def test_views_of_a_batch_are_those_of_each_position(name, backend, seed):
    """Words square by square, legal actions and planes; and what is reordered comes back."""
    game, rng = make(name), np.random.default_rng(seed)
    positions = batch_of(game, seed % 1000)
    state, count = stack(positions), len(game.symmetries)
    views = game.views.of_movers(state, rng.integers(count, size=len(positions)))
    if name in ("hex", "checkers"):
        assert (views // count).tolist() == [position.to_move for position in positions]
    second = [position.to_move * game.views.of_second for position in positions]
    assert game.views.by_movers(state)[1].tolist() == second
    seen, legal = game.views.seen(state, views), game.legal(state)
    for row, (position, view) in enumerate(zip(positions, views.tolist(), strict=True)):
        other, symmetry = view >= count, game.symmetries[view % count]
        image = position.image(game.mover_symmetry, swapped=True) if other else position
        image = image.image(symmetry)
        (found,) = game.positions(take(seen, slice(row, row + 1)))
        assert found.by_role() == image.by_role()
        assert found[1:5] == image[1:5]
        assert found.planes() == image._replace(words=found.words).planes()
        turns = [game.mover_symmetry] * other + [symmetry]
        for role in (0, 1):
            turned = (through(turns, square) for square in squares_of(position.pieces(role)))
            assert image.pieces(role ^ other) == from_squares(turned)
    policy = rng.random(legal.shape) * legal
    moved = reorder(policy.copy(), game.views.originals, views)
    np.testing.assert_array_equal(moved > 0, game.legal(seen))
    np.testing.assert_array_equal(reorder(moved, game.views.images, views), policy)


def through(symmetries, square):
    for symmetry in symmetries:
        square = symmetry.squares[square]
    return square


# ---- sampling ------------------------------------------------------------------------------------


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("name", ["othello", "lines_of_action"])
def test_sample_is_legal_and_uniform(game):
    """Chi-square over many draws from each of a few positions, with a fixed seed; a finished game
    draws noop, and a seed repeats itself.
    """
    positions = [random_position(game, s, plies) for s, plies in enumerate((0, 9, 20, 99))]
    draws = 4_000
    state = stack(positions * draws)
    actions = game.sample(state, np.random.default_rng(11))
    np.testing.assert_array_equal(actions, game.sample(state, np.random.default_rng(11)))
    for position, drawn in zip(positions, actions.reshape(draws, -1).T, strict=True):
        legal = position.legal_actions() or [game.noop]
        counts = np.bincount(drawn, minlength=game.num_actions)[legal]
        assert counts.sum() == draws
        expected, freedom = draws / len(legal), len(legal) - 1
        chi_square = ((counts - expected) ** 2 / expected).sum()
        # The mean of the distribution and five standard deviations.
        assert chi_square <= freedom + 5 * np.sqrt(2 * freedom), position
    assert positions[-1].terminated


def test_any_generator_of_numpy_draws_all_actions():
    game = make("lines_of_action")
    legal = game.start().legal_actions()
    for kind in (np.random.MT19937, np.random.Philox):
        drawn = game.sample(game.init(600), np.random.Generator(kind(3)))
        assert sorted(set(drawn.tolist())) == legal
    with pytest.raises(TypeError, match=r"it must be a numpy\.random\.Generator"):
        game.sample(game.init(1), np.random.RandomState(3))
