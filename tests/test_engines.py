"""Engines: ours plays the same moves over each protocol; a program's fault costs its game and
nothing else. Other people's programs are in test_engines_long.py.
"""

from __future__ import annotations

import asyncio
import functools
import io
import itertools
import os
import pickle
import shlex
import signal
import subprocess
import sys
import time
from contextlib import nullcontext
from functools import partial
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from engine_scripts import (
    FAULTS,
    HABITS,
    Chooser,
    Held,
    Played,
    Script,
    Scripted,
    faulty,
    honest,
    is_question,
    last_legal,
    refusing,
)
from variants import random_line

from boardenvs import games, make_agent, play_match
from boardenvs.agents.base import check_game
from boardenvs.agents.history import History
from boardenvs.agents.spec import runs_code
from boardenvs.engines import (
    EngineError,
    EngineProcess,
    ProcessTransport,
    ServedAgent,
    gtp,
    serve,
    servers_of,
)
from boardenvs.engines.nboard import in_discs
from boardenvs.engines.player import EngineAgent
from boardenvs.engines.protocol import ServedLimits
from boardenvs.exams import take_exam
from boardenvs.game.errors import ForfeitError, HistoryNeededError
from boardenvs.game.fen import parse_position
from boardenvs.game.game import Game
from boardenvs.game.position import Position, stack
from boardenvs.game.session import GameSession
from boardenvs.game.state import IntArray, State
from boardenvs.games.notation import parse_move
from boardenvs.play import choose_action

OTHELLO, CHESS = games.make("othello"), games.make("chess")
PROTOCOLS = ("gtp", "nboard")
every_protocol = pytest.mark.parametrize("protocol", PROTOCOLS)
uci = pytest.mark.skipif(find_spec("chess") is None, reason='pip install "boardenvs[chess]"')
posix = pytest.mark.skipif(os.name != "posix", reason="engines need pipes that can be waited for")


@functools.cache
def positions_of(game: Game, seed: int, plies: int = 12) -> tuple[State, IntArray]:
    """Three positions of a game and the actions before them; no side has to pass there."""
    line, actions = random_line(game, seed, plies)
    rows = (0, len(actions) // 2, len(actions) - 1)
    played = np.full((3, plies), -1, np.int16)
    for row, ply in enumerate(rows):
        played[row, :ply] = actions[:ply]
    return stack([line[ply] for ply in rows]), played


# ---- the same moves ------------------------------------------------------------------------------


def scattered(position: Position) -> int:
    """A move that depends on the whole position."""
    legal = position.legal_actions()
    return legal[hash((position.words, position.to_move)) % len(legal)]


class InProcess:
    def act(self, game: Game, state: State, rng: Any) -> IntArray:
        found = (p.is_over() or scattered(p) for p in game.positions(state))
        return np.array(list(found), np.int64)


OTHERS = ("boardenvs_breakthrough:Breakthrough", "wolf_and_sheep")


@pytest.mark.parametrize(
    ("protocol", "name"),
    [*product(PROTOCOLS, ("othello", "reversi", "checkers")), *product(["gtp"], OTHERS)],
)
def test_our_own_engine_plays_as_in_process(protocol: str, name: str) -> None:
    """Whole games from openings, and single positions: squares, colours and passes."""
    game = games.parse(name)
    if protocol == "nboard" and name not in ("othello", "reversi"):
        with pytest.raises(ValueError, match=f"for Othello only, not for {game.id}: use"):
            honest(game, protocol)
        return
    engine = Played(lambda number: honest(game, protocol, scattered))
    through, within = (play_match(game, a, "random", 1) for a in (engine, InProcess()))
    assert not through.forfeits.any()
    assert np.array_equal(np.array(through.actions), np.array(within.actions))
    assert len(engine.started) == 1
    state = positions_of(game, 1)[0]
    chosen = engine.act(game, state, None)
    assert (chosen == InProcess().act(game, state, None)).all()
    assert len(engine.started) == 1


def test_what_others_send_and_expect() -> None:
    """As Othello programs write it: rows from the top, black begins."""
    said = list[str]()

    nboard, gtp = honest(OTHELLO, "nboard"), honest(OTHELLO, "gtp")

    def script(line: str) -> Any:
        said.append(line)
        return nboard(line)

    session = GameSession(OTHELLO)
    session.play(OTHELLO.parse_action("e6"))
    EngineProcess(Played(lambda number: script).start, "nboard").choose(session)
    start = "---------------------------O*------*O---------------------------"
    assert said[-3].endswith(f"BO[8 {start} *]B[E6];)")

    def answers(line: str) -> str:
        return b"".join(x for x in gtp(line) if isinstance(x, bytes)).decode()

    assert answers("7 play b f5") == "=7 \n\n"
    assert answers("play B f4").startswith("? ")
    assert answers("PLAY w f6").startswith("? unknown command")
    assert answers("play W D6") == "= \n\n"
    assert answers("genmove b").startswith("= ")


@every_protocol
def test_an_engine_keeps_its_memory_of_a_game(protocol: str) -> None:
    """A game is set up once, with the depth once at all; then moves are sent as moves."""
    said = list[str]()

    def script(number: int) -> Any:
        its = honest(OTHELLO, protocol, scattered)

        def answer(line: str) -> Any:
            said.append(line.lstrip("0123456789 "))
            return its(line)

        return answer

    engine = Played(script, games_at_once=1, protocol=protocol, depth=7)
    played = play_match(OTHELLO, engine, "random", 3)
    assert not played.forfeits.any()
    assert played.actions is not None
    plies = int((played.actions >= 0).sum())
    count = {word: sum(line.startswith(word) for line in said) for word in
             ("set game", "move ", "set depth 7", "clear_board", "play ", "level 7")}  # fmt: skip
    if protocol == "nboard":
        assert (count["set game"], count["set depth 7"]) == (6, 1)
        assert plies / 2 < count["move "] < plies
    else:
        assert (count["clear_board"], count["level 7"]) == (6, 1)
        assert count["play "] < plies * 0.7
    state, played_before = positions_of(OTHELLO, 1)
    expected = [scattered(position) for position in OTHELLO.positions(state)]
    for _ in range(2):  # games that the engine does not have on its board
        assert engine.act(OTHELLO, state, None, History(played_before)).tolist() == expected


def test_without_a_command_for_positions_an_engine_needs_the_moves() -> None:
    """Which an exam says, instead of marking it."""

    def script(number: int) -> Any:
        its = honest(OTHELLO, "gtp")
        return lambda line: (
            part.replace(b"boardenvs-position\n", b"") if isinstance(part, bytes) else part
            for part in its(line)
        )

    engine = Played(script, "gtp")
    positions, actions = random_line(OTHELLO, 1, 9)
    session = GameSession.reaching(positions[-1], actions)
    for _ in range(2):
        assert choose_action(session, engine) == last_legal(positions[-1])
        for play in (partial(choose_action, positions[-1]), partial(take_exam, OTHELLO)):
            with pytest.raises(HistoryNeededError, match="needs all moves from the start"):
                play(engine)


def in_place_of_hints(lines: bytes) -> Script:
    its = honest(OTHELLO, "nboard")
    return lambda line: [lines] if line[:4] == "hint" else its(line)


def test_hints_are_values_of_moves() -> None:
    """Also of an engine that says no end; a pass within a line may be left out."""
    position = OTHELLO.start()
    ends = b"search d3 1\nstatus 1\nsearch c4 2\nsearch f5 3\nsearch e6 4\nstatus 4\n"
    done = Played(lambda number: in_place_of_hints(ends))
    assert [value for value, _ in done.engine.hints(position).values()] == [1, 2, 3, 4]
    assert done.started[0].time < 1  # it was not waited for
    some = ends.replace(b"search d3 1\n", b"")
    rising = Played(lambda number: in_place_of_hints(some)).engine
    shown = EngineAgent.analyse(rising, position, None).moves  # type: ignore[arg-type]
    assert [move.value for move in shown] == [4, 3, 2, None], "all legal moves"
    known = Played(lambda number: honest(OTHELLO, "nboard")).engine.hints(position)
    assert known == {a: (-i / 2, (a,)) for i, a in enumerate(position.legal_actions())}
    lines = b"search F5 9 0 1\nbook f5-D6x -2.5 0 73% freely\nsearch E6f4 (1.5,1) 0 2\nsearch\n"
    endless = Played(lambda number: in_place_of_hints(lines), None, 3.0)
    hints = endless.engine.hints(position)
    assert 3 <= endless.started[0].time < 9  # as long as a move may take
    found = {OTHELLO.action_name(a): (v, len(line)) for a, (v, line) in hints.items()}
    assert found == {
        OTHELLO.action_name(parse_move("f5", position)): (-2.5, 2),
        OTHELLO.action_name(parse_move("e6", position)): (1.5, 2),
    }


def conversation(protocol: str, player: Chooser, *lines: str, game: Game = OTHELLO) -> list[str]:
    """What our engine answers to lines."""
    out = io.StringIO()
    given = io.StringIO("".join(f"{line}\n" for line in lines))
    serve(servers_of(game, protocol), game, "tried", player, given, out)
    return [line for line in out.getvalue().splitlines() if line]


def test_our_engine_speaks_nboard_in_full() -> None:
    start = "BO[8 ---------------------------o*------*O--------------------------- *]"
    said = conversation(
        "nboard", player := Chooser(), "nboard 2", "set depth 12", f"set game (;gm[Othello]{start}"
        "b[f5];)", "move d6/0.50/1.20", "set game (;gm[Othello]" + start + "b[f5];)", "hint 2",
        "analyze", "set game (;GM[Amazons];)", "go", "learn", "ping 3"
    )  # fmt: skip
    assert [line[6:] for line in said[1:3]] == [" D6 0.00 0 3", " F6 -0.50 0 3"]
    assert said[3:7] == ["status", "analysis 1 0.00", "analysis 0 0.00", "status"]
    assert said[7:] == [
        "status the game is 'Amazons': NBoard is for Othello",
        "status there is no position to move in: the last was refused",
        "learned",
        "pong 3",
    ]
    assert {limits.depth for limits in player.asked} == {12}
    assert conversation("nboard", Chooser(), "nboard 2", "hint")[2:] == ["status"]  # after one


def test_our_engine_speaks_gtp_as_programs_of_go_do() -> None:
    """The ninth file is J, komi is the game's and can be set at any time, scores are in points."""
    go = games.make("go:komi=6.5")
    black = "play B J5", "play w pass", "play b pass"

    def said(*lines: str, game: Game = go) -> list[str]:
        return conversation("gtp", Chooser(), *lines, game=game)

    assert said("set_game Chess", "boardsize 8", "final_score") == [
        "? unsupported game", "? unacceptable size", "? cannot score"
    ]  # fmt: skip
    oblong = said("boardsize 6", "boardsize 7", game=games.make("connect_four"))
    assert oblong == ["? unacceptable size"] * 2
    assert said("list_games", "set_game Go", "boardsize 9", "clear_board") == ["= Go", *["= "] * 3]
    assert said(*black, "final_score")[-1] == "= B+74.5"
    for at in range(len(black) + 1):
        assert said(*black[:at], "komi 7.5", *black[at:], "final_score")[-1] == "= B+73.5"
    assert said("komi 81", *black, "final_score")[-1] == "= 0"
    assert said("play b pass", "play w pass", "final_score")[-1] == "= W+6.5"
    assert said("genmove b")[0] in ("= pass", "= j9")
    (refused,) = said("play b i5")
    assert refused.startswith("? 'i5' is no legal move")
    assert said("komi -3", "komi 0.2", "komi x") == [
        f"? komi is {komi}: it must be 0 to 81, in halves of a point" for komi in (-3.0, 0.2)
    ] + ["? 'x' is no number"]
    choosy = Chooser(check_game=partial(check_game, make_agent("level:3")))
    refused, scored = conversation("gtp", choosy, "komi 7", "final_score", game=games.make("go"))
    assert refused.startswith("? there are no levels for go:komi=7.0: ")
    assert scored == "? cannot score"
    assert said("komi 0", "komi 6.5", game=OTHELLO) == [
        "= ", "? othello has no komi: it is 6.5, and must be 0"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "line", "score"),
    [
        ("hex", [f"{'ab'[n % 2]}{n // 2 + 1}" for n in range(21)], "B+"),
        ("othello", ["e6", "f4", "e3", "f6", "g5", "d6", "e7", "f5", "c5"], "B+13"),
    ],
)
def test_scores_are_written_as_in_sgf(name: str, line: list[str], score: str) -> None:
    """Without a number in games without points."""
    game = games.make(name)
    lines = [f"play {'bw'[n % 2]} {move}" for n, move in enumerate(line)]
    assert conversation("gtp", Chooser(), *lines, "final_score", game=game)[-1] == f"= {score}"


def test_engines_get_positions_of_chess_as_fen() -> None:
    fen, said = "4k3/8/8/8/4Pp2/8/8/4K3 b - e3 0 40", list[str]()
    its = honest(CHESS, "gtp")

    def script(line: str) -> Any:
        said.append(line)
        return its(line)

    position = parse_position(CHESS, fen)
    engine = Played(lambda number: script).engine
    assert engine.choose(GameSession(CHESS, position)) == last_legal(position)
    assert said[-2].endswith(f" boardenvs-position {fen}")
    lines = f"boardenvs-position {fen}", "play b f4e3", "showboard"
    assert conversation("gtp", Chooser(), *lines, game=CHESS)[-1] == (
        "= 4k3/8/8/8/8/4p3/8/4K3 w - - 0 41"
    )


def test_engines_get_komi() -> None:
    """And the game's own name; a program that refuses it is refused."""
    said = list[str]()
    its = honest(games.make("go"), "gtp")

    def script(line: str) -> Any:
        said.append(line)
        return its(line)

    its_own, its = its, honest(games.make("connect_four"), "gtp")
    Played(lambda number: script).engine.check_game(games.make("connect_four"))
    assert not any("boardsize" in line for line in said)  # of a board that is no square
    its = its_own
    for komi in (6.5, 7.0):
        game = games.make(f"go:komi={komi}")
        Played(lambda number: script).engine.check_game(game)
        assert [line.split(None, 1)[1] for line in said[-3:]] == [
            "set_game Go", "boardsize 9", f"komi {komi:g}"
        ]  # fmt: skip

    def refusing_komi(line: str) -> Any:
        return [f"?{line.split()[0]} no\n\n".encode()] if "komi 7" in line else its(line)

    with pytest.raises(ValueError, match=r"does not play Go: it refuses 'komi 7': no"):
        Played(lambda number: refusing_komi).engine.check_game(game)


@pytest.mark.parametrize("protocol", [None, *PROTOCOLS])
def test_programs_of_chess_are_refused_at_once(protocol: str | None) -> None:
    def script(line: str) -> Any:
        return [b"id name Fish\nuciok\n"] if line == "uci" else [b"Unknown command\n"]

    names = {"gtp": "GTP", "nboard": "NBoard", None: ""}[protocol]
    wrong = f"does not answer in {names}: it speaks UCI; .*id name"
    engine = Played(lambda number: script, protocol)
    with pytest.raises(ValueError, match=wrong if names else "UCI.* for chess: .* no othello"):
        engine.engine.check_game(OTHELLO)
    assert engine.started[0].time < 1


async def in_a_loop(function: Any, *arguments: Any) -> None:
    function(*arguments)


@uci
def test_what_programs_of_chess_hear() -> None:
    """A new game once, with all its moves, or a position; limits, a second by default; also where
    a loop of asyncio runs, as in notebooks.
    """
    said, its = list[str](), honest(CHESS, "uci")

    def script(line: str) -> Any:
        said.append(line)
        return its(line)

    fen, moves = "8/P2k3p/8/8/8/8/8/4K3 w - - 3 40", ["a7a8", "h7h6"]
    session = GameSession(CHESS, parse_position(CHESS, fen))
    limits: list[tuple[float | None, int | None]] = [(None, None), (0.5, None), (None, 7)]
    for move_time, depth in limits:
        engine = Played(lambda number: script, None, move_time, depth=depth).engine
        engine.choose(GameSession(CHESS))
        engine.choose(session)
        for move in moves:
            session.play(CHESS.parse_action(move))
        asyncio.run(in_a_loop(engine.choose, session))
        session.undo(2)
    asked = [line for line in said if line.split()[0] in ("ucinewgame", "position", "go")]
    for number, limit in enumerate(("movetime 1000", "movetime 500", "depth 7")):
        assert asked[8 * number :][:8] == [
            *("ucinewgame", "position startpos", f"go {limit}"),
            *("ucinewgame", f"position fen {fen}", f"go {limit}"),
            *(f"position fen {fen} moves a7a8q h7h6", f"go {limit}"),
        ]


@pytest.mark.parametrize(
    ("lines", "seconds"),
    [
        ((), None),
        (("time_settings 0 1 0",), None),
        (("time_settings 300 10 0",), None),
        (("time_settings 300 0 0",), 13.5),
        (("time_settings 300 10 5",), 0.9 * (15 + 2)),
        (("time_settings 300 0 0", "time_left b 100 0", "time_left w 10 0"), 4.5),
        (("time_left b 30 3",), 9.0),
        (("time_left b 0 0",), 0.01),
    ],
)
def test_our_engine_keeps_to_clocks(lines: tuple[str, ...], seconds: float | None) -> None:
    conversation("gtp", player := Chooser(), *lines, "level 3", "genmove b")
    (asked,) = player.asked
    assert (asked.seconds, asked.depth) == (seconds and pytest.approx(seconds), 3)


def test_a_move_takes_its_time_from_the_clock_of_its_side(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = itertools.count(7, step=60)  # which is read before and after each move
    monkeypatch.setattr(gtp, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    asks = ("genmove b", "genmove w", "genmove b")
    conversation("gtp", player := Chooser(), "time_settings 300 0 0", *asks)
    assert [asked.seconds for asked in player.asked] == pytest.approx([13.5, 13.5, 0.9 * 240 / 20])


def test_what_is_asked_for_is_not_played_and_passes_are_those_of_the_side() -> None:
    said = conversation("gtp", Chooser(), "reg_genmove b", "showboard")
    assert said[1] == f"= {OTHELLO.start().fen()}"
    must_pass = "boardenvs-position wb6/8/8/8/8/8/8/8 black"
    for passed in (
        ("play b pass",),
        ("play w c1", "undo"),
    ):  # White's move tells that black passed.
        said = conversation("gtp", Chooser(), must_pass, *passed, "showboard")
        assert said == ["= "] * (1 + len(passed)) + ["= wb6/8/8/8/8/8/8/8 white 1"]


def test_an_illegal_move_of_our_player_is_no_fault_of_the_other_side() -> None:
    with pytest.raises(RuntimeError, match="is not legal for black at ply 0"):
        conversation("gtp", Chooser(lambda position: 0), "genmove b")


@pytest.mark.parametrize("name", ["othello:size=6", "othello_holes"])
def test_other_boards_are_no_othello_to_others(name: str) -> None:
    game = games.make(name)
    with pytest.raises(ValueError, match="for Othello only"):
        servers_of(game, "nboard")
    assert conversation("gtp", Chooser(), "list_games", game=game) == [f"= {name}"]


def test_values_of_hints_are_in_discs() -> None:
    values = (None, "margin"), (3.0, "margin"), (0.5, "score")
    assert [in_discs(value, unit) for value, unit in values] == [None, 3.0, 32.0]


class Remembering:
    """Plays at random, and only with the plies before."""

    def act(self, game: Game, state: State, rng: Any = None, history: History | None = None) -> Any:
        assert history is not None
        return game.sample(state, rng)


def test_limits_of_others_are_those_of_players_that_search() -> None:
    position, limits = OTHELLO.start(), ServedLimits(0.5, 3)
    for text, expected in {
        "alphabeta:time=9": "alphabeta:time=0.5,depth=3",
        "alphabeta:time=0.1": "alphabeta:time=0.1,depth=3",
        "level:8": "level:3",
        "greedy": "greedy",
    }.items():
        assert ServedAgent(make_agent(text), 0)._within(limits) == make_agent(expected)
    for text, depth, kept in (
        ("alphabeta:depth", 0, 1),
        ("alphabeta:depth", 999_999_999, 100),
        ("level:level", 11, 10),
    ):
        served = ServedAgent(make_agent(f"{text}=2"), 0)
        assert served._within(ServedLimits(depth=depth)) == make_agent(f"{text}={kept}")
    agent = ServedAgent(make_agent("alphabeta:depth=2,evaluation=trained"), 4)
    action, value = agent.choose(GameSession(OTHELLO), ServedLimits())
    found = agent.analyse(position, ServedLimits())
    assert value == {move.action: move.value for move in found.moves}[action]
    assert action == choose_action(position, "alphabeta:depth=2,evaluation=trained", 4)
    rollouts = make_agent("mcts:rollouts=9")
    drawn = [ServedAgent(rollouts, seed).analyse(position, limits).moves for seed in (4, 4, 5)]
    assert drawn[0] == drawn[1] != drawn[2]
    said = ServedAgent(Remembering(), 4).choose(GameSession(OTHELLO), ServedLimits())
    assert said == (choose_action(position, "random", 4), None)


def test_our_engine_reads_lines_as_gtp_says() -> None:
    said = conversation(
        "gtp", Chooser(), "1 na\x07me\r", "2\tversion # comment", "x" * 200_000, "3 name",
        "4 boardenvs-position bbbbbbbb/8/8/8/8/8/8/8 black", "5 play w pass",
        "6 play b pass", "7 genmove w",
    )  # fmt: skip
    assert said[0] == "=1 boardenvs tried"
    assert said[1].startswith("=2 ")
    assert said[2:] == [
        "? a line of more than 65536 characters", "=3 boardenvs tried", "=4 ", "=5 ", "=6 ",
        "=7 pass",
    ]  # fmt: skip


# ---- faults --------------------------------------------------------------------------------------


def is_shown(message: str) -> bool:
    """Whether a message can be printed, and is short."""
    return message.isprintable() and len(message) < 2000


def play(
    engine: Played, game: Game, state: State, played: IntArray
) -> tuple[IntArray, dict[int, str]]:
    """The actions of an engine, and the reasons of its forfeits by row; it was not slow."""
    reasons: dict[int, str] = {}
    try:
        chosen = engine.act(game, state, None, History(played))
    except ForfeitError as error:
        chosen, reasons = error.actions, dict(error.reasons)
    assert all(map(is_shown, reasons.values()))
    for started in engine.started:
        assert started.time < 200
        assert started.read_bytes < 20_000_000
    return chosen, reasons


@pytest.mark.parametrize("fault", [*FAULTS, *HABITS])
@pytest.mark.parametrize("protocol", [*PROTOCOLS, pytest.param("uci", marks=uci)])
def test_a_fault_costs_one_game(protocol: str, fault: str) -> None:
    """The first process fails once, for the row `when`; the second one plays the other rows."""
    game = CHESS if protocol == "uci" else OTHELLO
    state, played = positions_of(game, 1)
    for when in range(3):

        def script(number: int, when: int = when) -> Any:
            wrong = FAULTS.get(fault) or HABITS[fault]
            its = honest(game, protocol)
            return its if number else faulty(its, wrong, when, is_question)

        engine = Played(script, protocol, 2.0)
        chosen, reasons = play(engine, game, state, played)
        assert list(reasons) == ([when] if fault in FAULTS else [])
        for row, position in enumerate(game.positions(state)):
            assert row in reasons or chosen[row] == last_legal(position)
        assert engine.started[0].closed == bool(reasons)


def test_a_program_may_refuse_a_pass() -> None:
    """GRhino does that if it has passed by itself."""
    engine = Played(lambda number: refusing(honest(OTHELLO, "gtp"), "pass"), "gtp")
    result = play_match(OTHELLO, engine, "random", 2)
    assert (np.array(result.actions) == OTHELLO.noop).any()
    assert not result.stats[0].forfeits


def test_an_engine_without_a_protocol_is_late_and_after_three_times_asked_no_more() -> None:
    engine = Played(lambda number: lambda line: [f"no {line}\n".encode()])
    result = play_match(OTHELLO, "random", engine, 3)
    assert result.wins == result.stats[1].forfeits == 6
    assert result.stats[1].message == (
        "the engine failed: it does not answer in GTP or NBoard or UCI: it was not done in 60 "
        "seconds; its last lines: no nboard 2 | no ping 1 | no uci; on standard error: complaint "
        "\ufffd[31m"
    )
    assert len(engine.started) == 3
    with pytest.raises(EngineError, match="late 3 times in a row, and is asked no more"):
        engine.engine.choose(GameSession(OTHELLO))
    with pytest.raises(ValueError, match="not done in 60 seconds"):
        Played(lambda number: lambda line: []).engine.check_game(OTHELLO)


def test_another_fault_in_between_is_not_in_a_row() -> None:
    script = (b"late\n", b"late\n", b"uciok\n", b"late\n", b"late\n", b"late\n")
    engine = Played(lambda number: lambda line: [script[number]], "gtp").engine
    for answer in script:
        with pytest.raises(EngineError, match="UCI" if answer == b"uciok\n" else "not done in 60"):
            engine.choose(GameSession(OTHELLO))
    with pytest.raises(EngineError, match="asked no more"):
        engine.choose(GameSession(OTHELLO))


def test_an_engine_that_is_late_now_and_then_and_writes_much_is_asked_on() -> None:
    """Three MiB for each move, and every second move too late."""

    def script(number: int) -> Script:
        its, asked = honest(OTHELLO, "gtp"), itertools.count(number == 0)
        much = [b"x" * 60_000 + b"\n"] * 50
        late = lambda line: is_question(line) and next(asked) % 2  # noqa: E731
        return lambda line: [*much * is_question(line), 99.0 if late(line) else b"", *its(line)]

    engine = Played(script, "gtp").engine
    for _ in range(4):
        with pytest.raises(EngineError, match="not done in 61 seconds"):
            engine.choose(GameSession(OTHELLO))
        assert engine.choose(GameSession(OTHELLO)) == last_legal(OTHELLO.start())


def test_an_engine_whose_answer_nobody_waited_for_is_ended() -> None:
    """Or it would be taken for that to the next question."""

    def interrupted(line: str) -> Any:
        if is_question(line):
            raise KeyboardInterrupt
        return honest(OTHELLO, "gtp")(line)

    engine = Played(lambda number: interrupted, "gtp")
    with pytest.raises(KeyboardInterrupt):
        engine.engine.choose(GameSession(OTHELLO))
    assert engine.started[0].closed


def test_a_fork_starts_an_engine_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """And leaves that of its parent alone. Their CPU time adds up where they were ended here."""
    monkeypatch.setattr(Scripted, "cpu_seconds", lambda transport: 2.0)
    engine = Played(lambda number: honest(OTHELLO, "gtp"), "gtp")
    engine.engine.choose(GameSession(OTHELLO))
    engine.engine.close()
    engine.engine.choose(GameSession(OTHELLO))
    assert engine.engine.cpu_seconds == 4.0
    monkeypatch.setattr(os, "getpid", lambda: 0)
    engine.engine.choose(GameSession(OTHELLO))
    monkeypatch.undo()
    engine.engine.close()
    assert [its.closed for its in engine.started] == [True, False, False]


def lasting(seconds: float) -> Any:
    """An engine that takes some seconds for every move."""
    its = honest(OTHELLO, "gtp")
    return lambda line: [seconds, *its(line)] if is_question(line) else its(line)


@pytest.mark.parametrize(
    ("limit", "told", "is_kept"),
    [(None, [], True), (4.0, ["0 4 1"], True), (3.5, ["0 3 1"], False), (0.5, ["0 1 1"], False)],
)
def test_the_limit_for_a_move(limit: float | None, told: list[str], is_kept: bool) -> None:
    """An engine that takes 4.9 seconds may be late by one, and hears the limit once."""
    said, its = list[str](), lasting(4.9)

    def script(line: str) -> Any:
        said.append(line)
        return its(line)

    engine = Played(lambda number: script, "gtp", limit)
    positions, actions = random_line(OTHELLO, 1, 3)
    for ply in (0, 2):
        with nullcontext() if is_kept else pytest.raises(EngineError, match="not done in"):
            engine.engine.choose(GameSession.reaching(positions[ply], actions[:ply]))
    heard = [line.partition("time_settings ")[2] for line in said if "time_settings" in line]
    assert heard == told * (1 if is_kept else 2)  # after a fault it is started again


def test_texts() -> None:
    """Quotes in commands, pickling, and errors."""
    command = f'{sys.executable} -c "print(1, 2)" --level=1'
    agent = make_agent(f"engine:{command},protocol=gtp,move_time=0.5")
    assert pickle.loads(pickle.dumps(agent)).__reduce__() == agent.__reduce__()
    assert agent.__reduce__()[1] == (command, "gtp", 0.5, None)
    assert runs_code("engine:true")
    for text, message in {
        "engine": "lacks command",
        "engine:no-such-program -x": "there is no program 'no-such-program' to run",
        "engine:true,protocol=xboard": "unknown protocol 'xboard'",
        "engine:true,move_time=0": "move_time is 0.0: it must be more than 0, in seconds",
        "engine:true,move_time=nan": "move_time is nan",
        "engine:true,depth=0": "depth is 0: it must be 1 to 100",
        'engine:"true': "No closing quotation",
    }.items():
        with pytest.raises(ValueError, match=message):
            make_agent(text)


# ---- processes -----------------------------------------------------------------------------------

IGNORING = "import signal; [signal.signal(n, signal.SIG_IGN) for n in (1, 2, 15)]"
HELD = "import os, sys, time; held = os.open(sys.argv[1], os.O_WRONLY); "
PROGRAMS = {
    "sleeps": "time.sleep(1000)",
    "ignores signals": f"{IGNORING}; time.sleep(1000)",
    "dies": "os.write(2, b'x\\n' * 2000 + b'too \x1b[31m bad'); os._exit(128)",
    "closes its output": "os.close(1); time.sleep(1000)",
    "floods": "[print('x' * 1000) for _ in iter(int, 1)]",
    "floods beside": "[os.write(2, bytes(60000)) for _ in iter(int, 1)]",
    "leaves another": "os.fork() and os._exit(0); time.sleep(1000)",
    "kills itself": "print('my last words', flush=True); os.kill(os.getpid(), 9)",
}
HOW_ENDED = {
    "dies": "it ended with exit code 128; on standard error: x | x | too \ufffd[31m bad",
    "closes its output": "it ended its output, but still runs",
    "kills itself": "it ended by signal 9 (SIGKILL); its last lines: my last words",
}


@pytest.fixture
def held(tmp_path: Path) -> Held:
    return Held(tmp_path / "held")


@posix
@pytest.mark.parametrize("program", PROGRAMS)
def test_processes_that_fail_are_ended(
    program: str, held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("boardenvs.engines.process.START", 0.8)
    command = [sys.executable, "-I", "-S", "-c", HELD + PROGRAMS[program], held.path]
    engine = EngineProcess(lambda: ProcessTransport(command), move_time=0.1)
    began = time.monotonic()
    with pytest.raises(EngineError) as caught:
        engine.choose(GameSession(OTHELLO))
    assert is_shown(str(caught.value))
    assert time.monotonic() - began < 30
    assert HOW_ENDED.get(program, "") in str(caught.value)
    held.wait(ended=True)


@posix
def test_engines_get_no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "TINY_KEY", "my_api_key", "HF_TOKEN", "GAMES"):
        monkeypatch.setenv(name, "a value")
    code = "import os; print(sorted(n for n, v in os.environ.items() if v == 'a value'))"
    transport = ProcessTransport([sys.executable, "-I", "-S", "-c", code])
    assert transport.read(60) == b"['GAMES']\n"
    transport.close()


@posix
def test_sending_nothing_leaves_the_way_free() -> None:
    """As when an engine is asked about a position that it has."""
    transport = ProcessTransport(["cat"])
    for data in (b"", b"", b"hello\n"):
        transport.write(data)
    assert transport.read(60) == b"hello\n"
    transport.close()


@posix
def test_a_program_is_asked_for_its_move_and_told_to_quit(tmp_path: Path) -> None:
    """One that answers everything alike."""
    answers = """while read number command; do case $number in quit) echo it quits > "$1"; exit;;
    esac; printf '=%s f5\\n\\n' "$number"; done"""
    agent = EngineAgent(shlex.join(["sh", "-c", answers, "sh", str(tmp_path / "end")]), "gtp")
    assert agent.act(OTHELLO, OTHELLO.init(2)).tolist() == [OTHELLO.parse_action("f5")] * 2
    assert [*agent.report()] == ["CPU_seconds_of_the_program"]
    del agent
    assert (tmp_path / "end").read_text() == "it quits\n"


@posix
def test_the_time_of_all_that_an_engine_starts_is_its_own() -> None:
    code = "import os, time\nif not os.fork():\n    while time.process_time() < .2: pass\n"
    waiting = f"{code}    os._exit(0)\nos.wait()\nprint(1, flush=True)\ntime.sleep(1000)"
    transport = ProcessTransport([sys.executable, "-I", "-S", "-c", waiting])
    assert transport.read(60) == b"1\n"
    assert transport.cpu_seconds() >= 0.19  # in hundredths
    transport.close()


@posix
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_engines_end_with_us(number: signal.Signals, held: Held) -> None:
    """However we end: an engine that ignores signals, and its child."""
    waiting = f"import os; {IGNORING}; os.fork(); {HELD}time.sleep(1000)"
    command = [sys.executable, "-I", "-S", "-c", waiting, held.path]
    code = (
        "from boardenvs.engines.transport import ProcessTransport; import time; "
        f"ProcessTransport({command}); time.sleep(1000)"
    )
    with subprocess.Popen([sys.executable, "-c", code]) as ours:
        held.wait(ended=False)
        ours.send_signal(number)
    held.wait(ended=True)
