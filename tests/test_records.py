"""Records keep what was played in every format; the rules find what is wrong with them."""

from __future__ import annotations

import gzip
import json
import math
from dataclasses import replace

import pytest
from variants import SHARED, VARIANTS, make, random_line, wthor_file

from boardenvs import IllegalActionError, games
from boardenvs.agents.simple import RandomAgent
from boardenvs.arena import play_match, record_match
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
from boardenvs.records.moves import parse_moves, write_moves
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
    for game in map(make, VARIANTS):
        positions, actions = random_line(game, 7, plies)
        more = {"players": ("Zoë", 'the "second"'), "info": {"x": {"y": 7}}}
        found.append(make_record(game, actions, **more))
        found.append(make_record(game, actions[3:], start=positions[3], **more))
    return found


# ---- replay and check --------------------------------------------------------------------------


def test_an_illegal_action_is_named():
    _, actions = random_line(OTHELLO, 2, 2)
    record = Record(OTHELLO, (*actions, actions[0]))
    with pytest.raises(IllegalActionError) as caught:
        replay(record)
    name, said = OTHELLO.action_name(actions[0]), str(caught.value)
    assert f"action {actions[0]} ({name}) is not legal for black at ply 2; legal: " in said
    assert check([record]) == [("illegal", None, said)]


def test_what_comes_after_the_end_is_illegal():
    game = games.parse("wolf_and_sheep:rules=described,max_plies=12")
    _, actions = random_line(game, 3, 12)
    record, beyond = make_record(game, actions), Record(game, (*actions, 0))
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
    plain, packed = tmp_path / "games.jsonl", tmp_path / "games.jsonl.gz"
    for path in (plain, packed):
        assert save(path, records) == []
        assert load(path) == records
    assert gzip.decompress(packed.read_bytes()) == plain.read_bytes()


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
    assert save(tmp_path / "games.txt", [record]) == ["players", "info"]
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


@pytest.mark.skipif(not WTHOR.exists(), reason="the WTHOR records are not beside this project")
def test_tournament_games():
    """Every move of a year is legal; every game not cut off is over, with the result recorded."""
    records = load(WTHOR / "WTH_2000.wtb")
    assert (records[0].info["year"], len(records)) == (2000, 4253)
    verdicts = check(records)
    assert {verdict.error for verdict in verdicts} == {None}
    assert sum(verdict.ending == "cut off" for verdict in verdicts) == 33


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
    (line(action="f5"), "Did you mean 'actions'"),
    ("x" * (1 << 21), "has more than 1048576 characters"),
]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("games.wtb", b"short", "5 bytes are no WTHOR file"),
        ("games.wtb", wthor_file(WIPEOUT, count=2), "84 bytes: a WTHOR file of 2 games has 152"),
        ("games.wtb", wthor_file("f5d6", "f5d9"), "game 2: move 94 is not a square"),
        ("games.txt", b"f5d6\nf5x6\n", r"games\.txt, line 2: 'x6'"),
        ("games.txt", b"b1-b3\n", "line 1: 'b1-b3' moves a piece"),
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
    match = play_match(game, RandomAgent(), RandomAgent(), 6, opening_plies=(6, 10), seed=4)
    records = record_match(game, match, ("first", "second"))
    assert {verdict.error for verdict in check(records)} == {None}
    assert {record.players for record in records[::2]} == {("first", "second")}
    first_scores = [r.goal[r.players.index("first")] / 100 for r in records]
    assert first_scores == match.scores.T.ravel().tolist()
    assert sum(len(r.actions) for r in records) == match.mean_plies * 12


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
    assert opening_of(make("othello_holes").start()) is None
