"""The familiar games: names of moves, results in words, and what pictures show."""

from __future__ import annotations

import math
import random
import re
from collections import defaultdict
from xml.etree.ElementTree import fromstring

import pytest

from boardenvs import IllegalActionError, games, render
from boardenvs.board.bitboard import squares_of
from boardenvs.game import Game
from boardenvs.game.fen import parse_position
from boardenvs.game.look import Circle, Rect
from boardenvs.game.position import Position
from boardenvs.play import parse_move, read_turn
from boardenvs.render.view import view

# Games in algebraic notation, of which the last moves are: mate, castling on both sides, capture en
# passant, check, two knights that could go there, by file and by rank, and promotion.
LINES = {
    "f3 e5 g4 Qh4#": "d8h4",
    "e4 e5 Qh5 Nc6 Bc4 Nf6 Qxf7#": "h5f7",
    "e4 e5 Nf3 Nc6 Bc4 Nf6 O-O": "e1g1",
    "d4 d5 Nc3 Nc6 Bf4 Bf5 Qd2 Qd7 O-O-O": "e1c1",
    "e4 a6 e5 d5 exd6": "e5d6",
    "e4 d6 Bb5+": "f1b5",
    "Nf3 a6 d3 a5 Nbd2": "b1d2",
    "Nf3 a6 d3 a5 Nfd2": "f3d2",
    "Nc3 a6 Nd5 a5 Nf3 b6 Nd4 b5 Nb3 a4 Nc5 b4 Ne4 a3 Nec3": "e4c3",
    "a4 b5 axb5 a6 bxa6 Bb7 a7 Bc6 axb8=Q": "a7b8",
    "a4 b5 axb5 a6 bxa6 Bb7 a7 Bc6 axb8=N": "a7b8n",
    "e4 d5 exd5 c6 dxc6 a6 cxb7 a5 bxc8=Q": "b7c8q",
}
# The games' last plies and the results in words.
ENDINGS = {
    ("chess", "f2f3 e7e5 g2g4 d8h4"): "by checkmate",
    ("chess", "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8"): "by repetition",
    ("go", "pass pass"): "by 7.5 points",
    ("connect_four", "1 2 1 2 1 2 1"): "by 4 in a line",
    ("connect_four:rows=1,columns=2,connect=2", "1 2"): "on a full board",
    ("tictactoe", "a1 a2 b1 b2 c1"): "by three in a line",
    ("tictactoe", "a1 b1 c1 b2 a2 c2 b3 a3 c3"): "on a full board",
}
# What pictures say after the last plies: what is to be done, what each side has, what is ringed.
SAID = {
    ("chess", "e4 e5 Qh5 Nc6 Qxf7"): ("black to move, in check", ("16", "15"), "e8"),
    ("chess", "f3 e5 g4 Qh4"): ("Black wins by checkmate", ("16", "16"), "e1"),
    ("connect_four", "4 5 4 5 4 5 3 3 4"): (
        "Red wins by 4 in a line", ("5", "4"), "d1 d2 d3 d4",
    ),
    ("tictactoe", "a1 a2 b1 b2 c1"): ("X wins by three in a line", ("3", "2"), "a1 b1 c1"),
    ("go", "e5 c3 pass pass"): ("White wins by 7.5 points", ("1 point", "8.5 points"), ""),
    ("lines_of_action", "b1-b3"): ("white to move", ("12 (groups: 3)", "12 (groups: 2)"), ""),
    ("nine_mens_morris", "a7 d6 a4 d5 a1"): (
        "white to remove a man", ("3 and 6 in hand", "2 and 7 in hand"), "",
    ),
    ("checkers", "e3-d4 f6-g5 c3-b4 d6-c5 b4-d6 c7-e5"): (
        "black to capture again", ("11", "11"), "",
    ),
    (
        "nine_mens_morris",
        "e4 g4 d1 a4 f6 d6 d5 c4 g7 c3 c5 d2 e5 c3 c3 b2 g1 b4",
    ): ("black to place a man", ("9 and 0 in hand", "7 and 1 in hand"), ""),
    ("go:size=2,komi=1", "a1 pass pass"): ("Black wins by 3 points", ("4 points", "1 point"), ""),
    ("go:size=2,komi=0.5", "a1 pass pass"): (
        "Black wins by 3.5 points", ("4 points", "0.5 points"), "",
    ),
}  # fmt: skip
TEXTS = {  # of chess
    "7k/5Q2/6K1/8/8/8/8/8 b - - 0 50": "by stalemate",
    "7k/8/6K1/8/8/8/8/8 b - - 0 50": "by insufficient material",
    "7k/8/6K1/8/8/8/8/6N1 b - - 0 50": "by insufficient material",
    "7k/8/6K1/8/8/8/8/R7 w - - 100 90": "by the fifty-move rule",
}
LETTERS = {  # of chess
    letter.upper() if side == "white" else letter: f"{side} {kind}"
    for side in ("white", "black")
    for letter, kind in zip(
        "pnbrqk", ("pawns", "knights", "bishops", "rooks", "queens", "kings"), strict=True
    )
}


def _played(game: Game, names: str) -> Position:
    position = game.start()
    for name in names.split():
        position = position.step(parse_move(name, position))
    return position


@pytest.mark.parametrize("line", LINES)
def test_moves_of_chess_are_written_and_read_in_algebraic_notation(line: str) -> None:
    chess = games.make("chess")
    names = line.split()
    position = chess.start()
    for name in names:
        action = parse_move(name, position)
        assert chess.usual_name(action, position) == name
        before, position = position, position.step(action)
    assert parse_move(LINES[line], before) == action


# As players write moves, and what these are called here.
SPELLINGS = {
    ("chess", "e4 d7d5 e4xd5 Qxd5 Nb1-c3 Qd5a5 Ng1f3 Bg4 Be2 Nbd7 0-0 O-O-O"): (
        "e2e4 d7d5 e4d5 d8d5 b1c3 d5a5 g1f3 c8g4 f1e2 b8d7 e1g1 e8c8"
    ),
    ("chess", "a2-a4 b5 axb5 a6 bxa6 Nc6 a6-a7! Rb8 a7xb8=Q"): (
        "a2a4 b7b5 a4b5 a7a6 b5a6 b8c6 a6a7 a8b8 a7b8"
    ),
    ("chess", "a4 b5 axb5 a6 bxa6 Nc6 a7 Rb8 a7b8q"): (
        "a2a4 b7b5 a4b5 a7a6 b5a6 b8c6 a6a7 a8b8 a7b8"
    ),
    ("checkers", "11-15 f6-e5 d4:f6 G7xE5"): "c3-d4 f6-e5 d4-f6 g7-e5",
    ("checkers", "09-14 22-18 5-9 18-15 11x18 21-17 14x21 23x5"): (
        "g3-f4 f6-e5 h2-g3 e5-d4 c3-e5 h6-g5 f4-h6 d6-f4 f4-h2"
    ),
    ("checkers", "g3f4 f6e5 h2g3 e5d4 c3xe5 h6g5 f4xh6 d6xf4xh2"): (
        "g3-f4 f6-e5 h2-g3 e5-d4 c3-e5 h6-g5 f4-h6 d6-f4 f4-h2"
    ),
    ("nine_mens_morris", "a7 b6 d7 b4 g7xb6 b2 a1 b6 xA1"): "a7 b6 d7 b4 g7 b6 b2 a1 b6 a1",
    ("lines_of_action", "c8:a6 A3xC1 b8-b6 h6f8"): "c8-a6 a3-c1 b8-b6 h6-f8",
    ("go", "D4 J9 PASS"): "d4 j9 pass",
    **{("go", f"D4 {word}"): "d4 pass" for word in ("--", "pa", "ps")},
    ("connect_four", "d 4 D a1 G"): "4 4 4 1 7",
    ("hex", "K11 a1"): "k11 a1",
    ("othello", "F5 f6"): "f5 f6",
}


@pytest.mark.parametrize(("name", "line"), SPELLINGS)
def test_moves_are_read_as_players_write_them(name: str, line: str) -> None:
    position, names = games.make(name).start(), []
    for word in line.split():
        for action in read_turn(word, position):
            names.append(position.game.action_name(action, position))
            position = position.step(action)
    assert " ".join(names) == SPELLINGS[name, line]


def test_a_text_that_may_mean_two_moves_is_refused() -> None:
    position = _played(games.make("chess"), "Nf3 a6 d3 a5")
    with pytest.raises(IllegalActionError, match="'Nd2' may mean 2 moves"):
        read_turn("Nd2", position)
    # Two ways around a square: the one between tells which.
    position = games.make("checkers").parse_fen("8/8/8/2b1b3/8/2b1b3/3w4/8 white")
    for between in ("b4", "f4"):
        names = [position.game.action_name(a) for a in read_turn(f"d2x{between}xd6", position)]
        assert names == [f"d2-{between}", f"{between}-d6"]
    with pytest.raises(IllegalActionError, match="'d2xd6' may mean 2 moves"):
        read_turn("d2xd6", position)


def test_examples_of_moves_are_legal() -> None:
    """Of the parts in which a move is."""
    game = games.make("nine_mens_morris")
    seen, rng, position = set(), random.Random(1), game.start()
    while not position.is_over() and position.ply < 40:
        legal = {game.action_name(action, position) for action in position.legal_actions()}
        placing, moving = game.notation.form(game, 0, position).split("; or ")
        examples = {placing.removeprefix("like "), moving.rpartition(" as in ")[2]}
        assert examples & legal
        seen |= {"-" in example for example in examples & legal}
        position = position.step(rng.choice(position.legal_actions()))
    assert seen == {True, False}


@pytest.mark.parametrize(
    ("name", "text", "move", "goals", "ending"),
    [
        ("checkers", "W:W18:B14", "18x9", (0, 100), "by capturing all pieces"),
        ("checkers", "W:W18,9:B5", "18-14", (0, 100), "by leaving no move"),
        (
            *("nine_mens_morris", "w2w2w/1b3b1/7/7/7/7/3b3 white 60 removes=1 turns=50"),
            *("d1", (100, 0), "by leaving two men"),
        ),
        (
            *("nine_mens_morris", "b2b2b/3w3/7/bw4w/7/7/3w3 white 60 turns=50"),
            *("d1-a1", (100, 0), "by leaving no move"),
        ),
        (
            *("nine_mens_morris", "w2w3/1w3w1/7/7/7/1b3b1/b2b3 white 60 turns=199"),
            *("a7-a4", (50, 50), "after 200 turns"),
        ),
    ],
)
def test_a_move_ends_the_game_in_words(
    name: str, text: str, move: str, goals: tuple[float, float], ending: str
) -> None:
    position = games.make(name).parse_fen(text)
    position = position.step(*read_turn(move, position))
    assert position.is_over()
    assert position.result() == goals
    assert position.game.ending(position) == ending


def test_plies_without_a_capture_are_told_apart() -> None:
    """In planes of one plane a digit, except the highest, which lies on dark squares alone."""
    position = games.make("checkers").start()
    for quiet in range(81):
        *low, last = position._replace(words=(*position.words[:-1], quiet)).planes()[5:]
        everywhere, dark = (1 << 64) - 1, 0xAA55AA55AA55AA55
        assert [digit & 1 << 1 > 0 for digit in low] == [quiet >> k & 1 == 1 for k in range(5)]
        assert last == (dark if quiet >= 64 else everywhere * (quiet >> 5 & 1))


@pytest.mark.parametrize(
    ("black", "removed"), [("7/b2b2b", "a1 d1 g1"), ("3b3/b2b2b", "d2"), ("1b1b3/b6", "a1 b2 d2")]
)
def test_men_in_lines_are_removed_where_all_are(black: str, removed: str) -> None:
    """White has just closed a line."""
    game = games.make("nine_mens_morris")
    position = game.parse_fen(f"w2w2w/7/7/7/7/{black} white 20 removes=1 turns=20")
    names = {game.action_name(action, position) for action in position.legal_actions()}
    assert names == {*removed.split()}


@pytest.mark.parametrize(("name", "line"), ENDINGS)
def test_games_end_in_words(name: str, line: str) -> None:
    game = games.make(name)
    position = _played(game, line)
    assert position.is_over()
    assert game.ending(position) == ENDINGS[name, line]


@pytest.mark.parametrize(("name", "line"), SAID)
def test_pictures_say_what_is_to_be_done_and_what_has_won(name: str, line: str) -> None:
    game = games.make(name)
    position = _played(game, line)
    contents = view(game, position)
    ringed = [
        squares for (_, drawing), squares in zip(game.look.badges, contents.badges, strict=True)
    ]
    names = " ".join(map(game.square_name, squares_of(sum(ringed))))
    assert (contents.caption, game.standing(position), names) == SAID[name, line]


@pytest.mark.parametrize(("size", "line"), [(7, 0), (9, 2), (13, 3), (16, 3)])
def test_boards_of_go_have_their_star_points(size: int, line: int) -> None:
    dots = {(d.x, d.y) for d in games.make(f"go:size={size}").look.surface if isinstance(d, Circle)}
    ends = (line + 0.5, size - line - 0.5)
    middle = {(size / 2, size / 2)} if size % 2 else set()
    assert dots == middle | {(x, y) for x in ends for y in ends if line}


def test_lines_of_nine_mens_morris_are_drawn_as_they_are_told() -> None:
    """In the instructions: each joins three points, and there are no others."""
    game = games.make("nine_mens_morris")
    told = re.findall(r"\b([a-g]\d)\s([a-g]\d)\s([a-g]\d)\b", game.about.instructions)
    points = {
        (ord(name[0]) - ord("a") + 0.5, 7.5 - int(name[1])): name for line in told for name in line
    }
    drawn = game.look.surface
    assert {(dot.x, dot.y) for dot in drawn if isinstance(dot, Circle)} == {*points}
    joined = [
        {points[p] for p in points if r.x < p[0] < r.x + r.width and r.y < p[1] < r.y + r.height}
        for r in drawn
        if isinstance(r, Rect)
    ]
    assert sorted(map(sorted, joined)) == sorted(map(sorted, told))


def test_the_chain_that_wins_hex_has_no_stone_too_many() -> None:
    game, rng = games.make("hex"), random.Random(1)
    for _ in range(4):
        position = game.start()
        while not position.is_over():
            position = position.step(rng.choice(position.legal_actions()))
        winner = 1 - position.to_move
        chain = {divmod(s, 11)[:: 1 - 2 * winner] for s in squares_of(position.winning_pieces())}
        assert 11 <= len(chain) <= position.pieces(winner).bit_count()
        for left_out in (None, *chain):  # (rank, file) for black, the reverse for white
            reached = {(0, x) for x in range(11)} & chain - {left_out}
            for _ in chain:
                reached |= {
                    (y + u, x + v)
                    for y, x in reached
                    for u, v in ((0, 1), (1, 0), (1, -1), (0, -1), (-1, 0), (-1, 1))
                } & chain - {left_out}
            assert (max(reached, default=(0, 0))[0] == 10) == (left_out is None)


@pytest.mark.parametrize("text", TEXTS)
def test_draws_of_chess_end_in_words(text: str) -> None:
    position = parse_position(games.make("chess"), text)
    assert position.is_over()
    assert position.result() == (50, 50)
    assert position.game.ending(position) == TEXTS[text]


def test_two_knights_may_mate_and_so_play_goes_on() -> None:
    assert not parse_position(games.make("chess"), "7k/8/6K1/8/8/8/8/5NN1 b - - 0 50").is_over()


# As collections of positions have them.
LINES_OF_EPD = {
    '2rr3k/pp3pp1/1nnqbN1p/3pN3/2pP4/2P3Q1/PPB4P/R4RK1 w - - bm Qg6; id "WAC.001";': "- - 0 1",
    "4k2r/8/8/8/8/8/8/4K3 b k - bm Rf8": "k - 0 1",
    "r3k2r/8/8/8/8/8/8/R3K2R w KkQq - 0 1 ;D1 26 ;D2 568": "KQkq - 0 1",
    "8/8/8/8/4Pp2/8/8/k1K5 b - e3 fmvn 9; hmvc 0; noop;": "- e3 0 9",
    "8/8/8/8/8/8/8/k1K4R w - - 0 0": "- - 0 1",
    '8/8/8/8/4P3/8/8/k1K5  b  -  e3  0 9 c0 "fmvn 3;";': "- - 0 9",
}


@pytest.mark.parametrize("line", LINES_OF_EPD)
def test_lines_of_epd(line: str) -> None:
    board, side, *_ = line.split()
    assert parse_position(games.make("chess"), line).fen() == f"{board} {side} {LINES_OF_EPD[line]}"


def test_positions_of_chess_are_written_and_read_as_by_others() -> None:
    """In FEN and EPD, at each ply of a game; a square en passant only where it is taken."""
    others = pytest.importorskip("chess", reason='pip install "boardenvs[chess]"')
    game, passed = games.make("chess"), 0
    rng, board, position = random.Random(1), others.Board(), game.start()
    while not position.is_over():
        assert position.fen() == board.fen()
        text = board.fen(en_passant="fen")
        if board.ply() % 2:
            counts = {"hmvc": board.halfmove_clock, "fmvn": board.fullmove_number}
            text = board.epd(en_passant="fen", id="a; hmvc 9;", **counts)
        read = parse_position(game, text)
        assert read.words[:11] == position.words[:11]
        assert (read.legal_bits, read.ply) == (position.legal_bits, position.ply)
        passed += board.has_legal_en_passant()
        board.push(rng.choice([*board.legal_moves]))
        position = position.step(game.parse_action(board.peek().uci()))
    assert passed


def _in_text(position: Position) -> dict[str, set[str]]:
    """The squares of each kind of piece in the text of a position."""
    board, _, _, *words = position.fen().split()
    letters = {side[0]: side for side in position.game.sides}
    if position.game.id == "chess":
        letters, words = LETTERS, []
    found, kinds = defaultdict(set), dict[str, str]()
    for word in words:
        kind, _, squares = word.partition("=")
        if not squares.isdecimal():
            kinds |= dict.fromkeys(squares.split(","), f" {kind}")
    for rank, line in zip(range(position.game.board.rows, 0, -1), board.split("/"), strict=True):
        row = re.sub(r"\d+", lambda count: "." * int(count[0]), line)
        for file, letter in zip("abcdefghijk", row, strict=False):
            if letter != ".":
                name = f"{file}{rank}"
                found[letters[letter] + kinds.get(name, "")].add(name)
    return dict(found)


def _in_picture(position: Position) -> dict[str, set[str]]:
    """The squares of each drawing of the SVG picture except the board and the caption."""
    game, found, drawn = position.game, defaultdict(set), defaultdict(set)
    for use in fromstring(render.to_svg(game, position)).iter("{http://www.w3.org/2000/svg}use"):
        x, y, what = float(use.get("x", "")), float(use.get("y", "")), use.get("class", "")
        if what in ("board", "caption"):
            continue
        rank, file = game.board.rows - y + 0.5, x + 0.5
        if game.look.hexagons:
            rank = game.board.rows - (y - 0.5) / 0.75
            file = x / math.sqrt(0.75) - (rank - 1) / 2 + 0.5
        found[what].add(f"{'.abcdefghijk'[round(file)]}{round(rank)}")
        drawn[use.get("href")].add(what)
    assert len(drawn) == len(found), "two kinds look the same"
    return dict(found)


@pytest.mark.parametrize(
    ("name", "plies", "kinds"),
    [
        ("chess", 40, 12),
        ("go", 60, 2),
        ("checkers", 60, 3),
        ("connect_four", 14, 2),
        ("hex", 40, 2),
        ("nine_mens_morris", 24, 2),
        ("tictactoe", 4, 2),
    ],
)
def test_pictures_show_the_pieces_that_the_text_has(name: str, plies: int, kinds: int) -> None:
    rng, position = random.Random(2), games.make(name).start()
    while position.ply < plies:
        position = position.step(rng.choice(position.legal_actions()))
    shown, expected = _in_picture(position), _in_text(position)
    if name == "checkers":  # a crown on top of the piece
        crowned = {what: expected.pop(what) for what in list(expected) if " " in what}
        for what, squares in crowned.items():
            expected.setdefault(what.split()[0], set()).update(squares)
        expected["kings"] = set.union(*crowned.values())
    assert shown == expected
    assert len(shown) == kinds
