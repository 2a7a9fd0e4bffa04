"""`check_rules` names what is wrong with rules, and where."""

from __future__ import annotations

import pickle
import random
from typing import Any

import pytest
from author_games import Heaps, Lift, Stripes, Walls, distance
from boardenvs_breakthrough import Breakthrough
from three_in_a_row import ThreeInARow
from variants import BACKENDS

import boardenvs
from boardenvs import games
from boardenvs.board import ALL_EIGHT, IDENTITY, MIRROR, Board, Direction, N, step
from boardenvs.board.bitboard import FILE_A
from boardenvs.game import Feature, Game, Moving, Pairs, PositionError, check
from boardenvs.game.check import RulesError, check_rules
from boardenvs.game.position import stack
from boardenvs.games import Othello
from boardenvs.kernel import ALL, Bits, Table, guard, less, nonzero, popcount, spread, trace, when
from boardenvs.kernel.wide import join

pytestmark = pytest.mark.usefixtures("as_written")


def made(base: type[Game], **attributes: Any) -> Game:
    """A game with these attributes and methods in place of its own."""
    game: Game = type("Changed", (base,), attributes)()
    return game


def over_at(rules: Any, own: Bits, opp: Bits, moves: Any, to_move: Bits, ply: Bits) -> Bits:
    return Breakthrough.over(rules, own, opp, moves, to_move, ply) | ply >> 4 & 1


def refuses(rules: Any, squares: tuple[int, int]) -> None:
    if squares[0].bit_count() < 16:
        raise PositionError("somebody is missing")


def noisy(rules: Any, own: Bits, opp: Bits, to_move: Bits) -> tuple[Bits, Bits]:
    first, second = Breakthrough.points(rules, own, opp, to_move)
    return first ^ own & random.getrandbits(32), second


def more_moves(rules: Any, own: Bits, opp: Bits) -> list[Bits]:
    return [~(own | opp)]  # not & the squares of the board


def forgetful(rules: Any, own: Bits, opp: Bits, walls: Bits, to_move: Bits) -> tuple[Bits, ...]:
    return own, opp, walls, spread(to_move, rules.board.all)


def one(nothing: Bits) -> Bits:
    return nothing + 1


def aged(rules: Any, ply: Bits) -> tuple[Bits, Bits]:
    return VALUES[ply], 0


play, VALUES = Breakthrough.play, Table([0] * 8)
uncounted_plies = made(Breakthrough, over=over_at)
broken_guard = made(
    Breakthrough, evaluate=lambda rules, own, opp, *_: (guard(own & 0, one), opp & 0)
)
SQUARES = Table([1 << square for square in range(64)])

WRONG: list[tuple[Game, str]] = [
    (made(Breakthrough, opening_plies=(8, 4)), r"opening_plies is \(8, 4\): fewest come first"),
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
        r"'.* (black|white) \d+': after ..-..: both sides have a piece on [a-h][1-8]",
    ),
    (
        made(Breakthrough, check_squares=refuses),
        r"after ..-..: play reaches a position that is refused: somebody is missing",
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
        "evaluate returns 112000: it must be 0 to 99999",
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
        "a random game does not end within 10000 plies: let `over` end it",
    ),
    (
        made(
            Breakthrough, play=lambda rules, own, opp, action: play(rules, own, opp, action)[::-1]
        ),
        "play swaps the sides",
    ),
    (made(Stripes, moves=more_moves), "part 0 of moves has the bit 12, outside of its 12 actions"),
    (
        made(Breakthrough, points=noisy),
        "step_words is another function each .* nothing to chance",
    ),
    (made(Walls, planes=forgetful), "planes do not tell own_left, on which actions"),
    (
        made(
            ThreeInARow, points=lambda rules, own, opp: (popcount(own) - popcount(opp), own ^ own)
        ),
        "': points returns -1: it must be 0 to 9223372036854775807$",
    ),
    (
        made(Breakthrough, evaluate=aged),
        r"'.* black 8': .*: aged: a Table of 8 words has no element 8, in 'return VALUES\[ply\]",
    ),
    (
        made(Stripes, evaluate=lambda rules, own, opp: (popcount(own & FILE_A), 0)),
        "evaluate looks at the squares 0x[01]+, of a larger board than 3x4",
    ),
    (
        made(Breakthrough, mover_symmetry=MIRROR),
        r"mover_symmetry is Symmetry\(.*flip_files=True.*\): the image, with the sides swapped, is",
    ),
    (made(Stripes, mover_symmetry=IDENTITY), r"symmetries are of another board than \(3, 4\)"),
    (made(Stripes, symmetries=(IDENTITY,)), r"symmetries are of another board than \(3, 4\)"),
    (made(Breakthrough, symmetries=(MIRROR,)), "symmetries lack the identity"),
    (made(Lift, fills_up=True), "fills_up is True, but at ply 0 a1 fills no square"),
    (
        made(ThreeInARow, fills_up=True, fills_by_capture=True),
        "fills_by_capture is True, but no square would capture, and the game says otherwise",
    ),
    (
        made(Lift, stable=lambda rules, own, opp: opp),
        "(left|right) loses [a-e]1, which were stable at ply ",
    ),
    (made(Lift, stable=lambda rules, own, opp: own), "stable returns squares that are not of"),
    (
        made(Breakthrough, features=lambda rules, own: {"pieces": Feature(popcount(own), 16)}),
        "the feature 'pieces' is 16: it must be 0 to 15",
    ),
    (
        made(
            Breakthrough,
            evaluate=lambda rules, own, opp: (popcount(own & FILE_A), popcount(opp & FILE_A)),
        ),
        "the value under .*flip_files=True.* is ",
    ),
    (made(Breakthrough, history=4), "history is 4, but no rule takes `repeats`"),
]


@pytest.mark.parametrize("game", [Stripes(), Stripes(rows=5, columns=6), Lift(), Heaps(), Walls()])
def test_games_of_all_kinds_are_accepted(game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    """A side that moves again, turns of two actions, counts, walls on more than 64 squares."""
    if game == Stripes(rows=5, columns=6):  # in machine code the smaller one is enough
        monkeypatch.setattr(check, "find_spec", lambda name: None)
    check_rules(game, num_games=2, max_plies=90)


@pytest.mark.parametrize(
    "text",
    [
        *("othello:empties=winner", "wolf_and_sheep:max_plies=none"),
        *("lines_of_action:rules=tournament", "chess", "go:komi=0"),
    ],
)
def test_games_pass_that_do_not_end_within_the_plies(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whole games of the others are in test_properties.py and test_more_games.py."""
    monkeypatch.setattr(check, "find_spec", lambda name: None)  # machine code has its own tests
    check_rules(games.make(text), num_games=1, max_plies=8)


LEAPS = {
    (0, 2): "2 north",
    (2, 0): "2 east",
    (-2, -2): "2 south-2 west",
    (1, 2): "2 north-1 east",
    (-2, 1): "1 north-2 west",
}


@pytest.mark.parametrize("distance", [1, 2, None])
@pytest.mark.parametrize("leaps", [list(LEAPS), [(0, 1), (-1, 1), (1, 0)]])
def test_names_of_moves_are_read_back(leaps: list[tuple[int, int]], distance: int | None) -> None:
    """Steps of one, of two and of a knight, once or twice."""
    board = Board(6, 7)
    ways = [Direction(f"way{k}", *leap, board) for k, leap in enumerate(leaps)]
    game = made(ThreeInARow, shape=board, notation=Moving(tuple(ways), distance))
    written = {game.action_name(a) for a in range(game.noop)}
    assert len(written) == game.noop
    assert [game.parse_action(game.action_name(a)) for a in range(game.noop)] == [*range(game.noop)]
    assert all(LEAPS[leap] in game.notation.explain(game) for leap in leaps if leap in LEAPS)
    with pytest.raises(ValueError, match="no piece on a1 goes to 'g6': directions are way0"):
        game.parse_action("a1-g6")


def test_a_piece_moves_to_squares_of_the_list_alone() -> None:
    game = made(ThreeInARow, notation=Pairs((9, 0)))
    assert [game.parse_action(name) for name in ("h8-b2", "a1-a1")] == [63, 64]
    assert [game.action_name(action) for action in (63, 64)] == ["h8-b2", "a1-a1"]
    with pytest.raises(ValueError, match="'a1-b1' ends on b1, where no piece moves"):
        game.parse_action("a1-b1")


def test_sizes_are_fields() -> None:
    game = Stripes(rows=2, columns=7)
    assert pickle.loads(pickle.dumps(game)) == game
    assert (game.board, game.num_actions) == ((2, 7), 15)
    assert boardenvs.vec_env(game, 3).reset(seed=1)[0].shape == (3, 2, 7, 4)
    with pytest.raises(ValueError, match=r"the shape of Stripes is \(17, 2\): .* 1 to 16 each"):
        Stripes(rows=17, columns=2).start()


@pytest.mark.parametrize("backend", BACKENDS, indirect=True)
@pytest.mark.usefixtures("backend")
def test_rounds_are_distances_and_small_sets_are_as_wide_as_the_board() -> None:
    """On one board, in a batch and on ints: to rank 9 and to rank 1, around a wall or not."""
    game = Walls()
    position = game.start().step(game.parse_action("=d1")).step(game.parse_action("e8"))
    position = position.step(game.parse_action("=e1"))
    own, opp, walls = (position.word(name) for name in ("own", "opp", "walls"))
    assert (distance(own, walls, 1), distance(opp, walls, 0)) == (8, 9)
    assert game.kernels.evaluate.one(*position.words, 1, 3) == (9, 8)
    assert game.values(stack([position, game.start()])).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"board": (5, 5)}, "Odd has a `board`: give it a `shape`"),
        ({"roles": ("red", "green", "blue")}, "Odd has 3 roles: games have two players, who see"),
        ({"roles": ("Black", "white")}, "the roles of Odd are .*: they must be two words"),
        ({"numbers": {"big": 1 << 64}}, r"big of Odd stays below 1844.*: .* numbers below 2\*\*63"),
        ({"squares": ("own", "opp", "before_own")}, "a word of Odd is named 'before_own'"),
        ({"squares": ("own", "opp", "ply")}, "a word of Odd is named 'ply'"),
        ({"squares": ("opp", "own")}, "the words of Odd are opp, own: .* 'own' and 'opp' first"),
        ({"squares": ("own", "opp", "own")}, "the words of Odd are .*: .* different names"),
        ({"squares": ("own", "opp", "opp_kings")}, "Odd has 'opp_kings' without 'own_kings'"),
        ({"numbers": {"empty": 0}}, "empty of Odd stays below 0"),
        ({"max_plies": 0}, "max_plies of Odd is 0: it must be 1 or more, or None"),
    ],
)
def test_what_no_game_can_be_is_said(attributes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        type("Odd", (Breakthrough,), attributes)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (lambda a, b: a < b, r"compared by <.*less\(a, b\)"),
        (lambda a, b: max(a, b), r"compared by <, >, max or min"),
        (lambda a, b: a // 3, r"divided by //.*Table"),
        (lambda a, b: [1, 2][a], "indices of lists.*a Table for a list"),
        (lambda a, b: int(a), "made ints"),
        (lambda a, b: [x for x in a], "iterated.*loop over all squares"),  # noqa: C416
        (lambda a, b: a if a == b else b, r"compared by ==.*nonzero\(a \^ b\)"),
    ],
)
@pytest.mark.parametrize("words", [1, 2])
def test_operators_say_what_to_write_instead(rule: Any, message: str, words: int) -> None:
    with pytest.raises(TypeError, match=message):
        trace(lambda *given: rule(join(given[:words]), join(given[words:])), 2 * words, "batch")


def test_shifts_are_within_a_word() -> None:
    with pytest.raises(ValueError, match="a word is shifted by 64: shifts are by 0 to 63"):
        trace(lambda a: a << 64, 1, "scalar")


@pytest.mark.parametrize(("game", "message"), WRONG, ids=[message for _, message in WRONG])
def test_what_is_wrong_is_named(game: Game, message: str) -> None:
    with pytest.raises(RulesError, match=message):
        check_rules(game, num_games=3)


def test_an_element_that_is_asked_for_only_where_it_exists_is_accepted() -> None:
    """`when` and bounds of numbers keep an index within its table."""

    def few(own: Bits) -> Bits:
        return VALUES[popcount(own)]

    def evaluate(rules: Any, own: Bits, opp: Bits) -> tuple[Bits, Bits]:
        return when(less(popcount(own), 8), few, own), when(less(popcount(opp), 8), few, opp)

    check_rules(made(Breakthrough, evaluate=evaluate), num_games=1)


@pytest.mark.parametrize("name", [*games.GAMES])
def test_a_class_that_gives_a_game_another_board_is_told(name: str) -> None:
    """Its rules are for the board that they were written for."""
    game = games.make(name)
    rows, columns = game.board
    for shape in ((rows + 1, columns), (rows, columns + 1), (rows - 1, columns - 1)):
        with pytest.raises(ValueError, match=r"board|has no element"):
            check_rules(made(type(game), shape=shape), num_games=1)


def test_a_heuristic_of_corners_needs_a_corner() -> None:
    """A ring of holes makes Othello of 6x6, with corners of its own."""
    corners = 0x81 | 0x81 << 56
    inner = sum(0x7E << 8 * rank for rank in range(1, 7))
    for holes, has in ((corners, False), (1, True), (ALL & ~inner, True)):
        game = Othello(holes=holes)
        assert game.has_heuristic == has
    assert list(game.weights.values()) == list(Othello(size=6).weights.values())
    with pytest.raises(ValueError, match="boards with corners, and all four are holes"):
        boardenvs.play_match(games.make("othello", holes=corners), "positional", "random", 1)


def test_one_board_and_a_batch_must_agree() -> None:
    with pytest.raises(RulesError, match=r"value of a batch by numpy is .*: it must be"):
        check_rules(broken_guard, max_plies=4)


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
        (
            made(Breakthrough, planes=lambda rules, own: (VALUES[popcount(own)],)),
            ValueError,
            "breakthrough: <lambda>: a Table of 8 words has no element 16, in .*VALUES",
        ),
        (
            made(Stripes, over=lambda rules, own, moves: nonzero(step(own, N))),
            ValueError,
            "direction 'n' is one of a board of 8x8, in a game on 3x4: .* `self.board.directions`",
        ),
        (
            made(ThreeInARow, play=lambda rules, own, opp, action: (own, opp, action)),
            ValueError,
            "play returns .*: it must be a tuple of 2 words",
        ),
        (
            made(Breakthrough, planes=lambda rules, own, op: (own, op)),
            TypeError,
            "unknown parameter of Changed.<lambda> 'op'. Did you mean 'opp'",
        ),
        (
            made(Breakthrough, notation=Moving(distance=1)),
            ValueError,
            r"moves returns \(0, .*\): it must be a tuple of 8 words",
        ),
        *(
            (made(ThreeInARow, **{rule: lambda rules, own, opp: own | opp}), ValueError, message)
            for rule, message in (
                ("moves", "moves returns 0: it must be a tuple of 1 words"),
                ("planes", "planes returns 0: it must be a tuple of the words"),
                ("evaluate", "evaluate returns 0: it must be a tuple of 2 words"),
            )
        ),
    ],
)
def test_what_cannot_be_compiled_is_said(game: Game, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        game.start()
