"""Records keep what was played in every format; the rules find what is wrong with them."""

from __future__ import annotations

import gzip
import json
import math
import random
from dataclasses import replace

import pytest
from variants import FAMILIAR, SHARED, VARIANTS, make, random_line, random_record, wthor_file

from boardenvs import IllegalActionError, games
from boardenvs.agents.simple import RandomAgent
from boardenvs.arena import play_match, record_match
from boardenvs.game.fen import parse_position
from boardenvs.games import Othello
from boardenvs.records import (
    Record,
    check,
    formats,
    load,
    make_record,
    replay,
    save,
)
from boardenvs.records.jsonl import parse_record, write_record
from boardenvs.records.moves import parse_line, put_passes, write_moves
from boardenvs.records.openings import opening_of
from boardenvs.records.record import names

WTHOR = SHARED / "records" / "wthor"
# The shortest game of Othello, found by Manubu Maruo in 1975: black has all 13 discs.
WIPEOUT = "e6f4e3f6g5d6e7f5c5"
# Warren D. Smith's game in which black, whose moves are in upper case, passes 23 times and loses
# 0 to 64: https://lists.xmission.com/hyperkitty/list/mathfun@mailman.xmission.com (othello
# puzzles).
PASSES = (
    "F5d6C4g5D7c7H5d8B8b7B6a7b5A6a5b4B3c6E8f8C8a8e7a4b2A2c2D2d1e2F2c5c3a1a3e6d3f6F7f1g2H2e3F4b1g1"
    "c1e1g8g7f3h1h3h4h6"
)
WON, LOST = (100.0, 0.0), (0.0, 100.0)
OTHELLO, LINES = make("othello"), make("lines_of_action")
# A game that fills up, one whose moves capture, and one with a cap.
games_of_each_kind = pytest.mark.parametrize("game", [OTHELLO, LINES, make("wolf_and_sheep")])


def one_of_each(plies):
    """Random games of all variants for at most so many plies, from the start and from ply 3 on."""
    found = []
    for game in map(make, (*VARIANTS, *FAMILIAR)):
        positions, actions = random_line(game, 7, plies)
        more = {"players": ("Zoë", 'the "second"'), "info": {"x": {"y": 7}}}
        found.append(make_record(game, actions, **more))
        start = parse_position(game, positions[3].fen())  # which knows no earlier ones
        found.append(make_record(game, actions[3:], start=start, **more))
    return found


def parse_moves(game, lines):
    return put_passes([record for line in lines if (record := parse_line(line, game))])


# ---- replay and check --------------------------------------------------------------------------


@pytest.mark.parametrize("game_id", games.BUILT_IN)
def test_an_illegal_action_is_named_and_ends_its_game_alone(game_id):
    """In the middle of a game, which stands between two that are right."""
    game = make(game_id)
    record = random_record(game, 2, 40)
    position = replay(record)[4]
    wrong = next(a for a in range(game.num_actions) if a not in position.legal_actions())
    broken = replace(record, actions=(*record.actions[:4], wrong, *record.actions[4:]))
    with pytest.raises(IllegalActionError) as caught:
        replay(broken)
    name, side, said = (
        game.action_name(wrong, position),
        game.sides[position.to_move],
        str(caught.value),
    )
    assert f"action {wrong} ({name}) is not legal for {side} at ply 4; legal: " in said
    right, *verdicts = check([record, broken, record])
    assert verdicts == [("illegal", None, said), right]
    assert right.error is None


def test_what_comes_after_the_end_is_illegal():
    game = games.parse("wolf_and_sheep:rules=described,max_plies=12")
    _, actions = random_line(game, 3, 12)
    record = make_record(game, actions)
    beyond = Record(game, (*actions, replay(record)[-1].legal_actions()[0]))
    with pytest.raises(IllegalActionError, match="its cap of 12 plies ended") as told:
        replay(beyond)
    verdicts = [("truncated", record.goal, None), ("illegal", None, str(told.value))]
    assert check([record, beyond]) == verdicts


def test_a_wrong_goal_is_named():
    (record,) = parse_moves(OTHELLO, [WIPEOUT])
    wrong = replace(record, goal=LOST)
    message = "the record gives black 0, white 100; the rules give black 100, white 0"
    assert check([record, wrong]) == [("finished", WON, None), ("finished", WON, message)]
    # Nothing can be said about the result of a game that was given up.
    assert check([replace(wrong, actions=wrong.actions[:5])]) == [("cut off", None, None)]


# ---- JSON Lines --------------------------------------------------------------------------------


def test_json_round_trip_of_files(tmp_path):
    records = one_of_each(300)
    records.append(Record(games.parse("wolf_and_sheep:max_plies=none"), ()))
    plain, packed, loud = (tmp_path / f"games{end}" for end in (".jsonl", ".jsonl.gz", ".JSONL.GZ"))
    for path in (plain, packed, loud):
        assert save(path, records) == []
        assert load(path) == records
    assert "Zoë" in plain.read_text(encoding="utf-8")
    content = packed.read_bytes()
    assert gzip.decompress(content) == plain.read_bytes()
    assert content == loud.read_bytes()
    assert content[4:8] == bytes(4)  # no time: the same records give the same file


def test_moves_are_read_by_their_directions_where_positions_are_not_known():
    illegal = line(game="lines_of_action", actions="e4-n a3-c1")
    record = parse_record(illegal)
    assert names(record) == ["e4-n", "a3-se"]
    assert parse_record(write_record(record)) == record
    assert names(parse_record(line(game="lines_of_action", actions="b1-n"))) == ["b1-b3"]


# ---- plain moves -------------------------------------------------------------------------------


@pytest.mark.parametrize("game", [OTHELLO, LINES, make("wolf_and_sheep")])
def test_moves_round_trip(game):
    """Passes are put back by the rules, but for one at the end of a game that was cut off."""
    for seed, plies in enumerate((0, 1, 20, 60, 80)):
        _, actions = random_line(game, seed, plies)
        while actions and actions[-1] == game.noop:
            actions.pop()
        record = Record(game, tuple(actions))
        line = write_moves(record)
        assert parse_moves(game, [line or "# no moves"]) == [record] * bool(actions)


@pytest.mark.parametrize(
    ("name", "line", "words"),
    [
        ("lines_of_action", "1. B1-B3 a3xc1 2. c8-c6", ["b1-b3", "a3-c1", "c8-c6"]),
        ("wolf_and_sheep", "d8-c7, a1-b2", ["d8-c7", "a1-b2"]),
        ("othello", "1.f5d6 2.C3", ["f5", "d6", "c3"]),
        ("othello", "1) F5, D6c3", ["f5", "d6", "c3"]),
        ("othello", "1 F5 2 D6 3 C3", ["f5", "d6", "c3"]),
        ("othello", "f5 -- D6PAc3 pass", ["f5", "d6", "c3"]),
    ],
)
def test_ways_to_write_moves(name, line, words):
    """A capture may have an x: the white piece takes the black one on c1."""
    (record,) = parse_moves(make(name), ["# a title", "", line])
    assert names(record) == words
    assert check([record])[0].error is None


def test_plain_moves_say_what_they_lose(tmp_path):
    record = make_record(OTHELLO, (20,), players=("a", "b"), info={"x": 1})
    some = [record, make_record(OTHELLO, (20,))]
    assert save(tmp_path / "games.txt", some) == ["players", "info"]
    started = make_record(OTHELLO, (), start=random_line(OTHELLO, 1, 3)[0][-1])
    with pytest.raises(ValueError, match=r"only \.jsonl can hold"):
        save(tmp_path / "games.txt", [started])


@pytest.mark.parametrize(
    ("moves", "movers"),
    [(WIPEOUT, [0, 1] * 4 + [0]), (PASSES, [int(c.islower()) for c in PASSES[::2]])],
)
def test_passes_are_put_in(moves, movers):
    (record,) = parse_moves(OTHELLO, [moves])
    played = zip(replay(record), record.actions, strict=False)
    assert [position.to_move for position, action in played if action != OTHELLO.noop] == movers
    assert check([record])[0].ending == "finished"
    assert write_moves(record) == moves.lower()


# ---- WTHOR -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("moves", "points"), [(WIPEOUT, (64, 0)), (PASSES, (0, 64))])
def test_empty_squares_count_for_the_winner(moves, points):
    """As in tournaments; PASSES ends in a wipe-out by white."""
    (record,) = parse_moves(Othello(empties="winner"), [moves])
    assert replay(record)[-1].points() == points
    assert record.game.won_by(replay(record)[-1]) == 64


def test_wthor_fields(tmp_path):
    path = tmp_path / "games.wtb"
    path.write_bytes(wthor_file(WIPEOUT))
    (record,) = load(path)
    assert record.actions == parse_moves(OTHELLO, [WIPEOUT])[0].actions
    assert record.goal == WON
    numbers = {"tournament": 300, "black": 7, "white": 1000, "score": 64, "theoretical": 33}
    assert record.info == {**numbers, "year": 2025, "depth": 22}
    with pytest.raises(ValueError, match=r"cannot be written: end the name in one of \.jsonl, "):
        save(path, [record])
    content = path.read_bytes()
    for place, value, said in (
        (12, 0, ""),  # which is 8
        (12, 10, "board size 10, type 0: games"),
        (13, 1, "board size 8, type 1: games"),
        *((24, move, f"game 1: move {move} is not a square") for move in (8, 20, 19, 91)),
    ):
        path.write_bytes(content[:place] + bytes([value]) + content[place + 1 :])
        if said:
            with pytest.raises(ValueError, match=said):
                load(path)
        else:
            assert load(path) == [record]


@pytest.mark.skipif(not WTHOR.exists(), reason="the WTHOR records are not beside this project")
def test_tournament_games():
    """Every move of a year is legal; every game not cut off is over, with the result recorded."""
    records = load(WTHOR / "WTH_2000.wtb")
    assert (records[0].info["year"], len(records)) == (2000, 4253)
    verdicts = check(records)
    assert {verdict.error for verdict in verdicts} == {None}
    assert sum(verdict.ending == "cut off" for verdict in verdicts) == 33


# ---- files of players ----------------------------------------------------------------------------

PGN = """\
[Event "Rated Blitz game"]
[Site "https://lichess.org/abcd1234"]
[White "Zoë (1)"]
[Black "bob"]
[Result "1-0"]
[Variant "Standard"]

1. e4 { [%eval 0.24] [%clk 0:03:00] } 1... e5 { [%clk 0:03:00] } 2. Qh5?! { (0.18 to -0.5) Nf3
was best. } (2. Nf3 Nc6 (2... d6 3. d4) 3. Bb5 *) 2... Nc6 ; not 2... g6
3. Bc4 Nf6?? $4 4. Qxf7# 1-0

[Event "Bad"]
[White "x"]

1. e4 e5 2. Ke3 *

[White "Ann"]
[Black "Bob"]
[Result "1/2-1/2"]
[FEN "7k/P7/8/8/8/8/8/K7 w - - 0 1"]

1.a8=Q+ Kg7 2.Qa7+ 1/2-1/2
"""
PDN = """\
[Event "Match"]
[Black "Ann"]
[White "Bob"]
[Result "1-0"]
[GameType "21"]

1.  9-14 22-18 2. 5-9 18-15 {or 17-13} 3. 11x18 21-17 (21-16?) 4. 14x21 23x5! 1-0

[GameType "20"]

1. 32-28 19-23 *

[FEN "W:W29,K1,K2:B5,25,K12:H0:F1"]

1. 29x22 *
"""
SGF = """\
(;GM[1]FF[4]CA[UTF-8]AP[CGoban:3]SZ[9]HA[2]KM[0.50]PW[w (5k)]PB[b]RE[W+Resign]C[hi \\] there]
AB[gc][cg];W[ee]WL[590.1](;B[eg](;W[ge]C[;B[a1\\]];B[tt]))(;B[aa]))
(;FF[4]EV[hex.mc.2011]PB[T]PW[s]SZ[11]RE[B]SO[http://www.littlegolem.com];W[bj];B[swap];W[gg])
(;GM[11]SZ[11];B[a10];W[f6];B[resign])(;GM[1]SZ[9];B[zz])
(;GM[1]SZ[13];B[aa]C[x];AW[bb])(;GM[1]SZ[13];B[mm])
"""
GGF = """\
1 (;GM[Othello]PC[GGS/os]PB[a]PW[b]RE[+32.000]TY[8]BO[8 -------- -------- -------- ---O*---
---*O--- -------- -------- -------- *]B[F5//0.01]W[d6/1.0/2]B[c3];)
"""
TRANSCRIPTS = """\
Black: Tamenori Hideshi  White: Murakami Takeshi
f5d6c3d3c4f4c5b3c2 40-24
[Event "Final"]
1. f5 2. d6 3. C3
4. d3 5. c4
1. f5 d6
f5d6z9
---------------------------OX------XO--------------------------- X; F5:+2
"""
FILES = {  # a text, the game of plain moves, and each game's moves or what is wrong with it
    "PGN": (PGN, None, ["e2e4 e7e5 d1h5 b8c6 f1c4 g8f6 h5f7",
                        "!line 12: move 3: 'Ke3' is no legal move", "a7a8 h8g7 a8a7"]),
    "PDN": (PDN, None, ["g3-f4 f6-e5 h2-g3 e5-d4 c3-e5 h6-g5 f4-h6 d6-f4 f4-h2",
                        "!line 9: GameType \"20\"", "h8-f6"]),
    "SGF": (SGF, None, ["g7 pass c3 e5 e3 g5 pass", "g7", "a10 f6",
                        "!line 4: move 1: 'zz' is no legal move",
                        "!line 5: move 2: 'AW' is no legal move", "n1"]),
    "GGF": (GGF, None, ["f5 d6 c3"]),
    "Othello": (TRANSCRIPTS, None, ["f5 d6 c3 d3 c4 f4 c5 b3 c2", "f5 d6 c3 d3 c4", "f5 d6",
                                    "!line 7: move 3: 'z9' is no legal", ""]),
    "columns": ("4453 -2\n44536\n", None, ["4 4 5 3", "4 4 5 3 6"]),
    "numbers": ("11-15 22-18 15-22 25-18\t1/2-1/2\n", "checkers", ["c3-d4 f6-e5 d4-f6 g7-e5"]),
    "no tags": ("1. 11-15 22-18 2. 15x22 25x18 1-1\n", None, ["c3-d4 f6-e5 d4-f6 g7-e5"]),
    "rows": ("1. c8:a6 A3xC1\n2. b8-b6 h6f8\n", "lines_of_action", ["c8-a6 a3-c1 b8-b6 h6-f8"]),
    "morris": ("a7 b6 d7 b4 g7xb6 0-1\n", "nine_mens_morris", ["a7 b6 d7 b4 g7 b6"]),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("written", [("utf-8", "\n"), ("utf-8-sig", "\r\n"), ("latin-1", "\n")])
def test_files_of_players(name, written, tmp_path):
    """By their content alone, with byte order marks and any line ends."""
    text, game, moves = FILES[name]
    (tmp_path / "file").write_bytes(text.replace("\n", written[1]).encode(written[0]))
    loaded = load(tmp_path / "file", game=game and make(game))
    for record, verdict, wanted in zip(loaded, check(loaded), moves, strict=True):
        if wanted.startswith("!"):
            assert str(verdict.error).startswith(wanted[1:])
        else:
            assert (" ".join(names(record)), verdict.error) == (wanted, None)
    save(tmp_path / "again.jsonl", loaded)
    assert load(tmp_path / "again.jsonl") == loaded


BESIDE = {  # what players write beside moves, and the moves
    '[Variant "From Position"]\n[FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"]\n\n1. e4 *': "e2e4",
    "%e4 Nf6\n1. e4 a6 2. e5 d5 3. exd6 e.p. Nf6 *": "e2e4 a7a6 e4e5 d7d5 e5d6 g8f6",
    '[GameType "21"]\n\n1. c3-d4 f6-e5 *': "c3-d4 f6-e5",
    "(;GM[11]SZ[5];B[a1];W[swap-sides];B[b2];W[forfeit])": "a1 b2",
    "(;SZ[9]KM[];B[ee])": "e5",
    '# f5d6\n[Site "f5"]\n\nF5 PS d6 ½-½': "f5 d6",
}


@pytest.mark.parametrize("text", BESIDE)
def test_what_is_no_move_is_passed_over(text, tmp_path):
    (tmp_path / "file").write_text(text, encoding="utf-8")
    (record,) = load(tmp_path / "file")
    assert " ".join(names(record)) == BESIDE[text]
    assert check([record])[0].error is None


def test_what_files_say_of_games(tmp_path):
    path, found = tmp_path / "file", []
    for text in (PGN, PDN, SGF, GGF):
        path.write_text(text, encoding="utf-8")
        found += [(r.players, r.goal) for r in load(path) if "unread" not in r.info]
    assert found == [
        *(
            (("Zoë (1)", "bob"), WON),
            (("Ann", "Bob"), (50, 50)),
            (("Ann", "Bob"), WON),
            (None, None),
        ),
        *((("b", "w (5k)"), LOST), (("T", "s"), WON), (None, None), (None, None)),
        (("a", "b"), WON),
    ]
    for text, goal in {"2-0": WON, "0-2": LOST, "1-1": (50, 50), "*": None}.items():
        path.write_text(f"1. 11-15 22-18 {text}\n")
        assert load(path)[0].goal == goal
    drawn = dict.fromkeys(("+0.00", "0", "Draw", "Jigo", "½-½"), (50, 50))
    decided = {"B+2": WON, "+0.5": WON, "-2.0": LOST, "W+R": LOST, "Void": None}
    for text, goal in (drawn | decided).items():
        path.write_text(f"(;GM[1]SZ[9]RE[{text}];B[ee]RE[W+1])", encoding="utf-8")
        assert load(path)[0].goal == goal
    path.write_text("(;GM[11];B[a10])")
    assert load(path)[0].game == make("hex")  # on 11x11
    path.write_text("4453 -2\n")
    assert load(path)[0].info == {"score": "-2"}


def test_what_comes_after_a_draw_that_players_did_not_claim_is_left_out(tmp_path):
    path, again = tmp_path / "games.pgn", "Nf3 Nf6 Ng1 Ng8 " * 2
    path.write_text(f'[Result "1-0"]\n\n1. {again} e4 e5 1-0\n\n[Result "1-0"]\n\n1. {again} 1-0\n')
    went_on, ended = load(path)
    assert went_on.actions == ended.actions
    assert went_on.info == {
        "Result": "1-0",
        "left out": "what comes after 8 plies, where the rules end the game",
    }
    assert [verdict.error is None for verdict in check([went_on, ended])] == [True, False]
    path.write_text("1. f3 e5 2. g4 Qh4# 3. e4 1-0\n")
    with pytest.raises(ValueError, match="line 1: move 5: "):
        load(path)


def test_a_file_of_the_game_that_is_given_has_its_parameters(tmp_path):
    other = Othello(empties="winner")
    for text in (GGF, FILES["Othello"][0]):
        (tmp_path / "file").write_text(text)
        assert {record.game for record in load(tmp_path / "file", game=other)} == {other}
    (tmp_path / "file").write_text(" \n")
    assert load(tmp_path / "file") == []


def test_pgn_has_the_moves_that_python_chess_wrote(tmp_path):
    """With variations, comments and marks, and games that are wrong between the others."""
    chess = pytest.importorskip("chess")
    pgn = pytest.importorskip("chess.pgn")
    rng, path, written = random.Random(5), tmp_path / "games.pgn", []
    with path.open("w") as file:
        for number in range(12):
            board, game = chess.Board(), pgn.Game()
            node = game
            for _ in range(rng.randrange(1, 60)):
                if board.is_game_over(claim_draw=True):
                    break
                moves = [*board.legal_moves]
                played, *others = rng.sample(moves, min(2, len(moves)))
                node, before = node.add_variation(played, comment="[%clk 0:01:00] 1. e4"), node
                node.nags = {rng.randrange(1, 6)}
                for move in others[: rng.random() < 0.2]:
                    before.add_variation(move, comment="or (this) 1-0")
                board.push(played)
            exporter = pgn.StringExporter(columns=rng.choice([60, None]))
            print(game.accept(exporter), end="\n\n", file=file)
            written.append(tuple(make("chess").parse_action(m.uci()) for m in board.move_stack))
            if number % 10 == 0:
                print('[White "x"]\n\n1. e4 e5 (2. d4 2. Ke3 2. Ng9 0-1\n', file=file)
    records = load(path)
    read = [record.actions for record in records if "unread" not in record.info]
    assert (read, len(records)) == (written, 14)


@pytest.mark.parametrize("text", ["go", "hex", "go:komi=0.5"])
def test_sgf_is_written_and_read(text, tmp_path):
    records = [
        make_record(game, random_line(game, seed, plies)[1], players=("a]", "b\\"))
        for game in [games.parse(text)]
        for seed, plies in enumerate((1, 30, 500))
    ]
    assert save(tmp_path / "games.sgf", records) == []
    assert [replace(r, info={}) for r in load(tmp_path / "games.sgf")] == records


def test_a_draw_stays_one_in_sgf(tmp_path):
    game = games.parse("go:komi=0")
    assert save(path := tmp_path / "games.sgf", [make_record(game, [game.noop - 1] * 2)]) == []
    assert [record.goal for record in load(path)] == [(50, 50)]


@pytest.mark.parametrize("in_full", [True, False])
def test_turns_of_checkers_in_numbers(in_full, tmp_path):
    """With all squares of a turn, or with the first and the last where that means one turn."""
    game = make("checkers")
    numbers = {square: n for n, square in enumerate(game.notation.numbered, start=1)}
    assert [numbers[square] for square in (6, 0, 11, 63)] == [1, 4, 7, 29]
    for seed in range(5):
        positions, actions = random_line(game, seed, 200)
        turns: list[list[int]] = []
        for at, action, after in zip(positions, actions, positions[1:], strict=False):
            squares = [numbers[square] for square in game.action_squares(action, at)]
            if turns and turns[-1][-1] == 0:
                turns[-1][-1:] = squares[1:]
            else:
                turns.append(squares)
            if after.to_move == at.to_move:
                turns[-1].append(0)
        short = turns if in_full else [[turn[0], turn[-1]] for turn in turns]
        words = "".join(f" {'x'.join(map(str, turn))}" for turn in short)
        (tmp_path / "file").write_text(f'[GameType "21"]\n1.{words} *\n')
        (record,) = load(tmp_path / "file")
        assert record.actions == tuple(actions)


# ---- formats -----------------------------------------------------------------------------------

GOOD = {"version": 1, "game": "othello", "goal": {"black": 100, "white": 0}, "actions": "d3"}
LINE = json.dumps(GOOD)


def line(**change):
    return json.dumps({**GOOD, **change})


WRONG_LINES = [
    ("nonsense", "this is not JSON"),
    (line(version=2), "version is 2: it must be 1"),
    (line(game="otello"), "Did you mean 'othello'"),
    (line(game="sys:exit"), "which a file does not import or call"),
    (line(actions="f5 z9"), "z9"),
    (line(goal={"black": 100}), "it must have a value for each of"),
    (line(goal={"black": 100, "white": 100}), r"goal is \(100\.0, 100\.0\): it must be 100 for a"),
    (line(goal={"black": "100", "white": 0}), r"goal\.black is '100': it must be a valid"),
    (line(start="8/8 black"), "it must have 8"),
    ('{"version": 1, "actions": ""}', "game is missing"),
    (line(action="f5"), "Did you mean 'actions'"),
    (
        line(game="lines_of_action", actions="b1-n a3-b2"),
        "action 2 is written a3-b2, but that piece goes a3-c1",
    ),
    ("x" * (1 << 21), "has more than 1048576 characters"),
]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("games.wtb", b"shor\0", "5 bytes are no WTHOR file"),
        ("games.wtb", wthor_file(WIPEOUT, count=2), "84 bytes: a WTHOR file of 2 games has 152"),
        ("games.wtb", wthor_file("f5d6", "f5d9"), "game 2: move 94 is not a square"),
        ("games.txt", b"f5x6\nf5d6x\n", r"games\.txt, line 1: move 2: 'x6'"),
        ("games.pgn", b"[event \nby hand\n", "there are no moves; formats are jsonl, wthor, sgf"),
        ("games.sgf", b"(;GM[1]SZ[19];B[aa])", "line 1: size is 19: it must be 2 to 16"),
        ("games.txt", b"b1-b3\n", "line 1: move 1: 'b1-b3' is no.*of the game that is named"),
        ("games.jsonl.gz", gzip.compress(b"\n" * 99, mtime=0)[:-9], r"\.gz is damaged after"),
        *(("games.jsonl", f"{LINE}\n{text}\n".encode(), f"jsonl, line 2.*{message}")
          for text, message in WRONG_LINES),
    ],
)  # fmt: skip
def test_files_that_are_wrong(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message) as caught:
        load(tmp_path / name)
    assert str(caught.value).startswith(f"{tmp_path / name}")
    assert len(str(caught.value)) < 500 + len(str(tmp_path))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("info", [{"x": math.nan}, {"x": object()}])
def test_what_cannot_be_read_is_not_written(info, tmp_path):
    path = tmp_path / "games.jsonl"
    path.write_text("before")
    with pytest.raises(ValueError, match="cannot be written as JSON"):
        save(path, [Record(OTHELLO, (19,), info=info)])
    assert path.read_text() == "before"


MANY = 2_500
ENDLESS = {  # files of a few kB with this many games
    "games.jsonl.gz": gzip.compress(f"{LINE}\n".encode() * MANY),
    "games.txt": b"f5\n" * MANY,
}


@pytest.mark.parametrize("name", ENDLESS)
def test_a_file_of_too_many_games_is_refused_before_they_fill_the_memory(
    name, tmp_path, monkeypatch
):
    path = tmp_path / name
    path.write_bytes(ENDLESS[name])
    monkeypatch.setattr(formats, "MAX_MEMORY", 1 << 20)
    with pytest.raises(ValueError, match=r"games.* may take more than 1 MiB of memory") as told:
        load(path)
    assert str(told.value).startswith(str(path))
    monkeypatch.undo()
    assert len(load(path)) == MANY


# ---- recorders ---------------------------------------------------------------------------------


@games_of_each_kind
def test_a_match_is_recorded(game):
    match = play_match(game, RandomAgent(), RandomAgent(), 2, opening_plies=(6, 10), seed=4)
    records = record_match(game, match, ("first", "second"))
    assert {verdict.error for verdict in check(records)} == {None}
    assert {record.players for record in records[::2]} == {("first", "second")}
    first_scores = [r.goal[r.players.index("first")] / 100 for r in records]
    assert first_scores == match.scores.T.ravel().tolist()
    assert sum(len(r.actions) for r in records) == match.mean_plies * 4


def test_a_forfeit_is_recorded():
    match = play_match(OTHELLO, lambda observation, agent: 27, RandomAgent(), 3)  # a disc is there
    for record in record_match(OTHELLO, match, ("cheat", "honest")):
        assert record.players is not None
        assert record.goal == (LOST if record.players[0] == "cheat" else WON)
        assert record.info["forfeit"] == "cheat"
        assert check([record])[0].ending == "cut off"


@pytest.mark.parametrize("moves", ["f5d6c3d3c4", "c4e3f6e6f5", "e6f4c3c4d3", "d3c5f6f5e6"])
def test_openings_have_names_however_the_board_is_turned(moves):
    reached = replay(parse_moves(OTHELLO, [moves])[0])
    assert [*map(opening_of, reached)] == [None, None, "Perpendicular", None, None, "Tiger"]
    assert opening_of(parse_position(make("othello_holes"), reached[2].fen())) is None
