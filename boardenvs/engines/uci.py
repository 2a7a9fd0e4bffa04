"""UCI, which programs of chess speak, by python-chess.

python-chess asks in coroutines of asyncio. Where they wait for the program, the channel reads its
next line, within the same limits of time and size as in other protocols.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import closing
from types import SimpleNamespace
from typing import Any

from boardenvs.engines.channel import EngineError, shown
from boardenvs.engines.protocol import Protocol
from boardenvs.game.game import Game
from boardenvs.game.session import GameSession
from boardenvs.games import Chess
from boardenvs.utils.imports import extra

SECONDS = 1.0  # for a move by default: without a limit UCI programs think for ever


class Uci(Protocol):
    """Asks an engine over UCI."""

    title, probe = "UCI", "uci"
    _engine: Any  # python-chess's

    @staticmethod
    def knows(line: str) -> bool:
        return line == "uciok"

    def begin(self, game: Game, depth: int | None, move_time: float | None) -> None:
        if not isinstance(game, Chess):
            raise ValueError(f"the engine speaks UCI, which is for chess: it plays no {game.id}")
        with extra("chess"):
            from chess.engine import Limit, UciProtocol
        seconds = move_time or (None if depth else SECONDS)
        self._limit = Limit(time=seconds, depth=depth)
        self._played = ()

        async def greet() -> None:
            transport, self._engine = self.channel.transport, UciProtocol()
            streams = SimpleNamespace(get_pipe_transport=lambda fd: transport, get_pid=int)
            self._engine.connection_made(streams)
            await self._engine.initialize()
            await self._engine.ping()

        self._finish(greet())

    def ask(self, session: GameSession) -> str:
        from chess import Board

        board, (goes_on, _) = Board(session.start.fen()), self._news(session)
        if not goes_on:
            self._id = object()
        for position, action in zip(session.positions, session.actions, strict=False):
            board.push_san(session.game.usual_name(action, position))
        question = self._engine.play(board, self._limit, game=self._id)
        return str(self._finish(question).move)

    def _finish(self, question: Coroutine[Any, Any, Any]) -> Any:
        """Return what a question of python-chess returns, after the engine's lines."""

        def finish() -> Any:
            try:
                while True:
                    answer = question.send(None)
                    while not answer.done():
                        self._engine.pipe_data_received(1, f"{self.channel.line()}\n".encode())
            except StopIteration as end:
                return end.value
            except EngineError:
                raise
            except Exception as error:  # python-chess's, of what the engine wrote
                raise EngineError(shown(str(error))) from error

        async def finish_in_loop() -> Any:  # which python-chess needs, though nothing waits
            return finish()

        try:
            asyncio.get_running_loop()  # of a notebook
        except RuntimeError:
            with closing(asyncio.new_event_loop()) as loop:
                return loop.run_until_complete(finish_in_loop())
        return finish()
