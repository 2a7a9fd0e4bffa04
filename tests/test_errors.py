"""Bad input to the rules: each message names the value, what is wrong and what would be right."""

import re

import numpy as np
import pytest
from variants import make

import boardenvs
from boardenvs import PositionError, games
from boardenvs.board.bitboard import from_squares
from boardenvs.game import fen
from boardenvs.game.contract import stack
from boardenvs.game.notation import square_of
from boardenvs.games import Othello


def error(kind, *parts):
    """An error of this kind whose message has all the parts."""
    return pytest.raises(kind, match="".join(f"(?=.*{part})" for part in parts))


# ---- games and their parameters ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("othelo", "othello"),
        ("Othello", "othello"),
        ("lines-of-action", "lines_of_action"),
        ("wolf", "wolf_and_sheep"),
        ("othello_hole", "othello_holes"),
    ],
)
def test_unknown_game(wrong, right):
    with error(ValueError, f"unknown game '{wrong}'", f"Did you mean '{right}'", "'reversi'"):
        games.make(wrong)
    with error(ValueError, f"unknown game '{wrong}'"):
        games.parameters(wrong)


def test_unknown_game_like_no_other():
    with pytest.raises(ValueError, match=r"unknown game 'xyzzy'\. Known: 'lines_of_action'"):
        games.make("xyzzy")


def test_unknown_parameter():
    with error(TypeError, "unknown parameter of lines_of_action 'max_step'", "'max_steps'"):
        games.make("lines_of_action", max_step=10)
    with error(TypeError, "unknown parameter of othello 'rules'", "Known"):
        games.make("othello", rules="classic")
    with error(TypeError, "unknown parameter of wolf_and_sheep 'id'"):
        games.make("wolf_and_sheep", id="fox")


@pytest.mark.parametrize("game_id", ["wolf_and_sheep", "lines_of_action"])
def test_unknown_rules(game_id):
    with error(ValueError, "unknown rules 'clasic'", "Did you mean 'classic'", "'described'"):
        games.make(game_id, rules="clasic")
    assert games.make(game_id) == games.make(game_id, rules="classic")


@pytest.mark.parametrize("steps", [0, -1, (1 << 30) + 1, 1 << 64])
def test_limits(steps):
    with pytest.raises(ValueError, match=f"max_steps is {steps}: it must be 1 or more"):
        games.make("lines_of_action", max_steps=steps)
    with pytest.raises(ValueError, match=f"max_plies is {steps}: it must be 1 or more, or None"):
        games.make("wolf_and_sheep", max_plies=steps)


@pytest.mark.parametrize("holes", [-1, 1 << 64, from_squares(["d4"]), from_squares(["a1", "e4"])])
def test_wrong_holes(holes):
    """Holes are squares of the board, and none of the four in the centre."""
    with error(ValueError, f"holes is {holes}", "without the four squares in the centre"):
        Othello(holes=holes)


# ---- positions -----------------------------------------------------------------------------------


@pytest.mark.parametrize("squares", [(1, 1), (3, 2), (-1, 0), (0, 1 << 64)])
def test_squares_that_are_no_disjoint_sets(game, squares):
    with pytest.raises(PositionError, match="are not two disjoint sets of squares"):
        game.position(squares)


def test_side_to_move_and_ply(game):
    squares = game.setup()
    for to_move in (-1, 2, "black"):
        with error(PositionError, f"to_move is {to_move!r}", "0 or 1"):
            game.position(squares, to_move=to_move)
    for ply in (-1, (1 << 30) + 1, 1 << 31, 1 << 64):
        with error(PositionError, f"ply is {ply}", "0 or more"):
            game.position(squares, ply=ply)
    last = game.position(squares, to_move=1, ply=1 << 30)
    assert last.to_move == 1
    if not last.is_over():  # a batch goes on from there as one board does
        action = last.legal_actions()[0]
        after = game.step(stack([last]), np.array([action]))
        assert game.positions(after) == [last.step(action)]


def test_disc_on_a_hole():
    game = make("othello_holes")
    with pytest.raises(PositionError, match="there is a piece on c3, f6, which is a hole"):
        game.position((from_squares(["c3", "d4"]), from_squares(["f6"])))
    assert make("othello").position((from_squares(["c3", "d4"]), from_squares(["f6"])))


@pytest.mark.parametrize("name", ["wolf_and_sheep", "wolf_and_sheep_described"])
@pytest.mark.parametrize(("wolves", "sheep"), [(0, 4), (2, 4), (1, 3), (1, 5), (1, 0), (4, 1)])
def test_wolves_and_sheep_are_counted(name, wolves, sheep):
    squares = ((1 << wolves) - 1, (1 << sheep) - 1 << 8)
    with error(PositionError, f"{wolves} wolves and {sheep} sheep", "one wolf and four sheep"):
        make(name).position(squares)


@pytest.mark.parametrize("name", ["lines_of_action", "lines_of_action_described"])
def test_men_are_counted(name):
    thirteen = (1 << 13) - 1
    with pytest.raises(PositionError, match="black has 13 pieces: a side has at most 12"):
        make(name).position((thirteen, 0))
    with pytest.raises(PositionError, match="white has 13 pieces: a side has at most 12"):
        make(name).position((0, thirteen))
    assert make(name).position((thirteen >> 1, thirteen >> 1 << 20))


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "has 0 fields:"),
        ("8/8/8/8/8/8/8/8", "has 1 field:"),
        ("8/8/8/8/8/8/8/8 black 0 x", "has 4 fields:"),
        ("8/8/8/3rb3/3br3/8/8 black", "the board has 7 ranks"),
        ("8/8/8/3rb3/3br3/8/8/7 black", "rank 1, '7', has 7 squares"),
        ("8/8/8/3rb3/3br3/8/8/8b black", "rank 1, '8b', has 9 squares"),
        ("8/8/8/3rw3/3br3/8/8/8 black", "'w' in rank 5 is neither 'b', 'r'"),
        ("8/8/8/3rb3/3br3/8/8/8 blak", "unknown role 'blak'. Did you mean 'black'"),
        ("8/8/8/3rb3/3br3/8/8/8 black -1", "'-1' is not a number of plies"),
        ("8/8/8/3rb3/3br3/8/8/8 black 99999999999", "it must be 0 or more, and at most 2**30"),
    ],
)
def test_malformed_text(text, part):
    with pytest.raises(PositionError) as caught:
        fen.parse_position(make("othello"), text)
    assert part in str(caught.value)
    assert repr(text) in str(caught.value)


def test_impossible_position_as_text():
    """The game's own objection, with the text that it is about."""
    with error(PositionError, "position '8/", "a piece on c3, which is a hole"):
        fen.parse_position(make("othello_holes"), "8/8/8/3rb3/3br3/2b5/8/8 black")
    with error(PositionError, "position '8/", "0 wolves and 0 sheep"):
        fen.parse_position(make("wolf_and_sheep"), "8/8/8/8/8/8/8/8 wolf")


# ---- actions -------------------------------------------------------------------------------------


def test_action_out_of_range(game):
    for action in (-1, game.num_actions, 10**9):
        part = f"action {action} is out of range: actions are 0 to {game.num_actions - 1}"
        with pytest.raises(ValueError, match=part):
            game.action_name(action)
        with pytest.raises(ValueError, match=part):
            game.action_gdl(action, game.start())


@pytest.mark.parametrize("name", ["othello", "othello_holes", "reversi"])
@pytest.mark.parametrize("text", ["", "d", "d9", "i3", "D3", "d33", "noop", "PASS", "3d"])
def test_no_name_of_a_placing(name, text):
    with error(ValueError, f"'{text}' is not a square", "a1 to h8"):
        make(name).parse_action(text)


@pytest.mark.parametrize("name", ["othello", "othello_holes", "reversi"])
@pytest.mark.parametrize("text", ["", "4", "4 0", "0 4", "9 1", "4  3", "4 3 ", "d 3", "pass"])
def test_no_rule_sheet_spelling_of_a_placing(name, text):
    with error(ValueError, "written|not on the board"):
        make(name).parse_gdl(text)


MOVING = [
    "wolf_and_sheep",
    "wolf_and_sheep_described",
    "lines_of_action",
    "lines_of_action_described",
]


@pytest.mark.parametrize("name", MOVING)
@pytest.mark.parametrize(
    "text", ["", "b1", "b1-", "-b1", "b1-b1", "b1-c3", "b1-b9", "b1-x", "b1-b2-b3", "noop"]
)
def test_no_name_of_a_move(name, text):
    with error(ValueError, f"'{text}' is not a move like"):
        make(name).parse_action(text)


@pytest.mark.parametrize("name", MOVING)
@pytest.mark.parametrize("text", ["", "b 1", "b 1 b", "b 1 b 9", "c1 c1 c2 c4", "1 1 2 2", "pass"])
def test_no_rule_sheet_spelling_of_a_move(name, text):
    with error(ValueError, f"'{text}' is not a move like"):
        make(name).parse_gdl(text)


@pytest.mark.parametrize("cell", [(0, 1), (1, 0), (9, 1), (1, 9)])
def test_cell_off_the_board(cell):
    with pytest.raises(ValueError, match="is not on the board: x and y go from 1 to 8"):
        square_of(*cell)


@pytest.mark.parametrize("value", [2.5, True, "x", [1]])
def test_parameters_of_a_wrong_type(value):
    """Named with their value, as those out of range are."""
    for game_id, name in (
        ("wolf_and_sheep", "max_plies"),
        ("lines_of_action", "max_steps"),
        ("othello", "holes"),
    ):
        with pytest.raises(ValueError, match=re.escape(f"{name} is {value!r}: it must be")):
            games.make(game_id, **{name: value})
    for game_id in ("wolf_and_sheep", "lines_of_action"):
        with pytest.raises(ValueError, match="unknown rules"):
            games.make(game_id, rules=value)


@pytest.mark.parametrize("value", [1.5, True, "a", None])
def test_positions_of_a_wrong_type(game, value):
    squares = game.setup()
    for arguments in (
        {"squares": (value, 0)},
        {"squares": squares, "to_move": value},
        {"squares": squares, "ply": value},
    ):
        with pytest.raises(PositionError, match=re.escape(repr(value))):
            game.position(**arguments)


def test_the_name_of_an_illegal_move_in_lines_of_action_is_its_direction():
    game = make("lines_of_action")
    start = game.start()
    for action in range(game.num_actions):
        name = game.action_name(action, start)
        assert game.parse_action(name) == action
        assert (name == game.action_name(action)) == (not start.is_legal(action) or action == 512)


# ---- ordinary mistakes ---------------------------------------------------------------------------


def test_initials_find_a_game():
    with error(ValueError, "unknown game 'loa'", "Did you mean 'lines_of_action'"):
        games.make("loa")
    with error(ValueError, "unknown game 'LOA'", "Did you mean 'lines_of_action'"):
        games.make("LOA")


def test_long_names_are_not_repeated_whole():
    with pytest.raises(ValueError, match="unknown game 'xxx") as caught:
        games.make("x" * 100_000)
    assert len(str(caught.value)) < 300


def test_reset_options_and_actions_of_another_kind():
    for maker in (boardenvs.othello_v0.env, boardenvs.othello_v0.parallel_env):
        with error(TypeError, r"options is \[1\]", "it must be a dict"):
            maker().reset(options=[1])
    env = boardenvs.othello_v0.env()
    env.reset()
    with error(ValueError, "unknown agent 'white'", "'black', 'red'"):
        env.observe("white")
    parallel = boardenvs.othello_v0.parallel_env()
    parallel.reset()
    with error(TypeError, "actions are 19", "they must be a dict"):
        parallel.step(19)


@pytest.mark.parametrize(
    "plies", [(4, 0), None, 3, "ab", (1, 2, 3), (0.5, 2), (True, 2), (0, 1001), (0, 10**5000)]
)
def test_opening_plies_are_a_range(plies):
    with pytest.raises(ValueError, match=r"opening_plies are .* a range \(low, high\) from 0 to"):
        boardenvs.vec_env("othello", 2, opening_plies=plies)
