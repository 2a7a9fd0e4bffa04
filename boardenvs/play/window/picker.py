"""What a person does on the squares of a board, until it is a move; it knows no screen."""

from __future__ import annotations

from collections.abc import Iterable

from boardenvs.board.bitboard import SIZE, from_squares
from boardenvs.game.contract import Game, Position


class Picker:
    """The squares that are pressed, released and gone to by keys.

    A move to a square is made by its square; one from a square to another by both, one after the
    other or by dragging.
    """

    def __init__(self) -> None:
        self.source: int | None = None  # the square of the piece that is to move
        self.cursor = 0  # the square of the keys
        self._pressed: int | None = None
        self._moves: dict[tuple[int, ...], int] = {}

    def offer(self, game: Game, position: Position, actions: Iterable[int]) -> None:
        """What can be played from now on; no action, and nothing can."""
        squares = {game.action_squares(action, position): action for action in actions}
        self._moves = {at: action for at, action in squares.items() if at}
        self.source = self._pressed = None

    @property
    def sources(self) -> int:
        """The squares of pieces that can be moved, as a bitboard."""
        return from_squares({at[0] for at in self._moves if len(at) > 1})

    @property
    def targets(self) -> int:
        """The squares that can be played to now, as a bitboard."""
        held = self.source if self.dragged is None else self.dragged
        return from_squares({at[-1] for at in self._moves if at[:-1] in ((), (held,))})

    def press(self, square: int) -> None:
        """The mouse goes down on a square."""
        self._pressed = square

    def release(self, square: int | None) -> int | None:
        """The mouse goes up on a square, or beside the board; the action that this plays."""
        pressed, self._pressed = self._pressed, None
        if pressed is None or square is None:
            return None
        if pressed == square:
            return self.choose(square)
        return self._moves.get((pressed, square))

    def choose(self, square: int) -> int | None:
        """A click on a square, or Enter; the action that this plays."""
        action = self._moves.get((square,))
        if action is None and self.source is not None:
            action = self._moves.get((self.source, square))
        if action is None:
            can_move = bool(self.sources >> square & 1) and self.source != square
            self.source = square if can_move else None
        return action

    @property
    def dragged(self) -> int | None:
        """The square of the piece that the mouse holds."""
        can_move = self._pressed is not None and self.sources >> self._pressed & 1
        return self._pressed if can_move else None

    def let_go(self) -> None:
        """No piece is to move any more."""
        self.source = self._pressed = None

    def go(self, files: int, ranks: int) -> None:
        """The cursor goes so many squares to the right and up, as far as the board goes."""
        file, rank = self.cursor % SIZE + files, self.cursor // SIZE + ranks
        self.cursor = min(max(file, 0), SIZE - 1) + SIZE * min(max(rank, 0), SIZE - 1)
