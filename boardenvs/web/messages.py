"""What the page may ask for: every message is checked here, and bounded in size, before it is used.

A message is a JSON object with an `id` that the answer bears, and `do`, which says what is asked.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from boardenvs.game.rules import LOSS, WIN
from boardenvs.utils.checks import cut
from boardenvs.utils.json_text import parse_json

T = TypeVar("T")

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


class MoveRequest(_Request):
    """The move of an agent at the end of a line."""

    do: Literal["move"]
    line: Line
    agent: Text
    seed: Id


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


class RunRequest(_Request):
    """A training or tournament, by its name in the list."""

    do: Literal["run"]
    name: Text


class CellRequest(_Request):
    """The recorded games of a pairing of a tournament."""

    do: Literal["cell"]
    name: Text
    game: Text
    first: Text
    second: Text


class StopRequest(_Request):
    """Stop what the message with the id `job` asked for."""

    do: Literal["stop"]
    job: Id


Job: TypeAlias = MoveRequest | ExplainRequest | ReviewRequest | CellRequest
Request: TypeAlias = (
    GameRequest | LineRequest | AgentRequest | Job | RunsRequest | RunRequest | StopRequest
)

_REQUEST: TypeAdapter[Request] = TypeAdapter(Annotated[Request, Field(discriminator="do")])


class SaveRequest(_Part):
    """A game to be written in a format."""

    format: Literal["jsonl", "wthor", "moves"]
    line: Line
    players: tuple[Text, Text] | None = None
    info: dict[str, Any] = Field(default={})
    goals: tuple[Goal, Goal] | None = None  # by role, where the rules do not say them
    resigned: Literal[0, 1] | None = None  # who resigned


_PAIRS = ("players", "goals")  # of a request to save, which JSON has as lists


def parse_request(text: str) -> Request:
    """The request; ValueError, in one line, where the text is none."""
    return _validated(_REQUEST, parse_json(text))


def parse_save(text: str) -> SaveRequest:
    """The request to save; ValueError, in one line, where the text is none."""
    value = parse_json(text)
    if isinstance(value, dict):
        value |= {k: tuple(v) for k, v in value.items() if k in _PAIRS and isinstance(v, list)}
    return _validated(TypeAdapter(SaveRequest), value)


def id_of(text: str) -> int | None:
    """The id of a message that cannot be understood otherwise, None where it has none."""
    try:
        value = parse_json(text)
        found = value.get("id") if isinstance(value, dict) else None
        return TypeAdapter(Id).validate_python(found, strict=True)
    except ValueError:
        return None


def _validated(adapter: TypeAdapter[T], value: Any) -> T:
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        where = ".".join(map(str, first["loc"])) or "the message"
        given = cut(repr(first["input"]))
        raise ValueError(f"{where} is {given}: {first['msg']}") from None
