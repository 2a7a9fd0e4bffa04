"""Requests of the page, which are checked and limited in size here.

A message is a JSON object with an `id`, which the answer repeats, and `do`, the kind of request.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from boardenvs.render.page import Mark
from boardenvs.utils.decoding import decode, parse_json

MAX_MESSAGE = 256 << 10  # bytes
MAX_PLIES = 2_000
MAX_SECONDS = 60.0
MAX_GAMES = 20_000  # of a file

Text: TypeAlias = Annotated[str, Field(min_length=1, max_length=300)]
Move: TypeAlias = Annotated[str, Field(min_length=1, max_length=20)]
Seconds: TypeAlias = Annotated[float, Field(gt=0, le=MAX_SECONDS)]
Id: TypeAlias = Annotated[int, Field(ge=0, le=1 << 50)]


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Line(_Part):
    """A game so far."""

    game: Text
    start: Text | None = None  # a position for `boardenvs.game.fen`; None: the game's start
    moves: list[Move] = Field(default=[], max_length=MAX_PLIES)


class _Request(_Part):
    id: Id


class GameRequest(_Request):
    """The description of a game, or the agents that can play it."""

    do: Literal["game", "opponents"]
    game: Text


class LineRequest(_Request):
    """The positions of a line after `since` plies and later."""

    do: Literal["line"]
    line: Line
    since: Annotated[int, Field(ge=0, le=MAX_PLIES)] = 0


class AgentRequest(_Request):
    """Whether a text names an agent that can play the game."""

    do: Literal["agent"]
    game: Text
    agent: Text


class MoveRequest(_Request):
    """An agent's move at the end of a line; `seconds` is for agents that search."""

    do: Literal["move"]
    line: Line
    agent: Text
    seed: Id
    seconds: Seconds | None = None


class ExplainRequest(_Request):
    """An agent's analysis of the position at the end of a line, which improves over time."""

    do: Literal["explain"]
    line: Line
    agent: Text
    seconds: Seconds


class ReviewRequest(_Request):
    """The analysis of every position of a line; without an agent as `play.review` does it."""

    do: Literal["review"]
    line: Line
    agent: Text | None = None


# For a page: one for each position, or none.
_BY_POSITION: Any = Field(default=[], max_length=MAX_PLIES + 1)


class SaveRequest(_Request):
    """A game, to be written as a file."""

    do: Literal["save"]
    format: Literal["jsonl", "moves", "page", "svg"]  # svg: a picture of its last position
    line: Line
    players: Annotated[tuple[Text, Text], Field(strict=False)] | None = None
    info: dict[str, Any] = {}  # `resigned`: the side that has
    # By role, for a game that is not over by its rules.
    goals: Annotated[tuple[float, float], Field(strict=False)] | None = None
    # Notes of the analysis, the first side's share of a win, and the mark of the move before.
    notes: list[Annotated[str, Field(max_length=300)]] = _BY_POSITION
    curve: list[Annotated[float, Field(ge=0, le=1)] | None] = _BY_POSITION
    marks: list[Mark | None] = _BY_POSITION


class RunsRequest(_Request):
    """The list of trainings and tournaments."""

    do: Literal["runs"]


class StopRequest(_Request):
    """Stop the request with the id `job`."""

    do: Literal["stop"]
    job: Id


class LoadJob(NamedTuple):
    """The games of a file; only the server sends this."""

    path: Path
    game: str


Thought: TypeAlias = MoveRequest | ExplainRequest | ReviewRequest
Question: TypeAlias = GameRequest | LineRequest | AgentRequest | Thought | SaveRequest | RunsRequest
Job: TypeAlias = Thought | LoadJob  # for a process

_REQUEST: Any = Annotated[Question | StopRequest, Field(discriminator="do")]


def parse_request(text: str) -> Question | StopRequest:
    """Return a request; ValueError if it is wrong."""
    return decode(_REQUEST, parse_json(text), "a message")


def id_of(text: str) -> int | None:
    """Return the id of a wrong message; None if it has none."""
    match = re.search(r'"id": ?([0-9]{1,15})\b', text)
    return int(match[1]) if match else None
