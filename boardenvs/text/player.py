"""A function from prompt to reply as a player, which plays wherever players do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock

import numpy as np

from boardenvs.agents.base import HistoryAgent, waiting
from boardenvs.game.contract import Game
from boardenvs.game.errors import ForfeitError
from boardenvs.game.state import IntArray, State
from boardenvs.records.record import Record, until_illegal
from boardenvs.text.turn import COUNTS, RETRIES, ModelReply, TextTurn


class TextPlayer(HistoryAgent):
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

    wants_history = False  # prompts can do without it

    def report(self) -> dict[str, float]:
        """Return `counts` by name."""
        return {name: self.counts[name] for name in dict.fromkeys((*COUNTS, *sorted(self.counts)))}

    def act_after(
        self,
        game: Game,
        state: State,
        actions: IntArray,
        rng: np.random.Generator | None = None,
    ) -> IntArray:
        """Return an action for each board, (B,) int64; ForfeitError if some have none.

        The moves so far are in the prompts.
        """
        chosen = np.full(len(state.ply), game.noop, np.int64)
        turns = dict[int, tuple[TextTurn, int]]()
        for row, position in enumerate(game.positions(state)):
            legal = [] if position.is_over() else position.legal_actions()
            if len(legal) < 2:
                chosen[row] = legal[0] if legal else game.noop
                continue
            played = [action for action in actions[row].tolist() if action >= 0]
            line, _ = until_illegal(Record(game, tuple(played)))
            known = (line, played) if line[-1] == position else ([position], [])
            number = 0 if rng is None else int(rng.integers(1 << 62))
            turns[row] = TextTurn(*known, self._legal_moves, self._retries), number
        with waiting(), ThreadPoolExecutor(self._threads) as threads:
            for _ in threads.map(self._settle, turns.values()):  # an error cancels the others
                pass
        lost = dict[int, str]()
        for row, (turn, _) in turns.items():
            if turn.action is not None:
                chosen[row] = turn.action
            elif last := turn.reading:
                asked = f"{1 + self._retries} replies" if self._retries else "a reply"
                kind = last.kind.replace("_", " ")
                lost[row] = f"no legal move in {asked}, the last was {kind}: {last.text}"
        if lost:
            raise ForfeitError(chosen, lost)
        return chosen

    def _settle(self, numbered: tuple[TextTurn, int]) -> None:
        """Ask until there is a legal move, or no retry is left."""
        turn, number = numbered
        while not turn.is_over:
            reply = self._ask(turn, number)
            with self._counting:
                turn.answer(reply, self.counts)

    def _ask(self, turn: TextTurn, number: int) -> ModelReply:
        """Return the model's reply; number: a random one of this turn."""
        reply: object = self._model(turn.prompt)
        if isinstance(reply, ModelReply):
            return reply
        if not isinstance(reply, str):
            raise TypeError(f"the model returned a {type(reply).__name__}: it must be a text")
        return ModelReply(reply)
