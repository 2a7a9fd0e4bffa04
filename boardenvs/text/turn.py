"""One turn of a text player: its prompt, asked again while no legal move can be read."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import NamedTuple

from boardenvs.game.session import GameSession
from boardenvs.text.prompt import write_prompt
from boardenvs.text.reader import KINDS, Reading, read

RETRIES = 2
COUNTS = (*KINDS, "retries", "forfeits", "prompt_tokens", "completion_tokens")


class ModelReply(NamedTuple):
    """A model's reply to a prompt."""

    text: str
    finish_reason: str = "stop"  # see `boardenvs.text.reader.FINISH_REASONS`
    tokens: tuple[int, int] = (0, 0)  # of the prompt and of the reply, as far as known


class TextTurn:
    """The turn of the side to move in a game.

    Replies are counted in `counts` by how they were read, with their tokens.
    """

    def __init__(self, session: GameSession, legal_moves: bool, retries: int) -> None:
        self.position, self._left = session.position, 1 + retries
        self.action: int | None = None  # the legal move, once one was read
        self._write = partial(write_prompt, session, legal_moves=legal_moves)
        self.prompt = self._write()

    @property
    def is_over(self) -> bool:
        """Whether there is a legal move, or no retry is left."""
        return self.action is not None or not self._left

    def answer(self, reply: ModelReply, counts: Counter[str]) -> Reading:
        """Read a reply; unless it is a legal move, the prompt then says why and asks again.

        TypeError for a reply whose text is not a string.
        """
        if not isinstance(reply.text, str):
            raise TypeError(f"the reply is a {type(reply.text).__name__}: it must be a text")
        reading = read(reply.text, self.position, finish_reason=reply.finish_reason)
        self.action, self._left = reading.action, self._left - 1
        if self.action is None:
            self.prompt = self._write(reading=reading)
        counts += Counter({reading.kind: 1, "retries": not self.is_over,
                           "forfeits": self.is_over and self.action is None,
                           "prompt_tokens": reply.tokens[0],
                           "completion_tokens": reply.tokens[1]})  # fmt: skip
        return reading
