"""What holds in every game, on positions of random games."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from variants import make, of_built_in, random_line, random_position

from boardenvs import games
from boardenvs.board import bitboard
from boardenvs.board.bitboard import DIRECTIONS
from boardenvs.board.symmetry import ALL_EIGHT
from boardenvs.game.check import check_rules, is_symmetric
from boardenvs.game.contract import stack
from boardenvs.game.state import State, concat, put, take, where

SEEDS = st.integers(0, 2**32 - 1)
PLIES = st.integers(0, 70)
OTHELLOS = ["othello", "othello_holes", "reversi"]


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
def test_one_board_is_a_row_is_a_batch(game, seed):
    """`next` on ints, `step` on a batch of one and `step` on a larger batch agree, in all that a
    position says.
    """
    positions = batch_of(game, seed)
    actions = [action_of(game, p, seed) for p in positions]
    state = stack(positions)
    after = game.step(state, np.array(actions))
    for row, (position, action) in enumerate(zip(positions, actions, strict=True)):
        expected = position if position.terminated else position.step(action)
        assert game.positions(after)[row] == expected
        alone = game.step(stack([position]), np.array([action]))
        assert_equal(alone, take(after, [row]))
        assert_equal(alone, stack([expected]))
        assert tuple(game.results(after)[row]) == expected.result()
        legal = np.flatnonzero(game.legal(after)[row]).tolist()
        assert legal == expected.legal_actions()
        assert [a for a in range(game.num_actions) if expected.is_legal(a)] == legal
        again = game.position(
            (expected.pieces(0), expected.pieces(1)), expected.to_move, expected.ply
        )
        assert again == expected  # nothing hangs on the way to a position
    unsigned = game.step(state, np.array(actions, np.uint16))
    assert_equal(unsigned, after)


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


def test_start(game):
    assert_equal(game.init(3), stack([game.start()] * 3))
    start = game.start()
    assert (start.to_move, start.ply, start.terminated) == (0, 0, False)
    assert (start.pieces(0), start.pieces(1)) == game.setup()


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


@given(seed=SEEDS)
def test_course_of_a_game(game, seed):
    """Turns alternate, noop stands alone, and goals come at the end: one win, or a draw."""
    positions, actions = random_line(game, seed, 120)
    for ply, position in enumerate(positions):
        assert (position.ply, position.to_move) == (ply, ply % 2)
        assert not position.own & position.opp
        legal = position.legal_actions()
        assert bool(legal) != position.terminated
        if game.noop in legal:
            assert legal == [game.noop]
        goals = tuple(game.goal(stack([position]))[0])
        assert goals == (position.result() if position.terminated else (0, 0))
        assert position.result() in {(100, 0), (50, 50), (0, 100)}
        lead = game.score_margin(stack([position]))[0] * (1 if position.to_move == 0 else -1)
        first, second = position.result()
        assert np.sign(lead) == np.sign(first - second)
    assert all(not p.terminated for p in positions[:-1])
    assert len(actions) == len(positions) - 1


@pytest.mark.parametrize("name", OTHELLOS)
@given(seed=SEEDS)
def test_discs_never_vanish(name, seed):
    """A ply adds exactly one disc, on an empty square, or is a noop; holes stay empty."""
    game = make(name)
    positions, actions = random_line(game, seed, 100)
    for before, action, after in zip(positions, actions, positions[1:], strict=False):
        discs, more = before.own | before.opp, after.own | after.opp
        if action == game.noop:
            assert (after.own, after.opp) == (before.opp, before.own)
        else:
            assert more == discs | 1 << action != discs
            assert after.opp & before.own == before.own  # own discs stay own
            assert (before.opp & after.opp).bit_count() >= 1  # and at least one has flipped
        assert not more & game.holes
    assert bool(game.holes) == (name == "othello_holes")


@pytest.mark.parametrize("name", ["wolf_and_sheep", "wolf_and_sheep_described"])
@given(seed=SEEDS)
def test_one_wolf_and_four_sheep(name, seed):
    game = make(name)
    for position in random_line(game, seed, 100)[0]:
        assert (position.pieces(0).bit_count(), position.pieces(1).bit_count()) == (1, 4)
        assert game.noop not in position.legal_actions()


@pytest.mark.parametrize("name", ["lines_of_action", "lines_of_action_described"])
@given(seed=SEEDS)
def test_men_never_grow(name, seed):
    game = make(name)
    positions, actions = random_line(game, seed, 100)
    for before, action, after in zip(positions, actions, positions[1:], strict=False):
        assert before.own.bit_count() <= 12
        assert after.opp.bit_count() == before.own.bit_count()  # the mover loses nobody
        assert before.opp.bit_count() - after.own.bit_count() in (0, 1)
        assert after.own & before.opp == after.own
        if action != game.noop:
            assert before.own & ~after.opp == 1 << action % 64
    assert positions[-1].ply <= 50


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


def word(plane) -> int:
    return sum(1 << square for square, bit in enumerate(plane.flatten().tolist()) if bit)


def number(planes) -> int:
    """The number that constant planes write in binary, lowest digit first."""
    digits = [plane.flatten().tolist() for plane in planes]
    assert all(len(set(digit)) == 1 for digit in digits)
    return sum(digit[0] << i for i, digit in enumerate(digits))


@of_built_in
@given(seed=SEEDS, plies=PLIES)
def test_observation_tells_the_position(name, game, seed, plies):
    """All that the rest of the game depends on can be read from what the side to move sees."""
    positions = [*batch_of(game, seed), random_position(game, seed, plies)]
    seen = game.observe(stack(positions))
    assert seen.shape == (len(positions), *game.observation_shape)
    assert seen.dtype == np.int8
    assert set(np.unique(seen)) <= {0, 1}
    for position, observation in zip(positions, seen, strict=True):
        own, opp, *rest = np.moveaxis(observation, -1, 0)
        assert (word(own), word(opp)) == (position.own, position.opp)
        assert observation[2, 4, 0] == (position.own >> (8 * 2 + 4) & 1)  # [y - 1, x - 1, plane]
        # Where turns are told, and plies count, they are there.
        to_move, ply = position.to_move, position.ply
        if name.startswith("wolf_and_sheep"):
            assert set(rest[0].flatten().tolist()) == {to_move}
            ply = game.max_plies - number(rest[1:])
        elif name.startswith("lines_of_action"):
            ply = game.max_steps - number(rest)
        else:
            assert [word(plane) for plane in rest] == ([game.holes] if game.holes else [])
        assert ply == position.ply
        rebuilt = game.position((word(own), word(opp))[:: -1 if to_move else 1], to_move, ply)
        assert rebuilt == position
        words = position.planes()
        assert list(words) == [word(plane) for plane in np.moveaxis(observation, -1, 0)]


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


def test_names():
    """The spellings of the rule sheets and of players, written by hand."""
    examples = [
        ("othello", 19, "d3", "4 3"),
        ("reversi", 63, "h8", "8 8"),
        ("wolf_and_sheep", 64 * 5 + 59, "d8-c7", "c4 c8 c3 c7"),
        ("lines_of_action", 64 * 0 + 1, "b1-b3", "b 1 b 3"),
        ("lines_of_action", 64 * 2 + 1, "b1-h1", "b 1 h 1"),
        ("lines_of_action_described", 64 * 2 + 9, "b2-h2", "b 2 h 2"),
    ]
    for name, action, text, sheet in examples:
        game = make(name)
        assert game.action_name(action, game.start()) == text
        assert game.action_gdl(action, game.start()) == sheet
        assert (game.parse_action(text), game.parse_gdl(sheet)) == (action, action)
    assert make("lines_of_action").action_name(1) == "b1-n"
