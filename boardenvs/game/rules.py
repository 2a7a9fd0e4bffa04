"""What a game says of itself: its rules on words, and what is true of it.

The rules are functions of words (see `boardenvs.kernel`): the starting squares, where the side to
move can move, what a move does, when the game is over, and the points that decide it. `Game`
(`game/contract.py`) is made of these; a new game writes them down.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

from boardenvs.board.symmetry import IDENTITY, Symmetry
from boardenvs.game.look import Look
from boardenvs.kernel import Bits

MAX_VALUE = 100_000  # heuristics stay below
WIN, DRAW, LOSS = 100.0, 50.0, 0.0  # goal values
# Of an offender whose game ends with it, on either scale of rewards.
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
    rules: str = ""  # the start, how pieces move, who moves first
    pieces: str = "pieces"  # what is on the board
    planes: tuple[str, ...] = ()  # what planes 2, 3, ... show; the last one covers all that follow
    passing: str = "It is legal only for a side without another move."
    end: str = ""  # when the game is over and who has won
    options: Mapping[str, str] = field(default_factory=dict)  # what each rule parameter does
    choice: str = ""  # which rules, or which of similar games, a newcomer takes
    source: str = ""  # where the rules come from, and what departs from it


class Feature(NamedTuple):
    """A number that tells something of a position."""

    number: Bits
    size: int  # the number is below it, in every position that is not over


class Rules(ABC):
    """What the class of a game states, and may state; what follows from it is `Game`'s.

    `own` and `opp` are the squares of the side to move and of the other side, `to_move` is 0 or 1
    and `ply` counts from 0; all are words. A set of actions is one word an action plane: action a,
    but for noop, is bit a % 64 of plane a // 64.
    """

    id: str

    roles: ClassVar[tuple[str, str]]  # first to move first

    # What is true of a game unless its class says otherwise.
    variants: ClassVar[tuple[str, ...]] = ()  # the values of a parameter `rules`, the first default
    max_plies: ClassVar[int | None] = None  # a cap that truncates a game that is not over
    holes: ClassVar[int] = 0  # squares out of play, as a bitboard
    margin_counts: ClassVar[bool] = False  # a win by more points is better; if not, a sooner one is
    fills_up: ClassVar[bool] = False  # every action but noop fills one empty square, for good
    # It fills up, a square may be filled exactly where that takes opposing squares, and the game is
    # over where neither side can: the last empty squares are then searched without `moves`.
    fills_by_capture: ClassVar[bool] = False
    opening_plies: ClassVar[tuple[int, int]] = (4, 8)  # random plies of openings: fewest and most
    look: ClassVar[Look] = Look()

    @property
    def about(self) -> About:
        """The words of the game's page; what they leave out is told by the class's docstring."""
        return About()

    @property
    def symmetries(self) -> tuple[Symmetry, ...]:
        """Those that leave the rules unchanged; the identity is always among them."""
        return (IDENTITY,)

    def __init_subclass__(cls) -> None:
        """ValueError where the roles cannot be told apart by their first letters, as texts do."""
        super().__init_subclass__()
        letters = [role[:1] for role in cls.__dict__.get("roles", "ab")]
        if len(set(letters)) < 2 or not all("a" <= letter <= "z" for letter in letters):
            raise ValueError(
                f"the roles of {cls.__name__} are {cls.roles}: they must be two words that begin "
                "with different small letters"
            )

    # ---- sizes -----------------------------------------------------------------------------

    @property
    @abstractmethod
    def action_planes(self) -> int:
        """Groups of 64 actions, one for each square."""

    @cached_property
    def num_actions(self) -> int:
        return 64 * self.action_planes + 1

    @cached_property
    def noop(self) -> int:
        """The number of the action that passes."""
        return 64 * self.action_planes

    # ---- the rules -------------------------------------------------------------------------

    @abstractmethod
    def setup(self) -> tuple[int, int]:
        """The starting squares of the first and of the second role."""

    @abstractmethod
    def moves(self, own: Bits, opp: Bits, to_move: Bits) -> tuple[Bits, ...]:
        """The moves of the side to move, one word an action plane, without noop."""

    @abstractmethod
    def play(self, own: Bits, opp: Bits, action: Bits) -> tuple[Bits, Bits]:
        """Own and opposing squares after a legal action (noop included) of the side to move.

        `action` may be used in arithmetic and as index of a `Table`.
        """

    @abstractmethod
    def over(self, own: Bits, opp: Bits, moves: Sequence[Bits], to_move: Bits, ply: Bits) -> Bits:
        """The flag 1 where the game is over."""

    @abstractmethod
    def points(self, own: Bits, opp: Bits, to_move: Bits) -> tuple[Bits, Bits]:
        """What decides the game, own and opposing: more is a win, the same a draw."""

    def planes(self, own: Bits, opp: Bits, to_move: Bits, ply: Bits) -> tuple[Bits, ...]:
        """The observation's planes; together they must determine the rest of the game."""
        return (own, opp)

    def stable(self, own: Bits, opp: Bits) -> Bits:
        """Squares of `opp` that it keeps to the end of the game, whatever both sides play.

        They need not be all; with them the endgame solver proves that a lead is out of reach. For
        games that fill up and in which more squares are never fewer points.
        """
        return 0

    def check_squares(self, squares: tuple[int, int]) -> None:  # noqa: B027 - most need none
        """Raise PositionError where the roles' squares cannot be those of a position.

        That they are disjoint, and no holes, has been checked.
        """

    def evaluate(self, own: Bits, opp: Bits, to_move: Bits, ply: Bits) -> tuple[Bits, Bits]:
        """The heuristic: what a position that is not over is worth, to its side to move and to the
        other side, as words below `MAX_VALUE`; the difference is its value.
        """
        raise NotImplementedError(self.no_heuristic)

    def features(self, own: Bits, opp: Bits, to_move: Bits, ply: Bits) -> Mapping[str, Feature]:
        """Numbers, by name, that tell something of a position that is not over; those of an image
        under a symmetry are the same. A learnt evaluation (`boardenvs.search.evaluation`) may have
        a weight for each value of each of them.
        """
        return {}

    @property
    def has_heuristic(self) -> bool:
        """Whether the class has an `evaluate` of its own."""
        return type(self).evaluate is not Rules.evaluate

    @property
    def has_stable(self) -> bool:
        """Whether the class says which squares are stable."""
        return type(self).stable is not Rules.stable

    @property
    def no_heuristic(self) -> str:
        """The message where a game without a heuristic is asked for one."""
        name = type(self).__name__
        return (
            f"{self.id} has no heuristic: write {name}.evaluate(self, own, opp, to_move, ply), "
            "which returns what a position is worth to either side"
        )
