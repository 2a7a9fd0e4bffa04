"""An environment of single questions: what a move is worth, where that is known exactly."""

from __future__ import annotations

import numpy as np

from boardenvs import games
from boardenvs.envs.core import ResetNeededError
from boardenvs.exams.positions import exam_positions
from boardenvs.game.contract import Game, Position
from boardenvs.game.state import take
from boardenvs.text.disguise import Disguise
from boardenvs.text.env import Step
from boardenvs.text.prompt import Board, Style
from boardenvs.text.question import Counts, Question
from boardenvs.text.samples import rewards_of


class ExamEnv:
    """The positions of a game's exam, one an episode, with the steps of a `TextEnv`.

    The reward is what the chosen move is worth between the worst legal move, 0, and the best, 1;
    a reply that is no legal move has 0. The other parameters are those of `TextEnv`, but a reply
    is asked for once if `retries` says nothing else.

    ValueError for a game without an exam.

    ```python
    from boardenvs.text import ExamEnv

    env = ExamEnv("othello", legal_moves=True)
    prompt = env.reset(seed=1)
    move = prompt.split("Your legal moves are: ")[1].split(",")[0]
    print(env.step(f"I play {move}.").reward, env.worths())
    ```
    """

    def __init__(
        self,
        game: Game | str,
        *,
        board: Board = "ascii",
        legal_moves: bool = False,
        disguise: Disguise | int | None = None,
        retries: int = 0,
    ) -> None:
        self.game = games.make(game)
        self.style = Style.of(self.game, board, legal_moves, disguise)
        self._asked, self._retries = exam_positions(self.game), retries
        self._question: Question | None = None
        self.number, self.counts = -1, Counts()

    def __len__(self) -> int:
        """How many questions there are."""
        return len(self._asked.kinds)

    def reset(self, *, seed: int | None = None) -> str:
        """The prompt of the question of this number, from 0 on and around, or of the next one."""
        self.number = (self.number + 1 if seed is None else seed) % len(self)
        self.kind = self._asked.kinds[self.number]
        state = take(self._asked.state, slice(self.number, self.number + 1))
        self.position: Position = self.game.positions(state)[0]
        self.reward, self.done, self.counts = 0.0, False, Counts()
        self._question = Question(self.style, [self.position], [], self._retries)
        return self.prompt

    @property
    def prompt(self) -> str:
        """What is asked now; empty where that is over, ResetNeededError before `reset`."""
        if self._question is None:
            raise ResetNeededError("there is no question yet: call reset() first")
        return "" if self.done else self._question.prompt

    def picture(self) -> bytes | None:
        """The picture that goes with the prompt, PNG, with `board="picture"`."""
        return None if not self.prompt or self._question is None else self._question.picture()

    def worths(self) -> dict[str, float]:
        """The reward of each legal move, by its name in the prompt."""
        shown = self.style.shown(self.game)
        return {shown.move(a, self.position): worth for a, worth in self._worths().items()}

    def step(self, reply: str, *, finished: bool = True, tokens: tuple[int, int] = (0, 0)) -> Step:
        """Read a reply; as `TextEnv.step`."""
        if not self.prompt or self._question is None:
            raise ResetNeededError("the question is answered: call reset() before the next step")
        reading = self._question.answer(reply, finished=finished)
        self.counts.add(reading, tokens)
        self.done = self._question.is_over
        if reading.action is not None:
            self.reward = self._worths()[reading.action]
        elif self.done:
            self.counts.forfeits += 1
        return Step(self.prompt, self.reward, self.done, reading)

    def _worths(self) -> dict[int, float]:
        values = self._asked.values[self.number]
        legal = np.flatnonzero(np.isfinite(values))
        return rewards_of(dict(zip(legal.tolist(), values[legal].tolist(), strict=True)))
