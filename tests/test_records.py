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
from variants import SHARED, VARIANTS, make, random_line

import boardenvs
from boardenvs import IllegalActionError, games
from boardenvs.agents import RandomAgent
from boardenvs.arena import play_match
from boardenvs.game.contract import Game
from boardenvs.game.state import IntArray, State
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
from boardenvs.records.jsonl import read_jsonl, write_record
from boardenvs.records.moves import parse_moves, write_moves
from boardenvs.records.record import names, parse_names
from boardenvs.records.wthor import read_wthor, write_wthor

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
# A game that fills up, one whose moves capture, and one with a cap.
games_of_each_kind = pytest.mark.parametrize(
    "game", [make(name) for name in ("othello", "lines_of_action", "wolf_and_sheep")]
)


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


@games_of_each_kind
@pytest.mark.parametrize("at", [0, 7, 12])
def test_an_illegal_action_is_named(game: Game, at: int) -> None:
    positions, actions = random_line(game, 2, 60)
    legal = positions[at].legal_actions()
    actions[at] = min(set(range(game.num_actions)) - set(legal))
    record = Record(game, tuple(actions))
    said = rf"action {actions[at]} \(.*for {game.roles[at % 2]} at ply {at}; legal: "
    said += ", ".join(rf"{a} \({game.action_name(a, positions[at])}\)" for a in legal)
    with pytest.raises(IllegalActionError, match=said) as caught:
        replay(record)
    assert check([record]) == [("illegal", None, str(caught.value))]


@pytest.mark.parametrize(
    ("text", "ending", "message"),
    [
        ("othello", "finished", "legal: nothing, the game is over"),
        ("wolf_and_sheep:rules=described,max_plies=12", "truncated", "its cap of 12 plies ended"),
    ],
)
def test_what_comes_after_the_end_is_illegal(text: str, ending: str, message: str) -> None:
    game = games.parse(text)
    positions, actions = random_line(game, 3, game.max_plies or 200)
    record = make_record(game, actions)
    assert record.goal == positions[-1].result()
    beyond = Record(game, (*actions, positions[-1].legal_actions()[0] if game.max_plies else 64))
    within, outside = check([record, beyond])
    assert within == (ending, record.goal, None)
    assert outside.ending == "illegal"
    with pytest.raises(IllegalActionError, match=message) as told:
        replay(beyond)
    assert outside.error == str(told.value)


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
    records = [some_record(make(name), 1, first, 40) for first in (0, 5) for name in VARIANTS]
    records[4] = dataclasses.replace(records[4], actions=(make("wolf_and_sheep").noop,))
    for record, verdict in zip(records, check(records), strict=True):
        assert verdict == check([record])[0]
    assert check([]) == []


# ---- JSON Lines --------------------------------------------------------------------------------


def test_json_round_trip_of_files(tmp_path: Path) -> None:
    records = [some_record(make(name), 7, first, 300) for name in VARIANTS for first in (0, 3)]
    records.append(Record(games.parse("wolf_and_sheep:max_plies=none"), ()))
    records.append(Record(games.parse("othello_holes:holes=1"), (-0,)))
    for record in records:
        assert json.loads(write_record(record))["actions"].split() == names(record)
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


# ---- plain moves -------------------------------------------------------------------------------


@games_of_each_kind
@settings(max_examples=8)
@given(seed=SEEDS, plies=st.integers(0, 80))
def test_moves_round_trip(game: Game, seed: int, plies: int) -> None:
    """Passes are put back by the rules, but for one at the end of a game that was cut off."""
    _, actions = random_line(game, seed, plies)
    while actions and actions[-1] == game.noop:
        actions.pop()
    record = Record(game, tuple(actions))
    assert parse_moves(game, [write_moves(record) or "# no moves"]) == [record] * bool(actions)


def test_passes_that_are_not_written() -> None:
    game = make("othello")
    record = make_record(game, parse_moves(game, [PASSES])[0].actions)
    positions = replay(record)
    played = list(zip([p.to_move for p in positions], record.actions, strict=False))
    movers = [role for role, action in played if action != game.noop]
    assert movers == [int(PASSES[i].islower()) for i in range(0, len(PASSES), 2)]
    assert [role for role, action in played if action == game.noop] == [0] * 23
    assert positions[-1].terminated
    assert write_moves(record) == PASSES.lower()


@pytest.mark.parametrize(
    ("name", "line", "words"),
    [
        ("lines_of_action", "1. B1-B3 a3xc1 2. c8-c6", ["b1-b3", "a3-c1", "c8-c6"]),
        ("wolf_and_sheep", "d8-c7, a1-b2", ["d8-c7", "a1-b2"]),
        *(
            ("othello", line, ["f4", "d3", "c6"])
            for line in (
                "F5D6C3",
                "f5 d6 c3",
                "1. f5 d6 2. c3",
                "1.f5d6 2.c3",
                "f5,d6,c3",
                "1) F5 D6c3",
            )
        ),
    ],
)
def test_ways_to_write_moves(name: str, line: str, words: list[str]) -> None:
    """A capture may have an x: the white piece takes the black one on c1."""
    (record,) = parse_moves(make(name), ["# a title", "", line])
    assert names(record) == words
    assert check([record])[0].error is None


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
    assert header == (20, 26, 11, 21, 1, 0, 2025, 8, 0, 22, 0)
    assert records == load(path)
    (record,) = records
    assert record.actions == parse_moves(make("othello"), [WIPEOUT])[0].actions
    assert record.goal == WON
    numbers = {"tournament": 300, "black": 7, "white": 1000, "score": 64, "theoretical": 33}
    assert record.info == {**numbers, "year": 2025, "depth": 22}
    assert check(records)[0].error is None
    write_wthor(tmp_path / "again.wtb", records, header)
    assert (tmp_path / "again.wtb").read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("moves", "discs", "score"), [(WIPEOUT, (13, 0), 64), (PASSES, (0, 59), 0)]
)
def test_empty_squares_count_for_the_winner(
    tmp_path: Path, moves: str, discs: tuple[int, int], score: int
) -> None:
    (record,) = parse_moves(make("othello"), [moves])
    last = replay(record)[-1]
    assert tuple(last.pieces(role).bit_count() for role in (0, 1)) == discs
    save(tmp_path / "games.wtb", [record])
    assert load(tmp_path / "games.wtb")[0].info["score"] == score


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
    ("name", "content", "message"),
    [
        ("games.wtb", b"short", "5 bytes are no WTHOR file"),
        ("games.wtb", wthor_file(WIPEOUT)[:-1], "83 bytes: a WTHOR file of 1 games has 84"),
        ("games.wtb", wthor_file(WIPEOUT, count=2), "84 bytes: a WTHOR file of 2 games has 152"),
        ("games.wtb", wthor_file(WIPEOUT, size=10), "board size 10"),
        ("games.wtb", wthor_file("f5d6", "f5d9"), "game 2: move 94 is not a square"),
        ("games.txt", b"f5d6\nf5x6\n", r"games\.txt, line 2: 'x6'"),
        ("games.txt", b"b1-b3\n", "line 1: 'b1-b3' moves a piece"),
        ("games.jsonl.gz", gzip.compress(b"\n" * 99, mtime=0)[:-9], r"\.gz is damaged after"),
    ],
)
def test_files_that_are_wrong(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message):
        load(tmp_path / name)


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
def test_tournament_games(tmp_path: Path) -> None:
    """Every move of a year is legal, every game not cut off is over, with the result recorded,
    and is written byte for byte as it was, also where the score is counted anew.
    """
    source, target = WTHOR / "WTH_2000.wtb", tmp_path / "again.wtb"
    header, records = read_wthor(source)
    assert (header.played, len(records)) == (2000, 4253)
    verdicts = check(records)
    assert {verdict.error for verdict in verdicts} == {None}
    assert sum(verdict.ending == "cut off" for verdict in verdicts) == 33
    write_wthor(target, records, header)
    assert target.read_bytes() == source.read_bytes()
    over = [r for r, verdict in zip(records, verdicts, strict=True) if verdict.goal][::8]
    for path in (tmp_path / "bare.wtb", tmp_path / "games.txt"):
        save(path, [dataclasses.replace(record, info={}) for record in over])
        found = load(path)
        assert [r.actions for r in found] == [r.actions for r in over]
        if path.suffix == ".wtb":
            assert [r.info["score"] for r in found] == [r.info["score"] for r in over]


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


@games_of_each_kind
def test_a_match_is_recorded(game: Game) -> None:
    match = play_match(
        game, RandomAgent(), RandomAgent(), 6, opening_plies=(6, 10), keep=None, seed=4
    )
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
