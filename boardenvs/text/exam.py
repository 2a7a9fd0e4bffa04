"""An environment of single questions, in which the value of each move is known exactly."""

from __future__ import annotations

import numpy as np

from boardenvs.exams.positions import exam_positions
from boardenvs.game.game import Game
from boardenvs.game.state import take
from boardenvs.games.notation import legal_names
from boardenvs.text.env import TextEnv
from boardenvs.text.rewards import scaled


class ExamEnv(TextEnv):
    """The positions of a game's exam, one an episode, with the steps of a `TextEnv`.

    The reward is where the value of the chosen move lies between the worst legal move, 0, and the
    best, 1; a reply without a legal move has 0. The other parameters are those of `TextEnv`, but a
    reply is by default asked for once.

    ValueError for a game without an exam.

    ```python
    from boardenvs.text import ExamEnv

    env = ExamEnv("othello", legal_moves=True)
    prompt = env.reset(seed=1)
    move = prompt.split("Your legal moves are: ")[1].split(",")[0]
    print(env.step(f"Final answer: {move}").reward, env.rewards())
    ```
    """

    def __init__(
        self,
        game: Game | str,
        *,
        legal_moves: bool = False,
        retries: int = 0,
    ) -> None:
        super().__init__(game, opponent=None, legal_moves=legal_moves, retries=retries)
        self._asked, self.number = exam_positions(self.game), -1

    def __len__(self) -> int:
        """Return the number of questions."""
        return len(self._asked.kinds)

    @property
    def done(self) -> bool:
        """Whether the question is answered."""
        return bool(self.session.actions) or self.session.is_over

    @property
    def reward(self) -> float:
        """The reward of the chosen move, 0 to 1; 0 before it is chosen."""
        return sum(self._rewards()[action] for action in self.session.actions)

    def reset(self, *, seed: int | None = None) -> str:  # type: ignore[override]  # no position
        """Return the prompt of question number `seed`, modulo their number, or of the next one."""
        self.number = (self.number + 1 if seed is None else seed) % len(self)
        state = take(self._asked.state, slice(self.number, self.number + 1))
        return super().reset(position=self.game.positions(state)[0])

    def rewards(self) -> dict[str, float]:
        """Return the reward of each legal move, by its name in the prompt."""
        rewards = self._rewards()
        return {name: rewards[a] for name, a in legal_names(self.session.start).items()}

    def _rewards(self) -> dict[int, float]:
        values = self._asked.values[self.number]
        legal = np.flatnonzero(np.isfinite(values))
        return scaled(dict(zip(legal.tolist(), values[legal].tolist(), strict=True)))
