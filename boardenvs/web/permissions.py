"""Which games and agents the page may name.

A page is no command line: what it names must not import code or open files, unless whoever started
the server allowed that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from boardenvs import games
from boardenvs.agents.base import check_game
from boardenvs.agents.openspiel.player import BOTS
from boardenvs.agents.spec import AGENTS, make_agent
from boardenvs.game.contract import Game
from boardenvs.utils.checks import cut
from boardenvs.utils.spec import parse_parameters

_PYTHON = "python"
_NO_FILES = ("trained", *BOTS)  # texts that are no paths


@dataclass(frozen=True)
class Permissions:
    """What the page may name.

    python: any code, as `python:MODULE:NAME` or the game `MODULE:NAME`. files: any file, such as
    `policy:PATH`. agents, games: texts that are allowed as they are. policies: gives the paths of
    the policies that belong to the listed trainings, which are allowed too.
    """

    python: bool = False
    files: bool = False
    agents: tuple[str, ...] = ()
    games: tuple[str, ...] = ()
    policies: Callable[[], list[str]] = list

    def game(self, text: str) -> Game:
        """The game that a text of the page names; ValueError where there is none, or it may not."""
        if not (self.python or text in self.games) and games.imports_code(text):
            raise ValueError(
                f"game {cut(text)!r} is code, which this page may not name: start boardenvs web "
                "with --allow-python, or with --game and this text"
            )
        return _parsed(text)

    def check_agent(self, text: str, game: Game) -> None:
        """ValueError where a text of the page names no agent, one that it may not name, or one
        that cannot play the game.
        """
        self.check_agent_name(text)
        check_game(make_agent(text), game)

    def check_agent_name(self, text: str) -> None:
        """ValueError where a text of the page may not be made an agent of."""
        if text in self.agents:
            return
        name, separator, rest = text.partition(":")
        if name not in AGENTS:
            return  # which making it will say
        if name == _PYTHON:
            if not self.python:
                raise ValueError(
                    f"agent {cut(text)!r} is code, which this page may not name: start boardenvs "
                    "web with --allow-python, or with --agent and this text"
                )
            return
        values = parse_parameters(text, name, rest if separator else None, AGENTS[name])
        paths = [value for value in values.values() if isinstance(value, str)]
        for path in paths:
            if path in _NO_FILES or self.files or path in self.policies():
                continue
            raise ValueError(
                f"{cut(path)!r} is a file, which this page may not name: start boardenvs web with "
                "--allow-files, or with --agent and the whole text"
            )


@lru_cache(maxsize=64)
def _parsed(text: str) -> Game:
    """One object for all questions about a game, so that its rules are compiled once."""
    return games.parse(text)
