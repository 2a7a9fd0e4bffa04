"""A function from prompt to reply as a player, which plays wherever players do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from threading import Lock

import numpy as np

from boardenvs.agents.each import act_each
from boardenvs.agents.history import History
from boardenvs.game.errors import NoMoveError
from boardenvs.game.game import Game
from boardenvs.game.session import GameSession
from boardenvs.game.state import IntArray, State
from boardenvs.text.turn import COUNTS, RETRIES, ModelReply, TextTurn


class TextPlayer:
    """Asks `model(prompt)` for a reply, and plays the move that is read from it.

    model: returns a text, or a `ModelReply` that also says why it ended. threads: how many games or
    boards are asked about at once, each for itself. The other parameters are those of `TextEnv`. If
    no legal move is read after all retries, the game is forfeited, and `ForfeitError` says how the
    last reply was read. A move without a choice is played unasked. `counts` has how all replies
    were read.

    ```python
    import random

    import boardenvs
    from boardenvs.text import TextPlayer

    def model(prompt):  # stands for one that reads the rules
        moves = prompt.split("Your legal moves are: ")[-1].split(".")[0].split(", ")
        return f"Final answer: {random.choice(moves)}"

    player = TextPlayer(model, legal_moves=True)
    match = boardenvs.play_match(boardenvs.games.make("othello"), player, "random", pairs=2)
    print(match, player.counts)
    ```
    """

    def __init__(
        self,
        model: Callable[[str], str | ModelReply],
        *,
        retries: int = RETRIES,
        threads: int = 1,
        legal_moves: bool = False,
    ) -> None:
        self._model, self._legal_moves = model, legal_moves
        self._retries, self._threads = retries, threads
        self._counting = Lock()
        self.games_at_once = threads if threads > 1 else 0
        self.counts = Counter[str]()

    def report(self) -> dict[str, float]:
        """Return `counts` by name."""
        return {name: self.counts[name] for name in dict.fromkeys((*COUNTS, *sorted(self.counts)))}

    def act(
        self,
        game: Game,
        state: State,
        rng: np.random.Generator | None = None,
        history: History | None = None,
    ) -> IntArray:
        """Return an action for each board, (B,) int64; ForfeitError if some have none.

        The moves so far are in the prompts, if they are known.
        """
        return act_each(game, state, history, self._choose, rng, self._threads)

    def _choose(self, session: GameSession, number: int) -> int:
        """Ask until there is a legal move; NoMoveError if no retry is left."""
        turn = TextTurn(session, self._legal_moves, self._retries)
        while not turn.is_over:
            reply = self._ask(turn, number)
            with self._counting:
                reading = turn.answer(reply, self.counts)
        if turn.action is None:
            asked = f"{1 + self._retries} replies" if self._retries else "a reply"
            kind = reading.kind.replace("_", " ")
            raise NoMoveError(f"no legal move in {asked}, the last was {kind}: {reading.text}")
        return turn.action

    def _ask(self, turn: TextTurn, number: int) -> ModelReply:
        """Return the model's reply; number: a random one of this turn."""
        reply = self._model(turn.prompt)
        return reply if isinstance(reply, ModelReply) else ModelReply(reply)
