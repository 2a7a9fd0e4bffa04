"""`check_rules` names what is wrong with rules, and where."""

from __future__ import annotations

from typing import Any

import pytest
from boardenvs_breakthrough import Breakthrough
from three_in_a_row import ThreeInARow
from variants import BACKENDS

from boardenvs.board import ALL_EIGHT
from boardenvs.board.bitboard import FILE_A
from boardenvs.game import Feature, Game, Moving, PositionError
from boardenvs.game.check import RulesError, check_rules
from boardenvs.kernel import Bits, Table, guard, popcount


def made(base: type[Game], **attributes: Any) -> Game:
    """A game with these attributes and methods in place of its own."""
    game: Game = type("Changed", (base,), attributes)()
    return game


def over_at(rules: Any, own: Bits, opp: Bits, moves: Any, to_move: Bits, ply: Bits) -> Bits:
    return Breakthrough.over(rules, own, opp, moves, to_move, ply) | ply >> 4 & 1


def refuses(rules: Any, squares: tuple[int, int]) -> None:
    if squares[0].bit_count() < 16:
        raise PositionError("somebody is missing")


def one(nothing: Bits) -> Bits:
    return nothing + 1


play = Breakthrough.play
uncounted_plies = made(Breakthrough, over=over_at)
broken_guard = made(
    Breakthrough, evaluate=lambda rules, own, opp, *_: (guard(own & 0, one), opp & 0)
)
SQUARES = Table([1 << square for square in range(64)])

WRONG: list[tuple[Game, str]] = [
    (made(Breakthrough, opening_plies=(8, 4)), r"opening_plies is \(8, 4\): fewest come first"),
    (
        made(Breakthrough, notation=Moving(distance=1)),
        "moves returns 6 sets of actions: its notation has 8",
    ),
    (
        made(Breakthrough, planes=lambda rules, own, opp, *_: (own, opp)),
        "planes do not tell whose turn it is",
    ),
    (uncounted_plies, "planes do not tell how many plies are played"),
    (
        made(
            Breakthrough,
            play=lambda rules, own, opp, action: (play(rules, own, opp, action)[0], opp),
        ),
        r"'.* (black|white) \d+': after ..-.. both sides have a piece on [a-h][1-8]",
    ),
    (
        made(Breakthrough, check_squares=refuses),
        r"after ..-.. play reaches a position that is refused: somebody is missing",
    ),
    (
        made(Breakthrough, symmetries=ALL_EIGHT[:4]),
        r"Symmetry\(.*flip_ranks=True\) is no symmetry",
    ),
    (
        made(
            Breakthrough,
            evaluate=lambda rules, own, opp, *_: (popcount(own) * 7000, popcount(opp) * 7000),
        ),
        r"evaluate returns \(112000, 112000\): both words must be below 100000",
    ),
    (
        made(
            Breakthrough,
            features=lambda rules, own, *_: {"on the a file": Feature(popcount(own & FILE_A), 9)},
        ),
        "features under .*flip_files=True.* is ",
    ),
    (
        made(Breakthrough, over=lambda *given: Breakthrough.over(*given) * 2),
        "over returns 2: it must be a flag, 0 or 1",
    ),
    (
        made(ThreeInARow, over=lambda *_: 0),
        "none of 3 random games ends within 200 plies: let `over` end them",
    ),
    (
        made(
            Breakthrough, play=lambda rules, own, opp, action: play(rules, own, opp, action)[::-1]
        ),
        "play swaps the sides",
    ),
]


@pytest.mark.usefixtures("in_python")
@pytest.mark.parametrize(("game", "message"), WRONG, ids=[message for _, message in WRONG])
def test_what_is_wrong_is_named(game: Game, message: str) -> None:
    with pytest.raises(RulesError, match=message):
        check_rules(game, num_games=3)


@pytest.mark.usefixtures("in_python")
def test_one_board_and_a_batch_must_agree() -> None:
    with pytest.raises(RulesError, match=r"value of a batch by numpy is .*: it must be"):
        check_rules(broken_guard, max_plies=4)


@pytest.mark.parametrize("given", [("black", "blue"), ("", "white"), ("Black", "white")])
def test_roles_are_told_apart_by_their_first_letters(given: tuple[str, str]) -> None:
    with pytest.raises(ValueError, match=r"the roles of Twins are .*: they must be two words"):
        type("Twins", (Breakthrough,), {"roles": given})


@pytest.mark.parametrize("backend", BACKENDS, indirect=True)
@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize(
    ("game", "error", "message"),
    [
        (
            made(Breakthrough, over=lambda rules, own, opp, moves, *_: moves[0] == 0),
            TypeError,
            r"words are not compared by == or !=.*nonzero\(a \^ b\)",
        ),
        (
            made(ThreeInARow, moves=lambda rules, own, opp: ((1 << 81) - 1 & ~(own | opp),)),
            ValueError,
            "the constant 0x1f+ has 81 bits: words have 64",
        ),
        (
            made(ThreeInARow, play=lambda rules, own, opp, action: (own | SQUARES[action], opp)),
            ValueError,
            "action 64, noop: a Table of 64 words has no element 64; .* 65",
        ),
    ],
)
def test_what_cannot_be_compiled_is_said(game: Game, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        game.start()
