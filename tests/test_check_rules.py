"""`check_rules` names what is wrong with rules, and where."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import pytest
from boardenvs_breakthrough import Breakthrough
from three_in_a_row import FullThreeInARow, ThreeInARow
from variants import BACKENDS

from boardenvs.board import ALL_EIGHT, MIRROR, Symmetry
from boardenvs.board.bitboard import FILE_A
from boardenvs.game import Feature, Game, Moving, PositionError, RulesError, check_rules
from boardenvs.kernel import ALL, Bits, Table, get_backend, guard, popcount, set_backend


@dataclass(frozen=True)
class NoIdentity(Breakthrough):
    @property
    def symmetries(self) -> tuple[Symmetry, ...]:
        return (MIRROR,)


@dataclass(frozen=True)
class TurnedOpenings(Breakthrough):
    opening_plies: ClassVar = (8, 4)


@dataclass(frozen=True)
class TooFewPlanes(Breakthrough):
    notation: ClassVar = Moving(distance=1)


@dataclass(frozen=True)
class BlindPlanes(Breakthrough):
    def planes(self, own: Bits, opp: Bits, to_move: Bits, ply: Bits) -> tuple[Bits, ...]:
        return own, opp


@dataclass(frozen=True)
class UncountedPlies(Breakthrough):
    def over(self, own: Bits, opp: Bits, moves: Sequence[Bits], to_move: Bits, ply: Bits) -> Bits:
        return super().over(own, opp, moves, to_move, ply) | ply >> 4 & 1


@dataclass(frozen=True)
class NothingIsCaptured(Breakthrough):
    def play(self, own: Bits, opp: Bits, action: Bits) -> tuple[Bits, Bits]:
        return super().play(own, opp, action)[0], opp


@dataclass(frozen=True)
class RefusesCaptures(Breakthrough):
    def check_squares(self, squares: tuple[int, int]) -> None:
        if squares[0].bit_count() < 16:
            raise PositionError("somebody is missing")


@dataclass(frozen=True)
class AllSymmetries(Breakthrough):
    @property
    def symmetries(self) -> tuple[Symmetry, ...]:
        return ALL_EIGHT[:4]


@dataclass(frozen=True)
class LopsidedHeuristic(Breakthrough):
    def evaluate(self, own: Bits, opp: Bits, to_move: Bits, ply: Bits) -> tuple[Bits, Bits]:
        return own & 3, opp & 3


@dataclass(frozen=True)
class HugeHeuristic(Breakthrough):
    def evaluate(self, own: Bits, opp: Bits, to_move: Bits, ply: Bits) -> tuple[Bits, Bits]:
        return popcount(own) * 7000, popcount(opp) * 7000


@dataclass(frozen=True)
class TooSmallFeature(Breakthrough):
    def features(self, own: Bits, opp: Bits, to_move: Bits, ply: Bits) -> dict[str, Feature]:
        return {"pieces": Feature(popcount(own), 17), "lost": Feature(16 - popcount(opp) & ALL, 1)}


@dataclass(frozen=True)
class LopsidedFeature(Breakthrough):
    def features(self, own: Bits, opp: Bits, to_move: Bits, ply: Bits) -> dict[str, Feature]:
        return {"on the a file": Feature(popcount(own & FILE_A), 9)}


@dataclass(frozen=True)
class FillsUp(Breakthrough):
    fills_up: ClassVar = True


@dataclass(frozen=True)
class BrokenGuard(Breakthrough):
    def evaluate(self, own: Bits, opp: Bits, to_move: Bits, ply: Bits) -> tuple[Bits, Bits]:
        return guard(own & 0, _one), opp & 0


@dataclass(frozen=True)
class NoFlag(Breakthrough):
    def over(self, own: Bits, opp: Bits, moves: Sequence[Bits], to_move: Bits, ply: Bits) -> Bits:
        return super().over(own, opp, moves, to_move, ply) * 2


@dataclass(frozen=True)
class NeverOver(ThreeInARow):
    def over(self, own: Bits, opp: Bits, moves: Sequence[Bits], to_move: Bits, ply: Bits) -> Bits:
        return 0


@dataclass(frozen=True)
class SwapsSides(Breakthrough):
    def play(self, own: Bits, opp: Bits, action: Bits) -> tuple[Bits, Bits]:
        return super().play(own, opp, action)[::-1]


@dataclass(frozen=True)
class ComparesWords(Breakthrough):
    def over(self, own: Bits, opp: Bits, moves: Sequence[Bits], to_move: Bits, ply: Bits) -> Bits:
        return moves[0] == 0


@dataclass(frozen=True)
class NineByNine(ThreeInARow):
    def moves(self, own: Bits, opp: Bits, to_move: Bits) -> tuple[Bits, ...]:
        return ((1 << 81) - 1 & ~(own | opp),)


@dataclass(frozen=True)
class ShortTable(ThreeInARow):
    def play(self, own: Bits, opp: Bits, action: Bits) -> tuple[Bits, Bits]:
        return own | _SQUARES[action], opp


_SQUARES = Table([1 << square for square in range(64)])


def _one(nothing: Bits) -> Bits:
    return nothing + 1


@pytest.mark.parametrize(
    ("game", "message"),
    [
        (NoIdentity(), "symmetries lack IDENTITY"),
        (TurnedOpenings(), r"opening_plies is \(8, 4\): fewest come first"),
        (TooFewPlanes(), "moves returns 6 words: its notation has 8 planes"),
        (BlindPlanes(), "planes do not tell whose turn it is"),
        (UncountedPlies(), "planes do not tell how many plies are played"),
        (
            NothingIsCaptured(),
            r"'.* (black|white) \d+': after ..-.. both sides have a piece on [a-h][1-8]",
        ),
        (
            RefusesCaptures(),
            r"after ..-.. play reaches a position that is refused: somebody is missing",
        ),
        (AllSymmetries(), r"Symmetry\(.*flip_ranks=True\) is no symmetry"),
        (LopsidedHeuristic(), "the value under .*flip_files=True.* is -?[0-9]+: it must be"),
        (HugeHeuristic(), r"evaluate returns \(112000, 112000\): both words must be below 100000"),
        (TooSmallFeature(), "the feature 'lost' is 1: it must be below its size, 1"),
        (LopsidedFeature(), "features under .*flip_files=True.* is "),
        (FillsUp(), "fills_up is True, but at ply 0 .* fills no square"),
        (NoFlag(), "over returns 2: it must be a flag, 0 or 1"),
        (NeverOver(), "none of 20 random games ends within 200 plies: let `over` end them"),
        (SwapsSides(), "play swaps the sides"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Game) else "",
)
def test_what_is_wrong_is_named(game: Game, message: str) -> None:
    with pytest.raises(RulesError, match=message):
        check_rules(game)


def test_one_board_and_a_batch_must_agree() -> None:
    before = get_backend()
    set_backend("numpy")
    try:
        with pytest.raises(RulesError, match=r"value of a batch by numpy is .*: it must be"):
            check_rules(BrokenGuard())
        assert get_backend() == "numpy"
    finally:
        set_backend(before)


@pytest.mark.parametrize("game", [Breakthrough(), ThreeInARow(), FullThreeInARow()])
def test_sound_rules_pass(game: Game) -> None:
    check_rules(game, num_games=3)


def test_games_are_played_no_further_than_asked() -> None:
    check_rules(UncountedPlies(), max_plies=3)
    with pytest.raises(RulesError):
        check_rules(UncountedPlies(), max_plies=30)


@pytest.mark.parametrize("given", [("black", "blue"), ("", "white"), ("Black", "white")])
def test_roles_are_told_apart_by_their_first_letters(given: tuple[str, str]) -> None:
    with pytest.raises(ValueError, match=r"the roles of Twins are .*: they must be two words"):
        type("Twins", (Breakthrough,), {"roles": given})


@pytest.mark.parametrize("backend", BACKENDS, indirect=True)
@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize(
    ("game", "error", "message"),
    [
        (ComparesWords(), TypeError, r"words are not compared by == or !=.*nonzero\(a \^ b\)"),
        (NineByNine(), ValueError, "the constant 0x1f+ has 81 bits: words have 64"),
        (ShortTable(), ValueError, "action 64, noop: a Table of 64 words has no element 64; .* 65"),
    ],
)
def test_what_cannot_be_compiled_is_said(game: Game, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        game.start()


class Rows(ThreeInARow):
    """A parameter that is no field, and so unseen by equality."""

    rows: int

    def __init__(self, rows: int) -> None:
        super().__init__()
        object.__setattr__(self, "rows", rows)

    def moves(self, own: Bits, opp: Bits, to_move: Bits) -> tuple[Bits, ...]:
        return (((1 << 8 * self.rows) - 1) & ~(own | opp),)


def test_games_that_are_equal_and_differ_share_no_rules() -> None:
    assert Rows(2) == Rows(3)
    counts = [len(game.start().legal_actions()) for game in (Rows(2), Rows(3))]
    assert counts == [16, 24]
    assert len(pickle.loads(pickle.dumps(Rows(3))).start().legal_actions()) == 24
    assert ThreeInARow().kernels is ThreeInARow().kernels
