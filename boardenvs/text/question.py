"""One question to a player who reads: its move in a position, asked again where none is read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from boardenvs.game.position import Position
from boardenvs.text.prompt import Style, picture
from boardenvs.text.reader import Reading, read
from boardenvs.utils.checks import cut

RETRIES = 2

_MOST_KEPT = 4_000  # characters of a reply in a transcript
_MOST_KEPT_IN_ALL = 400_000  # of all replies in one, as JSON: a line of a file of records holds it


@dataclass
class Counts:
    """How replies were read, and how many tokens they took where that was told."""

    move: int = 0
    illegal: int = 0
    unparsable: int = 0
    ambiguous: int = 0
    forfeits: int = 0  # questions without a legal move in the end
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def add(self, reading: Reading, tokens: tuple[int, int]) -> None:
        """Count one reply."""
        setattr(self, reading.kind, getattr(self, reading.kind) + 1)
        self.prompt_tokens += tokens[0]
        self.completion_tokens += tokens[1]

    @property
    def replies(self) -> int:
        """How many replies were read."""
        return self.move + self.illegal + self.unparsable + self.ambiguous

    def to_json(self) -> dict[str, int]:
        """All counts by name."""
        return asdict(self)


class Question:
    """The move of the side to move in the last of the positions, after the actions between them."""

    def __init__(
        self,
        style: Style,
        positions: Sequence[Position],
        actions: Sequence[int],
        retries: int = RETRIES,
    ) -> None:
        self._style = style
        self._positions, self._actions = positions, actions
        self._left = 1 + retries
        self.prompt = style.write(positions, actions)
        self.action: int | None = None  # once a legal move was read

    @property
    def is_over(self) -> bool:
        """Whether there is a legal move, or no further try."""
        return self.action is not None or not self._left

    def picture(self) -> bytes | None:
        """The picture that goes with the prompt, PNG, where the style has one."""
        if self._style.board != "picture":
            return None
        before = self._positions[-2] if self._actions else None
        last = self._actions[-1] if self._actions else None
        return picture(self._positions[-1], last, before)

    def answer(self, reply: str, *, finished: bool = True) -> Reading:
        """Read a reply; where it is no legal move, the prompt then says so and asks again.

        TypeError for what is no text.
        """
        if not isinstance(reply, str):
            raise TypeError(f"the reply is a {type(reply).__name__}: it must be a text")
        reading = read(reply, self._positions[-1], self._style.disguise, finished=finished)
        self._left -= 1
        self.action = reading.action
        if self.action is None:
            self.prompt = self._style.write(self._positions, self._actions, reading)
        return reading


class Transcript:
    """The replies of a game, as a record keeps them: cut where they are long."""

    def __init__(self) -> None:
        self.entries: list[dict[str, Any]] = []
        self._left = _MOST_KEPT_IN_ALL

    def add(self, ply: int, reply: str, reading: Reading, tokens: tuple[int, int]) -> None:
        """Note a reply of this ply."""
        text = reply.encode("utf-8", "replace").decode()
        kept = cut(text, _MOST_KEPT) if self._left > 0 else ""
        self._left -= len(json.dumps(kept, ensure_ascii=False))
        entry = {"ply": ply, "reply": kept, "read_as": reading.kind, "text": reading.text}
        self.entries.append(entry | ({"tokens": list(tokens)} if any(tokens) else {}))
