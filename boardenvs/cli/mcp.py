"""`boardenvs mcp`: a game for models that call tools."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import Annotated

from typer import Argument

from boardenvs.cli.options import game_names, player_names


@dataclass(frozen=True)
class Mcp:
    """Serve games on standard input and output, by the Model Context Protocol.

    A model's program starts this command, and the model then has tools to begin a game, see the
    board and the legal moves, play, and analyse. It may name any game and player, but no code.

    ```
    boardenvs mcp
    boardenvs mcp lines_of_action level:5
    ```
    """

    game: Annotated[
        str, Argument(help="The game that is begun by default.", autocompletion=game_names)
    ] = "othello"
    opponent: Annotated[
        str, Argument(help="The opponent by default.", autocompletion=player_names)
    ] = "level:1"

    def run(self) -> None:
        if importlib.util.find_spec("mcp") is None:
            raise ValueError("this command needs mcp: pip install 'boardenvs[mcp]'")
        from boardenvs.text.adapters.mcp import server_of

        server_of(self.game, self.opponent).run("stdio")
