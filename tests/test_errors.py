"""Wrong input: each message names the value, what is wrong and what would be right. One table of
calls and one of command lines.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import WRONG_PLAYERS, run
from test_policy import random_policy
from variants import make

import boardenvs
from boardenvs import PositionError, games
from boardenvs.agents.policy_file import save_policy
from boardenvs.board.bitboard import from_squares
from boardenvs.game import fen
from boardenvs.game.game import Game
from boardenvs.game.openings import MAX_PLIES, random_openings
from boardenvs.game.position import stack
from boardenvs.game.session import GameSession
from boardenvs.games import Othello
from boardenvs.records import Record, save
from boardenvs.records.jsonl import parse_record
from boardenvs.utils.checks import cut

# ---- calls ---------------------------------------------------------------------------------------

OTHELLO, HOLES = make("othello"), make("othello_holes")
WOLF, LINES, CHESS = make("wolf_and_sheep"), make("lines_of_action"), make("chess")
DESCRIBED = make("wolf_and_sheep_described")
GAMES = [OTHELLO, HOLES, WOLF, LINES, DESCRIBED]
THIRTEEN = (1 << 13) - 1

Rows = Iterator[tuple[Callable[[], object], str]]  # calls, and what is said


def names_of_games() -> Rows:
    for wrong, right in (("Othello", "othello"), ("LOA", "lines_of_action")):
        yield partial(games.make, wrong), f"'{wrong}'. Did you mean {right!r}"
    yield partial(games.make, "xyzzy"), "unknown game 'xyzzy'. Known: 'checkers', 'chess'"
    yield partial(games.make, "x" * 100_000), "unknown game 'xxx"


def names_of_parameters() -> Rows:
    for game_id, name in ((LINES.id, "max_step"), (OTHELLO.id, "rules"), (WOLF.id, "id")):
        said = f"unknown parameter of {game_id} '{name}'"
        yield partial(games.make, game_id, **{name: 10}), said


def values_of_parameters() -> Rows:
    lines, wolf = (partial(games.make, game.id) for game in (LINES, WOLF))
    for make_one in (lines, wolf):
        yield partial(make_one, rules="clasic"), "'clasic'. Did you mean 'classic'"
    for value in (2.5, True, 0, (1 << 30) + 1):
        yield partial(lines, max_steps=value), f"max_steps is {value!r}: it must be 1"
        yield partial(wolf, max_plies=value), f"max_plies is {value!r}: it must be 1"
    for holes in (-1, 1 << 64, from_squares(["a1", "e4"])):
        yield partial(Othello, holes=holes), f"holes is {holes!r}"


def positions() -> Rows:
    for game in (OTHELLO, WOLF):
        squares, place = game.setup(), game.position
        wrong: Any
        for sets in ((3, 2), (-1, 0), (0, 1 << 64)):
            yield partial(place, sets), "are not two disjoint sets of squares"
        for wrong in (2, "black", True):
            yield partial(place, squares, wrong), f"to_move is {wrong!r}: it must"
        for wrong in (-1, (1 << 30) + 1, 1.5):
            yield partial(place, squares, 0, wrong), f"ply is {wrong!r}: it must be 0"
    on_holes = (from_squares(["c3", "d4"]), from_squares(["f6"]))
    yield partial(HOLES.position, on_holes), "a piece on c6, f3, which is a hole"
    yield partial(WOLF.position, (3, 0b111100)), "2 wolves and 4 sheep"
    yield partial(LINES.position, (THIRTEEN, 0)), "black has 13 pieces: a side has at most 12"


def texts_of_positions() -> Rows:
    for text, said in (
        ("", "has 0 fields:"),
        ("8/8/8/8/8/8/8/8", "has 1 field:"),
        ("8/8/8/3wb3/3bw3/8/8 black", "the board has 7 ranks"),
        ("8/8/8/3wb3/3bw3/8/8/8b black", "rank 8, '8b', has 9 squares"),
        ("8/8/8/3xb3/3bw3/8/8/8 black", "'x' in rank 4 is neither 'b', 'w'"),
        ("8/8/8/3wb3/3bw3/8/8/8 blak", "unknown side 'blak'. Did you mean 'black'"),
        ("8/8/8/3wb3/3bw3/8/8/8 black -1", "'-1' is not a number of plies"),
        ("8/8/8/3wb3/3bw3/8/8/8 black 99999999999", "it must be 0 or more, and at most 2**30"),
        ("X" * 63 + "O Y", "'Black', 'O', 'White', 'X', 'black'"),
        ("-" * 63 + "z X", "'z' in rank 8 is neither 'X', 'O', '-' nor"),
    ):
        yield partial(fen.parse_position, OTHELLO, text), said
        yield partial(fen.parse_position, OTHELLO, text), repr(text)
    # The game's own objection, with the text that it is about.
    board = "8/8/8/3wb3/3bw3/2b5/8/8 black"
    yield partial(fen.parse_position, HOLES, board), f"position '{board}'"
    yield partial(fen.parse_position, HOLES, board), "c6, which is a hole"

    kings, pawn = "4k3/8/8/8/8/8/8/4K3", "4k3/8/8/4p3/8/8/8/4K3"
    for text, said in (
        (f"{kings} w -", "it must have six fields"),
        (f"{kings} w - - 0 1 0", "it must have six fields"),
        (f"{kings} w - - O 1", "operations such as 'bm Nf3;'"),
        (f"{kings} white - - 0 1", "unknown side 'white'. Known: 'b', 'w'"),
        (f"{kings} w HA - 0 1", "castling is 'HA': it must be '-' or letters of 'KQkq'"),
        (f"{kings} w Q - 0 1", "a1: a rook castles if it and its king are at home"),
        ("4k2r/8/8/8/8/8/8/5K1R w K - 0 1", "h1: a rook castles"),
        ("4k3/8/8/8/8/8/8/4K2r w K - 0 1", "h1: a rook castles"),
        (f"{kings} w - z3 0 1", "en_passant: 'z3' is not a square"),
        (f"{pawn} w - e3 0 1", "e3: no pawn has just passed it"),
        (f"{pawn} b - e6 0 1", "e6: no pawn has just passed it, en passant"),
        (f"{kings} w - - 101 1", "halfmove_clock is 101: it must be below 101"),
        (f"{kings} w - - -1 1", "halfmove_clock: '-1' is not a number"),
        (f"{kings} w - - 0 999999999", "it must be 0 or more, and at most 2**30"),
        ("4k3/8/8/8/8/8/8/3KK3 w - - 0 1", "white must have one king"),
        ("8/8/8/8/8/8/8/4K3 w - - 0 1", "black must have one king"),
        ("4k2P/8/8/8/8/8/8/p3K3 w - - 0 1", "a1, h8: no pawn stands on the first or last rank"),
        ("4k3/4R3/8/8/8/8/8/4K3 w - - 0 1", "e7: it checks a king that is not to move"),
        ("4k3/8/8/8/8/8/4K3 w - - 0 1", "the board has 7 ranks: it must have 8"),
        ("4k3/8/8/7/8/8/8/4K3 w - - 0 1", "rank 5, '7', has 7 squares: it must have 8"),
        ("4k3/8/8/7x/8/8/8/4K3 w - - 0 1", "'x' in rank 5 is neither 'P', 'N'"),
    ):
        yield partial(fen.parse_position, CHESS, text), said
        yield partial(fen.parse_position, CHESS, text), repr(text)
    for number in (0, 33):
        text = f"W:W{number}:B1"
        yield partial(fen.parse_position, games.make("checkers"), text), f"square is {number}: it"
    kindless = (*CHESS.start().by_role()[:2], 0, *CHESS.start().by_role()[3:])
    yield partial(CHESS.position, kindless), "g7, h7: a piece is of one kind"


def actions() -> Rows:
    for game in (OTHELLO, LINES):
        for action in (-1, game.num_actions):
            said = f"action {action} is out of range: actions are 0 to {game.num_actions - 1}"
            yield partial(game.action_name, action), said
    for text in ("", "d9", "i3", "D3", "noop"):
        yield partial(OTHELLO.parse_action, text), f"'{text}' is not a square"
    said = "'f1' is not a square: squares are a1 to e5, file then rank"  # with all its letters
    yield partial(games.make("go:size=5").parse_square, "f1"), said
    for game in (WOLF, LINES):
        for text in ("b1", "b1-b1", "b1-b9", "b1-b2-b3", "noop"):
            yield partial(game.parse_action, text), f"'{text}' is not a move like"


def states() -> Rows:
    rows, none = OTHELLO.init(3), np.zeros(3, np.int64)
    waiting: Any = none
    for name, value, said in (
        ("to_move", 2, "to_move of the state has other numbers than 0 and 1"),
        ("ply", -1, "ply of the state has negative numbers"),
        ("legal_bits", (1 << 64) - 1, "legal_bits of the state has actions above 64, the last"),
    ):
        wrong = OTHELLO.init(3)
        getattr(wrong, name)[1] = value
        yield partial(OTHELLO.positions, wrong), said
    yield partial(OTHELLO.positions, rows._replace(words=rows.words[:1])), "the state has 5 arrays"
    yield (
        partial(OTHELLO.step_batch, rows, none, waiting),
        "waiting is array([0, 0, 0]): it must be",
    )
    ragged: Any = [[1], [2, 3], [4]]
    yield partial(OTHELLO.step, rows, ragged), "they must be (3,) integers"
    some = partial(OTHELLO.step, rows, np.array([20, 0, 1]), check=True)
    yield some, "row 1: action 0 (a8) is not legal for black at ply 0; legal: 20 (e6), 29 (f5), "
    ended = stack([OTHELLO.parse_fen("8/8/8/8/8/8/8/bb6 black")])
    assert OTHELLO.step(ended, np.array([64]), check=True).ply == 0
    yield partial(OTHELLO.step, ended, np.array([3]), check=True), "legal: nothing, the game is ov"
    yield partial(stack, []), "stack needs at least one position"
    over = GameSession(OTHELLO, OTHELLO.parse_fen("8/8/8/8/8/8/8/bb6 black"))
    yield partial(over.play, 0), "the game is over: undo a move, or begin a new game"
    yield partial(over.resign, 0), "the game is over: nobody can resign"
    yield partial(parse_record, '{"version": 1, "game": "go", "actions": "a1 a"}'), "'a' is not a"
    for text, files in (("0", 7), ("8", 7), ("10", 7), ("a", 7)):
        said = f"'{text}' is not a file: files are 1 to {files}"
        yield partial(games.make("connect_four").parse_action, text), said


def types() -> Rows:
    wrong: Any = "othello"
    yield partial(boardenvs.perft, wrong, 1), "game is 'othello': it must be a Game"
    yield partial(boardenvs.perft, OTHELLO, 1, wrong), "position is 'othello': it must be a Posi"
    signed = np.ones(1, np.int64)
    yield partial(OTHELLO.symmetries[1].apply, signed), "a set of squares is int64: it must be uint"
    yield partial(OTHELLO.step, OTHELLO.init(1), np.ones(1)), "actions are float64: they must be"
    yield partial(OTHELLO.is_legal, OTHELLO.init(1), np.ones(1, bool)), "actions are bool: they"


def environments() -> Rows:
    many = partial(boardenvs.vec_env, "othello", 2)
    wrong: Any
    for wrong in ((4, 0), None, (1, 2, 3), (0.5, 2), (0, 1001)):
        yield partial(many, opening_plies=wrong), "a range (low, high) from 0 to"
    openings = partial(random_openings, OTHELLO, 3)
    yield partial(openings, (0, MAX_PLIES + 1), np.random.default_rng(0)), "are (0, 1001)"
    env = boardenvs.othello_v0.env()
    env.reset()
    yield partial(env.observe, "white"), "unknown agent 'white'"


def types_in_environments() -> Rows:
    wrong: Any = [1]
    for maker in (boardenvs.othello_v0.env, boardenvs.othello_v0.parallel_env):
        yield partial(maker().reset, options=wrong), "options is [1]: it must be a dict"
        at: Any = {"position": wrong}
        yield partial(maker().reset, options=at), "position is [1]: it must be a text such as"
    env: Any = boardenvs.othello_v0.env()
    env.reset()
    for action, kind in ((True, "bool"), (20.0, "float")):
        yield partial(env.step, action), f"is a {kind}: it must be an int from 0 to 64"


@pytest.mark.parametrize(
    ("rows", "kind"),
    [
        (names_of_games, ValueError),
        (names_of_parameters, TypeError),
        (values_of_parameters, ValueError),
        (positions, PositionError),
        (texts_of_positions, PositionError),
        (actions, ValueError),
        (states, ValueError),
        (types, TypeError),
        (environments, ValueError),
        (types_in_environments, TypeError),
    ],
)
def test_wrong_calls_say_what_is_wrong(rows: Callable[[], Rows], kind: type[Exception]) -> None:
    for call, message in rows():
        with pytest.raises(kind) as caught:
            call()
        assert message in str(caught.value), call
        assert len(str(caught.value)) < 1000


def test_of_a_long_text_the_middle_is_left_out() -> None:
    text = "a" * 30 + "b" * 30
    assert [cut(text), cut(f"{text}c")] == [text, "a" * 30 + "..." + "b" * 14 + "c"]


# ---- command lines -------------------------------------------------------------------------------

LONG = "x" * 100_000
OVER = "'8/8 black'"

COMMANDS = [
    ("mtch", "'mtch'. Did you mean 'match'"),
    # Options and arguments.
    ("match othello random", "SECOND.*Usage: boardenvs match .*GAME.* .*FIRST"),
    ("match othello random greedy --pear 3", "'--pear'. Did you mean '--pairs'"),
    ("match othello random greedy --hepl", "'--hepl'. Did you mean '--help'"),
    ("match othello random greedy --seed", "'--seed' requires an argument"),
    ("games othello chess", "unexpected extra argument.*chess.* Usage: boardenvs games"),
    ("match othello random greedy --seed -1", "--seed.*-1.*(0 or more|x>=0)"),
    ("match othello random greedy --pairs x", "--pairs.*'x'.*(whole number|integer)"),
    (f"match othello random greedy --pairs {10**12}", "--pairs.*10{12}.*(100000 or less|<=100000)"),
    ("match othello random greedy --opening-plies 5", "'--opening-plies' requires 2 arguments"),
    ("match othello random greedy --opening-plies 5 2", r"\(5, 2\): they must be a range"),
    (f"match othello random greedy --record {LONG[:5000]}.jsonl", "too long"),
    (f"arena random greedy --opening-plies 0 {10**30}", "from 0 to 1000"),
    ("arena --resume", "no tournament was begun there"),
    ("rate random --seconds 0", "--seconds is 0.*0.01 or more"),
    # Games.
    ("games otello", "unknown game 'otello'. Did you mean 'othello'"),
    ("games lines_of_action:max_steps=many", "max_steps is 'many': it must be a whole number"),
    ("games wolf_and_sheep:max_plies=no", "it must be a whole number or none"),
    # Players.
    *((shlex.join([name, *words]), said) for name in ("exam", "rate")
      for words, said in WRONG_PLAYERS),
    (f"match othello {LONG} random", "unknown agent"),
    ("match othello python:raising:x random", "ZeroDivisionError: .* line 1"),
    ("match othello python:broken:x random", "SyntaxError"),
    ("match othello random random --pairs 100000 --record a.sgf", "SGF holds Go and Hex, not"),
    ("exam othello", "othello is a game: name a player, as in `boardenvs exam trained"),
    ("exam policy:go.npz", "can play no game that has an exam: .*go, not checkers"),
    ("exam greedy --game othello:holes=1", "there is no exam for othello:holes=1"),
    # Positions.
    ("analyse wolf_and_sheep '3w4/8/8/8/8/8/8/ss2s1s1 wolf'", "four sheep on squares of one"),
    ("analyse othello nothing.jsonl", "no such file"),
    ("analyse games.jsonl", "analyse othello games.jsonl"),
    (f"analyse othello {OVER}", "2 ranks"),
    ("analyse othello games.jsonl --number 2", "1 games"),
    ("analyse othello games.jsonl --ply 99", "no position after ply 99"),
    ("analyse lines_of_action games.jsonl", "not lines_of_action"),
    ("analyse othello --with perfect", "othello"),
    # Records.
    ("records games.txt --number 3", "has 2 games: there is no game 3"),
    ("records games.txt --number 1 --ply 4", "there is no board after ply 4"),
    ("records games.txt --game lines", "Did you mean 'lines_of_action'"),
    ("records games.txt --out games.pgn", r"end the name in one of \.jsonl, \.jsonl\.gz, "),
    ("records games.wtb", "No such file"),
    ("records x.jsonl --out nowhere/x.html", "there is no folder nowhere"),
    # Play.
    ("play othello --against perfect", "perfect"),
    ("play othello --as sheep", "'sheep'"),
    ("play othello --resume", "no games"),
    ("play tictactoe --resume --record over.jsonl", r"in over.jsonl, of tictactoe, is over: leave"),
    ("play othello --record play.txt", "jsonl"),
    ("play othello --record games.txt.jsonl", "line 1: this is not JSON"),
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("errors")
    (path / "binary").write_bytes(b"\xb1")
    (path / "raising.py").write_text("1 / 0\n")
    (path / "broken.py").write_text("def\n")
    for name in ("games.txt", "games.txt.jsonl"):
        (path / name).write_text("f5d6c3\nf5a1\n")
    save(path / "games.jsonl", [Record(OTHELLO, (20,))])
    save_policy(random_policy(make("go")), path / "go.npz")
    save(path / "over.jsonl", [Record(make("tictactoe"), (0, 3, 1, 4, 2))])
    return path


@pytest.mark.parametrize(("command", "message"), COMMANDS)
def test_wrong_command_lines_end_in_a_line_that_says_so(
    folder: Path, command: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (line,) = run(*shlex.split(command), code=2).splitlines()
    assert line.startswith("error: ")
    assert re.search(message, line)
    assert len(line) < 3000
    assert (folder / "games.txt.jsonl").read_text() == (folder / "games.txt").read_text()


@pytest.mark.parametrize("error", [RuntimeError("cannot"), MemoryError(), ImportError("cannot")])
def test_errors_of_machine_and_installation_need_no_traceback(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> Game:
        raise error

    monkeypatch.setattr(sys.modules["boardenvs.cli.analyse"], "parse", fail)
    (line,) = run("analyse", "othello", code=2).splitlines()
    assert line.startswith("error: ")
    assert __name__ not in line  # which alone would be enough for code of users
