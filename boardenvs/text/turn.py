"""One turn of a text player: its prompt, asked again while no legal move can be read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial

from boardenvs.game.position import Position
from boardenvs.text.prompt import write_prompt
from boardenvs.text.reader import Reading, read

RETRIES = 2
COUNTS = ("move", "illegal", "unreadable", "forfeits", "prompt_tokens", "completion_tokens")


class TextTurn:
    """The turn of the side to move in the last of the positions, after the actions between them.

    Replies are counted in `counts` by how they were read, with their tokens.
    """

    def __init__(
        self,
        positions: Sequence[Position],
        actions: Sequence[int],
        legal_moves: bool,
        retries: int,
    ) -> None:
        self._position, self._left = positions[-1], 1 + retries
        self._write = partial(write_prompt, positions, actions, legal_moves=legal_moves)
        self.prompt = self._write()
        self.reading: Reading | None = None  # of the last reply

    @property
    def action(self) -> int | None:
        """The legal move, once one was read."""
        return None if self.reading is None else self.reading.action

    @property
    def is_over(self) -> bool:
        """Whether there is a legal move, or no retry is left."""
        return self.action is not None or not self._left

    def answer(
        self, reply: str, counts: Counter[str], finished: bool, tokens: tuple[int, int]
    ) -> Reading:
        """Read a reply; unless it is a legal move, the prompt then says why and asks again.

        finished: False if a limit of tokens cut the reply off. TypeError for a reply that is not a
        string.
        """
        if not isinstance(reply, str):
            raise TypeError(f"the reply is a {type(reply).__name__}: it must be a text")
        self.reading = reading = read(reply, self._position, finished=finished)
        self._left -= 1
        if reading.action is None:
            self.prompt = self._write(reading=reading)
        forfeits = self.is_over and reading.action is None
        counts += Counter({reading.kind: 1, "forfeits": int(forfeits),
                           "prompt_tokens": tokens[0], "completion_tokens": tokens[1]})  # fmt: skip
        return reading
