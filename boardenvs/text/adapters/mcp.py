"""A server of the Model Context Protocol: a game for those who call tools; `boardenvs mcp`.

    server_of(GameTools("othello", "level:3")).run("stdio")

A model has one game at a time, and reads what each tool returns. Opponents and analyses think in a
process of their own, which is killed if a call takes too long.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache, wraps
from math import inf
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from boardenvs import games
from boardenvs.agents import agent_for, make_agent
from boardenvs.agents.analyse import analyse
from boardenvs.envs.core import ResetNeededError
from boardenvs.envs.groups import choose
from boardenvs.game.game import Game
from boardenvs.game.position import Position
from boardenvs.game.state import IntArray, State
from boardenvs.games.notation import legal_names
from boardenvs.text.env import TextEnv
from boardenvs.utils.checks import check_name, cut
from boardenvs.utils.child import TimedCalls
from boardenvs.utils.ending import message_of
from boardenvs.utils.imports import extra

if TYPE_CHECKING:
    from mcp.server import MCPServer

SECONDS = 60.0  # for a call
OPPONENTS = ("random", "greedy", "positional", *(f"level:{number}" for number in range(1, 11)),
             "trained", "alphabeta", "mcts", "perfect")  # fmt: skip


class GameTools:
    """One game at a time, and the tools that play it. Each returns what a model is to read.

    Callers may name any game except those that run code, and the opponents in `OPPONENTS`; the
    defaults may be others. analysis: whether `analyse` is one of the `tools`. seconds: the limit
    for a call; ValueError if it takes longer. move_seconds: the caller's limit for a move, after
    which the game is lost.
    """

    def __init__(
        self,
        game: str = "othello",
        opponent: str = "level:1",
        *,
        analysis: bool = True,
        seconds: float = SECONDS,
        move_seconds: float = inf,
    ) -> None:
        self._move_seconds, self._late_at = move_seconds, inf
        tools = self.new_game, self.board, self.legal_moves, self.play, self.analyse
        self.tools: tuple[Callable[..., Any], ...] = tools if analysis else tools[:-1]
        self._defaults = game, opponent
        self._thinking = TimedCalls(seconds)
        self._env: TextEnv | None = None
        agent_for(games.make(game), opponent)  # raises for wrong defaults

    def new_game(
        self,
        game: str | None = None,
        opponent: str | None = None,
        seat: str = "random",
        position: str | None = None,
        seed: int | None = None,
    ) -> str:
        """End the game before, begin one, and get its rules, its position and how to answer.

        game: othello, reversi, othello_holes, lines_of_action, wolf_and_sheep, chess, go, checkers,
        connect_four, hex, nine_mens_morris or tictactoe, with options such as
        othello_holes:holes=8. opponent: random, greedy, positional, level:1 (weak) to level:10
        (strong), trained, alphabeta, mcts, or perfect in a solved game; by default the server's
        own. seat: a side of the game, or random. position: a text as boards have, or nothing for
        the start. The same seed gives the same opponent.
        """
        self._env = None
        game, opponent = game or self._defaults[0], opponent or self._defaults[1]
        if game != self._defaults[0] and games.imports_code(game):
            raise ValueError(f"game {cut(game)!r} is code, which may not be named here")
        check_name("opponent", opponent, dict.fromkeys([self._defaults[1], *OPPONENTS]))
        agent_for(games.make(game), opponent)  # raises if it cannot play the game
        self._thinking.begin()
        player = _Opponent(opponent, self._thinking)
        env = TextEnv(game, opponent=player, seat=seat, legal_moves=True, retries=100)
        env.reset(seed=seed, position=position)
        self._env, self._late_at = env, time.monotonic() + self._move_seconds
        return self.board()

    def board(self) -> str:
        """Get the game so far: its rules, all moves, the position, whose turn it is; or its end."""
        env = self._playing()
        if not env.done:
            return env.prompt
        word = {1: "You have won.", 0: "It is a draw.", -1: "You have lost."}[round(env.reward)]
        return f"The game is over. {word}\nThe last position: {env.position.fen()}"

    def legal_moves(self) -> list[str]:
        """List the moves that can be played now."""
        return list(legal_names(self._playing().position))

    def play(self, move: str) -> str:
        """Play a move, such as e3 or b1-b3, and get the board after the opponent's answer."""
        env = self._playing()
        if time.monotonic() > self._late_at and not env.done:
            env.session.resign(env.role)
            return f"Your time for a move, {self._move_seconds:g} seconds, is over. {self.board()}"
        self._thinking.begin()
        try:
            env.step(move)
        except ValueError as error:
            self._env = None
            raise ValueError(
                f"the opponent did not move: {error}. This game is over: call new_game"
            ) from error
        self._late_at = time.monotonic() + self._move_seconds
        return self.board()

    def analyse(self, moves: int = 5) -> dict[str, Any]:
        """Get the values of the best moves to the side to move, and what is proven."""
        self._thinking.begin()
        values: dict[str, Any] = self._thinking.call(_analysis, self._playing().position)
        return values | {"moves": values["moves"][: max(moves, 0)]}

    def _playing(self) -> TextEnv:
        if self._env is None:
            raise ResetNeededError("there is no game: call new_game first")
        return self._env


def server_of(made: GameTools) -> MCPServer:
    """Return a server with these tools."""
    with extra("mcp"):
        from mcp.server import MCPServer

    server, one_at_a_time = MCPServer("boardenvs"), Lock()
    for tool in made.tools:
        server.tool()(_reporting_errors(tool, one_at_a_time))
    return server


def _reporting_errors(tool: Callable[..., Any], one_at_a_time: Lock) -> Callable[..., Any]:
    """Return the tool, which tells the caller the reason of each error."""
    from mcp.server.mcpserver.exceptions import ToolError

    @wraps(tool)
    def call(*args: Any, **values: Any) -> Any:
        try:
            with one_at_a_time:
                return tool(*args, **values)
        except Exception as error:
            raise ToolError(message_of(error)) from error

    return call


# ---- in the process that thinks ------------------------------------------------------------------


class _Opponent:
    """A player, by its text, that chooses its moves in the process that thinks."""

    def __init__(self, text: str, thinking: TimedCalls) -> None:
        self._text, self._thinking = text, thinking

    def act(self, game: Game, state: State, rng: np.random.Generator) -> IntArray:
        """See `Agent.act`."""
        seed = int(rng.integers(1 << 62))
        return self._thinking.call(_chosen, self._text, game, state, seed)


_made = lru_cache(maxsize=2)(make_agent)


def _chosen(text: str, game: Game, state: State, seed: int) -> IntArray:
    return choose(agent_for(game, _made(text)), game, state, np.random.default_rng(seed))


def _analysis(position: Position) -> dict[str, Any]:
    return analyse(position).to_json()
