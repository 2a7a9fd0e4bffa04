"""A player of ours as an engine: answers lines from standard input on standard output."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from math import inf
from typing import IO, Any

import numpy as np

from boardenvs.agents import Agent
from boardenvs.agents.analyse import analyse
from boardenvs.agents.base import Analysing, analysis_by, check_game
from boardenvs.engines.channel import MAX_LINE
from boardenvs.engines.gtp import GtpServer
from boardenvs.engines.nboard import NBoardServer, check_othello
from boardenvs.engines.player import EngineAgent
from boardenvs.engines.protocol import Ended, ServedLimits, Server, is_othello
from boardenvs.game.game import Game
from boardenvs.game.position import Position
from boardenvs.game.session import GameSession
from boardenvs.play import choose_action
from boardenvs.search.analysis import Analysis
from boardenvs.search.limits import MAX_DEPTH
from boardenvs.search.mcts import Evaluator
from boardenvs.utils.checks import check_name

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_MOST_LEVEL = 10
_SERVERS: dict[str, type[Server]] = {"gtp": GtpServer, "nboard": NBoardServer}


class ServedAgent:
    """An agent with a seed, whose choices depend on it and on the position only.

    An agent with a `time` keeps to the seconds of the other side, one with a `depth` or `level` to
    its depth; others play as their texts say.
    """

    def __init__(self, agent: Agent, seed: int) -> None:
        self._agent, self._seed = agent, seed

    def check_game(self, game: Game) -> None:
        """ValueError for a game that the agent cannot play."""
        check_game(self._agent, game)

    def choose(self, session: GameSession, limits: ServedLimits) -> tuple[int, float | None]:
        """Return the move, and its value to the side to move in discs if the agent knows it."""
        agent, position = self._within(limits), session.position
        has_values = isinstance(agent, Analysing | Evaluator)
        if isinstance(agent, EngineAgent) or not has_values:
            return choose_action(session, agent, self._seed), None
        analysis = analysis_by(agent, position, np.random.default_rng([self._seed, position.ply]))
        value = analysis.moves[0].value if analysis.unit == "margin" else None
        return analysis.moves[0].action, value

    def analyse(self, position: Position, limits: ServedLimits) -> Analysis:
        """Return the values of the moves of a position, which may be over."""
        rng = np.random.default_rng([self._seed, position.ply])
        return analyse(position, self._within(limits), rng=rng)

    def _within(self, limits: ServedLimits) -> Any:
        agent: Any = self._agent
        depth = None if limits.depth is None else max(1, limits.depth)
        wanted = {
            "time": limits.seconds and min(limits.seconds, getattr(agent, "time", 0) or inf),
            "depth": depth and min(depth, MAX_DEPTH),
            "level": depth and min(depth, _MOST_LEVEL),
        }
        names = [field.name for field in fields(agent)] if is_dataclass(agent) else []
        changed = {k: v for k, v in wanted.items() if v is not None and k in names}
        return replace(agent, **changed) if changed else agent


def servers_of(game: Game, protocol: str | None) -> list[type[Server]]:
    """Return the servers for a game; ValueError if the given protocol does not have the game."""
    if protocol is None:
        return [kind for name, kind in _SERVERS.items() if name != "nboard" or is_othello(game)]
    check_name("protocol", protocol, _SERVERS)
    if protocol == "nboard":
        check_othello(game)
    return [_SERVERS[protocol]]


def serve(
    servers: Sequence[type[Server]],
    game: Game,
    name: str,
    player: ServedAgent,
    lines_in: IO[str],
    lines_out: IO[str],
) -> None:
    """Answer lines until the other side ends; the first known line decides between protocols.

    name: the player's. Errors in lines are answered; lines before the first known one are ignored.
    """
    server: Server | None = None
    while line := lines_in.readline(MAX_LINE):
        is_whole = line.endswith("\n") or len(line) < MAX_LINE
        while not (is_whole or (rest := lines_in.readline(MAX_LINE)).endswith("\n") or not rest):
            pass
        line = _CONTROL.sub("", line.replace("\t", " "))
        if server is None:
            kinds = [kind for kind in servers if len(servers) == 1 or kind.speaks(line)]
            if not kinds:
                continue
            server = kinds[0](game, name, player)
        try:
            if not is_whole:
                raise ValueError(f"a line of more than {MAX_LINE} characters")
            for answer in server.answer(line):
                print(answer, file=lines_out, flush=True)
        except Ended:
            return
        except ValueError as error:
            server.is_lost = True
            print(server.complain(" ".join(str(error).split())), file=lines_out, flush=True)
