"""A function from prompt to reply as a player, which plays wherever players do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple, Unpack

import numpy as np

from boardenvs.game.contract import Game
from boardenvs.game.position import Position
from boardenvs.game.state import IntArray, State
from boardenvs.records.record import Record, until_illegal
from boardenvs.text.disguise import Disguise
from boardenvs.text.prompt import Shown, Style
from boardenvs.text.question import RETRIES, Counts, Question

NO_MOVE = -1  # no action: in a match the game is forfeited, in an exam the answer is wrong


class Reply(NamedTuple):
    """What a model wrote."""

    text: str
    finished: bool = True  # not cut off by a limit of tokens
    tokens: tuple[int, int] = (0, 0)  # of the prompt and of the reply, where known


class TextPlayer:
    """Asks `model(prompt)` for a reply, or `model(prompt, png)` with `board="picture"`, and plays
    the move that is read from it.

    The other parameters are those of `TextEnv`. Where no legal move is read
    after all retries, the game is forfeited. `counts` has how all replies were read. Boards are
    asked for by so many threads.

    ```python
    import random

    import boardenvs
    from boardenvs.text import TextPlayer

    def model(prompt):  # stands for one that reads the rules
        moves = prompt.split("Your legal moves are: ")[-1].split(".")[0].split(", ")
        return f"I play {random.choice(moves)}."

    player = TextPlayer(model, legal_moves=True)
    match = boardenvs.play_match(boardenvs.games.make("othello"), player, "random", pairs=2)
    print(match, player.counts)
    ```
    """

    def __init__(
        self,
        model: Callable[..., str],
        *,
        retries: int = RETRIES,
        threads: int = 1,
        **shown: Unpack[Shown],
    ) -> None:
        drawn = shown.get("disguise")
        # Raises where there is no such board, or where it cannot be disguised.
        Style(shown.get("board", "ascii"), disguise=drawn if isinstance(drawn, Disguise) else None)
        self._model, self._shown = model, shown
        self._retries, self._threads = retries, threads
        self.counts = Counts()

    def report(self) -> dict[str, float]:
        """`counts` by name."""
        return dict(self.counts.to_json())

    def act(self, game: Game, state: State, rng: np.random.Generator | None = None) -> IntArray:
        return self._ask([([position], ()) for position in game.positions(state)], game)

    def act_after(
        self, game: Game, state: State, actions: IntArray, rng: np.random.Generator
    ) -> IntArray:
        """As `act`, with the moves so far in the prompts."""
        asked = []
        for position, row in zip(game.positions(state), actions.tolist(), strict=True):
            played = tuple(action for action in row if action >= 0)
            line, _ = until_illegal(Record(game, played))
            asked.append((line, played) if line[-1] == position else ([position], ()))
        return self._ask(asked, game)

    def _ask(self, asked: Sequence[tuple[list[Position], Sequence[int]]], game: Game) -> IntArray:
        style = Style.of(game, **self._shown)
        questions = [
            None if line[-1].is_over() else Question(style, line, played, self._retries)
            for line, played in asked
        ]
        while left := [question for question in questions if question and not question.is_over]:
            for question, reply in zip(left, self._replies(left), strict=True):
                reading = question.answer(reply.text, finished=reply.finished)
                self.counts.add(reading, reply.tokens)
                self.counts.forfeits += question.is_over and question.action is None
        moves = [game.noop if question is None else question.action for question in questions]
        return np.array([NO_MOVE if move is None else move for move in moves], np.int64)

    def _replies(self, questions: Sequence[Question]) -> list[Reply]:
        """The replies to these questions, in their order."""
        asking = [self._asking(q.prompt, q.picture()) for q in questions]  # in order, too
        with ThreadPoolExecutor(self._threads) as threads:
            futures = list(map(threads.submit, asking))
            try:
                return [future.result() for future in futures]
            except BaseException:
                threads.shutdown(wait=False, cancel_futures=True)
                raise

    def _asking(self, prompt: str, png: bytes | None) -> Callable[[], Reply]:
        """What asks the model, in any thread."""
        return partial(self._ask_model, *([prompt] if png is None else [prompt, png]))

    def _ask_model(self, *question: str | bytes) -> Reply:
        text: object = self._model(*question)
        if not isinstance(text, str):
            raise TypeError(f"the model returned a {type(text).__name__}: it must be a text")
        return Reply(text)
