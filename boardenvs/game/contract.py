"""The contract of a game: all that follows from its rules, for one board and for a batch.

A class states the rules (`game/rules.py`) and with them everything else about its game. Everything
else in the library is derived from `Game`, once, for all games.

All games here alternate strictly: every ply, a noop too, passes the turn to the other side.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np

from boardenvs.board import bitboard
from boardenvs.board.symmetry import Symmetry
from boardenvs.game.errors import IllegalActionError, PositionError, illegal_action
from boardenvs.game.kernels import Kernels
from boardenvs.game.rules import Rules
from boardenvs.game.state import (
    BoolArray,
    FloatArray,
    Int8Array,
    IntArray,
    Position,
    State,
    Turn,
    WordArray,
    empty_state,
    state_words,
    take,
    unstack,
)
from boardenvs.game.turn import play_turn
from boardenvs.kernel import ALL
from boardenvs.kernel.octets import unpack
from boardenvs.utils.checks import is_whole, quote

WIN, DRAW, LOSS = 100.0, 50.0, 0.0
MAX_PLY = 1 << 30  # of a position to start from: batches count plies in 32 bits


def goal_to_reward(goal: Any) -> Any:
    """Goal values 100 / 50 / 0 as zero-sum rewards +1 / 0 / -1."""
    return (goal - DRAW) / DRAW


@dataclass(frozen=True)
class Game(Rules):
    """A two-player game on an 8x8 board; its fields are the parameters of its rules.

    Action a < num_actions - 1 is bit a % 64 of plane a // 64; the last action is noop. `own` and
    `opp` are the squares of the side to move and of the other side, `to_move` is 0 or 1 and `ply`
    counts from 0; all are words.

    One board is a `Position`, a batch of them a `State`; each has its methods here.

    ```python
    import boardenvs
    import numpy as np

    game = boardenvs.games.make("othello")
    position = game.checked_next(game.start(), game.parse_action("e3"))
    print(game.roles[position.to_move], position.legal_actions())

    rng, state = np.random.default_rng(1), game.init(4096)
    while not game.is_over(state).all():
        state = game.step(state, game.sample(state, rng))
    print(game.results(state).mean(axis=0))  # what black and red got, 100 for a win
    ```
    """

    id: str

    # Draws a position as SVG, for notebooks. `boardenvs` puts it in: a game knows no renderer.
    drawer: ClassVar[Callable[[Game, Position], str] | None] = None

    # ---- notation --------------------------------------------------------------------------

    def action_name(self, action: int, position: Position | None = None) -> str:
        """An action as players write it: "d3", "b1-b3", "pass"; ValueError where out of range.

        Where the target depends on the position and no position is given, the direction is written
        in its place: "b1-n".
        """
        return self.notation.write(self, self._checked(action), position)

    def parse_action(self, text: str) -> int:
        """The inverse of `action_name`; ValueError for anything else."""
        return self.notation.parse(text)

    def action_gdl(self, action: int, position: Position | None = None) -> str:
        """An action as the rule sheets write it, without parentheses: "4 3", "b 1 b 3", "noop"."""
        return self.notation.write_gdl(self, self._checked(action), position)

    def parse_gdl(self, text: str) -> int:
        """The inverse of `action_gdl`; ValueError for anything else."""
        return self.notation.parse_gdl(text)

    def action_squares(self, action: int, position: Position | None = None) -> tuple[int, ...]:
        """The squares that an action concerns: source and target, or target; none of a noop.

        As in `action_name`, without a position, a target that depends on it is left out.
        """
        return self.notation.squares(self, self._checked(action), position)

    def action_images(self, symmetry: Symmetry) -> IntArray:
        """The image of each action under a symmetry of the board, noop included, (A,) intp."""
        planes = self.notation.plane_images(symmetry)
        images = [64 * plane + square for plane in planes for square in symmetry.squares]
        return np.array([*images, self.noop], np.intp)

    def _checked(self, action: int) -> int:
        if 0 <= action < self.num_actions:
            return action
        raise ValueError(
            f"action {action} is out of range: actions are 0 to {self.num_actions - 1}"
        )

    # ---- sizes -----------------------------------------------------------------------------

    @cached_property
    def action_planes(self) -> int:
        """Groups of 64 actions, one for each square; see `notation`."""
        return self.notation.planes

    @cached_property
    def num_actions(self) -> int:
        return 64 * self.action_planes + 1

    @cached_property
    def noop(self) -> int:
        """The number of the action that passes."""
        return 64 * self.action_planes

    @property
    def observation_shape(self) -> tuple[int, int, int]:
        return (bitboard.SIZE, bitboard.SIZE, self.kernels.planes.num_outputs)

    # ---- one board, in Python ints -----------------------------------------------------------

    def start(self) -> Position:
        """The starting position."""
        return self.position(self.setup())

    def position(self, squares: tuple[int, int], to_move: int = 0, ply: int = 0) -> Position:
        """The position with these squares by role.

        Raises PositionError where the squares, the side to move or the ply are impossible.
        """
        given = squares if isinstance(squares, Sequence) and len(squares) == 2 else (None, None)
        if not all(is_whole(bits, 0, ALL) for bits in given) or squares[0] & squares[1]:
            raise PositionError(
                f"{quote(squares)} are not two disjoint sets of squares (64-bit words)"
            )
        if not is_whole(to_move, 0, 1):
            raise PositionError(
                f"to_move is {quote(to_move)}: it must be 0 or 1, an index of roles"
            )
        if not is_whole(ply, 0, MAX_PLY):
            raise PositionError(f"ply is {quote(ply)}: it must be 0 or more, and at most 2**30")
        on_holes = (squares[0] | squares[1]) & self.holes
        if on_holes:
            names = ", ".join(bitboard.square_name(s) for s in bitboard.squares_of(on_holes))
            raise PositionError(f"there is a piece on {names}, which is a hole")
        self.check_squares(squares)
        own, opp = squares[to_move], squares[1 - to_move]
        *legal_bits, terminated = self.kernels.begin.one(own, opp, to_move, ply)
        return Position(own, opp, tuple(legal_bits), to_move, ply, bool(terminated))

    def next(self, position: Position, action: int) -> Position:
        """The position after a legal action; legality is not checked."""
        own, opp, _, to_move, ply, _ = position
        result = self.kernels.advance.one(own, opp, to_move, ply, action)
        return Position(result[0], result[1], result[2:-1], 1 - to_move, ply + 1, bool(result[-1]))

    def next_with_view(self, position: Position, action: int) -> tuple[Position, Int8Array]:
        """`next`, and what the side then to move sees: its planes and then its legal actions, in
        words of 64 squares or actions, (64 * (C + W),) int8 of 0 and 1.
        """
        own, opp, _, to_move, ply, _ = position
        result, seen = self.kernels.ply.one_in_parts(own, opp, to_move, ply, action)
        after = Position(result[0], result[1], result[2:-1], 1 - to_move, ply + 1, bool(result[-1]))
        return after, seen

    def one_view(
        self, own: int, opp: int, role: int, ply: int, legal_bits: tuple[int, ...]
    ) -> Int8Array:
        """What the role sees whose squares are `own`, as in `next_with_view`, with these actions as
        the legal ones.
        """
        seen: Int8Array = self.kernels.view.one_in_parts(own, opp, role, ply, *legal_bits)[1]
        return seen

    def checked_next(self, position: Position, action: int) -> Position:
        """The position after an action; IllegalActionError, with what is legal, where it is not.

        Slower than `next`, which does not check.
        """
        if action < 0 or not position.is_legal(action):
            raise illegal_action(self, position, action)
        return self.next(position, action)

    def result(self, position: Position) -> tuple[float, float]:
        """The goal values by role that the position would give, whether it is over or not."""
        mine, theirs = self.kernels.points.one(position.own, position.opp, position.to_move)
        if mine == theirs:
            return (DRAW, DRAW)
        return (WIN, LOSS) if (mine > theirs) == (position.to_move == 0) else (LOSS, WIN)

    def plane_words(self, own: int, opp: int, role: int, ply: int) -> tuple[int, ...]:
        """The observation's planes as words, for the role whose squares are `own`."""
        return self.kernels.planes.one(own, opp, role, ply)

    def is_truncated(self, position: Position) -> bool:
        """Whether the cap on plies ends the game here, undecided."""
        cap = self.max_plies
        return cap is not None and position.ply >= cap and not position.terminated

    def is_over_one(self, position: Position) -> bool:
        """Whether the game has ended, by its rules or by the cap on plies."""
        return position.terminated or self.is_truncated(position)

    # ---- batches -----------------------------------------------------------------------------

    def init(self, batch: int) -> State:
        """B = `batch` games at the start."""
        own, opp, legal_bits, to_move, ply, terminated = self.start()
        state = empty_state(batch, len(legal_bits))
        for array, value in zip(
            state, (own, opp, legal_bits, to_move, ply, terminated), strict=True
        ):
            array[:] = value
        return state

    def legal(self, state: State, out: BoolArray | None = None) -> BoolArray:
        """The legal actions, (B, A) bool; all False where terminated. Written to `out` if given."""
        octets = None if out is None else out.view(np.uint8)
        mask: BoolArray = unpack(state.legal_bits, self.num_actions, octets).view(np.bool_)
        return mask

    def is_legal(self, state: State, actions: IntArray) -> BoolArray:
        """Whether row i's action is legal, (B,) bool; actions out of range are not."""
        index = np.asarray(actions).astype(np.intp, copy=False)
        legal: BoolArray = np.empty(len(index), np.bool_)
        self.kernels.is_legal.batch([state.legal_bits, index.view(np.uint64)], [legal])
        return legal

    def sample(self, state: State, rng: np.random.Generator) -> IntArray:
        """A uniformly random legal action for each row, (B,) int64; noop where terminated."""
        actions = np.empty(len(state.own), np.int64)
        bits = _random_words(rng, len(actions))
        self.kernels.sample.batch([state.legal_bits, bits], [actions])
        return actions

    def step(self, state: State, actions: IntArray) -> State:
        """The state after one ply in every row; terminated rows stay as they are.

        `actions` is (B,) int; legality is not checked. The input state is not modified.
        """
        index = np.asarray(actions).astype(np.intp, copy=False)
        frozen = np.flatnonzero(state.terminated)
        if frozen.size:
            index = index.copy()
            index[frozen] = self.noop
        new = empty_state(len(index), self.action_planes + 1)
        self.kernels.advance.batch(
            [*state_words(state), index.view(np.uint64)],
            [new.own, new.opp, new.legal_bits, new.terminated],
        )
        np.bitwise_xor(state.to_move, 1, out=new.to_move)
        np.add(state.ply, 1, out=new.ply)
        if frozen.size:
            for before, after in zip(state, new, strict=True):
                after[frozen] = before[frozen]
        return new

    def turn(
        self,
        state: State,
        actions: IntArray,
        waiting: BoolArray | None = None,
        *,
        checked: bool = False,
    ) -> Turn:
        """One ply in every row but the `waiting` ones (B,) bool, and what it came to.

        Rows with an illegal action, and those that wait, stay as they are; what is over must wait.
        `actions` is (B,) int; with `checked` no row waits, and all actions are known to be legal,
        which saves time. The input state is not modified.
        """
        return play_turn(self, state, np.asarray(actions), waiting, checked=checked)

    def checked_step(self, state: State, actions: IntArray) -> State:
        """The state after one ply in every row; IllegalActionError for the first illegal action.

        In rows where the game is over noop is the legal action, and changes nothing. Slower than
        `step`, which does not check.
        """
        actions = np.asarray(actions)
        if actions.shape != state.ply.shape or actions.dtype.kind not in "iu":
            raise ValueError(
                f"actions have shape {actions.shape} and type {actions.dtype}: they must be "
                f"{len(state.ply)} integers, one for each row"
            )
        wrong = ~(self.is_legal(state, actions) | (state.terminated & (actions == self.noop)))
        if wrong.any():
            row = int(np.argmax(wrong))
            (position,) = unstack(take(state, slice(row, row + 1)))
            error = illegal_action(self, position, int(actions[row]))
            raise IllegalActionError(f"row {row}: {error}")
        return self.step(state, actions)

    def lead(self, state: State) -> IntArray:
        """Own minus opposing points of the side to move, (B,) int64; see `points`."""
        mine = np.empty(len(state.own), np.int64)
        theirs = np.empty_like(mine)
        self.kernels.points.batch(state_words(state)[:3], [mine, theirs])
        return mine - theirs

    def results(self, state: State) -> FloatArray:
        """The goal values by role that each row would give, over or not, (B, 2) float."""
        sign = np.sign(self.lead(state))
        sign[state.to_move == 1] *= -1
        return DRAW + DRAW * np.stack([sign, -sign], axis=1)

    def goal(self, state: State) -> FloatArray:
        """Goal values by role, 100 / 50 / 0, (B, 2) float; 0 until terminated."""
        return np.where(state.terminated[:, None], self.results(state), 0.0)

    def truncated(self, state: State) -> BoolArray:
        """Where the cap on plies ends a game that is not over, (B,) bool."""
        if self.max_plies is None:
            return np.zeros(len(state.ply), np.bool_)
        return (state.ply >= self.max_plies) & ~state.terminated

    def is_over(self, state: State) -> BoolArray:
        """Where the game has ended, by its rules or by the cap on plies, (B,) bool."""
        over: BoolArray = state.terminated | self.truncated(state)
        return over

    def values(self, state: State) -> IntArray:
        """What the heuristic says each position is worth to its side to move, (B,) int64.

        NotImplementedError where the game has none.
        """
        if not self.has_heuristic:
            raise NotImplementedError(self.no_heuristic)
        mine: IntArray = np.empty(len(state.own), np.int64)
        theirs = np.empty_like(mine)
        self.kernels.evaluate.batch(state_words(state), [mine, theirs])
        return mine - theirs

    @cached_property
    def feature_sizes(self) -> dict[str, int]:
        """Of each of the `features` the number that it stays below."""
        return {name: f.size for name, f in self.features(*self.setup(), 0, 0).items()}

    def feature_numbers(self, state: State) -> IntArray:
        """The `features` of each row, in their order, (B, features) int64."""
        numbers = np.empty((len(self.feature_sizes), len(state.own)), np.uint64)
        if len(numbers):
            self.kernels.features.batch(state_words(state), list(numbers))
        return numbers.T.astype(np.int64)

    def has_rules_of(self, other: Game) -> bool:
        """Whether the games differ at most in their ids, as Reversi and Othello do."""
        return type(self) is type(other) and dataclasses.replace(self, id=other.id) == other

    def observe(self, state: State, out: Int8Array | None = None) -> Int8Array:
        """What the side to move sees, (B, 8, 8, C) int8 of 0 and 1, indexed [row, y-1, x-1, plane].

        A view of memory that holds the planes first, (B, C * 64) int8: `out`, if given.
        """
        bits = self._empty_planes(state) if out is None else out
        self.kernels.planes.batch(state_words(state), [bits])
        return self._as_planes(bits)

    def view(
        self, state: State, planes: Int8Array | None = None, mask: BoolArray | None = None
    ) -> tuple[Int8Array, BoolArray]:
        """`observe` and `legal` at once, which is faster; written to `planes` (B, C * 64) int8 and
        `mask` (B, A) bool where they are given.
        """
        planes = self._empty_planes(state) if planes is None else planes
        if mask is None:
            mask = np.empty((len(planes), self.num_actions), np.bool_)
        self.kernels.view.batch([*state_words(state), state.legal_bits], [planes, mask])
        return self._as_planes(planes), mask

    def _empty_planes(self, state: State) -> Int8Array:
        return np.empty((len(state.own), 64 * self.kernels.planes.num_outputs), np.int8)

    def _as_planes(self, bits: Int8Array) -> Int8Array:
        shape = (len(bits), self.kernels.planes.num_outputs, bitboard.SIZE, bitboard.SIZE)
        return bits.reshape(shape).transpose(0, 2, 3, 1)

    def _repr_svg_(self) -> str | None:
        """In a notebook: the starting position."""
        drawer = type(self).drawer
        return None if drawer is None else drawer(self, self.start())

    # ---- compiled rules ----------------------------------------------------------------------

    @cached_property
    def kernels(self) -> Kernels:
        """The rules as functions on words, for one board and for a batch."""
        return _kernels_of(self)

    def __getstate__(self) -> dict[str, Any]:
        # The compiled rules are derived, and functions made by exec do not pickle.
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}


def _random_words(rng: np.random.Generator, count: int) -> WordArray:
    """Uniformly random words, (count,)."""
    if isinstance(rng.bit_generator, np.random.PCG64):
        # The default: its raw words are the same ones, in half the time.
        return rng.bit_generator.random_raw(count)
    return rng.integers(1 << 64, size=count, dtype=np.uint64)


@lru_cache(maxsize=64)
def _kernels_of(game: Game) -> Kernels:
    """Of equal games the same: each environment that is made by a name makes a game, and machine
    code stays in memory until the process ends.
    """
    return Kernels(game)
