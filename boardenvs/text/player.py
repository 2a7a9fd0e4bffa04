"""A function from prompt to reply as a player, which plays wherever players do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from boardenvs.game.contract import Game
from boardenvs.game.errors import ForfeitError
from boardenvs.game.state import IntArray, State
from boardenvs.records.record import Record, until_illegal
from boardenvs.text.turn import COUNTS, RETRIES, TextTurn


class ModelReply(NamedTuple):
    """A model's reply to a prompt."""

    text: str
    finished: bool = True  # False if a limit of tokens cut it off
    tokens: tuple[int, int] = (0, 0)  # of the prompt and of the reply, as far as known


class TextPlayer:
    """Asks `model(prompt)` for a reply, and plays the move that is read from it.

    The other parameters are those of `TextEnv`. If no legal move is read after all retries, the
    game is forfeited, and `ForfeitError` says how the last reply was read. `counts` has how all
    replies were read. threads: how many boards are asked about at once.

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
        model: Callable[[str], str],
        *,
        retries: int = RETRIES,
        threads: int = 1,
        legal_moves: bool = False,
    ) -> None:
        self._model, self._legal_moves = model, legal_moves
        self._retries, self._threads = retries, threads
        self.counts = Counter[str]()

    wants_history = False  # prompts can do without it

    def report(self) -> dict[str, float]:
        """Return `counts` by name."""
        return {name: self.counts[name] for name in COUNTS}

    def act(self, game: Game, state: State, rng: np.random.Generator | None = None) -> IntArray:
        """Return an action for each board, (B,) int64; ForfeitError if some have none."""
        return self.act_after(game, state, np.empty((len(state.ply), 0), np.int16), rng)

    def act_after(
        self,
        game: Game,
        state: State,
        actions: IntArray,
        rng: np.random.Generator | None = None,
    ) -> IntArray:
        """Return the same as `act`, with the moves so far in the prompts."""
        turns = dict[int, TextTurn]()
        for row, position in enumerate(game.positions(state)):
            played = [action for action in actions[row].tolist() if action >= 0]
            line, _ = until_illegal(Record(game, tuple(played)))
            known = (line, played) if line[-1] == position else ([position], [])
            if not position.is_over():
                turns[row] = TextTurn(*known, self._legal_moves, self._retries)
        while left := [turn for turn in turns.values() if not turn.is_over]:
            for turn, (text, finished, tokens) in zip(left, self._replies(left), strict=True):
                turn.answer(text, self.counts, finished, tokens)
        chosen, lost = np.full(len(state.ply), game.noop, np.int64), dict[int, str]()
        for row, turn in turns.items():
            if turn.action is not None:
                chosen[row] = turn.action
            elif last := turn.reading:
                asked = f"{1 + self._retries} replies" if self._retries else "a reply"
                lost[row] = f"no legal move in {asked}, the last was {last.kind}: {last.text}"
        if lost:
            raise ForfeitError(chosen, lost)
        return chosen

    def _replies(self, turns: Sequence[TextTurn]) -> list[ModelReply]:
        """Return the model's reply for each turn."""
        asking = [self._asking(turn.prompt) for turn in turns]  # in order, too
        with ThreadPoolExecutor(self._threads) as threads:
            futures = list(map(threads.submit, asking))
            try:
                return [future.result() for future in futures]
            except BaseException:
                threads.shutdown(wait=False, cancel_futures=True)
                raise

    def _asking(self, prompt: str) -> Callable[[], ModelReply]:
        """Return a function that asks the model, in any thread."""

        def ask() -> ModelReply:
            text: object = self._model(prompt)
            if not isinstance(text, str):
                raise TypeError(f"the model returned a {type(text).__name__}: it must be a text")
            return ModelReply(text)

        return ask
