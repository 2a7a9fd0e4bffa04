"""The actions of a game and how players write them: "d3", "b1-b3", "pass".

The `notation` of a game is one of these: `Placing` (an action puts a piece on a square), `Dropping`
(it names a file), `Moving` (it moves a piece from a square in a direction), `Pairs` (it names two
squares), `Named` (it has a name of its own), `Passing` (one may pass at will), several of them one
after the other (`Parts`), or a subclass of `Notation`.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, chain
from typing import TYPE_CHECKING, TypeAlias

from boardenvs.board.bitboard import DIRECTIONS, Direction, squares_of, steps
from boardenvs.board.symmetry import Symmetry
from boardenvs.utils.checks import check_name, quote

if TYPE_CHECKING:
    from boardenvs.game.game import Game
    from boardenvs.game.position import Position

Line: TypeAlias = tuple[int, ...]
PASS = "pass"  # the last action
_NUMBER = re.compile(r"(?<![a-p\d])(?:0?[1-9]|[12]\d|3[0-2])(?!\d)")  # of 32 squares
_BETWEEN = re.compile(r"(?<=\d)[-x:>=~\u2013\u2014\u2192\u00d7]*(?=[a-z]\d)")
_PASSES = ("pa", "ps", "--")

_BY_SQUARES = "as the square that the piece leaves, a hyphen and the square that it goes to, as in"


class Notation(ABC):
    """The actions of a game and their names; `boardenvs.game.notation` has the usual ones.

    Actions come in parts, as `Rules.moves` returns them; by default each part has one action per
    square, so that action n * p + s, on a board of n squares, belongs to square s of part p. The
    methods are called with actions in range and never with noop, which `Game` writes and reads
    itself; `position`, if given, is the position in which the action is taken.
    """

    planes: int = 1  # the number of such parts
    needs_position = True  # whether the name of an action depends on the position
    written = "like"  # how people write moves, before an example
    numbered: tuple[int, ...] = ()  # the squares that people number, from 1 on
    usual = re.compile(r"(?!)")  # other names of moves, legal or not; see `other_name`

    def explain(self, game: Game) -> str:
        """Return the meaning of the actions (except noop) in Markdown."""
        return "The actions are in parts of " + ", ".join(map(str, self.sizes(game))) + "."

    def write(self, game: Game, action: int, position: Position | None) -> str:
        """See `Game.action_name`; by default the names of its squares with hyphens between them."""
        return "-".join(map(game.square_name, self.squares(game, action, position)))

    @abstractmethod
    def parse(self, game: Game, text: str) -> int:
        """See `Game.parse_action`."""

    def form(self, game: Game, action: int, position: Position | None) -> str:
        """Return how people write moves, with this action as the example: "like d3"."""
        return f"{self.written} {self.write(game, action, position)}"

    @abstractmethod
    def squares(self, game: Game, action: int, position: Position | None) -> tuple[int, ...]:
        """See `Game.action_squares`."""

    def sizes(self, game: Game) -> tuple[int, ...]:
        """Return how many actions each part has."""
        return (game.board.size,) * self.planes

    def other_name(self, game: Game, action: int, position: Position) -> str:
        """Another usual name of a legal action, such as "Nf3"; "" if there is none."""
        return ""

    def turns(self, text: str, position: Position) -> list[Line]:
        """Return the legal actions that a text means, several where a side goes on: those of the
        name, else all that visit its squares, such as "d4xf6xd8" or "a7-d7xa1".
        """
        game, plain = position.game, plain_move(text, position.game)
        same: list[Line] = [
            (action,)
            for action in position.legal_actions()
            if plain_move(game.action_name(action, position), game) == plain
        ]
        return same or [*dict(_lines(position, plain.split("-"))).values()]

    def plane_images(self, symmetry: Symmetry) -> list[int]:
        """Return the image of each part under a symmetry of the board, where a part has an action a
        square.
        """
        return list(range(self.planes))

    def images(self, game: Game, symmetry: Symmetry) -> list[int]:
        """See `Game.action_images`; without noop."""
        size = game.board.size
        planes = self.plane_images(symmetry)
        return [size * plane + square for plane in planes for square in symmetry.squares]


class Placing(Notation):
    """Action s places a piece on square s."""

    needs_position = False

    def explain(self, game: Game) -> str:
        return (
            f"Action s, 0 to {game.board.size - 1}, places one of the side's {game.about.pieces} "
            f"on square {_numbered(game)}."
        )

    def parse(self, game: Game, text: str) -> int:
        return game.parse_square(text)

    def squares(self, game: Game, action: int, position: Position | None) -> tuple[int, ...]:
        return (action,)


class Dropping(Notation):
    """Action x drops a piece into the file x, from 0; players write x + 1. The file's letter and
    the square are read, too.
    """

    needs_position = False

    def turns(self, text: str, position: Position) -> list[Line]:
        files = {letter: str(n) for n, letter in enumerate(position.game.look.files, start=1)}
        return super().turns(files.get(text.strip().lower(), text), position)

    def sizes(self, game: Game) -> tuple[int, ...]:
        return (game.board.columns,)

    def explain(self, game: Game) -> str:
        files = game.board.columns
        return (
            f"Action x, 0 to {files - 1}, drops one of the side's {game.about.pieces} into file x, "
            f"counted from the left; players write 1 to {files}."
        )

    def write(self, game: Game, action: int, position: Position | None) -> str:
        return str(action + 1)

    def parse(self, game: Game, text: str) -> int:
        if text.isdecimal() and len(text) < 3 and 1 <= int(text) <= game.board.columns:
            return int(text) - 1
        raise ValueError(f"{quote(text)} is not a file: files are 1 to {game.board.columns}")

    def squares(self, game: Game, action: int, position: Position | None) -> tuple[int, ...]:
        """Return the square that the piece falls to; without a position, the file's highest."""
        taken = 0 if position is None else position.own | position.opp
        board = game.board
        file = range(action, board.size, board.columns)
        return (next((s for s in file if position and not taken >> s & 1), file[-1]),)

    def images(self, game: Game, symmetry: Symmetry) -> list[int]:
        columns = game.board.columns
        return [symmetry.squares[file] % columns for file in range(columns)]


@dataclass(frozen=True)
class Named(Notation):
    """Action i has the i-th name; names such as "d3" and "b1-b3" tell the squares concerned."""

    names: tuple[str, ...]
    needs_position = False

    def __post_init__(self) -> None:
        wrong = [name for name in self.names if name.split() != [name] or not name.isprintable()]
        if wrong or len(set(self.names)) < len(self.names):
            raise ValueError(
                f"actions are {quote(self.names)}: they must be different printable names without "
                "spaces"
            )

    def sizes(self, game: Game) -> tuple[int, ...]:
        return (len(self.names),)

    def explain(self, game: Game) -> str:
        return f"The actions are, from 0 on, {', '.join(self.names)}."

    def write(self, game: Game, action: int, position: Position | None) -> str:
        return self.names[action]

    def parse(self, game: Game, text: str) -> int:
        check_name("move", text, self.names)
        return self.names.index(text)

    def squares(self, game: Game, action: int, position: Position | None) -> tuple[int, ...]:
        try:
            names = self.names[action].split("-")
            return tuple(map(game.parse_square, names))
        except ValueError:
            return ()

    def images(self, game: Game, symmetry: Symmetry) -> list[int]:
        """Return the actions whose names have the images of the squares, in this order or else in
        the reverse one; ValueError where there are none.
        """
        actions = range(len(self.names))
        if list(symmetry.squares) == list(range(game.board.size)):
            return list(actions)
        squares = [self.squares(game, action, None) for action in actions]
        places = {squares[action][::way]: action for way in (-1, 1) for action in actions}
        images = [places.get(tuple(symmetry.squares[s] for s in each), -1) for each in squares]
        if set(images) != set(actions):
            raise ValueError(
                f"{quote(self.names)} have no images under {symmetry}: names of actions must tell "
                'the squares, as "d3" and "b1-b3" do'
            )
        return images


@dataclass(frozen=True)
class Passing(Named):
    """One action, which passes where noop, the pass that is forced, is not what is meant."""

    names: tuple[str, ...] = (PASS,)

    def explain(self, game: Game) -> str:
        return "it passes."

    def images(self, game: Game, symmetry: Symmetry) -> list[int]:
        return [0]


@dataclass(frozen=True)
class Pairs(Notation):
    """Action n * p + s, on a board of n squares, moves the piece on square s to `targets[p]`."""

    targets: tuple[int, ...]
    needs_position = False
    written = _BY_SQUARES

    @property
    def planes(self) -> int:  # type: ignore[override]
        return len(self.targets)

    def explain(self, game: Game) -> str:
        names = ", ".join(map(game.square_name, self.targets))
        return (
            f"Action `{game.board.size}*p + s` moves one of the side's {game.about.pieces}, that "
            f"on square {_numbered(game)}, to the one numbered p, from 0, among {names}."
        )

    def parse(self, game: Game, text: str) -> int:
        source, _, target = text.partition("-")
        end = game.parse_square(target)
        if end not in self.targets:
            raise ValueError(f"{quote(text)} ends on {target}, where no piece moves")
        return game.board.size * self.targets.index(end) + game.parse_square(source)

    def squares(self, game: Game, action: int, position: Position | None) -> tuple[int, ...]:
        plane, source = divmod(action, game.board.size)
        return source, self.targets[plane]

    def plane_images(self, symmetry: Symmetry) -> list[int]:
        return [self.targets.index(symmetry.squares[target]) for target in self.targets]


@dataclass(frozen=True)
class Parts(Notation):
    """The actions of several notations, one after the other. Their names must differ."""

    parts: tuple[Notation, ...]
    numbered: tuple[int, ...] = ()

    @property
    def needs_position(self) -> bool:  # type: ignore[override]
        return any(part.needs_position for part in self.parts)

    def sizes(self, game: Game) -> tuple[int, ...]:
        return tuple(chain.from_iterable(part.sizes(game) for part in self.parts))

    def explain(self, game: Game) -> str:
        return " ".join(
            f"From {own.start} on: {part.explain(game)}" if own.start else part.explain(game)
            for part, own in self._ranges(game)
        )

    def write(self, game: Game, action: int, position: Position | None) -> str:
        part, inner = self._part_of(game, action)
        return part.write(game, inner, position)

    def parse(self, game: Game, text: str) -> int:
        problem: ValueError | None = None
        for part, own in self._ranges(game):
            try:
                action = part.parse(game, text)
            except ValueError as error:
                problem = problem or error
            else:
                if part.write(game, action, None) == text:
                    return own[action]
        raise problem or ValueError(f"{quote(text)} is not a move")

    def form(self, game: Game, action: int, position: Position | None) -> str:
        """Return the forms of all kinds of parts, with legal actions as examples, if any."""
        legal, forms = position.legal_actions() if position else [], dict[str, str]()
        for part, own in self._ranges(game):
            shown = [own.index(a) for a in legal if a in own]
            # The first action of a part may lead nowhere, as a1-a1.
            example = (game, shown[0], position) if shown else (game, len(own) // 2, None)
            form, name = part.form(*example), part.write(*example)
            if shown or form.removesuffix(name) not in map(str.removesuffix, forms, forms.values()):
                forms[form] = name
        return "; or ".join(forms)

    def squares(self, game: Game, action: int, position: Position | None) -> tuple[int, ...]:
        part, inner = self._part_of(game, action)
        return part.squares(game, inner, position)

    def images(self, game: Game, symmetry: Symmetry) -> list[int]:
        parts = self._ranges(game)
        return [own[image] for part, own in parts for image in part.images(game, symmetry)]

    def _part_of(self, game: Game, action: int) -> tuple[Notation, int]:
        """Return the part that an action belongs to, and its number there."""
        parts = self._ranges(game)
        return next((part, own.index(action)) for part, own in parts if action in own)

    def _ranges(self, game: Game) -> list[tuple[Notation, range]]:
        """Return each part and its actions."""
        sizes = [sum(part.sizes(game)) for part in self.parts]
        ends = accumulate(sizes)
        return [
            (part, range(end - size, end))
            for part, size, end in zip(self.parts, sizes, ends, strict=True)
        ]


@dataclass(frozen=True)
class Moving(Notation):
    """Action n * d + s, on a board of n squares, moves the piece on square s in direction
    `directions[d]`.

    distance: how many squares every piece goes; None where that takes a position to know.
    """

    directions: tuple[Direction, ...] = DIRECTIONS
    distance: int | None = None
    written = _BY_SQUARES

    @property
    def planes(self) -> int:  # type: ignore[override]
        return len(self.directions)

    @property
    def needs_position(self) -> bool:  # type: ignore[override]
        return self.distance is None

    def sizes(self, game: Game) -> tuple[int, ...]:
        for direction in self.directions:
            direction.check_board(game.board)
        return super().sizes(game)

    def explain(self, game: Game) -> str:
        names = ", ".join(f"{i} {_compass(d)}" for i, d in enumerate(self.directions))
        return (
            f"Action `{game.board.size}*d + s` moves one of the side's {game.about.pieces}, that "
            f"on square {_numbered(game)}, in direction d: {names}; north is up."
        )

    def write(self, game: Game, action: int, position: Position | None) -> str:
        name = super().write(game, action, position)
        return name if "-" in name else f"{name}-{self.directions[action // game.board.size].name}"

    def parse(self, game: Game, text: str) -> int:
        start, _, target = text.partition("-")
        try:
            source = game.parse_square(start)
            for plane, direction in enumerate(self.directions):
                ends = map(game.square_name, self._ends(game, source, direction))
                if target in (direction.name, *ends):
                    return game.board.size * plane + source
            names = ", ".join(direction.name for direction in self.directions)
            raise ValueError(f"no piece on {start} goes to {quote(target)}: directions are {names}")
        except ValueError as error:
            raise ValueError(f'{quote(text)} is not a move like "b1-b3": {error}') from None

    def squares(self, game: Game, action: int, position: Position | None) -> tuple[int, ...]:
        plane, source = divmod(action, game.board.size)
        ends = self._ends(game, source, self.directions[plane])
        if self.distance is None:  # where the piece ends is not known without a position
            new = 0
            if position is not None and position.is_legal(action):
                new = position.step(action).opp & ~position.own  # captured pieces too, if they turn
            ends = [end for end in ends if new >> end & 1]
        return (source, *ends[:1])

    def _ends(self, game: Game, source: int, direction: Direction) -> list[int]:
        """Return the squares on which a piece may end."""
        counts = range(1, max(game.board)) if self.distance is None else (self.distance,)
        ways = (steps(1 << source, direction, count) for count in counts)
        return [end for way in ways for end in squares_of(way)]

    def plane_images(self, symmetry: Symmetry) -> list[int]:
        """ValueError where the symmetry turns a direction into one that pieces do not go."""
        vectors = [(direction.dx, direction.dy) for direction in self.directions]
        images = [symmetry.vector(*vector) for vector in vectors]
        if not set(images) <= set(vectors):
            raise ValueError(f"{symmetry} turns the directions {vectors} into others, {images}")
        return [vectors.index(image) for image in images]


@lru_cache(1 << 16)
def plain_move(text: str, game: Game) -> str:
    """Return a move in small letters, with names for numbers of squares, a hyphen between squares
    and nothing else.
    """
    text = "".join(text.lower().split())
    if text in _PASSES:
        return PASS
    if squares := game.notation.numbered:
        text = _NUMBER.sub(lambda number: game.square_name(squares[int(number[0]) - 1]), text)
    return _BETWEEN.sub("-", text).strip("x:-")


def _lines(
    position: Position, wanted: Sequence[str], path: Sequence[str] = (), line: Line = ()
) -> Iterator[tuple[Position, Line]]:
    """Yield the lines of a side's actions that visit these squares, with the position after each.

    Squares between the first and the last may be left out where the same piece goes on.
    """
    game = position.game
    for action in position.legal_actions():
        squares = tuple(map(game.square_name, game.action_squares(action, position)))
        visited = (*path, *squares[path[-1:] == squares[:1] :])
        if visited and visited[0] == wanted[0]:
            after, actions = position.step(action), (*line, action)
            if visited[-1] == wanted[-1] and {*wanted} <= {*visited}:
                yield after, actions
            elif after.to_move == position.to_move and (len(squares) > 1 or not path):
                yield from _lines(after, wanted, visited, actions)


def _compass(direction: Direction) -> str:
    """Return the direction's name in full, such as "north-east" or "2 north-1 east"."""
    ways = (direction.dy, "north", "south"), (direction.dx, "east", "west")
    far = not {direction.dx, direction.dy} <= {-1, 0, 1}
    return "-".join(f"{abs(n)} " * far + (more if n > 0 else less) for n, more, less in ways if n)


def _numbered(game: Game) -> str:
    """Return how squares are numbered, in Markdown."""
    columns = game.board.columns
    shown = (0, columns - 1, game.board.size - 1)
    names = [f"{square} is {game.square_name(square)}" for square in shown]
    return f"`s = {columns}*({row_of_rank(game)}) + (x-1)`: {', '.join(names)}"


def row_of_rank(game: Game) -> str:
    """Return how the row of squares, from the bottom and from 0, is computed from the rank y."""
    return f"{game.board.rows}-y" if game.look.from_top else "y-1"
