"""Records keep what was played in every format, and the rules catch what was not."""

from __future__ import annotations

import dataclasses
import gzip
import json
import re
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from registered import Capitals, FewestDiscs
from variants import SHARED, VARIANTS, load_playouts, make, of_built_in, random_line

import boardenvs
from boardenvs import IllegalActionError, games
from boardenvs.agents import RandomAgent
from boardenvs.arena import play_match
from boardenvs.board.bitboard import square_name
from boardenvs.game.contract import Game, Position, stack
from boardenvs.game.state import IntArray, State
from boardenvs.games import WolfAndSheep
from boardenvs.records import (
    EnvRecorder,
    Record,
    check,
    load,
    make_record,
    record_match,
    replay,
    save,
)
from boardenvs.records.jsonl import parse_record, read_jsonl, write_record
from boardenvs.records.moves import parse_moves, write_moves
from boardenvs.records.record import names, parse_names
from boardenvs.records.wthor import Header, black_discs, read_wthor, write_wthor

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
WON, LOST, DRAWN = (100.0, 0.0), (0.0, 100.0), (50.0, 50.0)
SEEDS = st.integers(0, 10_000)


pytestmark = pytest.mark.usefixtures("in_python")


def some_record(game: Game, seed: int, first: int, plies: int) -> Record:
    """A random game from ply `first` on, for at most so many plies."""
    positions, actions = random_line(game, seed, first + plies)
    first = min(first, len(actions))
    start = positions[first] if first else None
    return make_record(
        game,
        actions[first:],
        start=start,
        players=("Zoë, the first", 'the "second"'),
        info={"seed": seed, "note": {"passes": actions.count(game.noop)}},
    )


# ---- replay and check --------------------------------------------------------------------------


@of_built_in
def test_recorded_games_replay(name: str, game: Game) -> None:
    """Games of another implementation: every square at the end, the goal values, the endings."""
    if isinstance(game, WolfAndSheep):
        game = dataclasses.replace(game, max_plies=None)  # they were played without a cap
    played = load_playouts(name)
    records = [make_record(game, [game.parse_gdl(p["move"]) for p in g["plies"]]) for g in played]
    for record, verdict, theirs in zip(records, check(records), played, strict=True):
        assert len(replay(record)) == len(theirs["plies"]) + 1
        goal = theirs["goals"] and tuple(theirs["goals"][role] for role in game.roles)
        assert record.goal == verdict.goal == goal
        assert verdict.ending == ("cut off" if goal is None else "finished")
        assert verdict.error is None


@settings(max_examples=15)
@given(seed=SEEDS, at=st.integers(0, 30), choice=st.integers(0, 10**6))
def test_an_illegal_action_is_named(game: Game, seed: int, at: int, choice: int) -> None:
    positions, actions = random_line(game, seed, 60)
    at = min(at, len(actions) - 1)
    illegal = sorted(set(range(game.num_actions)) - set(positions[at].legal_actions()))
    actions[at] = illegal[choice % len(illegal)]
    record = Record(game, tuple(actions))
    with pytest.raises(IllegalActionError) as caught:
        replay(record)
    message = str(caught.value)
    assert f"action {actions[at]} (" in message
    assert f"for {game.roles[at % 2]} at ply {at}; legal: " in message
    for action in positions[at].legal_actions():
        assert f"{action} ({game.action_name(action, positions[at])})" in message
    (verdict,) = check([record])
    assert verdict == ("illegal", None, message)


def test_what_comes_after_the_end_is_illegal(game: Game) -> None:
    positions, actions = random_line(game, 1, 500)
    assert positions[-1].terminated or positions[200].is_truncated()
    (verdict,) = check([Record(game, (*actions[:200], game.noop))])
    assert verdict.error is not None
    assert "legal: nothing, the game is over" in verdict.error or "its cap of 200" in verdict.error


def test_a_game_ends_with_its_cap() -> None:
    game = games.parse("wolf_and_sheep:rules=described,max_plies=12")
    _, actions = random_line(game, 3, 13)
    record = make_record(game, actions[:12])
    assert record.goal == replay(record)[-1].result()
    beyond = Record(game, tuple(actions))
    assert [v.ending for v in check([record, beyond])] == ["truncated", "illegal"]
    with pytest.raises(IllegalActionError, match="at ply 12, where its cap of 12 plies ended it"):
        replay(beyond)


def test_a_wrong_goal_is_named() -> None:
    game = make("othello")
    (record,) = parse_moves(game, [WIPEOUT])
    wrong = dataclasses.replace(record, goal=LOST)
    right = dataclasses.replace(record, goal=WON)
    errors = [verdict.error for verdict in check([record, wrong, right])]
    message = "the record gives black 0, red 100; the rules give black 100, red 0"
    assert errors == [None, message, None]
    # Nothing can be said about the result of a game that was given up.
    cut_off = dataclasses.replace(wrong, actions=wrong.actions[:5])
    assert check([cut_off]) == [("cut off", None, None)]


def test_a_batch_of_many_games_keeps_their_order() -> None:
    records = [
        some_record(make(name), seed, first, 40)
        for seed in range(3)
        for first in (0, 5)
        for name in VARIANTS
    ]
    records[4] = dataclasses.replace(records[4], actions=(make("wolf_and_sheep").noop,))
    for record, verdict in zip(records, check(records), strict=True):
        assert verdict == check([record])[0]
    assert check([]) == []


# ---- JSON Lines --------------------------------------------------------------------------------


@settings(max_examples=15)
@given(seed=SEEDS, first=st.integers(0, 20), plies=st.integers(0, 80))
def test_json_round_trip(game: Game, seed: int, first: int, plies: int) -> None:
    record = some_record(game, seed, first, plies)
    line = write_record(record)
    assert "\n" not in line
    assert parse_record(line) == record
    assert json.loads(line)["actions"].split() == names(record)


def test_json_round_trip_of_files(tmp_path: Path) -> None:
    records = [some_record(make(name), 7, first, 300) for name in VARIANTS for first in (0, 3)]
    records.append(Record(games.parse("wolf_and_sheep:max_plies=none"), ()))
    records.append(Record(games.parse("othello_holes:holes=1"), (-0,)))
    for file in ("games.jsonl", "games.jsonl.gz"):
        assert save(tmp_path / file, records) == []
        assert load(tmp_path / file) == records
    plain, packed = ((tmp_path / file).read_bytes() for file in ("games.jsonl", "games.jsonl.gz"))
    assert gzip.decompress(packed) == plain
    save(tmp_path / "again.jsonl.gz", records)
    assert (tmp_path / "again.jsonl.gz").read_bytes() == packed


def test_json_is_for_people() -> None:
    (record,) = parse_moves(make("othello"), ["f5d6c3"])
    record = dataclasses.replace(record, players=("Anna", "Bo"), goal=WON)
    assert write_record(record) == (
        '{"version": 1, "game": "othello", "players": {"black": "Anna", "red": "Bo"}, '
        '"goal": {"black": 100, "red": 0}, "actions": "f4 d3 c6"}'
    )


def test_files_are_read_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    good = write_record(Record(make("othello"), ()))
    path.write_text(f"{good}\n\n{good}\nnonsense\n")
    stream = read_jsonl(path)
    assert [next(stream).actions, next(stream).actions] == [(), ()]
    with pytest.raises(ValueError, match=r"games\.jsonl, line 4: this is not JSON"):
        next(stream)


def test_a_move_to_another_square_than_the_rules_say() -> None:
    game = make("lines_of_action")
    assert parse_names(game, ["b1-b3"]) == parse_names(game, ["b1-n"])
    with pytest.raises(ValueError, match="action 1 is written b1-b5, but that piece goes b1-b3"):
        parse_names(game, ["b1-b5"])


def test_damaged_files_are_named(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl.gz"
    save(path, [some_record(make("othello"), seed, 0, 60) for seed in range(9)])
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(ValueError, match=r"games\.jsonl\.gz is damaged after line "):
        load(path)


# ---- plain moves -------------------------------------------------------------------------------


@settings(max_examples=15)
@given(seed=SEEDS, plies=st.integers(0, 80))
def test_moves_round_trip(game: Game, seed: int, plies: int) -> None:
    """Passes are put back by the rules, but for one at the end of a game that was cut off."""
    _, actions = random_line(game, seed, plies)
    while actions and actions[-1] == game.noop:
        actions.pop()
    record = Record(game, tuple(actions))
    assert parse_moves(game, [write_moves(record) or "# no moves"]) == [record] * bool(actions)


def test_the_first_moves_of_a_tournament() -> None:
    """Black may begin with d3, c4, f5 or e6 and with nothing else."""
    moves = [square_name(square) for square in range(64)]
    verdicts = check(parse_moves(make("othello"), moves))
    legal = {m for m, verdict in zip(moves, verdicts, strict=True) if verdict.error is None}
    assert legal == {"d3", "c4", "f5", "e6"}


def test_the_shortest_game() -> None:
    game = make("othello")
    record = make_record(game, parse_moves(game, [WIPEOUT])[0].actions)
    assert record.goal == WON
    last = replay(record)[-1]
    assert (last.pieces(0).bit_count(), last.pieces(1)) == (13, 0)
    assert [p.terminated for p in replay(record)] == [False] * 9 + [True]


def test_passes_that_are_not_written() -> None:
    game = make("othello")
    record = make_record(game, parse_moves(game, [PASSES])[0].actions)
    positions = replay(record)
    movers = [p.to_move for p, a in zip(positions, record.actions, strict=False) if a != game.noop]
    assert movers == [int(PASSES[i].islower()) for i in range(0, len(PASSES), 2)]
    passers = [p.to_move for p, a in zip(positions, record.actions, strict=False) if a == game.noop]
    assert passers == [0] * 23
    # All 59 discs are red's, and the empty squares count for it too: 64 to 0.
    assert (positions[-1].pieces(0), positions[-1].pieces(1).bit_count()) == (0, 59)
    assert positions[-1].terminated
    assert black_discs(stack([positions[-1]])).tolist() == [0]
    assert write_moves(record) == PASSES.lower()


@pytest.mark.parametrize(
    "line",
    ["f5d6c3", "F5D6C3", "f5 d6 c3", "1. f5 d6 2. c3", "1.f5d6 2.c3", "f5,d6,c3", "1) F5 D6"],
)
def test_ways_to_write_a_transcript(line: str) -> None:
    (record,) = parse_moves(make("othello"), ["# a title", "", line])
    assert names(record) == ["f4", "d3", "c6"][: len(record.actions)]
    assert len(record.actions) >= 2


@pytest.mark.parametrize(
    ("name", "line", "words"),
    [
        ("lines_of_action", "1. B1-B3 a3xc1 2. c8-c6", ["b1-b3", "a3-c1", "c8-c6"]),
        ("wolf_and_sheep", "d8-c7, a1-b2", ["d8-c7", "a1-b2"]),
    ],
)
def test_moving_pieces_in_their_own_notation(name: str, line: str, words: list[str]) -> None:
    """A capture may have an x: the white piece takes the black one on c1."""
    (record,) = parse_moves(make(name), [line])
    assert names(record) == words
    assert check([record])[0].error is None


def test_lines_that_are_no_moves_are_named(tmp_path: Path) -> None:
    path = tmp_path / "games.txt"
    path.write_text("f5d6\nf5x6\n")
    with pytest.raises(ValueError, match=r"games\.txt, line 2: 'x6'"):
        load(path)
    path.write_text("b1-b3\n")
    with pytest.raises(ValueError, match="line 1: 'b1-b3' moves a piece"):
        load(path)
    assert load(path, game=make("lines_of_action"))[0].actions == (1,)


def test_plain_moves_say_what_they_lose(tmp_path: Path) -> None:
    game = make("othello")
    record = make_record(game, (20,), players=("a", "b"), info={"x": 1})
    assert save(tmp_path / "games.txt", [record]) == ["players", "info"]
    started = make_record(game, (), start=random_line(game, 1, 3)[0][-1])
    with pytest.raises(ValueError, match=r"only \.jsonl can hold"):
        save(tmp_path / "games.txt", [started])


# ---- WTHOR -------------------------------------------------------------------------------------


def wthor_file(*moves: str, score: int = 64, count: int | None = None, size: int = 8) -> bytes:
    """A file written by hand: the games' moves as in tournaments."""
    head = struct.pack("<BBBBIHHBBBB", 20, 26, 11, 21, count or len(moves), 0, 2025, size, 0, 22, 0)
    body = b""
    for game in moves:
        squares = [game[i : i + 2] for i in range(0, len(game), 2)]
        numbers = bytes(10 * int(s[1]) + "abcdefgh".index(s[0]) + 1 for s in squares)
        body += struct.pack("<HHHBB", 300, 7, 1000, score, 33) + numbers.ljust(60, b"\0")
    return head + body


def test_wthor_fields(tmp_path: Path) -> None:
    path = tmp_path / "games.wtb"
    path.write_bytes(wthor_file(WIPEOUT))
    header, records = read_wthor(path)
    assert header == Header(made=(2026, 11, 21), year=2025, depth=22)
    assert records == load(path)
    (record,) = records
    assert record.actions == parse_moves(make("othello"), [WIPEOUT])[0].actions
    assert record.goal == WON
    assert record.info == {
        "tournament": 300,
        "black": 7,
        "white": 1000,
        "score": 64,
        "theoretical": 33,
        "year": 2025,
        "depth": 22,
    }
    assert check(records)[0].error is None
    write_wthor(tmp_path / "again.wtb", records, header)
    assert (tmp_path / "again.wtb").read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("black", "red", "discs"), [(40, 24, 40), (13, 0, 64), (10, 20, 10), (20, 20, 32), (0, 13, 0)]
)
def test_empty_squares_count_for_the_winner(black: int, red: int, discs: int) -> None:
    blacks, reds = (1 << black) - 1, ((1 << red) - 1) << black
    game = make("othello")
    rows = [
        Position(blacks, reds, (0, 0), 0, 9, True, game),
        Position(reds, blacks, (0, 0), 1, 9, True, game),
    ]
    assert black_discs(stack(rows)).tolist() == [discs, discs]


def test_a_game_cut_off_keeps_its_score(tmp_path: Path) -> None:
    path = tmp_path / "games.wtb"
    path.write_bytes(wthor_file("f5d6", score=20))
    (record,) = load(path)
    assert record.goal == LOST
    assert check([record]) == [("cut off", None, None)]
    save(tmp_path / "again.wtb", [record])
    assert (tmp_path / "again.wtb").read_bytes()[4:] == path.read_bytes()[4:]  # of another day
    bare = dataclasses.replace(record, info={})
    with pytest.raises(ValueError, match="game 1 cannot be written as WTHOR: it was cut off"):
        save(tmp_path / "again.wtb", [bare])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"short", "5 bytes are no WTHOR file"),
        (wthor_file(WIPEOUT)[:-1], "83 bytes: a WTHOR file of 1 games has 84"),
        (wthor_file(WIPEOUT, count=2), "84 bytes: a WTHOR file of 2 games has 152"),
        (wthor_file(WIPEOUT, size=10), "board size 10"),
        (wthor_file("f5d6", "f5d9"), "game 2: move 94 is not a square"),
    ],
)
def test_bad_wthor_files(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "games.wtb"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message):
        load(path)


def test_an_illegal_move_is_kept_and_found(tmp_path: Path) -> None:
    path = tmp_path / "games.wtb"
    path.write_bytes(wthor_file("f5d6", "f5f5c3", WIPEOUT))
    records = load(path)
    assert [verdict.ending for verdict in check(records)] == ["cut off", "illegal", "finished"]
    assert len(records[1].actions) == 3


@pytest.mark.parametrize("game", [make("othello_holes"), FewestDiscs()])
def test_wthor_holds_othello_alone(tmp_path: Path, game: Game) -> None:
    with pytest.raises(ValueError, match=f"game 1 is {game.id}: WTHOR holds Othello alone"):
        save(tmp_path / "games.wtb", [Record(game, ())])


@pytest.mark.skipif(not WTHOR.exists(), reason="the WTHOR records are not beside this project")
@pytest.mark.parametrize(("year", "count", "cut_off"), [(2000, 4253, 33), (2013, 2303, 0)])
def test_tournament_games(tmp_path: Path, year: int, count: int, cut_off: int) -> None:
    """Every move of two years is legal, every game not cut off is over, with the result recorded,
    and is written byte for byte as it was, also where the score is counted anew.
    """
    source, target = WTHOR / f"WTH_{year}.wtb", tmp_path / "again.wtb"
    header, records = read_wthor(source)
    assert (header.year, len(records)) == (year, count)
    verdicts = check(records)
    assert [verdict.error for verdict in verdicts if verdict.error] == []
    assert sum(verdict.ending == "cut off" for verdict in verdicts) == cut_off
    for record, verdict in zip(records, verdicts, strict=True):
        assert verdict.goal in (None, record.goal)
    over = [record for record, verdict in zip(records, verdicts, strict=True) if verdict.goal]
    write_wthor(target, [dataclasses.replace(record, info={}) for record in over])
    assert [r.info["score"] for r in read_wthor(target)[1]] == [r.info["score"] for r in over]
    write_wthor(target, records, header)
    assert target.read_bytes() == source.read_bytes()
    save(tmp_path / "games.txt", records)
    assert [r.actions for r in load(tmp_path / "games.txt")] == [r.actions for r in records]


# ---- formats -----------------------------------------------------------------------------------


def test_a_file_without_an_ending_is_known_by_what_is_in_it(tmp_path: Path) -> None:
    records = [dataclasses.replace(r, goal=WON) for r in parse_moves(make("othello"), [WIPEOUT])]
    for ending in (".jsonl", ".jsonl.gz", ".wtb", ".txt"):
        save(tmp_path / f"games{ending}", records)
        bare = tmp_path / "bare"
        bare.write_bytes((tmp_path / f"games{ending}").read_bytes())
        assert [r.actions for r in load(bare)] == [r.actions for r in records]


def test_unknown_endings_and_formats_are_named(tmp_path: Path) -> None:
    with pytest.raises(
        ValueError, match=r"end the name in one of \.jsonl, \.jsonl\.gz, \.wtb, \.txt"
    ):
        save(tmp_path / "games.pgn", [])
    with pytest.raises(ValueError, match="unknown format 'json'"):
        save(tmp_path / "games.x", [], format_name="json")


# ---- games of others ---------------------------------------------------------------------------


def test_a_notation_of_its_own_is_read_as_it_is_written() -> None:
    game = Capitals()
    records = [make_record(game, random_line(game, seed, 60)[1]) for seed in range(3)]
    lines = [write_moves(record) for record in records]
    assert all(re.fullmatch("([A-H][1-8]X[A-H][1-8]|PASS)( |$)", w) for w in lines[0].split())
    assert [r.actions for r in parse_moves(game, lines)] == [r.actions for r in records]


# ---- recorders ---------------------------------------------------------------------------------


def test_a_match_is_recorded(game: Game) -> None:
    match = play_match(game, RandomAgent(), RandomAgent(), 6, opening_plies=(6, 10), seed=4)
    records = record_match(game, match, ("first", "second"))
    assert len(records) == 12
    assert not [verdict.error for verdict in check(records) if verdict.error]
    first_scores = [r.goal[r.players.index("first")] / 100 for r in records if r.goal and r.players]
    assert first_scores == match.scores.T.ravel().tolist()
    assert sum(len(r.actions) for r in records) == match.mean_plies * 12
    for one, other in zip(records[::2], records[1::2], strict=True):
        assert one.players == ("first", "second") == (other.players or ())[::-1]
        assert one.actions[:6] == other.actions[:6]


def test_a_match_without_actions_cannot_be_recorded() -> None:
    game = make("othello")
    match = dataclasses.replace(play_match(game, RandomAgent(), RandomAgent(), 1), actions=None)
    with pytest.raises(ValueError, match="a journal does not keep them"):
        record_match(game, match, ("a", "b"))


class Cheat:
    """Always places a disc on d4, where there is one."""

    def act(self, game: Game, state: State, rng: np.random.Generator) -> IntArray:
        return np.full(len(state.ply), 27)


def test_a_forfeit_is_recorded() -> None:
    game = make("othello")
    match = play_match(game, Cheat(), RandomAgent(), 3)
    for record in record_match(game, match, ("cheat", "honest")):
        assert record.players is not None
        assert record.goal == (LOST if record.players[0] == "cheat" else WON)
        assert record.info["forfeit"] == "cheat"
        assert check([record])[0].ending == "cut off"


def test_an_environment_is_recorded(tmp_path: Path) -> None:
    env = EnvRecorder(boardenvs.othello_v0.env(), players=("a", "b"))
    game = make("othello")
    start = random_line(game, 5, 8)[0][-1]
    for options, stop in ((None, None), ({"position": start}, None), (None, 7), (None, -1)):
        env.reset(options=options)
        for ply, agent in enumerate(env.agent_iter()):
            observation, _, terminated, truncated, _ = env.last()
            if ply == stop:
                break
            action = int(observation["action_mask"].argmax())
            env.step(None if terminated or truncated else 27 if stop == -1 else action)
            assert agent in game.roles
    whole, later, left, forfeit = env.records
    assert [v.ending for v in check(env.records)] == ["finished", "finished", "cut off", "cut off"]
    assert whole.goal == make_record(game, whole.actions).goal in (WON, DRAWN, LOST)
    assert (whole.start, later.start) == (None, start)
    assert len(left.actions) == 7
    assert (forfeit.actions, forfeit.goal, forfeit.info) == ((), LOST, {"forfeit": "black"})
    assert all(record.players == ("a", "b") for record in env.records)
    save(tmp_path / "games.jsonl", env.records)
    assert load(tmp_path / "games.jsonl") == env.records


def test_only_turn_based_environments_are_recorded() -> None:
    with pytest.raises(TypeError, match="not a turn-based environment of boardenvs"):
        EnvRecorder(boardenvs.othello_v0.parallel_env())
