"""One position of a game, in Python ints; a batch of them is a `State` (`game/state.py`)."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boardenvs.board.bitboard import squares_of
from boardenvs.board.symmetry import Symmetry
from boardenvs.game.errors import IllegalActionError
from boardenvs.game.rules import DRAW, LOSS, WIN, swap_sides
from boardenvs.game.state import Int8Array, State

if TYPE_CHECKING:
    from boardenvs.game.game import Game


class Position(NamedTuple):
    """One position of a game, in Python ints; the fields mean what they mean in `State`.

    ```python
    import boardenvs

    position = boardenvs.games.make("othello").start()
    while not position.is_over():
        position = position.step(position.legal_actions()[0])
    print(position.result())  # what black and white got, 100 for a win
    ```
    """

    words: tuple[int, ...]
    legal_bits: tuple[int, ...]
    to_move: int
    ply: int
    terminated: bool
    game: Game
    history: tuple[int, ...] = ()

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
        """Return whether the action is legal here; numbers that are no action are not."""
        action = operator.index(action)  # of NumPy's types too, which do not fit these words
        word = action >> 6
        return 0 <= word < len(self.legal_bits) and bool(self.legal_bits[word] >> (action & 63) & 1)

    def legal_actions(self) -> list[int]:
        """Return the legal actions in ascending order."""
        actions = []
        for word, bits in enumerate(self.legal_bits):
            while bits > 0:
                actions.append(64 * word + (bits & -bits).bit_length() - 1)
                bits &= bits - 1
        return actions

    def illegal_action(self, action: int) -> IllegalActionError:
        """Return the error of an action that is not legal here, or no action at all; it says what
        is.
        """
        game = self.game
        if not 0 <= action < game.num_actions:
            return IllegalActionError(
                f"action {action} is out of range: actions are 0 to {game.num_actions - 1}"
            )
        legal = ", ".join(f"{a} ({game.action_name(a, self)})" for a in self.legal_actions())
        return IllegalActionError(
            f"action {action} ({game.action_name(action)}) is not legal for "
            f"{game.sides[self.to_move]} at ply {self.ply}; legal: "
            f"{legal or 'nothing, the game is over'}"
        )

    def step(self, action: int) -> Position:
        """Return the position after an action; IllegalActionError, with the legal actions, if
        illegal.
        """
        action = operator.index(action)
        if not self.is_legal(action):
            raise self.illegal_action(action)
        words, _, to_move, ply, _, game, history = self
        after = game.kernels.step_words.one(*words, to_move, ply, action)
        return _made(game, words, ply, history, after)

    def step_observe(self, action: int) -> tuple[Position, Int8Array]:
        """Return the position after a legal action, and its `observation_bytes`, in one call.

        The action must be legal: this is not checked here.
        """
        words, _, to_move, ply, _, game, history = self
        after, bits = game.kernels.step_observe.one_in_parts(*words, to_move, ply, action)
        made = _made(game, words, ply, history, after)
        if history and made.words[-1]:  # repeated, which only the history tells
            bits = made.observation_bytes(made.to_move, made.legal_bits)
        return made, bits

    # ---- what it shows -----------------------------------------------------------------------

    def pieces(self, role: int) -> int:
        """Return the squares of a role, given by its index."""
        return self.by_role()[role]

    def by_role(self) -> tuple[int, ...]:
        """Return the sets and numbers as the first role sees them: what `Game.position` takes."""
        return self.game.by_role(self.words, self.to_move)

    def word(self, name: str) -> int:
        """Return the set of squares, or the number, of this name: one of the game's own, such as
        "own_kings", or one of its `further_words`, such as "black_kings".
        """
        if name in self.game.further_words:
            return self.by_role()[2 + self.game.further_words.index(name)]
        names = (*self.game.squares, *self.game.numbers)
        return int(self.game.join(self.words)[names.index(name)])

    def counts(self) -> tuple[int, int]:
        """Return the points of each role in a game that counts them, else its pieces."""
        if self.game.counts_points:
            return self.points()
        return self.pieces(0).bit_count(), self.pieces(1).bit_count()

    def image(self, symmetry: Symmetry, swapped: bool = False) -> Position:
        """Return the position under a symmetry of the board, without its history; `swapped` with
        the roles of the sides.
        """
        game, to_move = self.game, self.to_move ^ swapped
        if not game.in_words:
            return self
        words = game.image(symmetry, game.split(game.by_role(self.words, to_move)))
        return game.position(game.join(words), to_move, self.ply)

    def planes(self) -> tuple[int, ...]:
        """Return the observation's planes for the side to move, one after the other, as words."""
        return self.game.kernels.planes.one(*self.words, self.to_move, self.ply)

    def observation_bytes(self, role: int, legal_bits: tuple[int, ...]) -> Int8Array:
        """Return the planes that a role observes and then these legal actions, (64 * W,) int8 of 0
        and 1.

        Planes and actions are padded to whole words of 64 squares or actions.
        """
        words = self.words
        if role != self.to_move:
            words = swap_sides(self.game.word_names, words)
        kernel = self.game.kernels.observe
        return kernel.one_in_parts(*words, role, self.ply, *legal_bits)[1]

    def fen(self) -> str:
        """Return the position as a line of text; see `boardenvs.game.fen`, which reads it back."""
        return self.game.fen(self)

    def __repr__(self) -> str:
        return f"<{self.game.id} {self.fen()!r}>"

    def _repr_svg_(self, labels: Mapping[int, str] | None = None) -> str | None:
        """In a notebook: the board, with its legal moves or with `labels` by square."""
        drawer = type(self.game).drawer
        return None if drawer is None else drawer(self, labels)

    # ---- the end -----------------------------------------------------------------------------

    def result(self) -> tuple[float, float]:
        """Return the goal values by role that the position would give, over or not."""
        first, second = self.points()
        if first == second:
            return (DRAW, DRAW)
        return (WIN, LOSS) if first > second else (LOSS, WIN)

    def points(self) -> tuple[int, int]:
        """Return the points of each role, such as discs in Othello; more points win."""
        mine, theirs = self.game.kernels.points.one(*self.words, self.to_move)
        return (mine, theirs) if self.to_move == 0 else (theirs, mine)

    def winning_pieces(self) -> int:
        """Return the winner's pieces of a finished game that the win needs, such as four in a line;
        none in a draw. For games in which more pieces never mean fewer points.
        """
        result, left = self.result(), self
        if result == (DRAW, DRAW):
            return 0
        winner, width = result.index(WIN), self.game.board.words
        for square in squares_of(self.pieces(winner)):
            words = [*left.words]
            words[width * (winner ^ self.to_move) + square // 64] ^= 1 << square % 64
            fewer = left._replace(words=tuple(words))
            if fewer.result() == result:
                left = fewer
        return left.pieces(winner)

    def is_truncated(self) -> bool:
        """Return whether the cap on plies ends the game here, undecided."""
        cap = self.game.max_plies
        return cap is not None and self.ply >= cap and not self.terminated

    def is_over(self) -> bool:
        """Return whether the game has ended, by its rules or by the cap on plies."""
        return self.terminated or self.is_truncated()


def _made(
    game: Game,
    before: tuple[int, ...],
    ply: int,
    history: tuple[int, ...],
    after: tuple[int, ...],
) -> Position:
    """Return the position after a ply, of what `kernels.step_words` gives."""
    size = len(before)
    words, legal, to_move, over = after[:size], after[size:-2], after[-2], after[-1]
    if history:
        history = (before[-2], *history[:-1])
        if repeats := history.count(words[-2]):
            words = (*words[:-1], repeats)
            begun = game.kernels.begin.one(*words, to_move, ply + 1)
            legal, over = begun[:-1], begun[-1]
    # As NamedTuples are made, in half the time.
    return _new(Position, (words, legal, to_move, ply + 1, over != 0, game, history))


_new = tuple.__new__


def stack(positions: Sequence[Position]) -> State:
    """Return a batch of these positions; `Game.positions` is the way back."""
    if not positions:
        raise ValueError("stack needs at least one position")
    words = zip(*(position.words for position in positions), strict=True)
    columns = zip(*(position[1:5] for position in positions), strict=True)
    dtypes = (np.uint64, np.int8, np.int32, np.bool_)
    of_words = np.uint64 if positions[0].game.in_words else object
    arrays = [np.array(word, of_words) for word in words]
    arrays += [np.array(c, t) for c, t in zip(columns, dtypes, strict=True)]
    if positions[0].history:
        arrays.append(np.array([position.history for position in positions], np.uint64))
    return State.of_arrays(arrays)
