"""Engines that are programs: GRhino, GNU Go, Stockfish, one in C, and ours."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import run
from variants import random_line

from boardenvs import games, play_match
from boardenvs.game.fen import parse_position
from boardenvs.game.game import Game
from boardenvs.game.position import Position
from boardenvs.game.state import IntArray, State
from boardenvs.play import choose_action, session_of
from boardenvs.records import Record

OTHELLO = games.make("othello")

PROGRAMS = f"{os.environ.get('PATH', '')}:/usr/games"
GNUGO = shutil.which("gnugo", path=PROGRAMS)
gnugo = pytest.mark.skipif(GNUGO is None, reason="there is no gnugo: apt-get install gnugo")
STOCKFISH = shutil.which("stockfish", path=PROGRAMS)
RHINO = shutil.which("gtp-rhino", path=PROGRAMS)
grhino = pytest.mark.skipif(RHINO is None, reason="there is no gtp-rhino: apt-get install grhino")
PLAYER = f"engine:{RHINO} --level=1"


# ---- GRhino, of Othello --------------------------------------------------------------------------


@grhino
def test_grhino_plays_a_match() -> None:
    result = play_match(OTHELLO, PLAYER, "greedy", 50)
    assert result.games == 100
    assert result.stats[0].explain("it", 100) is None
    assert result.score > 0.9


# ---- GNU Go --------------------------------------------------------------------------------------

CHINESE = f"{GNUGO} --mode gtp --chinese-rules --level 1"
# It captures what is dead before it passes, so that the score is that of the board.
PLAYED_OUT = f"engine:{CHINESE} --play-out-aftermath --capture-all-dead --never-resign"


@gnugo
@pytest.mark.parametrize("opponent", ["greedy", PLAYED_OUT])
def test_gnu_go_plays_to_the_end_and_counts_as_we_do(opponent: str) -> None:
    """Moves on file J, komi, and the score of both."""
    game = games.make("go:komi=6.5")
    result = play_match(game, PLAYED_OUT, opponent, 1)
    assert [fault.explain("it", 2) for fault in result.stats] == [None, None]
    for row in np.array(result.actions).reshape(2, -1):
        actions = row[row >= 0].tolist()
        session = session_of(Record(game, actions))
        end = session.position
        moves = [f"play {'bw'[at.to_move]} {name}" for at, name in session.plies]
        assert any(" j" in move for move in moves)
        lines = "\n".join(["boardsize 9", "komi 6.5", *moves, "final_score", "quit", ""])
        scores = [
            subprocess.run(
                command.split(), input=lines, text=True, capture_output=True, check=True
            ).stdout.split("\n\n")[-3]
            for command in (CHINESE, f"{sys.executable} -m boardenvs engine go greedy")
        ]
        winner = "BW"[end.result()[1] > end.result()[0]]
        assert scores == [f"= {winner}+{game.won_by(end):g}"] * 2


# ---- Stockfish, of chess -------------------------------------------------------------------------


@pytest.mark.skipif(STOCKFISH is None, reason="there is no stockfish: apt-get install stockfish")
def test_stockfish_plays_a_match() -> None:
    pytest.importorskip("chess", reason='pip install "boardenvs[chess]"')
    game, player = games.make("chess"), f"engine:{STOCKFISH},depth=2"
    result = play_match(game, player, "random", 2)
    assert result.stats[0].explain("it", 4) is None
    assert result.score == 1
    position = parse_position(game, "3qk3/8/8/8/8/8/1Q6/R3K2R w KQ - 3 30")
    assert game.action_name(choose_action(position, player)) in ("h1h8", "b2h8")


# ---- a program in C, of NBoard -----------------------------------------------------------


@pytest.fixture(scope="module")
def flips(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An engine with rules of its own, which ends after an illegal move."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    program = tmp_path_factory.mktemp("engine") / "flips"
    source = Path(__file__).with_name("othello_engine.c")
    subprocess.run([compiler, "-O2", "-o", str(program), str(source)], check=True)
    return str(program)


class Flips:
    """The same player in Python."""

    games_at_once = 1  # so that its opponents have the same random numbers

    def act(self, game: Game, state: State, rng: Any) -> IntArray:
        return np.array([self._best(p) for p in game.positions(state)], np.int64)

    def _best(self, position: Position) -> int:
        def flipped(action: int) -> int:
            return position.opp.bit_count() - position.step(action).own.bit_count()

        legal = position.legal_actions()
        from_the_top = sorted(legal, key=lambda a: (-(a // 8), a % 8))
        return max(from_the_top, key=flipped)


def test_a_program_with_rules_of_its_own_plays_as_it_does_here(flips: str) -> None:
    through, within = (
        play_match(OTHELLO, player, "random", 50)
        for player in (f"engine:{flips},protocol=nboard", Flips())
    )
    assert through.stats[0].explain("it", 100) is None
    assert np.array_equal(np.array(through.actions), np.array(within.actions))


# ---- our own, through pipes ----------------------------------------------------------------------


def test_an_analysis_by_an_engine_values_all_moves() -> None:
    player = "alphabeta:depth=2,evaluation=trained"
    command = f'{sys.executable} -m boardenvs engine othello "{player}"'
    engine = f"engine:{command},protocol=nboard"
    words = "analyse", "othello", random_line(OTHELLO, 1, 9)[0][-1].fen(), "--json"
    by_engine, own = (
        {move["move"]: move["value"] for move in json.loads(run(*words, "--with", text))["moves"]}
        for text in (engine, player)
    )
    assert len(own) > 2
    assert by_engine == {move: pytest.approx(value, abs=0.01) for move, value in own.items()}


def test_an_engine_of_ours_tells_what_is_wrong() -> None:
    assert "unknown agent 'gredy'" in run("engine", "othello", "gredy", code=2)
    for protocol, message in {"uci": "unknown protocol", "nboard": "for Othello only"}.items():
        words = "engine", "lines_of_action", "greedy", "--protocol", protocol
        assert message in run(*words, code=2)
    assert run("engine", "othello", "greedy", lines=["hello", "7 name", "quit", "name"]) == (
        "=7 boardenvs greedy\n\n=\n\n"
    )
