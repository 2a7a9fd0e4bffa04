"""Engines that are programs: one that others wrote, which speaks GTP, and our own through pipes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import run
from engine_scripts import Composed, Held
from variants import PACKAGE, random_line
from web_server import served

import boardenvs
from boardenvs import games, make_agent, play_match
from boardenvs.board.bitboard import SIZE
from boardenvs.engines.protocol import plies_to
from boardenvs.game.contract import Game
from boardenvs.game.position import Position
from boardenvs.game.state import IntArray, State
from boardenvs.play import reply
from boardenvs.records import check, record_match

OTHELLO = games.make("othello")

RHINO = shutil.which("gtp-rhino", path=f"{os.environ.get('PATH', '')}:/usr/games")
grhino = pytest.mark.skipif(RHINO is None, reason="there is no gtp-rhino: apt-get install grhino")
PLAYER = f"engine:{RHINO} --level=1"


# ---- GRhino, of Othello --------------------------------------------------------------------------


@grhino
@pytest.mark.parametrize("seed", range(8))
def test_grhino_has_the_board_that_we_have(seed: int) -> None:
    """After random plies, passes too, and at the end of games: squares, colours, who is to move."""
    positions, actions = random_line(OTHELLO, seed, 200 if seed % 2 else 10 + 2 * seed)
    plies = plies_to(positions[-1], actions)
    assert plies is not None
    passed = [ply.name == "pass" for ply in plies]
    commands = [f"play {('black', 'white')[ply.role]} {ply.name}" for ply in plies]
    answer = subprocess.run(
        [str(RHINO)], input="\n".join([*commands, "showboard", "quit", ""]), text=True,
        capture_output=True, timeout=60, check=True,
    ).stdout  # fmt: skip
    refused = [line.startswith("?") for line in answer.split("\n\n")[: len(commands)]]
    assert all(p for p, was_refused in zip(passed, refused, strict=True) if was_refused)
    rows = re.findall(r"^ *\d ((?:[.XO] ?)+)$", answer, re.MULTILINE)
    assert len(rows) == SIZE
    for y, row in enumerate(rows):
        for x, disc in enumerate(row.split()):
            bit = 1 << (SIZE * (SIZE - 1 - y) + x)
            held = [positions[-1].pieces(role) & bit != 0 for role in (0, 1)]
            assert held == [disc == "X", disc == "O"]
    if not positions[-1].terminated:
        assert f"Next move: {('Black', 'White')[positions[-1].to_move]}" in answer


@grhino
def test_grhino_plays_a_match() -> None:
    result = play_match(OTHELLO, PLAYER, "greedy", 50)
    assert result.games == 100
    assert result.faults[0].explain("it", 100) is None
    assert result.score > 0.9


@grhino
def test_grhino_plays_in_environments_and_on_the_page() -> None:
    env = boardenvs.vec_env("othello", 4, opponent=PLAYER)
    infos, rng, ended = env.reset(seed=1)[1], np.random.default_rng(0), 0
    for _ in range(70):
        mask = infos["action_mask"]
        _, _, over, _, infos = env.step((mask * rng.random(mask.shape)).argmax(axis=1))
        ended += int(over.sum())
    assert ended >= 4
    with served("--agent", PLAYER) as server, server.page() as page:
        line = {"game": "othello", "moves": ["e3"]}
        answer = page.ask("move", line=line, agent=PLAYER, seed=1)["position"]
        assert answer["ply"] == 2
        assert "plays Othello" in page.ask("agent", game="lines_of_action", agent=PLAYER)["error"]


# ---- a program in C, of NBoard -----------------------------------------------------------


@pytest.fixture(scope="module")
def flips(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An engine with rules of its own, which ends where it is told what is not legal."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    program = tmp_path_factory.mktemp("engine") / "flips"
    source = Path(__file__).with_name("othello_engine.c")
    subprocess.run([compiler, "-O2", "-o", str(program), str(source)], check=True)
    return str(program)


class Flips:
    """The same player, here."""

    def act(self, game: Game, state: State, rng: Any) -> IntArray:
        return np.array([self._best(p) for p in game.positions(state)], np.int64)

    def _best(self, position: Position) -> int:
        def flipped(action: int) -> int:
            return position.opp.bit_count() - position.step(action).own.bit_count()

        legal = position.legal_actions()
        from_the_top = sorted(legal, key=lambda a: (-(a // 8), a % 8))
        return max(from_the_top, key=flipped)


@pytest.mark.parametrize("protocol", ["nboard"])
def test_a_program_with_rules_of_its_own_plays_as_it_does_here(flips: str, protocol: str) -> None:
    through, within = (
        play_match(OTHELLO, player, "random", 50)
        for player in (f"engine:{flips},protocol={protocol}", Flips())
    )
    assert through.faults[0].explain("it", 100) is None
    assert np.array_equal(np.array(through.actions), np.array(within.actions))


# ---- processes that do wrong ---------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_faulty_processes_cost_games_and_nothing_else(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The faults that scripts have in test_engines.py, of processes, in matches that go on."""
    monkeypatch.setattr("boardenvs.engines.process.START", 4.0)
    held, faulty = Held(tmp_path / "held"), Composed(seed)
    program = Path(__file__).with_name("engine_scripts.py")
    command = f"{sys.executable} {program} {seed} {held.path}"
    game = games.parse(faulty.name)
    agent = make_agent(f"engine:{command},protocol={faulty.protocol},move_time=0.2")
    result = play_match(game, agent, "random", 1)
    assert not result.forfeits[result.forfeits != 1].any()
    assert not (result.scores[result.forfeits == 1]).any()
    records = record_match(game, result, ("it", "random"))
    assert all(verdict.error is None for verdict in check(records))
    message = result.faults[0].message or ""
    assert message.isprintable()
    assert len(message) < 2000
    del agent
    held.wait(ended=True)


# ---- our own, through pipes ----------------------------------------------------------------------


class Seeded:
    """A player that has the chance which it has as an engine: by ply alone."""

    def __init__(self, player: str) -> None:
        self._agent = make_agent(player)

    def act(self, game: Game, state: State, rng: Any) -> IntArray:
        positions = game.positions(state)
        return np.array([reply(self._agent, game, p, seed=3) for p in positions], np.int64)


@pytest.mark.usefixtures("in_python")
@pytest.mark.parametrize("protocol", ["gtp", "nboard"])
@pytest.mark.parametrize("name", [*games.BUILT_IN, "boardenvs_breakthrough:Breakthrough"])
def test_our_players_through_pipes_play_as_in_process(
    name: str, protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Games to their ends, alpha-beta's chance between equal moves too."""
    if protocol == "nboard" and name not in ("othello", "reversi"):
        return
    monkeypatch.setenv("PYTHONPATH", str(PACKAGE))
    monkeypatch.setenv("BOARDENVS_BACKEND", "numpy")
    game, player = games.parse(name), "alphabeta:depth=2"
    command = f"{sys.executable} -m boardenvs engine {name} {player} --seed 3"
    through, within = (
        play_match(game, a, "greedy", 3, seed=1)
        for a in (f"engine:{command},protocol={protocol}", Seeded(player))
    )
    assert through.faults[0].explain("it", 6) is None
    assert np.array_equal(np.array(through.actions), np.array(within.actions))


def test_an_engine_of_ours_tells_what_is_wrong() -> None:
    assert "unknown agent 'gredy'" in run("engine", "othello", "gredy", code=2)
    for protocol, message in {"uci": "unknown protocol", "nboard": "for Othello only"}.items():
        words = "engine", "lines_of_action", "greedy", "--protocol", protocol
        assert message in run(*words, code=2)
    assert run("engine", "othello", "greedy", lines=["hello", "7 name", "quit", "name"]) == (
        "=7 boardenvs greedy\n\n=\n\n"
    )
