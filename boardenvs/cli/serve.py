"""Servers: `boardenvs engine`, `boardenvs mcp` and `boardenvs web`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from boardenvs.agents import make_agent
from boardenvs.cli.options import GameName, Player, Seed, game_names, player_names
from boardenvs.games import parse


@dataclass
class EngineCommand:
    """Answer as an engine on standard input and output, so that other programs can play.

    It speaks GTP and, in Othello, NBoard: the first line decides. Players that search keep to the
    other side's clocks and depths; otherwise the player's text says how long it thinks. The same
    seed gives the same move in the same position.

    ```
    boardenvs engine othello level:5
    boardenvs engine lines_of_action alphabeta:depth=4
    ```
    """

    game: GameName
    agent: Player
    protocol: Annotated[
        str | None, typer.Option(help="`gtp` or `nboard`. Default: as the first line shows.")
    ] = None
    seed: Seed = 0

    def run(self) -> None:
        import sys

        from boardenvs.agents import agent_for
        from boardenvs.engines import ServedAgent, serve, servers_of

        game = parse(self.game)
        servers = servers_of(game, self.protocol)
        player = ServedAgent(agent_for(game, self.agent), self.seed)
        serve(servers, game, self.agent, player, sys.stdin, sys.stdout)


@dataclass
class McpCommand:
    """Serve games on standard input and output, by the Model Context Protocol.

    A model's program starts this command, and the model then has tools to begin a game, see the
    board and the legal moves, play, and analyse. It may name any game that is not code, and the
    opponent given here or one of a list. To test a model, leave the analysis out and limit its
    time.

    ```
    boardenvs mcp
    boardenvs mcp lines_of_action level:5 --no-analysis --move-seconds 120
    ```
    """

    game: Annotated[
        str, Argument(help="The game that is begun by default.", autocompletion=game_names)
    ] = "othello"
    opponent: Annotated[
        str, Argument(help="The opponent by default.", autocompletion=player_names)
    ] = "level:1"
    analysis: Annotated[
        bool, Option("--analysis/--no-analysis", help="Offer a tool that values moves.")
    ] = True
    seconds: Annotated[float, Option(help="The limit for a call.", min=1.0)] = 60.0
    move_seconds: Annotated[
        float | None,
        Option(help="The model's limit for a move, after which it loses. Default: none.", min=1.0),
    ] = None

    def run(self) -> None:
        from boardenvs.text.adapters.mcp import GameTools, server_of

        made = GameTools(
            self.game,
            self.opponent,
            analysis=self.analysis,
            seconds=self.seconds,
            move_seconds=self.move_seconds or math.inf,
        )
        server_of(made).run("stdio")


@dataclass
class WebCommand:
    """Play any agent in the browser, see what it thinks, and step through recorded games.

    Opens the page and serves it until Ctrl-C. Only this machine can reach it, and only the printed
    address opens it; every start has another one. The page runs no code except what the options
    allow.

    With --share, other machines can reach it too, without encryption. Everybody with the address
    can play, analyse and read the reports as you can, with this machine's processors.

    ```
    boardenvs web
    boardenvs web --port 0 --no-browser
    boardenvs web --share
    boardenvs web --agent python:my_module:policy --game my_games:Breakthrough
    ```
    """

    port: Annotated[
        int, Option(help="The port to listen on; 0 takes any that is free.", min=0, max=65535)
    ] = 8064
    browser: Annotated[
        bool, Option("--browser/--no-browser", help="Open the page in the browser.")
    ] = True
    folder: Annotated[
        Path, Option(help="The folder of trainings and tournaments that the page lists.")
    ] = Path("runs")
    agent: Annotated[
        list[str] | None,
        Option(
            help="An agent that the page offers, and may name although it is code, such as "
            "`python:MODULE:NAME`; may be repeated.",
        ),
    ] = None
    game: Annotated[
        list[str] | None,
        Option(
            help="A game that the page offers, and may name although it is code, `MODULE:NAME`; "
            "may be repeated.",
        ),
    ] = None
    share: Annotated[
        bool,
        Option("--share", help="Let everybody with the printed address use the page."),
    ] = False

    def run(self) -> None:
        from boardenvs.web import server
        from boardenvs.web.connection import ServerOptions
        from boardenvs.web.guard import Door, address_in_file

        agents, games = tuple(self.agent or ()), tuple(self.game or ())
        for text in agents:
            make_agent(text)
        for text in games:
            parse(text)
        listening, door = server.listen(self.port, self.share), Door(self.share)
        url = door.address(listening[0].getsockname()[1])

        def ready() -> None:
            typer.echo(f"boardenvs is at {url}  (Ctrl-C ends it)")
            if self.browser:
                server.open_browser(address_in_file(url))

        server.serve(ServerOptions(self.folder, agents, games), door, listening, self.share, ready)
