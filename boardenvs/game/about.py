"""What a game's page says of this game alone: words that cannot be computed from its rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class About:
    """The words of a game's page, in Markdown; `boardenvs.envs.page` adds the rest.

    What is left empty is taken from the docstring of the game's class, or left out.
    """

    title: str = ""
    summary: str = ""  # one sentence under the title
    rules: str = ""  # the start, how pieces move, who moves first
    pieces: str = "pieces"  # what is on the board
    planes: tuple[str, ...] = ()  # what planes 2, 3, ... show; the last one covers all that follow
    passing: str = "It is legal only for a side without another move."
    end: str = ""  # when the game is over and who has won
    options: Mapping[str, str] = field(default_factory=dict)  # what each rule parameter does
    choice: str = ""  # which rules, or which of similar games, a newcomer takes
    source: str = ""  # where the rules come from, and what departs from it
