"""What the page may ask for: every message is checked here, and bounded in size, before it is used.

A message is a JSON object with an `id` that the answer bears, and `do`, which says what is asked.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from boardenvs.game.rules import LOSS, WIN
from boardenvs.utils.decoding import decode, parse_json

MAX_MESSAGE = 256 << 10  # bytes
MAX_PLIES = 2_000
MAX_SECONDS = 60.0
MAX_GAMES = 20_000  # of a file

Text: TypeAlias = Annotated[str, Field(min_length=1, max_length=300)]
Move: TypeAlias = Annotated[str, Field(min_length=1, max_length=20)]
Goal: TypeAlias = Annotated[float, Field(ge=LOSS, le=WIN)]
Id: TypeAlias = Annotated[int, Field(ge=0, le=1 << 50)]


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Line(_Part):
    """A game as far as it was played; it is all that the server gets to know of it."""

    game: Text
    start: Text | None = None  # a position as `boardenvs.game.fen` reads it; None: the game's own
    moves: list[Move] = Field(default=[], max_length=MAX_PLIES)


class _Request(_Part):
    id: Id


class GameRequest(_Request):
    """What is there to know about a game before it is played."""

    do: Literal["game"]
    game: Text


class LineRequest(_Request):
    """The positions of a line, from the one after `since` plies on."""

    do: Literal["line"]
    line: Line
    since: Annotated[int, Field(ge=0, le=MAX_PLIES)] = 0


class AgentRequest(_Request):
    """Whether a text names an agent that can play the game."""

    do: Literal["agent"]
    game: Text
    agent: Text


class OpponentsRequest(_Request):
    """Which agents there are to play a game against."""

    do: Literal["opponents"]
    game: Text


class MoveRequest(_Request):
    """The move of an agent at the end of a line; one that searches thinks for `seconds`, if any."""

    do: Literal["move"]
    line: Line
    agent: Text
    seed: Id
    seconds: Annotated[float, Field(gt=0, le=MAX_SECONDS)] | None = None


class ExplainRequest(_Request):
    """What an agent thinks of the position at the end of a line, better and better."""

    do: Literal["explain"]
    line: Line
    agent: Text
    seconds: Annotated[float, Field(gt=0, le=MAX_SECONDS)]


class ReviewRequest(_Request):
    """What an agent thinks of every position of a line."""

    do: Literal["review"]
    line: Line
    agent: Text


class RunsRequest(_Request):
    """What trainings and tournaments there are."""

    do: Literal["runs"]


class StopRequest(_Request):
    """Stop what the message with the id `job` asked for."""

    do: Literal["stop"]
    job: Id


class LoadJob(_Part):
    """The games of a file, which the server asks a process for."""

    do: Literal["load"] = "load"
    path: str
    game: Text


Thought: TypeAlias = MoveRequest | ExplainRequest | ReviewRequest
Request: TypeAlias = (
    GameRequest
    | LineRequest
    | AgentRequest
    | OpponentsRequest
    | Thought
    | RunsRequest
    | StopRequest
)
Job: TypeAlias = Thought | LoadJob  # what a process is asked for

_REQUEST: Any = Annotated[Request, Field(discriminator="do")]
_JOB: Any = Annotated[Job, Field(discriminator="do")]


class SaveRequest(_Part):
    """A game to be written in a format."""

    format: Literal["jsonl", "wthor", "moves"]
    line: Line
    players: Annotated[tuple[Text, Text], Field(strict=False)] | None = None
    info: dict[str, Any] = Field(default={})
    # By role, where the rules do not say them.
    goals: Annotated[tuple[Goal, Goal], Field(strict=False)] | None = None
    resigned: Literal[0, 1] | None = None  # who resigned


def parse_request(text: str) -> Request:
    """The request; ValueError, in one line, where the text is none."""
    found: Request = decode(_REQUEST, parse_json(text), "a message")
    return found


def parse_job(text: str) -> Job:
    """The job that the server sent to a process."""
    found: Job = decode(_JOB, parse_json(text), "a job")
    return found


def parse_save(text: str) -> SaveRequest:
    """The request to save; ValueError, in one line, where the text is none."""
    return decode(SaveRequest, parse_json(text), "a message")


def id_of(text: str) -> int | None:
    """The id of a message that cannot be understood otherwise, None where it has none."""
    try:
        value = parse_json(text)
        return decode(_Request, {"id": value["id"]}, "a message").id
    except (ValueError, KeyError, TypeError):
        return None
