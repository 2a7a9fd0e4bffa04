"""Games in plain Python: an object that plays by itself, in place of rules on words.

`PlainGame` is a `Game` like any other. What differs is below everything that uses games: its one
"word" is the object itself, in `State` an array of objects, and its `kernels` call the object's
methods board by board where rules on words are compiled. Environments, players, search, records,
texts and pictures see no difference but the speed; search runs its Python form. A position is
written as the moves that led to it, so that no author has to write or read positions.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from boardenvs.board.symmetry import Symmetry
from boardenvs.game.errors import PositionError
from boardenvs.game.game import Game
from boardenvs.game.notation import PASS, Named
from boardenvs.game.openings import check_plies
from boardenvs.game.plain_kernels import PlainKernels, PlayedBoard, has_own
from boardenvs.game.position import Position
from boardenvs.game.rules import About
from boardenvs.game.state import Array, State
from boardenvs.utils.checks import is_whole, quote

_NEEDED = ("legal_actions", "step", "to_move", "is_over", "result", "actions")
_MOST_ACTIONS = 1_000_000
_BEGIN = "start"  # the text of the starting position
# Attributes of the class that mean what they mean in `Rules`.
_SHARED = (
    *("roles", "shape", "look", "max_plies", "margin_counts", "opening_plies", "files"),
    "mover_symmetry",
)


def is_plain(kind: object) -> bool:
    """Return whether this is a class of objects that play by themselves, and no `Game`."""
    return (
        inspect.isclass(kind)
        and not issubclass(kind, Game)
        and all(callable(getattr(kind, name, None)) for name in ("legal_actions", "step"))
    )


@dataclass(frozen=True, init=False)
class PlainGame(Game):
    """The game of a class in plain Python, with the parameters of its constructor; those annotated
    as bool, int, float or str can be named in texts and files.

    An object of the class is a position:

    - `legal_actions()`: the numbers of the legal actions; if there are none and the game is not
      over, the side passes, by the number after the last;
    - `step(action)`: the position after it; or None, if the object changes itself, which is slower
      since it is copied before, by its `copy()` if it has one;
    - `to_move` (0 or 1), `is_over`, and `result`, the points of both roles at the end: more win;
    - `actions`: their names, such as "d3" or "b1-b3", or how many there are.

    What follows is optional. `squares`: a number for each square of the class's `shape` (ranks,
    files), a1 first: n > 0 for the first role, n < 0 for the second, such as kinds of pieces or
    counts, at most `largest`, by default 1. They make pictures and observations. `observe(role)`
    makes other observations: planes of 0 and 1 for all squares, one after the other. `evaluate()`:
    the value of a position for its side to move, a whole number, for alpha-beta. `str(object)`
    shows it as text. The class may have `roles`, `look`, `max_plies`, `opening_plies`,
    `margin_counts`, `mover_symmetry`, by which all planes are turned, `about` and `id`, as a
    `Game`.

    ```python
    import boardenvs

    class Subtract:  # from 21, one to three in turn; whoever takes the last wins
        actions = ("1", "2", "3")

        def __init__(self, left: int = 21, to_move: int = 0) -> None:
            self.left, self.to_move = left, to_move
            self.is_over = left == 0
            self.result = (to_move, 1 - to_move)

        def legal_actions(self):
            return range(min(self.left, 3))

        def step(self, action):
            return Subtract(self.left - action - 1, 1 - self.to_move)

        def observe(self, role):
            return [self.left >> k & 1 for k in range(5)]

    game = boardenvs.PlainGame(Subtract)
    print(boardenvs.play_match(game, "mcts:50", "random", pairs=20))
    ```
    """

    id: str
    kind: type[Any]
    options: tuple[tuple[str, Any], ...] = field(default=(), hash=False)  # perhaps lists

    in_words: ClassVar = False
    can_be_set_up: ClassVar = False
    alternates: ClassVar = False
    known_words: ClassVar = 1
    word_names: ClassVar = ("board",)
    feature_sizes: ClassVar = {}

    def __init__(self, kind: type[Any], id: str = "", **options: Any) -> None:
        if not is_plain(kind):
            raise TypeError(
                f"{quote(kind)} is no class of positions in plain Python: it must have the methods "
                "legal_actions() and step(action)"
            )
        start = kind(**options)
        missing = [name for name in _NEEDED if not hasattr(start, name)]
        if missing:
            raise TypeError(f"{kind.__name__} lacks {', '.join(missing)}: a position needs them")
        names = start.actions
        if is_whole(names, 1, _MOST_ACTIONS):
            names = range(1, names + 1)
        elif not isinstance(names, Collection) or not 1 <= len(names) <= _MOST_ACTIONS:
            raise TypeError(
                f"actions of {kind.__name__} is {quote(names)}: it must be names, or how many "
                f"actions there are, 1 to {_MOST_ACTIONS}"
            )
        shared = {name: getattr(start, name) for name in _SHARED if hasattr(start, name)}
        if isinstance(shared.get("shape"), list):
            shared["shape"] = tuple(shared["shape"])
        parameters = inspect.signature(kind).parameters.values()
        vars(self).update(
            {"roles": ("first", "second"), "shape": (1, 1)} | shared,
            id=id or getattr(kind, "id", "") or _snake(kind.__name__),
            kind=kind,
            options=tuple(options.items()),
            notation=Named(tuple(map(str, names))),
            names_pass=PASS in map(str, names),
            first_board=start,
            _parameters={p.name: p.default for p in parameters} | options,
        )
        self.views  # noqa: B018 - raises ValueError for impossible shapes and symmetries
        check_plies(self.opening_plies, f"opening_plies of {kind.__name__}")

    if TYPE_CHECKING:  # what `__init__` sets; fields would be compared

        def __getattr__(self, name: str) -> Any: ...

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(PlainGame, self.kind, self.id, **dict(self.options)), ()

    @property
    def source(self) -> type[Any]:
        return self.kind

    def parameter(self, name: str) -> Any:
        return (vars(self) | self._parameters)[name]

    @property
    def about(self) -> About:
        return getattr(self.first_board, "about", About())

    def has_rules_of(self, other: Game) -> bool:
        if not isinstance(other, PlainGame):
            return False
        return (self.kind, self._parameters) == (other.kind, other._parameters)

    @property
    def has_heuristic(self) -> bool:
        return hasattr(self.kind, "evaluate")

    @property
    def no_heuristic(self) -> str:
        return (
            f"{self.id} has no heuristic: write {self.kind.__name__}.evaluate(self), which returns "
            "the value of a position for its side to move"
        )

    @cached_property
    def kernels(self) -> PlainKernels:
        return PlainKernels(self)

    @cached_property
    def symmetries(self) -> tuple[Symmetry, ...]:
        return (Symmetry(board=self.board),)

    # ---- positions ---------------------------------------------------------------------------

    @cached_property
    def _start(self) -> Position:
        board: Any = PlayedBoard(self.first_board)
        *legal, over = self.kernels.begin.one(board)
        return Position((board,), tuple(legal), self.kernels.role(board.board), 0, over != 0, self)

    def position(self, words: Sequence[Any], to_move: int = 0, ply: int = 0) -> Position:
        raise PositionError(f"a position of {self.id} is made by playing from the start")

    def fresh(self, position: Position) -> Position:
        if not self.has_rules_of(position.game):
            raise PositionError(f"the position is one of {position.game.id}, not of {self.id}")
        return position._replace(game=self)

    def by_role(self, words: Sequence[Any], to_move: int) -> tuple[int, ...]:
        return self.kernels.pieces_of(words[0].board)

    def image(self, symmetry: Symmetry, words: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(words)

    def fen(self, position: Position) -> str:
        board: Any = position.words[0]
        return " ".join([_BEGIN, *map(self.action_name, board.actions)])

    def parse_fen(self, text: str) -> Position:
        """Return the position after these moves; ValueError if they cannot be played."""
        first, *names = text.split() or [""]
        position = self.start()
        if first != _BEGIN:
            raise ValueError(f'it must be "{_BEGIN}" and the moves since then')
        for name in names:
            position = position.step(self.parse_action(name))
        return position

    def text_of(self, position: Position) -> str | None:
        played: Any = position.words[0]
        return str(played.board) if has_own(self.kind, "__str__") else None

    def labels(self, position: Position) -> Mapping[int, str] | None:
        played: Any = position.words[0]
        if getattr(played.board, "largest", 1) == 1:
            return None
        numbers = enumerate(self.kernels.squares_of(played.board))
        return {square: str(abs(number)) for square, number in numbers if number}

    def _no_words(self, *words: Any) -> Any:
        raise TypeError(f"{self.id} is written in plain Python: it has no rules on words")

    setup = moves = play = over = points = _no_words

    # ---- batches -----------------------------------------------------------------------------

    def empty(self, batch: int) -> State:
        state = super().empty(batch)
        return state._replace(words=(np.empty(batch, object),))

    def check_state(self, state: State) -> int:
        rows = super().check_state(state)
        if not all(isinstance(played, PlayedBoard) for played in state.words[0].tolist()):
            raise TypeError(f"words of the state must be boards of {self.id}")
        return rows

    def packed(self, state: State) -> tuple[Array, ...]:
        """With the actions that led to each position, (B, plies) int32, and then -1."""
        _, *rest = super().packed(state)
        paths = np.array([played.path for played in state.words[0]], str)
        return paths[:, None].view(np.int32) - 1, *rest

    def unpacked(self, arrays: Sequence[Array]) -> State:
        by_path = {"": PlayedBoard(self.first_board)}  # of many positions of a game, each once
        boards = np.empty(len(arrays[0]), object)
        for row, line in enumerate(np.asarray(arrays[0]).tolist()):
            boards[row] = by_path[""]
            for action in line:
                if action >= 0:
                    path = boards[row].path + chr(action + 1)
                    by_path[path] = by_path.get(path) or self.kernels.after(boards[row], action)
                    boards[row] = by_path[path]
        return super().unpacked([boards, *arrays[1:]])


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
