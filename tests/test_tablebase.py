"""The exact solution of Wolf and Sheep, against slow searches that share nothing with it.

What it says of all positions must follow from what it says of their successors, and near a cap on
plies what it says is compared with plain search. In the classic game the sheep win from the start,
in 44 plies. In the described one the wolf wins every position: it can always step to a lower rank,
and from the eighth it is past all sheep in seven moves.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, strategies as st
from negamax import WIN, worth
from placings import CLASSIC, DESCRIBED, WOLF, game_of, placings, random_placings

from boardenvs import PositionError
from boardenvs.board import MIRROR, from_squares
from boardenvs.game.perft import successors
from boardenvs.game.position import Position, stack
from boardenvs.game.state import IntArray, take
from boardenvs.games import TicTacToe, WolfAndSheep
from boardenvs.tablebase import Tablebase, build, numbering, table
from boardenvs.tablebase.numbering import CHUNKS, positions
from boardenvs.utils.cache import cache_folder

of_both_rules = pytest.mark.parametrize("name", [CLASSIC, DESCRIBED])


# ---- against search, and from one another --------------------------------------------------------


@of_both_rules
@given(squares=placings(), to_move=st.integers(0, 1), left=st.integers(0, 4))
@example(squares=(1 << 55, from_squares(["e6", "g6", "b5", "c2"])), to_move=1, left=3)  # sheep win
def test_the_cap_is_foreseen(name: str, squares: tuple[int, int], to_move: int, left: int) -> None:
    """Near the cap, values and lengths are those of a search that ends there, where what is not
    decided is the wolf's; and a mirror image is worth the same.
    """
    game = game_of(name, max_plies=100)
    mirrored = MIRROR.apply(squares[0]), MIRROR.apply(squares[1])
    state = stack([game.position(s, to_move, 100 - left) for s in (squares, mirrored)])
    values, distances = Tablebase.load(game).lookup(state)
    expected = worth(game, game.positions(state)[0], left)
    for value, distance in zip(values.tolist(), distances.tolist(), strict=True):
        if value == 0:
            assert distance == left
            value = 1 if to_move == WOLF else -1
        assert value * (WIN - distance) == expected


@of_both_rules
def test_every_position_follows_from_its_successors(name: str) -> None:
    """Ends are worth their result; else the best successor decides, a ply later. If this holds
    everywhere the table is right, by induction over the distance. It is checked on every 31st
    position.
    """
    game = game_of(name)
    table = Tablebase.load(game)
    for number, chunk in enumerate(CHUNKS):
        state = take(positions(game, *chunk)[1], slice(number % 31, None, 31))
        value, distance = table.lookup(state)
        assert value.all()
        best = np.where(state.terminated, 1000 * np.sign(game.score_margin(state)), -1000)
        rows, _, after = successors(game, state)
        theirs, later = table.lookup(after)
        np.maximum.at(best, rows, -theirs * (999 - later))
        np.testing.assert_array_equal(value * (1000 - distance), best)


def test_any_game_is_solved_as_ply_by_ply() -> None:
    """Moves at random between positions, some of which end; also in circles, which nobody wins."""
    deepest, size = 0, 300
    for seed in range(10):
        rng = np.random.default_rng(seed)
        ends = rng.choice([1, 0, -1], size, p=[0.04, 0.92, 0.04]).astype(np.int8)
        targets = [rng.integers(size, size=rng.integers(1, 5) * (end == 0)) for end in ends]
        sources = [np.full(len(some), number) for number, some in enumerate(targets)]
        parts = [
            (np.concatenate(sources[first::3]), np.concatenate(targets[first::3]))
            for first in range(3)
        ]
        expected, before = ends.astype(int), np.zeros(size, int)
        while not np.array_equal(expected, before):
            before, plies = expected.copy(), int(np.abs(expected).max())
            for number in np.flatnonzero(before == 0):
                after = before[targets[number]]
                if (after < 0).any() or (after > 0).all():
                    expected[number] = plies + 1 if (after < 0).any() else -plies - 1
        np.testing.assert_array_equal(build.solve(ends, parts), expected)
        assert (expected == 0).any()
        deepest = max(deepest, plies)
    assert deepest > 5


# ---- numbers, and what is outside ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("wolf", "sheep"),
    [
        ("d8", "a1 b1 c1 e1"),  # both colours
        ("d8", "a1 c1 e1 g1 b2"),
        ("a1", "a1 c1 e1 g1"),
    ],
)
@pytest.mark.parametrize("to_move", [0, 1])
def test_what_no_game_reaches_is_refused(wolf: str, sheep: str, to_move: int) -> None:
    game = game_of(CLASSIC)
    squares = [from_squares(words.split()) for words in (wolf, sheep)]
    wrong = Position((squares[to_move], squares[1 - to_move]), (0,) * 9, to_move, 0, False, game)
    with pytest.raises(PositionError, match=r"row 1, .*one wolf, and four sheep on squares of one"):
        Tablebase.load(game).lookup(stack([game.start(), wrong, game.start()]))


# ---- moves -------------------------------------------------------------------------------------


@of_both_rules
@pytest.mark.parametrize("max_plies", [None, 6])
def test_preserving_actions_and_mistakes(name: str, max_plies: int | None) -> None:
    game = game_of(name, max_plies)
    table, state = Tablebase.load(game), random_placings(game, 300, seed=5)
    mask, mistakes = table.preserving(state), table.mistakes(state)
    assert mask.shape == (300, 513)
    assert mask.dtype == np.bool_
    for row, position in enumerate(game.positions(state)):
        legal = position.legal_actions()
        values = [-table.lookup(stack([position.step(action)]))[0][0] for action in legal]
        right = [a for a, value in zip(legal, values, strict=True) if value == max(values)]
        assert np.flatnonzero(mask[row]).tolist() == right
        assert mistakes[row] == pytest.approx(1 - len(right) / len(legal) if legal else 0)
    # In the described game, without a cap, the wolf can give nothing away.
    assert mistakes.any() == ((name, max_plies) != (DESCRIBED, None))


# ---- the file that keeps it ----------------------------------------------------------------------

CODES = np.array([0, 1, -1, 44, -45, 32767], np.int16)


@pytest.fixture
def solved(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """An empty cache folder, and a solver that is quick and notes when it is called."""
    calls: list[str] = []

    def solve_all(game: WolfAndSheep) -> IntArray:
        calls.append(game.rules)
        return CODES

    monkeypatch.setattr(build, "solve_all", solve_all)
    monkeypatch.setattr(numbering, "COUNT", len(CODES))
    monkeypatch.setenv("BOARDENVS_CACHE", str(tmp_path / "cache"))
    return calls


def check(name: str) -> None:
    codes = build.read_or_solve(game_of(name))
    assert codes.dtype == np.int16
    np.testing.assert_array_equal(codes, CODES)


def test_it_is_solved_once_for_all_processes_and_caps(
    solved: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Anew where the rules have changed."""
    for name in (CLASSIC, CLASSIC, DESCRIBED, CLASSIC, DESCRIBED):
        check(name)
    assert solved == ["classic", "described"]
    monkeypatch.setattr(table, "_loaded", {})
    for max_plies in (200, 10, None):
        Tablebase.load(WolfAndSheep(max_plies=max_plies))
    assert solved == ["classic", "described"]
    monkeypatch.setattr("inspect.getsource", lambda module: "other rules")
    for _ in range(2):
        check(CLASSIC)
    assert solved == ["classic", "described", "classic"]


def test_where_nothing_can_be_kept_it_is_solved_again(
    solved: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object) -> None:
        raise OSError("no room")

    monkeypatch.setattr(build, "keep", refuse)
    for _ in range(2):
        with pytest.warns(UserWarning, match=r"could not be kept \(no room\): each process solves"):
            check(CLASSIC)
    assert solved == ["classic"] * 2


def test_a_torn_file_is_not_trusted(solved: list[str]) -> None:
    check(CLASSIC)
    (path,) = cache_folder().glob("*.tablebase")
    content = path.read_bytes()
    flipped = content[:-1] + bytes([content[-1] ^ 1])
    torn = (b"", content[:-1], flipped)
    for damaged in torn:
        path.write_bytes(damaged)
        check(CLASSIC)
        assert path.read_bytes() == content
    assert len(solved) == 1 + len(torn)


def test_solving_anew_gives_the_table_that_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the kept one is of older code, and `build.FORMAT` should have been raised. By the moves
    of a wolf that has come down alone, which prove the last two plies.
    """
    kept, few = build.read_or_solve(game_of(CLASSIC)), [chunk for chunk in CHUNKS if chunk[1] < 16]
    monkeypatch.setattr(numbering, "CHUNKS", few)
    codes = build.solve_all(game_of(CLASSIC))
    assert np.count_nonzero(codes) > 10**6
    np.testing.assert_array_equal(codes, kept * (codes != 0))


def test_tic_tac_toe_is_solved_as_by_plain_search() -> None:
    game = TicTacToe()
    table, kept = Tablebase(game, build.solve_all(game)), dict[Position, int]()

    def value(position: Position) -> int:
        if position not in kept:
            lead = int(np.sign(position.points()[0] - position.points()[1]))
            moves = [] if position.is_over() else position.legal_actions()
            found = [-value(position.step(action)) for action in moves]
            kept[position] = max(found) if found else lead * (1 - 2 * position.to_move)
        return kept[position]

    assert value(game.start()) == 0
    assert table.lookup(stack(list(kept)))[0].tolist() == list(kept.values())
