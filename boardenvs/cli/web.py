"""`boardenvs web`: the page in the browser."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from typer import Option

from boardenvs.agents import make_agent
from boardenvs.games import parse

_NEEDED = ("starlette", "uvicorn", "websockets")


@dataclass(frozen=True)
class Web:
    """Play any agent in the browser, see what it thinks, and step through recorded games.

    Opens the page and serves it until Ctrl-C. It can be reached from this machine alone, with the
    token in its address. From the page no code can be run but what the options allow.

    ```
    boardenvs web
    boardenvs web --port 0 --no-browser
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
    allow_python: Annotated[
        bool,
        Option("--allow-python", help="Let the page name any code that can be imported."),
    ] = False

    def run(self) -> None:
        missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
        if missing:
            raise ValueError(
                f"the page needs {' and '.join(missing)}: pip install 'boardenvs[web]'"
            )
        from boardenvs.web import server
        from boardenvs.web.connection import Options
        from boardenvs.web.guard import address_in_file, kept_token

        agents, games = tuple(self.agent or ()), tuple(self.game or ())
        for text in agents:
            make_agent(text)
        for text in games:
            parse(text)
        options, token = Options(self.folder, self.allow_python, agents, games), kept_token()
        with server.listen(self.port) as listening:
            url = server.address(listening, token)

            def ready() -> None:
                typer.echo(f"boardenvs is at {url}  (Ctrl-C ends it)")
                if self.browser:
                    server.open_browser(address_in_file(url))

            server.serve(options, token, listening, ready)
