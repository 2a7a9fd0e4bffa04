"""The contract of a game: its positions, its actions, and how these are written.

A class states the rules (`game/rules.py`) and with them everything else about its game. Everything
else in the library is derived from `Game`, once, for all games.

Every ply, a noop too, passes the turn to the other side, unless the game has a rule `again`.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import repeat
from typing import Any, ClassVar, NamedTuple

import numpy as np

from boardenvs.board.bitboard import drawn, joined, square_name, squares_of
from boardenvs.board.symmetry import Symmetry
from boardenvs.game.compiled import CompiledRules
from boardenvs.game.errors import IllegalActionError, PositionError
from boardenvs.game.rules import DRAW, LOSS, WIN, turned
from boardenvs.game.state import Int8Array, IntArray, State, take
from boardenvs.kernel import ALL
from boardenvs.utils.checks import is_whole, quote

PASS, NOOP = "pass", "noop"  # the last action, as players and as the rule sheets write it
MAX_PLY = 1 << 30  # of a position to start from: batches count plies in 32 bits


class Position(NamedTuple):
    """One position of a game, in Python ints; the fields mean what they mean in `State`.

    ```python
    import boardenvs

    position = boardenvs.games.make("othello").start()
    while not position.is_over():
        position = position.step(position.legal_actions()[0])
    print(position.result())  # what black and red got, 100 for a win
    ```
    """

    words: tuple[int, ...]
    legal_bits: tuple[int, ...]
    to_move: int
    ply: int
    terminated: bool
    game: Game

    @property
    def own(self) -> int:
        """The squares of the side to move."""
        return self.pieces(self.to_move)

    @property
    def opp(self) -> int:
        """The squares of the other side."""
        return self.pieces(1 - self.to_move)

    # ---- actions -----------------------------------------------------------------------------

    def is_legal(self, action: int) -> bool:
        """Whether the action is legal here; numbers that are no action are not."""
        word = action >> 6
        return 0 <= word < len(self.legal_bits) and bool(self.legal_bits[word] >> (action & 63) & 1)

    def legal_actions(self) -> list[int]:
        """The legal actions in ascending order."""
        actions = []
        for word, bits in enumerate(self.legal_bits):
            while bits:
                actions.append(64 * word + (bits & -bits).bit_length() - 1)
                bits &= bits - 1
        return actions

    def illegal_action(self, action: int) -> IllegalActionError:
        """The error of an action that is not legal here, or no action at all; it says what is."""
        game = self.game
        if not 0 <= action < game.num_actions:
            return IllegalActionError(
                f"action {action} is out of range: actions are 0 to {game.num_actions - 1}"
            )
        legal = ", ".join(f"{a} ({game.action_name(a, self)})" for a in self.legal_actions())
        return IllegalActionError(
            f"action {action} ({game.action_name(action)}) is not legal for "
            f"{game.roles[self.to_move]} at ply {self.ply}; legal: "
            f"{legal or 'nothing, the game is over'}"
        )

    def step(self, action: int) -> Position:
        """The position after an action; IllegalActionError, with what is legal, where it is not."""
        action = operator.index(action)
        if not self.is_legal(action):
            raise self.illegal_action(action)
        words, _, to_move, ply, _, game = self
        return _made(game, words, ply, game.kernels.step_words.one(*words, to_move, ply, action))

    def step_observe(self, action: int) -> tuple[Position, Int8Array]:
        """The position after a legal action, and its `observation_bytes`, in one call.

        For a caller that has checked that the action is legal: it is not checked here.
        """
        words, _, to_move, ply, _, game = self
        after, seen = game.kernels.step_observe.one_in_parts(*words, to_move, ply, action)
        return _made(game, words, ply, after), seen

    # ---- what it shows -----------------------------------------------------------------------

    def pieces(self, role: int) -> int:
        """The squares of a role, given by its index."""
        width, other = self.game.board.words, role != self.to_move
        if width == 1:
            return self.words[other]
        return int(self.game.join(self.words)[other])

    def by_role(self) -> tuple[int, ...]:
        """The sets and numbers as the first role sees them: what `Game.position` takes."""
        words = self.words if self.to_move == 0 else turned(self.game.word_names, self.words)
        return self.game.join(words)

    def word(self, name: str) -> int:
        """The set of squares, or the number, of this name."""
        names = (*self.game.squares, *self.game.numbers)
        return int(self.game.join(self.words)[names.index(name)])

    def image(self, symmetry: Symmetry) -> Position:
        """The position under a symmetry of the board; of a history nothing is left."""
        words = self.game.image(symmetry, self.game.split(self.by_role()))
        return self.game.position(self.game.join(words), self.to_move, self.ply)

    def planes(self) -> tuple[int, ...]:
        """The observation's planes for the side to move, one after the other, as words."""
        return self.game.kernels.planes.one(*self.words, self.to_move, self.ply)

    def observation_bytes(self, role: int, legal_bits: tuple[int, ...]) -> Int8Array:
        """What a role observes where these are its legal actions: its planes and then the actions,
        each in words of 64 squares or actions, (64 * W,) int8 of 0 and 1.
        """
        words = self.words
        if role != self.to_move:
            words = turned(self.game.word_names, words)
        kernel = self.game.kernels.observe
        seen: Int8Array = kernel.one_in_parts(*words, role, self.ply, *legal_bits)[1]
        return seen

    def fen(self) -> str:
        """The position as a line of text; see `boardenvs.game.fen`, which reads it back."""
        board, pieces = self.game.board, enumerate(self.game.roles)
        signs = drawn([(role[0], self.pieces(i)) for i, role in pieces], board.size)
        ranks = [signs[a1 : a1 + board.columns] for a1 in range(0, board.size, board.columns)]
        text = f"{joined(reversed(ranks))} {self.game.roles[self.to_move]} {self.ply}"
        rest = zip(self.game.further_words, self.by_role()[2:], strict=True)
        return text + "".join(f" {name}={self.game.word_text(name, x)}" for name, x in rest if x)

    def __repr__(self) -> str:
        return f"<{self.game.id} {self.fen()!r}>"

    def _repr_svg_(self) -> str | None:
        """In a notebook: the board."""
        drawer = type(self.game).drawer
        return None if drawer is None else drawer(self)

    # ---- the end -----------------------------------------------------------------------------

    def result(self) -> tuple[float, float]:
        """The goal values by role that the position would give, whether it is over or not."""
        first, second = self.points()
        if first == second:
            return (DRAW, DRAW)
        return (WIN, LOSS) if first > second else (LOSS, WIN)

    def points(self) -> tuple[int, int]:
        """The points by role, of which more win: in Othello the discs."""
        mine, theirs = self.game.kernels.points.one(*self.words, self.to_move)
        return (mine, theirs) if self.to_move == 0 else (theirs, mine)

    def is_truncated(self) -> bool:
        """Whether the cap on plies ends the game here, undecided."""
        cap = self.game.max_plies
        return cap is not None and self.ply >= cap and not self.terminated

    def is_over(self) -> bool:
        """Whether the game has ended, by its rules or by the cap on plies."""
        return self.terminated or self.is_truncated()


def _made(game: Game, before: tuple[int, ...], ply: int, after: tuple[int, ...]) -> Position:
    """The position after a ply, of what `kernels.step_words` gives."""
    size = len(before)
    # As NamedTuples are made, in half the time.
    return _new(Position, (after[:size], after[size:-2], after[-2], ply + 1, after[-1] != 0, game))


_new = tuple.__new__


class Notation(ABC):
    """The actions of a game and their names; `boardenvs.game.notation` has the usual ones.

    Actions come in parts, as `Rules.moves` returns them; by default each part has one for each
    square of the board, so that action n * p + s, of n squares, belongs to square s of part p.
    Actions that are given are in range, and none is noop, which `Game` writes and reads itself;
    `position`, where given, is the one they are taken in.
    """

    planes: int  # the number of such parts
    needs_position = True  # whether the name of an action depends on where it is taken

    def explain(self, game: Game) -> str:
        """What the actions but noop mean, in Markdown."""
        return "The actions are in parts of " + ", ".join(map(str, self.sizes(game))) + "."

    @abstractmethod
    def write(self, game: Game, action: int, position: Position | None) -> str:
        """See `Game.action_name`."""

    @abstractmethod
    def parse(self, game: Game, text: str) -> int:
        """See `Game.parse_action`."""

    def write_gdl(self, game: Game, action: int, position: Position | None) -> str:
        """See `Game.action_gdl`; by default as players write it."""
        return self.write(game, action, position)

    def parse_gdl(self, game: Game, text: str) -> int:
        """See `Game.parse_gdl`."""
        return self.parse(game, text)

    @abstractmethod
    def squares(self, game: Game, action: int, position: Position | None) -> tuple[int, ...]:
        """See `Game.action_squares`."""

    def sizes(self, game: Game) -> tuple[int, ...]:
        """How many actions each part has."""
        return (game.board.size,) * self.planes

    def plane_images(self, symmetry: Symmetry) -> list[int]:
        """The image of each part under a symmetry of the board, where a part has an action a
        square.
        """
        return list(range(self.planes))

    def images(self, game: Game, symmetry: Symmetry) -> list[int]:
        """See `Game.action_images`; without noop."""
        size = game.board.size
        planes = self.plane_images(symmetry)
        return [size * plane + square for plane in planes for square in symmetry.squares]


@dataclass(frozen=True)
class Game(CompiledRules):
    """A two-player game on a board of at most 16x16; its fields are the parameters of its rules.

    The last action is noop. `own` and `opp` are the squares of the side to move and of the other
    side, `to_move` is 0 or 1 and `ply` counts from 0.

    One board is a `Position`, with methods of its own; a batch of them is a `State`, of which the
    methods here tell.

    ```python
    import boardenvs
    import numpy as np

    game = boardenvs.games.make("othello")
    position = game.start().step(game.parse_action("e3"))
    print(game.roles[position.to_move], position.legal_actions())

    rng, state = np.random.default_rng(1), game.init(4096)
    while not game.is_over(state).all():
        state = game.step(state, game.sample(state, rng))
    print(game.results(state).mean(axis=0))  # what black and red got, 100 for a win
    ```
    """

    notation: ClassVar[Notation]  # what actions there are and how they are written

    # Draws a position as SVG, for notebooks. `boardenvs` puts it in: a game knows no renderer.
    drawer: ClassVar[Callable[[Position], str] | None] = None

    @cached_property
    def action_sizes(self) -> tuple[int, ...]:
        """How many actions there are in each part of what `moves` returns; see `notation`."""
        return self.notation.sizes(self)

    def has_rules_of(self, other: Game) -> bool:
        """Whether the games differ at most in their ids, as Reversi and Othello do."""
        return type(self) is type(other) and replace(self, id=other.id) == other

    def _repr_svg_(self) -> str | None:
        """In a notebook: the starting position."""
        return self.start()._repr_svg_()

    # ---- positions ---------------------------------------------------------------------------

    @cached_property
    def further_words(self) -> tuple[str, ...]:
        """What texts of positions call the words after `own` and `opp`: those of the sides by their
        roles.
        """
        sides = dict(zip(("own", "opp"), self.roles, strict=True))
        parts = [name.partition("_") for name in (*self.squares, *self.numbers)[2:]]
        return tuple(sides.get(side, side) + line + name for side, line, name in parts)

    def word_text(self, name: str, word: int) -> str:
        """One of the `further_words` as texts have it: a number, or squares such as "a1,c3"."""
        is_number = name in self.further_words[len(self.squares) - 2 :]
        names = (square_name(square, self.board) for square in squares_of(word))
        return str(word) if is_number else ",".join(names)

    def start(self) -> Position:
        """The starting position."""
        return self._start

    @cached_property
    def _start(self) -> Position:
        return self.position(self.setup())

    def position(self, words: tuple[int, ...], to_move: int = 0, ply: int = 0) -> Position:
        """The position of these words, `own` being the first role's whoever is to move: in most
        games the squares of both roles.

        Where the game has a history, nothing has been before. Raises PositionError where the words,
        the side to move or the ply are impossible.
        """
        self._check_words(words)
        if not is_whole(to_move, 0, 1):
            raise PositionError(
                f"to_move is {quote(to_move)}: it must be 0 or 1, an index of roles"
            )
        if not is_whole(ply, 0, MAX_PLY):
            raise PositionError(f"ply is {quote(ply)}: it must be 0 or more, and at most 2**30")
        on_holes = (words[0] | words[1]) & self.holes
        if on_holes:
            names = ", ".join(square_name(s, self.board) for s in squares_of(on_holes))
            raise PositionError(f"there is a piece on {names}, which is a hole")
        self.check_squares(words)
        split = (*self.split(words), *[0] * self.history)
        seen = turned(self.word_names, split) if to_move else split
        *legal_bits, terminated = self.kernels.begin.one(*seen, to_move, ply)
        return Position(seen, tuple(legal_bits), to_move, ply, bool(terminated), self)

    def _check_words(self, words: Any) -> None:
        names = (*self.squares, *self.numbers)
        given: Any = (None, None)
        if isinstance(words, Sequence) and len(words) == len(names):
            given = words
        largest = [self.board.all] * len(self.squares) + [ALL] * len(self.numbers)
        if not all(map(is_whole, given, repeat(0), largest)) or given[0] & given[1]:
            rest = f" and then {', '.join(names[2:])}" if names[2:] else ""
            raise PositionError(
                f"{quote(words)} are not two disjoint sets of squares{rest}, of a board of "
                f"{self.board.size} squares"
            )
        numbers = words[len(self.squares) :]
        for (name, size), number in zip(self.numbers.items(), numbers, strict=True):
            if number >= size:
                raise PositionError(f"{name} is {number}: it must be below {size}")

    def image(self, symmetry: Symmetry, words: Sequence[Any]) -> tuple[Any, ...]:
        """The words under a symmetry of the board, of ints or uint64 arrays; numbers and history
        stay.
        """
        count, values = len(self.squares), self.join(words)
        turned = (*map(symmetry.apply, values[:count]), *values[count:])
        return (*self.split(turned), *words[self.known_words :])

    def init(self, batch: int) -> State:
        """B = `batch` games at the start."""
        state = self.empty(batch)
        self.put_start(state, slice(None))
        return state

    def put_start(self, state: State, rows: Any) -> None:
        """Begin a game in these rows of a state."""
        start = self.start()
        for array, value in zip(state.arrays, (*start.words, *start[1:-1]), strict=True):
            array[rows] = value

    def positions(self, state: State) -> list[Position]:
        """The rows of a batch as single positions; `stack` is the way back."""
        words = zip(*(word.tolist() for word in state.words), strict=True)
        legal_bits, *rest = (x.tolist() for x in state[1:])
        rows = zip(words, map(tuple, legal_bits), *rest, strict=True)
        return [Position._make((*row, self)) for row in rows]

    def step(self, state: State, actions: IntArray, *, check: bool = False) -> State:
        """The state after one ply in every row; terminated rows stay as they are.

        `actions` is (B,) int; the input state is not modified. With `check`, IllegalActionError for
        the first illegal action; in rows where the game is over noop is legal. Without, which is
        faster, legality is not checked.
        """
        if check:
            self._check_actions(state, np.asarray(actions))
        return self._step(state, actions)

    def _check_actions(self, state: State, actions: IntArray) -> None:
        if actions.shape != state.ply.shape or actions.dtype.kind not in "iu":
            raise ValueError(
                f"actions have shape {actions.shape} and type {actions.dtype}: they must be "
                f"{len(state.ply)} integers, one for each row"
            )
        wrong = ~(self.is_legal(state, actions) | (state.terminated & (actions == self.noop)))
        if wrong.any():
            row = int(np.argmax(wrong))
            (position,) = self.positions(take(state, slice(row, row + 1)))
            raise IllegalActionError(f"row {row}: {position.illegal_action(int(actions[row]))}")

    # ---- notation ----------------------------------------------------------------------------

    def action_name(self, action: int, position: Position | None = None) -> str:
        """An action as players write it: "d3", "b1-b3", "pass"; ValueError where out of range.

        Where the target depends on the position and no position is given, the direction is written
        in its place: "b1-n".
        """
        write = self.notation.write
        return PASS if self._is_noop(action) else write(self, action, position)

    def parse_action(self, text: str) -> int:
        """The inverse of `action_name`; ValueError for anything else."""
        return self._parsed(self.notation.parse, text, PASS)

    def action_gdl(self, action: int, position: Position | None = None) -> str:
        """An action as the rule sheets write it, without parentheses: "4 3", "b 1 b 3", "noop"."""
        write = self.notation.write_gdl
        return NOOP if self._is_noop(action) else write(self, action, position)

    def parse_gdl(self, text: str) -> int:
        """The inverse of `action_gdl`; ValueError for anything else."""
        return self._parsed(self.notation.parse_gdl, text, NOOP)

    def action_squares(self, action: int, position: Position | None = None) -> tuple[int, ...]:
        """The squares that an action concerns: source and target, or target; none of a noop.

        As in `action_name`, without a position, a target that depends on it is left out.
        """
        squares = self.notation.squares
        return () if self._is_noop(action) else squares(self, action, position)

    def action_images(self, symmetry: Symmetry) -> IntArray:
        """The image of each action under a symmetry of the board, noop included, (A,) intp."""
        return np.array([*self.notation.images(self, symmetry), self.noop], np.intp)

    def _is_noop(self, action: int) -> bool:
        """ValueError for a number that is no action."""
        if 0 <= action <= self.noop:
            return action == self.noop
        raise ValueError(f"action {action} is out of range: actions are 0 to {self.noop}")

    def _parsed(self, parse: Callable[[Game, str], int], text: str, noop: str) -> int:
        try:
            return parse(self, text)
        except ValueError:
            if text == noop:
                return self.noop
            raise


def stack(positions: Sequence[Position]) -> State:
    """A batch of these positions; `Game.positions` is the way back."""
    if not positions:
        raise ValueError("stack needs at least one position")
    words = zip(*(position.words for position in positions), strict=True)
    columns = zip(*(position[1:-1] for position in positions), strict=True)
    dtypes = (np.uint64, np.int8, np.int32, np.bool_)
    return State(
        tuple(np.array(word, np.uint64) for word in words),
        *(np.array(c, t) for c, t in zip(columns, dtypes, strict=True)),
    )
