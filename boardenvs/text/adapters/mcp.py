"""A server of the Model Context Protocol: a game for those who call tools; `boardenvs mcp`.

    server_of("othello", "level:3").run("stdio")

A model has one game at a time, and reads what each tool returns.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from boardenvs import games
from boardenvs.agents.analyse import analyse
from boardenvs.agents.spec import runs_code
from boardenvs.envs.core import ResetNeededError
from boardenvs.text.env import TextEnv
from boardenvs.utils.checks import cut


class GameTools:
    """One game at a time, and the tools that play it. Each returns what a model is to read.

    Callers may name any game and player except those that run code, which must be the defaults.
    """

    def __init__(self, game: str = "othello", opponent: str = "level:1") -> None:
        self._defaults = game, opponent
        self._env: TextEnv | None = None
        TextEnv(game, opponent=opponent)  # raises for wrong defaults

    def new_game(
        self,
        game: str | None = None,
        opponent: str | None = None,
        seat: str = "random",
        position: str | None = None,
        seed: int | None = None,
    ) -> str:
        """Begin a game, and get its rules, its position and how to answer.

        game: othello, reversi, othello_holes, lines_of_action or wolf_and_sheep, with options such
        as othello_holes:holes=8. opponent: level:1 (weak) to level:10 (strong), random, greedy and
        other players. seat: a role of the game, or random. position: a text as boards have, or
        nothing for the start. The same seed gives the same opponent.
        """
        game, opponent = game or self._defaults[0], opponent or self._defaults[1]
        if game != self._defaults[0] and games.imports_code(game):
            raise ValueError(f"game {cut(game)!r} is code, which may not be named here")
        if opponent != self._defaults[1] and runs_code(opponent):
            raise ValueError(f"opponent {cut(opponent)!r} is code, which may not be named here")
        env = TextEnv(game, opponent=opponent, seat=seat, legal_moves=True, retries=100)
        env.reset(seed=seed, position=position)
        self._env = env
        return self.board()

    def board(self) -> str:
        """The game so far: its rules, all moves, the position, whose turn it is; or its end."""
        env = self._playing()
        if not env.done:
            return env.prompt
        word = {1: "You have won.", 0: "It is a draw.", -1: "You have lost."}[round(env.reward)]
        return f"The game is over. {word}\nThe last position: {env.position.fen()}"

    def legal_moves(self) -> list[str]:
        """The moves that can be played now."""
        position = self._playing().position
        return [position.game.action_name(action, position) for action in position.legal_actions()]

    def play(self, move: str) -> str:
        """Play a move, such as e3 or b1-b3, and get the board after the opponent's answer."""
        self._playing().step(move)
        return self.board()

    def analyse(self, moves: int = 5) -> dict[str, Any]:
        """The values of the best moves of the position to the side to move, and what is proven."""
        found = analyse(self._playing().position).to_json()
        return found | {"moves": found["moves"][: max(moves, 0)]}

    def _playing(self) -> TextEnv:
        if self._env is None:
            raise ResetNeededError("there is no game yet: call new_game first")
        return self._env


def server_of(game: str = "othello", opponent: str = "level:1") -> MCPServer:
    """Return a server with the tools of `GameTools`."""
    server, made = MCPServer("boardenvs"), GameTools(game, opponent)
    for tool in (made.new_game, made.board, made.legal_moves, made.play, made.analyse):
        server.tool()(_reporting_errors(tool))
    return server


def _reporting_errors(tool: Callable[..., Any]) -> Callable[..., Any]:
    """Return the tool, which reports its errors to the caller."""

    @wraps(tool)
    def call(*args: Any, **values: Any) -> Any:
        try:
            return tool(*args, **values)
        except (ValueError, TypeError, ResetNeededError) as error:
            raise ToolError(str(error)) from error

    return call
