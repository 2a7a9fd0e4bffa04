"""Chess by the laws of FIDE: mate, stalemate, castling, en passant, promotions, and draws: the same
position for the third time, fifty moves of each side without capture or pawn move, and where nobody
has the pieces for a mate.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add, or_
from typing import Any, ClassVar, NamedTuple, TypeAlias

from boardenvs.board import DIRECTIONS, EIGHT, Direction, digits, fill, from_squares, step, steps
from boardenvs.board.bitboard import parse_square, square_name
from boardenvs.game import About, Game, Notation, Position
from boardenvs.game.rules import DRAW
from boardenvs.games.chess_look import LETTERS, LOOK
from boardenvs.kernel import ALL, Bits, Table, less, nonzero, popcount, spread, when

N, NE, E, SE, S, SW, W, NW = DIRECTIONS
STRAIGHT, DIAGONAL = (N, E, S, W), (NE, SE, SW, NW)
_ONE_AND_TWO = [(x, y) for x in (-2, -1, 1, 2) for y in (-2, -1, 1, 2) if abs(x) != abs(y)]
JUMPS = [Direction("jump", x, y) for x, y in _ONE_AND_TWO]
QUIET = 100  # plies without capture or pawn move that make a draw
PROMOTED = "rbn"  # to what else than a queen

# An action is a way and the square that is left: a direction and a distance, a knight's jump, or,
# for pawns that become less than a queen, the piece and the file's change.
SLIDES = [(way, length) for way in DIRECTIONS for length in range(1, 8)]
LESSER = [(piece, change) for piece in PROMOTED for change in (-1, 0, 1)]


def _lesser_target(square: int, change: int) -> int:
    """Where a pawn on its seventh rank comes to; other squares have no such action."""
    way = Direction("", change, {6: 1, 1: -1}.get(square // 8, 9))
    target: int = step(1 << square, way)
    return target


_TARGETS = [
    *(steps(1 << square, way, length) for way, length in SLIDES for square in range(64)),
    *(step(1 << square, jump) for jump in JUMPS for square in range(64)),
    *(_lesser_target(square, change) for _, change in LESSER for square in range(64)),
    0,
]
_PARTS = len(SLIDES) + len(JUMPS) + len(LESSER)
_SOURCE = Table([1 << action % 64 for action in range(64 * _PARTS)] + [0])
_TARGET = Table(_TARGETS)
_PIECES = [*[""] * (_PARTS - len(LESSER)), *(piece for piece, _ in LESSER)]  # by the action's part
_BECOMES = [
    Table([int(p == piece) for p in _PIECES for _ in range(64)] + [0]) for piece in PROMOTED
]
# The rook's square before and after a king's step by two.
_CASTLING = {"e1-g1": "h1 f1", "e1-c1": "a1 d1", "e8-g8": "h8 f8", "e8-c8": "a8 d8"}


def _written(action: int) -> str:
    """The move as engines write it, without the q of a queen: e2e4, e7e8, e7e8n."""
    square, target = action % 64, _TARGETS[action]
    end = square_name(target.bit_length() - 1) if target else "--"
    return square_name(square) + end + _PIECES[action // 64]


_NAMES = [_written(action) for action in range(64 * _PARTS)]
_NUMBERS = {name: action for action, name in enumerate(_NAMES) if "--" not in name}
# Others write the q, too.
_NUMBERS |= {f"{name[:-1]}q": _NUMBERS[name[:-1]] for name in _NUMBERS if name[-1] == "n"}
_ROOK_AND_BACK = {
    _NUMBERS[king.replace("-", "")]: tuple(map(parse_square, rook.split()))
    for king, rook in _CASTLING.items()
}
_ROOK_MOVES = Table(
    [from_squares(_ROOK_AND_BACK.get(action, ())) for action in range(64 * _PARTS)] + [0]
)


@dataclass(frozen=True)
class Moves(Notation):
    """Moves as engines write them, without the q of a queen: "e2e4", "e7e8", "e7e8n"; "e7e8q" is
    read, too.
    """

    planes = _PARTS
    needs_position = False

    def write(self, game: Game, action: int, position: Position | None) -> str:
        return _NAMES[action]

    def parse(self, game: Game, text: str) -> int:
        if text not in _NUMBERS:
            raise ValueError(f"{text!r} is not a move like 'e2e4' or 'e7e8n'")
        return _NUMBERS[text]

    def spellings(self, game: Game, action: int, position: Position) -> tuple[str, ...]:
        queening = f"{_NAMES[action]}q"
        moved = position.word("pawns") >> action % 64 & 1
        return (queening,) if moved and queening in _NUMBERS else ()

    def squares(self, game: Game, action: int, position: Position | None) -> tuple[int, ...]:
        target = _TARGETS[action]
        return (action % 64, *([target.bit_length() - 1] if target else []))

    def other_name(self, game: Game, action: int, position: Position) -> str:
        """Standard Algebraic Notation: "Nf3", "exd5", "O-O", "e8=Q+"."""
        source, target = self.squares(game, action, position)
        after = position.step(action)
        board, to_move = _Board(*after.words[:10]), after.to_move
        check = "+" if _threats(board, to_move).checking else ""
        if after.is_over() and after.result() != (DRAW, DRAW):
            check = "#"
        return _san(position, action, source, target) + check


def _san(position: Position, action: int, source: int, target: int) -> str:
    """The move without the sign of check."""
    kind = next(kind for kind in LETTERS if position.word(kind) >> source & 1)
    begin, end = square_name(source), square_name(target)
    takes = "x" * (position.opp >> target & 1)
    if kind == "kings" and abs(target - source) == 2:
        return "O-O" if target > source else "O-O-O"
    if kind == "pawns":
        text = end if begin[0] == end[0] else f"{begin[0]}x{end}"
        return text + (f"={_PIECES[action // 64].upper() or 'Q'}" if end[1] in "18" else "")
    others = [
        square_name(a % 64)
        for a in position.legal_actions()
        if _TARGETS[a] == 1 << target and a != action and position.word(kind) >> a % 64 & 1
    ]
    if not others:
        begin = ""
    elif all(other[0] != begin[0] for other in others):
        begin = begin[0]
    elif all(other[1] != begin[1] for other in others):
        begin = begin[1]
    return f"{LETTERS[kind]}{begin}{takes}{end}"


Ways: TypeAlias = dict[tuple[Direction, int], Bits]  # what may go so far in a direction


class Threats(NamedTuple):
    """How the other side's pieces threaten the king of the side to move."""

    attacked: Bits  # squares where the king would be in check
    checking: Bits  # pieces that give check
    evades: Bits  # where any other piece must go: all squares, a line to one checking piece, none
    pinned: dict[Direction, Bits]  # pieces that may leave only along this line


@dataclass(frozen=True)
class Chess(Game):
    """Checkmate the opponent's king."""

    id: str = "chess"

    roles: ClassVar = ("white", "black")
    # Rooks that may still castle, and the square that a pawn has just passed where it can be taken.
    squares: ClassVar = (
        *("own", "opp", "pawns", "knights", "bishops", "rooks", "queens", "kings"),
        *("castling", "passed"),
    )
    numbers: ClassVar = {"quiet": QUIET + 1}
    history: ClassVar = QUIET  # no position from before a capture or pawn move comes again
    notation: ClassVar = Moves()
    look: ClassVar = LOOK
    about: ClassVar = About(
        title="Chess",
        rules="""\
The laws of FIDE. White starts on ranks 1 and 2, black on ranks 7 and 8; white moves first. Castling
is written as the king's step of two squares, e1g1; a pawn that reaches the last rank becomes a
queen, or another piece if its move says so: e7e8n.""",
        planes=(
            *("pawns of both sides", "knights", "bishops", "rooks", "queens", "kings"),
            "rooks that may still castle",
            "the square where a pawn can be taken en passant",
            "everywhere if black is to move",
            "everywhere if the position has been there before",
            "plies without capture or pawn move, in binary, lowest digit first",
        ),
        end="Checkmate wins. Stalemate is a draw, and so are the third time of a position, 50 "
        "moves of each side without capture or pawn move, and positions in which nobody can "
        "mate: kings alone, with one knight, or with bishops of one colour. Nothing is "
        "truncated.",
        source="The Laws of Chess of FIDE. Draws that players may claim come by themselves.",
        instructions="""\
Chess as in the laws of FIDE. White and black take turns, white first. White starts with its king on
e1, black on e8. All usual rules hold: castling, which is written as the king's move, capture en
passant, and promotion. Checkmate wins. Stalemate, the third repetition of a position, 50 moves of
each side without capture or pawn move, and positions in which neither side has the pieces for a
mate are draws.""",
    )

    def setup(self) -> tuple[int, ...]:
        def both(files: str) -> int:
            return from_squares([file + rank for file in files for rank in "18"])

        white, pawns = 0xFFFF, 0xFF << 8 | 0xFF << 48
        pieces = map(both, ("bg", "cf", "ah", "d", "e"))
        return white, white << 48, pawns, *pieces, both("ah"), 0, 0

    def moves(self, *words: Any) -> list[Bits]:
        return _moves(_Board(*words[:10]), words[11])

    def play(self, *words: Any) -> tuple[Bits, ...]:
        board, quiet, to_move, action = _Board(*words[:10]), words[10], words[11], words[12]
        source, target = _SOURCE[action], _TARGET[action]
        pawn = spread(nonzero(source & board.pawns))
        king = spread(nonzero(source & board.kings))
        rook_moves = _ROOK_MOVES[action] & king
        behind = _forward(board.passed, to_move ^ 1)
        taken = target & board.opp | spread(nonzero(target & board.passed)) & pawn & behind
        own = (board.own & ~source | target) ^ rook_moves
        pieces = []
        for kind in board[2:8]:
            moved = spread(nonzero(kind & source))
            pieces.append(kind & ~(source | taken) | target & moved)
        pawns, knights, bishops, rooks, queens, kings = pieces
        crowned = target & pawn & (RANK[0] | RANK[7])
        rook, bishop, knight = (crowned & spread(table[action]) for table in _BECOMES)
        queen = crowned & ~(rook | bishop | knight)
        castling = board.castling & ~(source | target) & ~(king & _rank(0, to_move))
        skipped = _forward(source, to_move) & _forward(target, to_move ^ 1) & pawn
        opp, pawns, knights = board.opp & ~taken, pawns & ~crowned, knights | knight
        bishops, rooks, queens = bishops | bishop, rooks ^ rook_moves | rook, queens | queen
        after = pawns, knights, bishops, rooks, queens, kings, castling
        theirs = _Board(opp, own, *after, passed=skipped)
        takers = _passing(theirs, _threats(theirs, to_move ^ 1), to_move ^ 1)
        return (
            *(own, opp, *after),
            skipped & spread(nonzero(takers[E.dx] | takers[W.dx])),
            (quiet + 1) & ~pawn & spread(nonzero(taken) ^ 1),
        )

    def over(self, *words: Any) -> Bits:
        board, quiet, moves, repeats = _Board(*words[:10]), words[10], words[11], words[-1]
        stuck = nonzero(reduce(or_, moves)) ^ 1
        return stuck | less(quiet, QUIET) ^ 1 | less(1, repeats) | _nobody_mates(board)

    def points(self, *words: Any) -> tuple[Bits, Bits]:
        """A side in check and without a move loses."""
        board, to_move = _Board(*words[:10]), words[11]
        stuck = nonzero(reduce(or_, _moves(board, to_move))) ^ 1
        return 0, stuck & nonzero(_threats(board, to_move).checking)

    def ending(self, position: Position) -> str:
        *words, quiet = position.words[: self.known_words]
        board, to_move = _Board(*words), position.to_move
        if position.result() != (DRAW, DRAW):
            return "by checkmate"
        if not any(_moves(board, to_move)):
            return "by stalemate"
        if _nobody_mates(board):
            return "by insufficient material"
        return "by the fifty-move rule" if quiet >= QUIET else "by repetition"

    def planes(self, *words: Any) -> tuple[Bits, ...]:
        *sets, quiet, to_move, _, repeats = words
        return (*sets, spread(to_move), spread(nonzero(repeats)), *digits(quiet, QUIET + 1))

    def evaluate(self, *words: Any) -> tuple[Bits, Bits]:
        """Values of the pieces by where they stand, in hundredths of a pawn."""
        board, to_move = _Board(*words[:10]), words[11]
        mine, theirs = board.own, board.opp
        return _value(board, mine, theirs, to_move), _value(board, theirs, mine, to_move ^ 1)

    def forcing(self, *words: Any) -> list[Bits]:
        """Captures, and pawns that become queens."""
        board, to_move = _Board(*words[:10]), words[11]
        targets, queening = board.opp | board.passed, board.pawns & _rank(6, to_move)
        slides = [
            steps(targets, way.opposite, length) | (queening if length == 1 else 0)
            for way, length in SLIDES
        ]
        return [*slides, *(step(targets, jump.opposite) for jump in JUMPS), *[0] * len(LESSER)]


class _Board(NamedTuple):
    own: Bits
    opp: Bits
    pawns: Bits
    knights: Bits
    bishops: Bits
    rooks: Bits
    queens: Bits
    kings: Bits
    castling: Bits
    passed: Bits

    def sliders(self, way: Direction) -> Bits:
        """The pieces that go so far as they like in this direction."""
        return self.queens | (self.bishops if way in DIAGONAL else self.rooks)


RANK = [EIGHT.rank(y) for y in range(8)]


def _moves(board: _Board, to_move: Bits) -> list[Bits]:
    """The pieces that may go each of the ways."""
    threats = _threats(board, to_move)
    targets = ~board.own & threats.evades & ALL
    pawns = _pawn_moves(board, threats, to_move)
    castling = _castling(board, threats, to_move)
    slides = [
        pieces | pawns.get(way, 0) | castling.get(way, 0)
        for way, pieces in _slides(board, threats, targets).items()
    ]
    pinned = reduce(or_, threats.pinned.values())
    knights = board.own & board.knights & ~pinned
    jumps = [knights & step(targets, jump.opposite) for jump in JUMPS]
    lesser = [
        reduce(or_, [pawns[way, 1] for way in DIRECTIONS if way.dx == change and way.dy])
        for _, change in LESSER
    ]
    return [*slides, *jumps, *(pieces & _rank(6, to_move) for pieces in lesser)]


def _slides(board: _Board, threats: Threats, targets: Bits) -> Ways:
    """The moves of bishops, rooks, queens and the king."""
    empty = ~(board.own | board.opp) & ALL
    ways: Ways = {}
    for way in DIRECTIONS:
        free = board.own & board.sliders(way) & _unpinned(threats, way)
        for length in range(1, 8):
            ways[way, length] = free & steps(targets, way.opposite, length)
            free = free & steps(empty, way.opposite, length)
        king = board.own & board.kings
        ways[way, 1] = ways[way, 1] | king & step(~board.own & ~threats.attacked, way.opposite)
    return ways


def _pawn_moves(board: _Board, threats: Threats, to_move: Bits) -> Ways:
    empty, ways = ~(board.own | board.opp) & ALL, {}
    passing = _passing(board, threats, to_move)
    for way in DIRECTIONS:
        if way.dy == 0:
            continue
        side = spread(to_move ^ 1 if way.dy > 0 else to_move)
        pawns = board.own & board.pawns & side & _unpinned(threats, way)
        if way.dx:
            ways[way, 1] = pawns & (
                step(board.opp & threats.evades, way.opposite) | passing[way.dx]
            )
            continue
        ways[way, 1] = pawns & step(empty & threats.evades, way.opposite)
        first = pawns & RANK[1 if way.dy > 0 else 6] & step(empty, way.opposite)
        ways[way, 2] = first & steps(empty & threats.evades, way.opposite, 2)
    return ways


def _passing(board: _Board, threats: Threats, to_move: Bits) -> dict[int, Bits]:
    """The pawns that may take one that has passed them, by the change of file: the king must not be
    in check after it.
    """
    pawns = {}
    behind = _forward(board.passed, to_move ^ 1)
    lines = board.opp & board.sliders(N), board.opp & board.sliders(NE)
    left = nonzero(threats.checking & ~(behind | lines[0] | lines[1])) ^ 1
    for way in (E, W):
        pawn = step(behind, way.opposite) & board.own & board.pawns
        taken = (board.own | board.opp) & ~(pawn | behind) | board.passed
        open_ = when(pawn, _is_open, board.own & board.kings, ~taken & ALL, *lines)
        pawns[way.dx] = pawn & spread(left & open_)
    return pawns


def _is_open(king: Bits, empty: Bits, straight: Bits, diagonal: Bits) -> Bits:
    """The flag 1 where no line leads to the king."""
    hit = [
        step(king | fill(king, empty, way), way) & (diagonal if way in DIAGONAL else straight)
        for way in DIRECTIONS
    ]
    return nonzero(reduce(or_, hit)) ^ 1


def _castling(board: _Board, threats: Threats, to_move: Bits) -> Ways:
    """The king, where nothing stands between it and the rook and nothing attacks its way."""
    ways: Ways = {(E, 2): 0, (W, 2): 0}
    taken = board.own | board.opp
    for king, rook in _CASTLING.items():
        start, end = (parse_square(name) for name in king.split("-"))
        corner = parse_square(rook.split()[0])
        way = E if end > start else W
        between = fill(1 << start, ~(1 << corner) & ALL, way)
        path = 1 << start | 1 << end | 1 << (start + end) // 2
        wrong = between & taken | path & threats.attacked | ~board.castling & 1 << corner
        side = to_move if start > 32 else to_move ^ 1
        ways[way, 2] = ways[way, 2] | 1 << start & spread((nonzero(wrong & ALL) ^ 1) & side)
    return ways


def _threats(board: _Board, to_move: Bits) -> Threats:
    king, opp = board.own & board.kings, board.opp
    empty = ~(board.own | opp) & ALL
    attacked, checking, line, pinned = 0, 0, 0, {}
    for way in DIRECTIONS:
        sliders = opp & board.sliders(way)
        attacked = attacked | step(sliders | fill(sliders, empty | king, way), way)
        seen = king | fill(king, empty, way)
        checker = step(seen, way) & sliders
        checking, line = checking | checker, line | seen & spread(nonzero(checker))
        shield = step(seen, way) & board.own
        behind = step(shield | fill(shield, empty, way), way) & sliders
        pinned[way] = shield & spread(nonzero(behind))
    for jump in JUMPS:
        attacked = attacked | step(opp & board.knights, jump)
        checking = checking | step(king, jump) & opp & board.knights
    for way in DIRECTIONS:
        attacked = attacked | step(opp & board.kings, way)
        if way in DIAGONAL:
            theirs = opp & board.pawns & spread(to_move if way.dy > 0 else to_move ^ 1)
            attacked = attacked | step(theirs, way)
            checking = checking | step(king, way.opposite) & theirs
    count = popcount(checking)
    blocked = (line & ~king | checking) & spread(less(count, 2))
    evades = blocked | spread(nonzero(count) ^ 1)
    return Threats(attacked, checking, evades, pinned)


def _unpinned(threats: Threats, way: Direction) -> Bits:
    """The squares whose pieces may go this way."""
    others = [squares for w, squares in threats.pinned.items() if w not in (way, way.opposite)]
    return ~reduce(or_, others) & ALL


def _forward(squares: Bits, role: Bits) -> Bits:
    """Squares moved up the board for white, down for black."""
    return step(squares, N) & spread(role ^ 1) | step(squares, S) & spread(role)


def _rank(y: int, role: Bits) -> Bits:
    """A rank, counted from 0 at the role's own side."""
    return RANK[y] & spread(role ^ 1) | RANK[7 - y] & spread(role)


def _nobody_mates(board: _Board) -> Bits:
    """The flag 1 for kings alone, with one knight, or with bishops of one colour."""
    others = board.pawns | board.rooks | board.queens
    dark = 0xAA55AA55AA55AA55
    bishops = nonzero(board.bishops & dark) & nonzero(board.bishops & ~dark & ALL)
    some_bishops = nonzero(board.bishops)
    knights = popcount(board.knights)
    too_many = less(0, knights) & some_bishops | less(1, knights) | bishops
    return (nonzero(others) | too_many) ^ 1


# All squares, and the inner 36, 16 and 4; the worth of pawns to queens and of the king, and how
# much more of it on each ring of inner squares.
RINGS = [sum(0xFF >> 2 * k << k << 8 * y for y in range(k, 8 - k)) for k in range(4)]
WORTH = (100, 7), (315, 10), (325, 6), (500, 1), (950, 2), (0, 10)
CORNERS = 0xC7000000000000C7  # where a king hides from queens


def _value(board: _Board, side: Bits, other: Bits, role: Bits) -> Bits:
    """What a side's pieces are worth; while there is a queen against it, its king stays at home."""
    hunted = spread(nonzero(other & board.queens))
    pieces = (*board[2:7], board.kings & ~hunted & ALL)
    terms = [popcount(side & (board.kings & CORNERS | board.castling) & hunted) * 20]
    for kind, (worth, more) in zip(pieces, WORTH, strict=True):
        weights = zip(RINGS, (worth, more, more, more), strict=True)
        terms += [popcount(side & kind & ring) * weight for ring, weight in weights]
    terms += [popcount(side & board.pawns & _rank(y, role)) * 12 * (y - 3) for y in (4, 5, 6)]
    return reduce(add, terms)
