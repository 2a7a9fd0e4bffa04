"""The rules of a game on words, and its properties.

The rules are functions of words (see `boardenvs.kernel`): the start, the moves of the side to move,
the effect of a move, the end, and the points that decide the game. A new game defines them; `Game`
(`game/game.py`) derives everything else.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from boardenvs.board.bitboard import EIGHT, LARGEST, Board
from boardenvs.board.bitslice import digits
from boardenvs.board.symmetry import Symmetry
from boardenvs.game.look import WINNING_LINE, Look
from boardenvs.kernel import Bits
from boardenvs.kernel.wide import join, split
from boardenvs.utils.checks import is_whole, quote

if TYPE_CHECKING:
    from boardenvs.game.position import Position

LIMITS = (
    "games have two players, who see everything and leave nothing to chance, and numbers below "
    "2**63"
)
MAX_VALUE = 100_000  # heuristics stay below
WIN, DRAW, LOSS = 100.0, 50.0, 0.0  # goal values
# The reward for an illegal action that ends the game, on either scale of rewards.
ILLEGAL_ACTION_REWARD = -1.0


def goal_to_reward(goal: Any) -> Any:
    """Goal values 100 / 50 / 0 as zero-sum rewards +1 / 0 / -1."""
    return (goal - DRAW) / DRAW


@dataclass(frozen=True)
class About:
    """The words of a game's page, in Markdown; `boardenvs.envs.page` adds the rest.

    What is left empty is taken from the docstring of the game's class, or left out.
    """

    title: str = ""
    summary: str = ""  # one sentence under the title
    rules: str = ""  # the start, how pieces move, the side that moves first
    pieces: str = "pieces"  # what is on the board
    planes: tuple[str, ...] = ()  # what planes 2, 3, ... show; the last one covers all that follow
    passing: str = "It is legal only for a side without another move."
    end: str = ""  # when the game is over and who has won
    options: Mapping[str, str] = field(default_factory=dict)  # what each rule parameter does
    choice: str = ""  # which rules, or which of similar games, a newcomer takes
    source: str = ""  # where the rules come from, and what departs from it
    # All rules in full sentences, for players by text. They name squares and roles, but no ranks,
    # files or directions, since the board may be shown turned and renamed.
    instructions: str = ""


class Feature(NamedTuple):
    """A number that describes a position."""

    number: Bits
    size: int  # the number is below it, in every position that is not over


class Rules(ABC):
    """The rules and properties that the class of a game defines; `Game` derives the rest.

    A position consists of words: sets of `squares`, and `numbers`; of the side to move (`to_move`,
    0 or 1) and the number of plies played (`ply`). A rule gets the values that its parameters name.
    Words named `own` or `own_...` belong to the side to move, and each has a counterpart `opp` or
    `opp_...` of the other side; they are swapped when the turn passes. A rule that returns words
    returns all of them in the order of their declaration. A set of more than 64 squares is one
    value in rules and several words elsewhere. A set of actions has parts, with one bit per action;
    actions are numbered through all parts in order, and noop is the last.
    """

    id: str

    roles: ClassVar[tuple[str, str]]  # first to move first

    shape: ClassVar[tuple[int, int]] = EIGHT  # ranks and files of the board
    squares: ClassVar[tuple[str, ...]] = ("own", "opp")  # where the sides have pieces comes first
    numbers: ClassVar[Mapping[str, int]] = {}  # each with what it stays below

    history: ClassVar[int] = 0  # how many of the last positions are known again, see `repeats`

    # Properties and their defaults.
    variants: ClassVar[tuple[str, ...]] = ()  # the values of a parameter `rules`, the first default
    max_plies: ClassVar[int | None] = None  # a cap that truncates a game that is not over
    holes: ClassVar[int] = 0  # squares out of play, as a set of squares
    margin_counts: ClassVar[bool] = False  # a win by more points is better; if not, a sooner one is
    fills_up: ClassVar[bool] = False  # every action but noop fills one empty square, for good
    # It fills up, a square may be filled exactly where that takes opposing squares, and the game is
    # over where neither side can: the last empty squares are then searched without `moves`.
    fills_by_capture: ClassVar[bool] = False
    opening_plies: ClassVar[tuple[int, int]] = (4, 8)  # random plies of openings: fewest and most
    # In a game whose sides differ by it alone: the position's image is played alike by the other
    # side. Networks see the board turned by it where the second role is to move.
    mover_symmetry: ClassVar[Symmetry | None] = None
    look: ClassVar[Look] = Look()
    files: ClassVar[Path | None] = None  # a folder of what was learnt of it, see `games.files`

    @property
    def about(self) -> About:
        """The texts of the game's page; the class's docstring fills what they leave out."""
        return About()

    @property
    def symmetries(self) -> tuple[Symmetry, ...]:
        """The symmetries that leave the rules unchanged, including the identity."""
        return (Symmetry(board=self.board),)

    @property
    def judged_as(self) -> Rules:
        """The game whose trained evaluation judges positions of this one: of the same features."""
        return self

    def __init_subclass__(cls) -> None:
        """ValueError if the class declares what no game can be; see `check_declared`."""
        super().__init_subclass__()
        check_declared(cls)

    @cached_property
    def board(self) -> Board:
        """The board: of the fields `rows` and `columns`, or `size` of a square one, if the class
        has them, else of its `shape`; ValueError if they are impossible.
        """
        size = getattr(self, "size", None)
        sizes = getattr(self, "rows", size), getattr(self, "columns", size)
        shape = self.shape if None in sizes else sizes
        game: Any = self
        name = game.source.__name__
        _check_shape(name, shape)
        if self.shape is not EIGHT and self.shape != shape:
            raise ValueError(
                f"{name} has the shape {self.shape}, and fields for a board of {shape}: leave out "
                "one of them"
            )
        board = vars(self)["board"] = Board(*shape)  # what is checked next may ask for it
        try:
            check_declared(type(self), self)
        except ValueError:
            del vars(self)["board"]
            raise
        return board

    @cached_property
    def word_names(self) -> tuple[str, ...]:
        """The names of all words: a set of squares in several words has a number after its name;
        in a game with a `history` the key of the position and its `repeats` come last.
        """
        ends = ["", *(f"{_WORD_OF}{k}" for k in range(1, self.board.words))]
        sets = (name + end for name in self.squares for end in ends)
        return (*sets, *self.numbers, *([_KEY, REPEATS] if self.history else []))

    # ---- sizes -----------------------------------------------------------------------------

    @property
    @abstractmethod
    def action_sizes(self) -> tuple[int, ...]:
        """How many actions there are in each part of what `moves` returns."""

    @cached_property
    def num_actions(self) -> int:
        return sum(self.action_sizes) + 1

    @cached_property
    def noop(self) -> int:
        """The number of the action that passes."""
        return sum(self.action_sizes)

    @cached_property
    def legal_words(self) -> int:
        """The number of words that hold a bit for each action."""
        return -(-self.num_actions // 64)

    # ---- values and words --------------------------------------------------------------------

    def start_words(self) -> tuple[int, ...]:
        """Return the words at the start, without the key of the position."""
        return (*self.split(self.setup()), *[0] * (len(self.word_names) - self.known_words))

    @cached_property
    def known_words(self) -> int:
        """The number of words that a game declares: all but the key and the repeats."""
        return len(self.word_names) - 2 * bool(self.history)

    def split(self, values: Sequence[Bits]) -> tuple[Bits, ...]:
        """Return the words of the sets and numbers that a game declares, in their order."""
        width, count = self.board.words, len(self.squares)
        if width == 1:
            return tuple(values)
        sets = chain.from_iterable(split(value, width) for value in values[:count])
        return (*sets, *values[count:])

    def join(self, words: Sequence[Bits]) -> tuple[Bits, ...]:
        """Return the reverse of `split`; what follows these words is left out."""
        width, end = self.board.words, self.board.words * len(self.squares)
        words = words[: self.known_words]
        if width == 1:
            return tuple(words)
        return (*(join(words[k : k + width]) for k in range(0, end, width)), *words[end:])

    # ---- the rules -------------------------------------------------------------------------

    @abstractmethod
    def setup(self) -> tuple[int, ...]:
        """Return the words at the start, where the first role is to move."""

    @abstractmethod
    def moves(self, *words: Any) -> Sequence[Bits]:
        """Return the moves of the side to move, a value for each part of the actions, without noop.

        Takes words and `to_move`.
        """

    @abstractmethod
    def play(self, *words: Any) -> tuple[Bits, ...]:
        """Return the words after a legal action (noop included), still as the side that has moved
        sees them.

        Takes words, `to_move` and `action`, which may be used in arithmetic and as index of a
        `Table`.
        """

    def again(self, *words: Any) -> Bits:
        """1 if the side that has moved is to move again; games whose turn always passes omit this
        rule.

        Takes words, as `play` returns them, `to_move`, the side that has moved, its `action`, and
        the words before, such as `before_own`.
        """
        return 0

    @abstractmethod
    def over(self, *words: Any) -> Bits:
        """1 if the game is over, else 0. Takes words, `moves`, `to_move` and `ply`."""

    def repetition_key(self, *words: Any) -> Sequence[Bits]:
        """Return the values that identify a repeated position: by default all sets of squares and
        the side to move.

        Takes words and `to_move`. In a game with a `history`, all rules that take `to_move`, except
        `play` and `moves`, may take `repeats` too: how many of the remembered positions are the
        same. Positions are remembered by a hash of 64 bits; about one in 2**57 comparisons is
        wrong.
        """
        return (*words[: len(self.squares)], words[-1])

    @abstractmethod
    def points(self, *words: Any) -> tuple[Bits, Bits]:
        """Return the points of the side to move and of the other side: more win, equal points draw.

        Takes words and `to_move`.
        """

    def planes(self, *words: Any) -> tuple[Bits, ...]:
        """Return the observation's planes; together they must determine the rest of the game. By
        default one for each set of squares, and one for each digit of each number, lowest digit
        first.

        Takes words, `to_move` and `ply`.
        """
        count = len(self.squares)
        numbers = zip(words[count:], self.numbers.values(), strict=False)
        planes = (digits(number, size, self.board.all) for number, size in numbers)
        return (*words[:count], *chain.from_iterable(planes))

    def kinds(self, *words: Any) -> Sequence[Bits]:
        """Return the kinds of pieces that learnt evaluations distinguish, as disjoint sets of
        squares.

        By default each side's pieces, divided by the first further set that contains them. Takes
        words.
        """
        own, opp, *further = words[: len(self.squares)]
        kinds: list[Bits] = []
        for name, squares in zip(self.squares[2:], further, strict=True):
            if not name.startswith("opp_"):
                kinds.append(own & squares)
                own = own ^ kinds[-1]
            if not name.startswith("own_"):
                kinds.append(opp & squares)
                opp = opp ^ kinds[-1]
        return (own, opp, *kinds)

    def stable(self, *words: Any) -> Bits:
        """Return squares of `opp` that it keeps to the end of the game, whatever both sides play.

        They need not be all; the endgame solver uses them to prove that a lead is out of reach. For
        games that fill up, in which more squares never mean fewer points.
        """
        return 0

    def check_squares(self, squares: tuple[int, ...]) -> None:  # noqa: B027 - most need none
        """Raise PositionError if these words, as the first role sees them, are no position.

        The squares of the roles are disjoint and on no holes: this has been checked.
        """

    def ending(self, position: Position) -> str:
        """Return how a finished game has ended: what follows "white wins" or "draw", such as "by
        mate"; by default nothing, and then what is counted is shown.
        """
        return ""

    def turn(self, position: Position) -> str:
        """Return what the side to move is to do, to follow its name: "to remove a man"."""
        return "to move"

    def move_number(self, position: Position) -> str:
        """Return the number of the next move as players count, by default of the ply: "1."; in
        chess of both sides' moves: "1." and "1...".
        """
        return f"{position.ply + 1}."

    def standing(self, position: Position) -> tuple[str, str]:
        """Return what each role has, for people: by default its points or pieces."""
        first, second = position.counts()
        return str(first), str(second)

    def badge(self, position: Position, name: str) -> int:
        """Return the squares of a badge of the look: of `WINNING_LINE` the pieces that have won, of
        others the word of this name.
        """
        return position.winning_pieces() if name == WINNING_LINE[0] else position.word(name)

    def won_by(self, position: Position) -> float | None:
        """By how many points a finished game was won; None if points are not counted."""
        if not self.margin_counts:
            return None
        first, second = position.points()
        return abs(first - second)

    def evaluate(self, *words: Any) -> tuple[Bits, Bits]:
        """Return the heuristic: the values of a position that is not over for its side to move and
        for the other side, as words below `MAX_VALUE`; the value of the position is their
        difference.

        Takes words, `to_move` and `ply`.
        """
        raise NotImplementedError(self.no_heuristic)

    def forcing(self, *words: Any) -> Sequence[Bits]:
        """Return the moves that alpha-beta follows beyond its depth, such as captures, in parts as
        `moves` returns them; those that are not legal do not count. A side with another legal move
        may stop there. They must come to an end. By default none.

        Takes words and `to_move`.
        """
        return [0] * len(self.action_sizes)

    def features(self, *words: Any) -> Mapping[str, Feature]:
        """Return numbers by name that describe a position that is not over, the same for every
        symmetry.

        A learnt evaluation (`boardenvs.search.evaluation`) may have a weight for each value.

        Takes words, `to_move` and `ply`.
        """
        return {}

    @property
    def has_heuristic(self) -> bool:
        """Whether the class has an `evaluate` of its own."""
        return type(self).evaluate is not Rules.evaluate

    @cached_property
    def alternates(self) -> bool:
        """Whether the turn passes with every ply: the class has no `again`."""
        return type(self).again is Rules.again

    @property
    def has_forcing(self) -> bool:
        """Whether the class says which moves are forcing."""
        return type(self).forcing is not Rules.forcing

    @property
    def has_stable(self) -> bool:
        """Whether the class says which squares are stable."""
        return type(self).stable is not Rules.stable

    @property
    def no_heuristic(self) -> str:
        """The message of the error if a game has no heuristic."""
        name = type(self).__name__
        return (
            f"{self.id} has no heuristic: write {name}.evaluate(self, own, opp, to_move, ply), "
            "which returns what a position counts for either side"
        )


def _check_shape(name: str, shape: Any) -> None:
    """ValueError for a shape that no board has."""
    whole = isinstance(shape, tuple) and all(is_whole(length, 1, LARGEST) for length in shape)
    if not whole or len(shape) != 2:
        raise ValueError(
            f"the shape of {name} is {quote(shape)}: it must be two numbers of ranks and files, 1 "
            f"to {LARGEST} each"
        )


def check_declared(rules: type[Rules], declared: Any = None) -> None:
    """ValueError if a class, or a game of it, has words, roles or a board that no game can have.

    declared: the game, which may compute what others declare.
    """
    name, declared = (declared.source if declared else rules).__name__, declared or rules
    if "board" in rules.__dict__:
        raise ValueError(f"{name} has a `board`: give it a `shape`, (ranks, files), in its place")
    if not isinstance(declared.shape, property):
        _check_shape(name, declared.shape)
    most = getattr(declared, "max_plies", None)
    if not (most is None or isinstance(most, property) or is_whole(most, 1)):
        raise ValueError(f"max_plies of {name} is {quote(most)}: it must be 1 or more, or None")
    roles = declared.roles if "roles" in {*vars(rules), *vars(declared)} else ("a", "b")
    if isinstance(roles, tuple) and len(roles) != 2:
        raise ValueError(f"{name} has {len(roles)} roles: {LIMITS}")
    letters = {str(role)[:1] for role in roles} if isinstance(roles, tuple) else {""}
    if len(letters) < 2 or not all("a" <= letter <= "z" for letter in letters):
        raise ValueError(
            f"the roles of {name} are {roles}: they must be two words that begin with different "
            "small letters"
        )
    for attribute, (kind, right) in _KINDS.items():
        value = getattr(declared, attribute)
        if not isinstance(value, kind | property | cached_property):
            raise ValueError(f"{attribute} of {name} is {quote(value)}: it must be {right}")
    if declared is not rules:
        check_id(declared.id)
    if not isinstance(declared.squares, property) and not isinstance(declared.numbers, property):
        _check_names(name, declared.squares, declared.numbers)


def _check_names(game: str, squares: Sequence[str], numbers: Mapping[str, int]) -> None:
    """ValueError if the words of a position are declared wrongly."""
    names = (*squares, *numbers)
    if names[:2] != ("own", "opp") or len(set(names)) < len(names):
        raise ValueError(
            f"the words of {game} are {', '.join(names)}: they must be different names, "
            "'own' and 'opp' first"
        )
    for name in names:
        other = _COUNTERPART.get(name[:3], "") + name[3:]
        if name in GIVEN or name.startswith(BEFORE) or not name.isidentifier():
            raise ValueError(f"a word of {game} is named {name!r}: choose another name")
        if name[:3] in _COUNTERPART and name[3:4] in ("", "_") and other not in names:
            raise ValueError(
                f"{game} has {name!r} without {other!r}: words of the sides come in pairs"
            )
    for name, size in numbers.items():
        if not is_whole(size, 1, 1 << 63):
            raise ValueError(f"{name} of {game} stays below {quote(size)}: {LIMITS}")


def check_id(game_id: object) -> None:
    """ValueError for what is no id: ids may become names of files."""
    if not isinstance(game_id, str) or not _ID.fullmatch(game_id):
        raise ValueError(
            f"{quote(game_id)} is not an id of a game: write it in small letters, digits and "
            'underscores, such as "three_in_a_row"'
        )


_ID = re.compile("[a-z][a-z0-9_]*")
# What must be of one type, with what it must be.
_KINDS: dict[str, tuple[Any, str]] = {
    "about": (About, "an About"),
    "look": (Look, "a Look"),
    "margin_counts": (bool, "True or False"),
    "files": (Path | None, "the Path of a folder, or None"),
}
# The values that rules may take, besides words.
GIVEN = ("to_move", "ply", "action", "moves", "repeats")
_COUNTERPART = {"own": "opp", "opp": "own"}
BEFORE = "before_"  # begins the names of the words before an action
REPEATS, _KEY = GIVEN[-1], "+key"
_WORD_OF = "+"  # before the number of a further word of a set of squares


def swap_sides(names: Sequence[str], words: Sequence[Any]) -> tuple[Any, ...]:
    """Return the words as the other side sees them: the words of the sides are swapped."""
    return tuple(words[place] for place in swapped_places(names))


@cache
def swapped_places(names: Sequence[str]) -> tuple[int, ...]:
    """For each word, the index of the word that the other side sees there."""
    others = [_COUNTERPART.get(name[:3], name[:3]) + name[3:] for name in names]
    return tuple(names.index(other) if other in names else i for i, other in enumerate(others))
