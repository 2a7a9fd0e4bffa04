"""The rules of every game once more, slowly: sets of cells, one board, no tricks.

It follows the words of the rules and shares nothing with `boardenvs`. A cell is (x, y), both from
1 to 8, or to the size of another board. A move is a tuple of cells: of a new disc, or from and to,
or of none (NOOP).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeAlias

Cell: TypeAlias = tuple[int, int]
Move: TypeAlias = tuple[Cell, ...]

NOOP: Move = ()
CELLS = [(x, y) for y in range(1, 9) for x in range(1, 9)]  # of 8x8
DIAGONAL = [(1, 1), (1, -1), (-1, -1), (-1, 1)]
STRAIGHT = [(0, 1), (1, 0), (0, -1), (-1, 0)]
EVERY_WAY = STRAIGHT + DIAGONAL


def on_board(cell: Cell, size: int = 8) -> bool:
    x, y = cell
    return 1 <= x <= size and 1 <= y <= size


def walk(start: Cell, way: Cell, size: int = 8) -> list[Cell]:
    """The cells from `start`, itself excluded, to the edge of the board."""
    x, y = start[0] + way[0], start[1] + way[1]
    cells = []
    while on_board((x, y), size):
        cells.append((x, y))
        x, y = x + way[0], y + way[1]
    return cells


def one_group(pieces: frozenset[Cell]) -> bool:
    """Whether each piece can be reached from each other one by steps to neighbours; no piece can,
    and a single one.
    """
    if not pieces:
        return True
    seen: set[Cell] = set()
    waiting = [min(pieces)]
    while waiting:
        x, y = waiting.pop()
        if (x, y) not in seen:
            seen.add((x, y))
            waiting += [(x + dx, y + dy) for dx, dy in EVERY_WAY if (x + dx, y + dy) in pieces]
    return seen == pieces


@dataclass(frozen=True)
class Board:
    """The cells of the first and of the second role, whose turn it is (0 or 1), plies played."""

    pieces: tuple[frozenset[Cell], frozenset[Cell]]
    to_move: int = 0
    ply: int = 0

    @property
    def own(self) -> frozenset[Cell]:
        return self.pieces[self.to_move]

    @property
    def opp(self) -> frozenset[Cell]:
        return self.pieces[1 - self.to_move]

    def turned(self, own: frozenset[Cell], opp: frozenset[Cell]) -> Board:
        """The next board, where the side that has just moved has `own`."""
        pieces = (own, opp) if self.to_move == 0 else (opp, own)
        return Board(pieces, 1 - self.to_move, self.ply + 1)


class Rules:
    """What all games share."""

    start: Board
    cell: ClassVar[str]  # how the rule sheet writes a cell

    def moves(self, board: Board) -> set[Move]:
        """The moves of the side to move, noop left out."""
        raise NotImplementedError

    def over(self, board: Board) -> bool:
        raise NotImplementedError

    def goals(self, board: Board) -> tuple[int, int]:
        """The goal values by role, as if the game ended here."""
        raise NotImplementedError

    def spell(self, move: Move) -> str:
        """A move as the rule sheet writes it."""
        return (
            " ".join(self.cell.format(x=x, y=y, file="abcdefgh"[x - 1]) for x, y in move) or "noop"
        )

    def after(self, board: Board, move: Move) -> Board:
        """The board after a piece has moved, capturing what stands on the target."""
        if move == NOOP:
            return board.turned(board.own, board.opp)
        source, target = move
        return board.turned((board.own - {source}) | {target}, board.opp - {target})

    def legal(self, board: Board) -> set[Move]:
        """All legal actions: none after the end, noop only without a move."""
        if self.over(board):
            return set()
        return self.moves(board) or {NOOP}


class Othello(Rules):
    cell = "{x} {y}"

    def __init__(self, holes: frozenset[Cell] = frozenset(), size: int = 8) -> None:
        self.holes, self.size = holes, size
        a, b = size // 2, size // 2 + 1
        self.start = Board((frozenset({(a, a), (b, b)}), frozenset({(a, b), (b, a)})))

    def flips(self, own: frozenset[Cell], opp: frozenset[Cell], cell: Cell) -> set[Cell]:
        """The discs that turn over when `own` gets a disc on this empty cell."""
        turned: set[Cell] = set()
        for way in EVERY_WAY:
            line: list[Cell] = []
            for other in walk(cell, way, self.size):
                if other in opp:
                    line.append(other)
                    continue
                if other in own:
                    turned.update(line)
                break
        return turned

    def placings(self, own: frozenset[Cell], opp: frozenset[Cell]) -> set[Cell]:
        taken = own | opp | self.holes
        line = range(1, self.size + 1)
        free = {(x, y) for x in line for y in line} - taken
        return {cell for cell in free if self.flips(own, opp, cell)}

    def moves(self, board: Board) -> set[Move]:
        return {(cell,) for cell in self.placings(board.own, board.opp)}

    def after(self, board: Board, move: Move) -> Board:
        if move == NOOP:
            return board.turned(board.own, board.opp)
        (cell,) = move
        flips = self.flips(board.own, board.opp, cell)
        return board.turned(board.own | flips | {cell}, board.opp - flips)

    def over(self, board: Board) -> bool:
        return not self.placings(*board.pieces) and not self.placings(*board.pieces[::-1])

    def goals(self, board: Board) -> tuple[int, int]:
        first, second = (len(pieces) for pieces in board.pieces)
        if first == second:
            return (50, 50)
        return (100, 0) if first > second else (0, 100)


class WolfAndSheep(Rules):
    cell = "c{x} c{y}"

    def __init__(self, wolf_ways: list[Cell], sheep_ways: list[Cell]) -> None:
        self.ways = (wolf_ways, sheep_ways)
        self.start = Board((frozenset({(4, 8)}), frozenset({(1, 1), (3, 1), (5, 1), (7, 1)})))

    def moves_of(self, board: Board, role: int) -> set[Move]:
        taken = board.pieces[0] | board.pieces[1]
        return {
            ((x, y), (x + dx, y + dy))
            for x, y in board.pieces[role]
            for dx, dy in self.ways[role]
            if on_board((x + dx, y + dy)) and (x + dx, y + dy) not in taken
        }

    def moves(self, board: Board) -> set[Move]:
        return self.moves_of(board, board.to_move)

    def over(self, board: Board) -> bool:
        ((_, wolf_y),) = board.pieces[0]
        past_all = all(wolf_y <= sheep_y for _, sheep_y in board.pieces[1])
        return past_all or not self.moves_of(board, 0) or not self.moves_of(board, 1)

    def goals(self, board: Board) -> tuple[int, int]:
        return (100, 0) if self.moves_of(board, 0) else (0, 100)


class LinesOfAction(Rules):
    cell = "{file} {y}"

    first_rank: ClassVar[int]  # of black

    def __init__(self, max_steps: int = 50, size: int = 8) -> None:
        self.max_steps, self.size = max_steps, size
        ranks = (self.first_rank, size + 1 - self.first_rank)
        black = frozenset((x, y) for x in range(2, size) for y in ranks)
        white = frozenset((x, y) for x in (1, size) for y in range(2, size))
        self.start = Board((black, white))

    def target(self, board: Board, source: Cell, way: Cell) -> Cell | None:
        """Where the piece on `source` goes in this direction; None where it may not."""
        raise NotImplementedError

    def moves(self, board: Board) -> set[Move]:
        targets = {(s, self.target(board, s, way)) for s in board.own for way in EVERY_WAY}
        return {(s, t) for s, t in targets if t is not None}

    def over(self, board: Board) -> bool:
        return board.ply >= self.max_steps or any(one_group(pieces) for pieces in board.pieces)

    def goals(self, board: Board) -> tuple[int, int]:
        first, second = (one_group(pieces) for pieces in board.pieces)
        if first == second:
            return (50, 50)
        return (100, 0) if first else (0, 100)


class ClassicLinesOfAction(LinesOfAction):
    """As many squares as there are pieces on the whole line, not over an opponent's piece."""

    first_rank = 1

    def target(self, board: Board, source: Cell, way: Cell) -> Cell | None:
        ahead, behind = (walk(source, (n * way[0], n * way[1]), self.size) for n in (1, -1))
        distance = sum(cell in board.own | board.opp for cell in [source, *ahead, *behind])
        if distance > len(ahead) or any(cell in board.opp for cell in ahead[: distance - 1]):
            return None
        end = ahead[distance - 1]
        return None if end in board.own else end


class DescribedLinesOfAction(LinesOfAction):
    """As many squares as there are own pieces in a row from the moving one on, itself included."""

    first_rank = 2

    def target(self, board: Board, source: Cell, way: Cell) -> Cell | None:
        for cell in walk(source, way, self.size):
            if cell not in board.own:
                return cell
        return None


HOLES = frozenset({(3, 3), (3, 6), (6, 3), (6, 6)})

# By the names that `conftest.py` gives the variants.
REFERENCE: dict[str, Rules] = {
    "othello": Othello(),
    "othello_holes": Othello(HOLES),
    "reversi": Othello(),
    "wolf_and_sheep": WolfAndSheep(DIAGONAL, [(-1, 1), (1, 1)]),
    "wolf_and_sheep_described": WolfAndSheep(EVERY_WAY, DIAGONAL),
    "lines_of_action": ClassicLinesOfAction(),
    "lines_of_action_described": DescribedLinesOfAction(),
}

# The same on boards of other sizes, by the texts of the games.
OF_SIZES: dict[str, Rules] = {
    "othello:size=4": Othello(size=4),
    "othello:size=6": Othello(size=6),
    "othello_holes:size=6": Othello(frozenset({(2, 2), (2, 5), (5, 2), (5, 5)}), 6),
    "othello:size=10": Othello(size=10),
    "lines_of_action:size=5": ClassicLinesOfAction(size=5),
    "lines_of_action:size=6": ClassicLinesOfAction(size=6),
    "lines_of_action:size=9": ClassicLinesOfAction(size=9),
    "lines_of_action:rules=described,size=6": DescribedLinesOfAction(size=6),
}
