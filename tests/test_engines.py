"""Engines: ours plays the same moves over each protocol; a program's fault costs its game and
nothing else. Other people's programs are in test_engines_long.py.
"""

from __future__ import annotations

import functools
import io
import os
import pickle
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine_scripts import (
    FAULTS,
    HABITS,
    Chooser,
    Held,
    Played,
    faulty,
    honest,
    is_question,
    last_legal,
    refusing,
)
from variants import FIVE, random_line

from boardenvs import games, make_agent, play_match
from boardenvs.agents.spec import runs_code
from boardenvs.engines import EngineError, EngineProcess, ProcessTransport, serve, servers_of
from boardenvs.engines.player import ask_each
from boardenvs.engines.process import EngineClock
from boardenvs.game.contract import Game
from boardenvs.game.errors import ForfeitError
from boardenvs.game.position import Position, stack
from boardenvs.game.state import IntArray, State

pytestmark = pytest.mark.usefixtures("in_python")

OTHELLO = games.make("othello")
PROTOCOLS = ("gtp", "nboard")
every_protocol = pytest.mark.parametrize("protocol", PROTOCOLS)
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


def scattered(position: Position, actions: Any) -> int:
    """A move that depends on the whole position."""
    legal = position.legal_actions()
    return legal[hash((position.words, position.to_move)) % len(legal)]


class InProcess:
    def act(self, game: Game, state: State, rng: Any) -> IntArray:
        found = (p.is_over() or scattered(p, ()) for p in game.positions(state))
        return np.array(list(found), np.int64)


OTHERS = ("boardenvs_breakthrough:Breakthrough", "checkers", "nine_mens_morris")


@pytest.mark.parametrize("name", [*FIVE, *OTHERS])
@every_protocol
def test_our_own_engine_plays_as_in_process(name: str, protocol: str) -> None:
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
    chosen = ask_each(engine.engine, game, state, np.empty((3, 0), np.int16))
    assert (chosen == InProcess().act(game, state, None)).all()
    assert len(engine.started) == 1


def test_what_others_send_and_expect() -> None:
    """As Othello programs write it: rows from the top, black begins."""
    said = list[str]()

    nboard, gtp = honest(OTHELLO, "nboard"), honest(OTHELLO, "gtp")

    def script(line: str) -> Any:
        said.append(line)
        return nboard(line)

    position = OTHELLO.start().step(OTHELLO.parse_action("e6"))
    EngineProcess(Played(lambda number: script).start, "nboard").choose(position, [20])
    start = "---------------------------O*------*O---------------------------"
    assert said[-3].endswith(f"BO[8 {start} *]B[E6];)")

    def answers(line: str) -> str:
        return b"".join(x for x in gtp(line) if isinstance(x, bytes)).decode()

    assert answers("7 play b f5") == "=7 \n\n"
    assert answers("play B f4").startswith("? ")
    assert answers("PLAY w f6").startswith("? unknown command")
    assert answers("play W D6") == "= \n\n"
    assert answers("genmove b").startswith("= ")


WORDS = (
    "1 genmove play undo b w black white d3 f5 D6 PA pass boardsize 8 9 clear_board list_commands "
    "go position fen moves nboard 2 ping "
    "set game move hint known_command final_score showboard boardenvs-position set_game Othello "
    "8/8/8/3wb3/3bw3/8/8/8 white -1 BO[8 *] (;GM[Othello] ]B[F5]W[d6/1/2] ;) # \x00 \xff é % {} "
    f"BO[8{'-' * 27}O*------*O{'-' * 27}*] {'*' * 64} time_left time_settings reg_genmove"
).split(" ")


@every_protocol
def test_whatever_is_asked_is_answered(protocol: str) -> None:
    """No line that others send ends our engine."""
    rng, out = random.Random(protocol), io.StringIO()
    lines = [" ".join(rng.choices(WORDS, k=rng.randrange(6))) for _ in range(3000)]
    given = io.StringIO("\n".join([*lines, "ping 7", "name"]))
    serve(servers_of(OTHELLO, protocol), OTHELLO, "tried", Chooser(), given, out)
    assert out.getvalue().split()[-1] in ("7", "tried")


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
        chosen = engine.act_after(game, state, played, None)
    except ForfeitError as error:
        chosen, reasons = error.actions, dict(error.reasons)
    assert all(map(is_shown, reasons.values()))
    for started in engine.started:
        assert started.time < 200
        assert started.read_bytes < 20_000_000
    return chosen, reasons


@pytest.mark.parametrize("fault", [*FAULTS, *HABITS])
@every_protocol
def test_a_fault_costs_one_game(protocol: str, fault: str) -> None:
    """The first process fails once, for the row `when`; the second one plays the other rows."""
    state, played = positions_of(OTHELLO, 1)
    for when in range(3):

        def script(number: int, when: int = when) -> Any:
            wrong = FAULTS.get(fault) or HABITS[fault]
            its = honest(OTHELLO, protocol)
            return its if number else faulty(its, wrong, when, is_question)

        engine = Played(script, protocol, EngineClock(move_time=2.0))
        chosen, reasons = play(engine, OTHELLO, state, played)
        assert list(reasons) == ([when] if fault in FAULTS else [])
        for row, position in enumerate(OTHELLO.positions(state)):
            assert row in reasons or chosen[row] == last_legal(position, ())
        assert engine.started[0].closed == bool(reasons)


def test_a_program_may_refuse_a_pass() -> None:
    """GRhino does that if it has passed by itself."""
    engine = Played(lambda number: refusing(honest(OTHELLO, "gtp"), "pass"), "gtp")
    result = play_match(OTHELLO, engine, "random", 4)
    assert (np.array(result.actions) == OTHELLO.noop).any()
    assert not result.faults[0].forfeits


@every_protocol
def test_the_protocol_is_that_of_the_first_answer(protocol: str) -> None:
    engine = Played(lambda number: honest(OTHELLO, protocol))
    assert engine.engine.choose(OTHELLO.start(), ()) == last_legal(OTHELLO.start(), ())


def test_an_engine_without_a_protocol_is_late_and_after_three_times_asked_no_more() -> None:
    engine = Played(lambda number: lambda line: [b"hello\n"])
    result = play_match(OTHELLO, "random", engine, 3)
    assert result.wins == result.faults[1].forfeits == 6
    assert result.faults[1].message == (
        "the engine failed: it was not done in 60 seconds; its last lines: hello | hello | hello; "
        "on standard error: complaint \\x1b[31m"
    )
    assert len(engine.started) == 3
    with pytest.raises(EngineError, match="late 3 times in a row, and is asked no more"):
        engine.engine.choose(OTHELLO.start(), ())
    with pytest.raises(ValueError, match="not done in 60 seconds"):
        Played(lambda number: lambda line: []).engine.check_game(OTHELLO)


def lasting(seconds: float) -> Any:
    """An engine that takes some seconds for every move."""
    its = honest(OTHELLO, "gtp")
    return lambda line: [seconds, *its(line)] if is_question(line) else its(line)


@pytest.mark.parametrize(
    ("clock", "moves"),
    [
        (EngineClock(), 9),
        (EngineClock(move_time=4.0), 9),  # it may be late by a second
        (EngineClock(game_time=30.0), 6),
    ],
)
def test_clocks(clock: EngineClock, moves: int) -> None:
    """An engine that takes 4.9 seconds for a move, in two games side by side."""
    engine = Played(lambda number: lasting(4.9), "gtp", clock)
    lines = [random_line(OTHELLO, seed, 17) for seed in (1, 2)]
    made = [0, 0]
    for number, ply in enumerate(range(0, 17, 2)):
        for game, (positions, actions) in enumerate(lines):
            if made[game] == number:  # it has not lost yet
                with suppress(EngineError):
                    engine.engine.choose(positions[ply], actions[:ply])
                    made[game] += 1
    assert made == [moves, moves]


def test_texts() -> None:
    """Quotes in commands, pickling, and errors."""
    command = f'{sys.executable} -c "print(1, 2)" --level=1'
    agent = make_agent(f"engine:{command},protocol=gtp,move_time=0.5")
    assert pickle.loads(pickle.dumps(agent)).__reduce__() == agent.__reduce__()
    assert agent.__reduce__()[1] == (command, "gtp", 0.5, None, None)
    assert runs_code("engine:true")
    for text, message in {
        "engine": "lacks command",
        "engine:no-such-program -x": "there is no program 'no-such-program' to run",
        "engine:true,protocol=uci": "unknown protocol 'uci'",
        "engine:true,move_time=0": "move_time is 0.0: it must be more than 0, in seconds",
        "engine:true,game_time=nan": "game_time is nan",
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
    "dies": "raise SystemExit('too \x1b[31m bad')",
    "closes its output": "os.close(1); time.sleep(1000)",
    "floods": "[print('x' * 1000) for _ in iter(int, 1)]",
    "floods beside": "[os.write(2, bytes(60000)) for _ in iter(int, 1)]",
    "leaves another": "os.fork() and os._exit(0); time.sleep(1000)",
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
    engine = EngineProcess(lambda: ProcessTransport(command), clock=EngineClock(move_time=0.1))
    began = time.monotonic()
    with pytest.raises(EngineError) as caught:
        engine.choose(OTHELLO.start(), ())
    assert is_shown(str(caught.value))
    assert time.monotonic() - began < 30
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
