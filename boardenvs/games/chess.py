"""Chess by the laws of FIDE: mate, stalemate, castling, en passant, promotions, and draws: the same
position for the third time, fifty moves of each side without capture or pawn move, and where nobody
has the pieces for a mate.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from operator import add, contains, or_, xor
from typing import Any, ClassVar, NamedTuple, TypeAlias

from boardenvs.board import (
    DIRECTIONS,
    EIGHT,
    Direction,
    Symmetry,
    all_empty,
    digits,
    fill,
    from_squares,
    rings,
    step,
    steps,
)
from boardenvs.board.bitboard import parse_square, square_name, squares_of
from boardenvs.game import About, Game, Notation, Position, PositionError
from boardenvs.games.chess_fen import usual_text, write_fen
from boardenvs.games.chess_look import LETTERS, LOOK
from boardenvs.kernel import ALL, Bits, Table, less, nonzero, popcount, spread, when

N, NE, E, SE, S, SW, W, NW = DIRECTIONS
STRAIGHT, DIAGONAL = (N, E, S, W), (NE, SE, SW, NW)
JUMPS = [
    Direction("jump", x, y) for x in (-2, -1, 1, 2) for y in (-2, -1, 1, 2) if abs(x) != abs(y)
]
RANK = [EIGHT.rank(y) for y in range(8)]
HOME = RANK[1] | RANK[6]  # of pawns
QUIET = 100  # plies without capture or pawn move that make a draw
PROMOTED = "rbn"  # to what else than a queen

# An action is a way and the square that is left: a direction and a distance, a knight's jump, or,
# for pawns that become less than a queen, the piece and the file's change.
SLIDES = [(way, length) for way in DIRECTIONS for length in range(1, 8)]
LESSER = [(piece, ways) for piece in PROMOTED for ways in ((NW, SW), (N, S), (NE, SE))]

_SQUARES = [1 << square for square in range(64)]
_TARGETS = [
    *(steps(square, way, length) for way, length in SLIDES for square in _SQUARES),
    *(step(square, jump) for jump in JUMPS for square in _SQUARES),
    *(
        step(square & RANK[6], up) | step(square & RANK[1], down)
        for _, (up, down) in LESSER
        for square in _SQUARES
    ),
]
_PARTS = len(_TARGETS) // 64
_SOURCE = Table(_SQUARES * _PARTS + [0])
_TARGET = Table([*_TARGETS, 0])
_PIECES = [*[""] * (_PARTS - len(LESSER)), *(piece for piece, _ in LESSER)]  # by the action's part
# The squares of a king's step by two, and the rook's before and after it.
_CASTLING = {"e1 g1": "h1 f1", "e1 c1": "a1 d1", "e8 g8": "h8 f8", "e8 c8": "a8 d8"}
_ROOKS = {
    from_squares(king.split()): from_squares(rook.split()) for king, rook in _CASTLING.items()
}
_ROOK_MOVES = Table([_ROOKS.get(1 << k % 64 | end, 0) for k, end in enumerate([*_TARGETS, 0])])

# By action: the squares, the target only if there is one; and the move as engines write it, without
# the q of a queen: e2e4, e7e8, e7e8n. Others write the q, too.
_ENDS = [(action % 64, *squares_of(target)) for action, target in enumerate(_TARGETS)]
_NAMES = [
    "".join([*map(square_name, ends), "--"][:2]) + _PIECES[action // 64]
    for action, ends in enumerate(_ENDS)
]
_BECOMES = [Table([ALL * name.endswith(p) for name in _NAMES] + [0]) for p in PROMOTED]
_NUMBERS = {name: action for action, name in enumerate(_NAMES) if "--" not in name}
_NUMBERS |= {f"{name[:-1]}q": _NUMBERS[name[:-1]] for name in _NUMBERS if name[-1] == "n"}
_SAN = re.compile(r"([KQRBNP]?)([a-h]?)([1-8]?)[-x:]?([a-h][1-8])=?\(?([QRBNqrbn]?)\)?")
_CASTLED = {"O-O": ("Keg1", "Keg8"), "O-O-O": ("Kec1", "Kec8")}  # by role


@dataclass(frozen=True)
class Moves(Notation):
    """Moves as engines write them, without the q of a queen: "e2e4", "e7e8", "e7e8n"; "e7e8q" is
    read, too.
    """

    planes = _PARTS
    needs_position = False
    usual = re.compile(rf"(?:{_SAN.pattern}|[O0]-[O0](?:-[O0])?)[+#]*")

    def write(self, game: Game, action: int, position: Position | None) -> str:
        return _NAMES[action]

    def parse(self, game: Game, text: str) -> int:
        if text not in _NUMBERS:
            raise ValueError(f"{text!r} is not a move like 'e2e4' or 'e7e8n'")
        return _NUMBERS[text]

    def turns(self, text: str, position: Position) -> list[tuple[int, ...]]:
        """Read algebraic notation, short or long: "Nbd7", "e4xd5", "e7-e8=Q", "0-0"."""
        text = re.sub(r"[+#!?\s]|e\.p\.", "", text)
        text = _CASTLED.get(text.upper().replace("0", "O"), (text, text))[position.to_move]
        if (match := _SAN.fullmatch(text)) is None:
            return super().turns(text, position)
        kind, file, rank, end, piece = match.groups()
        kind = kind or ("PNBRQK" if file and rank else "P")
        forms = kind, file or "abcdefgh", rank or "12345678", end, piece.lower() or "q-"
        return [
            (action,)
            for action in position.legal_actions()
            if _NAMES[action][2:4] == end and all(map(contains, forms, _in_full(position, action)))
        ]

    def squares(self, game: Game, action: int, position: Position | None) -> tuple[int, ...]:
        return _ENDS[action]

    def plane_images(self, symmetry: Symmetry) -> list[int]:
        """Of symmetries that leave the files where they are, which alone keep the rules."""
        ways = [(n * way.dx, n * way.dy) for way, n in [*SLIDES, *((jump, 1) for jump in JUMPS)]]
        images = [ways.index(symmetry.vector(*way)) for way in ways]
        return [*images, *range(len(ways), _PARTS)]

    def other_name(self, game: Game, action: int, position: Position) -> str:
        """Standard Algebraic Notation: "Nf3", "exd5", "O-O", "e8=Q+"."""
        after, (letter, *begin, end, piece) = position.step(action), _in_full(position, action)
        takes = "x" * (after.own != position.opp)
        check = "#" if any(after.points()) else "+" if _checking(after) else ""
        forms = [begin[0] * len(takes)] if letter == "P" else ["", *begin, "".join(begin)]
        rest = f"{takes}{end}={piece.upper()}".replace("=-", "")
        texts = *_CASTLED, *(f"{letter.strip('P')}{form}{rest}" for form in forms)
        # The first that means no other move.
        return next(x for x in texts if self.turns(x, position) == [(action,)]) + check


def _in_full(position: Position, action: int) -> tuple[str, ...]:
    """Return the piece, its file and rank, where it goes, and what a pawn becomes or "-"."""
    name = _NAMES[action]
    kinds = zip(LETTERS.values(), position.words[2:8], strict=True)
    letter = next(letter for letter, squares in kinds if squares >> action % 64 & 1)
    queen = "q" if letter == "P" and name[3] in "18" else "-"
    return letter, *name[:2], name[2:4], name[4:] or queen


Ways: TypeAlias = dict[tuple[Direction, int], Bits]  # what may go so far in a direction


class Threats(NamedTuple):
    """How the other side's pieces threaten the king of the side to move."""

    attacked: Bits  # squares where the king would be in check
    checking: Bits  # pieces that give check
    evades: Bits  # where any other piece must go: all squares, a line to one checking piece, none
    pinned: dict[Direction, Bits]  # pieces that may leave only along this line

    def unpinned(self, way: Direction) -> Bits:
        """Return the squares whose pieces may go this way."""
        others = [squares for w, squares in self.pinned.items() if w not in (way, way.opposite)]
        return ~reduce(or_, others) & ALL


@dataclass(frozen=True)
class Chess(Game):
    """Checkmate the opponent's king."""

    id: str = "chess"

    roles: ClassVar = ("white", "black")
    # Rooks that may still castle, and the square that a pawn has just passed where it can be taken.
    squares: ClassVar = (
        *("own", "opp", "pawns", "knights", "bishops", "rooks", "queens", "kings"),
        *("castling", "en_passant"),
    )
    numbers: ClassVar = {"halfmove_clock": QUIET + 1}
    history: ClassVar = QUIET  # no position from before a capture or pawn move comes again
    letters: ClassVar = {sign: (k // 6, 2 + k % 6) for k, sign in enumerate("PNBRQKpnbrqk")}
    notation: ClassVar = Moves()
    mover_symmetry: ClassVar = Symmetry(flip_ranks=True)
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
e1, black on e8. A king moves one square in any direction; a queen any distance in any direction, a
rook along ranks and files, a bishop along diagonals, as far as the squares between are empty; a
knight two squares along a rank or file and one across, over other pieces. A pawn moves one square
ahead, or two from where it starts, and captures one square diagonally ahead. A piece captures by
moving to the square of an opposing one. All usual rules hold: castling, which is written as the
king's move, capture en passant, and promotion. No move may leave one's own king attacked.

Checkmate wins: an attacked king that no move can save. Stalemate, which is no legal move without
check, the third repetition of a position, 50 moves of each side without capture or pawn move, and
positions in which neither side has the pieces for a mate are draws.""",
    )

    def setup(self) -> tuple[int, ...]:
        def both(files: str) -> int:
            return from_squares([file + rank for file in files for rank in "18"])

        white = 0xFFFF
        pieces = map(both, ("bg", "cf", "ah", "d", "e"))
        return white, white << 48, HOME, *pieces, both("ah"), 0, 0

    def position(self, words: tuple[int, ...], to_move: int = 0, ply: int = 0) -> Position:
        """Return the position of these words, without a passed square if nobody can take there."""
        board = _board(super().position(words, to_move, ply))
        for side, pieces in zip(self.sides, words, strict=False):
            if (pieces & board.kings).bit_count() != 1:
                raise PositionError(f"{side} must have one king")
        first = words[0] & RANK[0] | words[1] & RANK[7]
        kings = board.kings & first & from_squares(["e1", "e8"])
        up, down = (S, N) if to_move else (N, S)
        jumped = board.empty & step(board.empty, down) & step(board.opp & board.pawns, up)
        for rule, wrong in (
            ("a piece is of one kind", reduce(xor, board[:8])),
            ("no pawn stands on the first or last rank", board.pawns & (RANK[0] | RANK[7])),
            (
                "a rook castles if it and its king are at home",
                board.castling & ~((kings << 3 | kings >> 4) & board.rooks & first),
            ),
            ("no pawn has just passed it, en passant", board.passed & ~(jumped & board.rank(5))),
            ("it checks a king that is not to move", _threats(board.turned).checking),
        ):
            if wrong:
                raise PositionError(f"{self.square_names(wrong)}: {rule}")
        passed = board.passed if any(_passing(board, _threats(board)).values()) else 0
        return super().position((*words[:9], passed, words[10]), to_move, ply)

    def fen(self, position: Position) -> str:
        return write_fen(position, super().fen(position).split()[0])

    def parse_fen(self, text: str) -> Position:
        return super().parse_fen(usual_text(text))

    def moves(self, *words: Any) -> list[Bits]:
        """Return the pieces that may go each of the ways."""
        board = _Board(*words[:12])
        threats = _threats(board)
        pawns = _pawn_moves(board, threats)  # first: its branches would save all values before
        further = *pawns.items(), *_castling(board, threats)
        targets = ~board.own & threats.evades & ALL
        slides = _slides(board, threats, targets)
        for way, pieces in further:
            slides[way] |= pieces
        knights = board.own & board.knights & ~reduce(or_, threats.pinned.values())
        jumps = [knights & step(targets, jump.opposite) for jump in JUMPS]
        lesser = [pawns[up, 1] & RANK[6] | pawns[down, 1] & RANK[1] for _, (up, down) in LESSER]
        return [*slides.values(), *jumps, *lesser]

    def play(self, *words: Any) -> tuple[Bits, ...]:
        board, action = _Board(*words[:12]), words[12]
        source, target = _SOURCE[action], _TARGET[action]
        pawn, king = (spread(nonzero(source & kind)) for kind in (board.pawns, board.kings))
        rook_moves = _ROOK_MOVES[action] & king
        taken = target & board.opp | spread(nonzero(target & board.passed)) & pawn & board.runner
        own, opp = (board.own & ~source | target) ^ rook_moves, board.opp & ~taken
        crowned = target & pawn & (RANK[0] | RANK[7])
        rook, bishop, knight = (crowned & table[action] for table in _BECOMES)
        queen = crowned ^ rook ^ bishop ^ knight
        changes = crowned, knight, bishop, rook ^ rook_moves, queen, 0
        pieces = [
            (kind & ~(source | taken) | target & spread(nonzero(kind & source))) ^ change
            for kind, change in zip(board[2:8], changes, strict=True)
        ]
        castling = board.castling & ~(source | target) & ~(board.own & king)
        passed = pawn & (step(source, N) & step(target, S) | step(source, S) & step(target, N))
        after = opp, own, *pieces, castling, passed, 0, board.to_move ^ 1
        theirs = _Board._make(after)
        takers = _passing(theirs, _threats(theirs)).values()
        return (
            *(own, opp, *pieces, castling),
            passed & spread(nonzero(reduce(or_, takers))),
            (board.quiet + 1) & ~pawn & spread(nonzero(taken) ^ 1),
        )

    def over(self, *words: Any) -> Bits:
        board, moves, repeats = _Board._make((*words[:11], words[12])), words[11], words[-1]
        return (
            all_empty(moves)
            | less(board.quiet, QUIET) ^ 1
            | less(1, repeats)
            | _nobody_mates(board)
        )

    def points(self, *words: Any) -> tuple[Bits, Bits]:
        """Return a side in check and without a move loses."""
        stuck = all_empty(self.moves(*words))
        return 0, stuck & nonzero(_threats(_Board(*words[:12])).checking)

    def turn(self, position: Position) -> str:
        return "to move, in check" if _checking(position) else "to move"

    def move_number(self, position: Position) -> str:
        return f"{position.ply // 2 + 1}{'...' if position.to_move else '.'}"

    def badge(self, position: Position, name: str) -> int:
        """Return the king in check."""
        return position.own & position.word("kings") if _checking(position) else 0

    def ending(self, position: Position) -> str:
        board = _board(position)
        if any(position.points()):
            return "by checkmate"
        if not any(self.moves(*board)):
            return "by stalemate"
        if _nobody_mates(board):
            return "by insufficient material"
        return "by the fifty-move rule" if board.quiet >= QUIET else "by repetition"

    def planes(self, *words: Any) -> tuple[Bits, ...]:
        *sets, quiet, to_move, _, repeats = words
        return (*sets, spread(to_move), spread(nonzero(repeats)), *digits(quiet, QUIET + 1))

    def evaluate(self, *words: Any) -> tuple[Bits, Bits]:
        """Return values of the pieces by where they stand, in hundredths of a pawn."""
        board = _Board(*words[:12])
        return _value(board), _value(board.turned)

    def forcing(self, *words: Any) -> list[Bits]:
        """Captures, and pawns that become queens."""
        board = _Board(*words[:12])
        targets, queening = board.opp | board.passed, board.pawns & board.rank(6)
        slides = [
            steps(targets, way.opposite, length) | (queening if length == 1 else 0)
            for way, length in SLIDES
        ]
        return [*slides, *(step(targets, jump.opposite) for jump in JUMPS), *[0] * len(LESSER)]


def _checking(position: Position) -> int:
    """Return the pieces that give check."""
    return int(_threats(_board(position)).checking)


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
    quiet: Bits
    to_move: Bits

    @property
    def empty(self) -> Bits:
        return ~(self.own | self.opp) & ALL

    @property
    def turned(self) -> _Board:
        """The board as the other side sees it."""
        return self._replace(own=self.opp, opp=self.own, to_move=self.to_move ^ 1)

    @property
    def runner(self) -> Bits:
        """The pawn that can be taken en passant."""
        north, south = step(self.passed, N), step(self.passed, S)
        return north & self.going(S) | south & self.going(N)

    def sliders(self, way: Direction) -> Bits:
        """Return the pieces that go so far as they like in this direction."""
        return self.queens | (self.bishops if way in DIAGONAL else self.rooks)

    def going(self, way: Direction) -> Bits:
        """Return all squares if the mover's pawns go this way, up or down, else none."""
        return spread(self.to_move ^ 1 if way.dy > 0 else self.to_move)

    def rank(self, y: int) -> Bits:
        """Return a rank, counted from 0 at the own side."""
        return RANK[y] & self.going(N) | RANK[7 - y] & self.going(S)


def _board(position: Position) -> _Board:
    return _Board._make((*position.words[:11], position.to_move))


def _slides(board: _Board, threats: Threats, targets: Bits) -> Ways:
    """Return the moves of bishops, rooks, queens and the king."""
    ways: Ways = {}
    for way in DIRECTIONS:
        free = board.own & board.sliders(way) & threats.unpinned(way)
        for length in range(1, 8):
            ways[way, length] = free & steps(targets, way.opposite, length)
            free = free & steps(board.empty, way.opposite, length)
        king = board.own & board.kings
        ways[way, 1] |= king & step(~board.own & ~threats.attacked, way.opposite)
    return ways


def _pawn_moves(board: _Board, threats: Threats) -> Ways:
    ways, passing = {}, _passing(board, threats)
    for way in (N, NE, SE, S, SW, NW):
        pawns = board.own & board.pawns & board.going(way) & threats.unpinned(way)
        back, targets = way.opposite, board.empty & threats.evades
        if way.dx:
            ways[way, 1] = pawns & (step(board.opp & threats.evades, back) | passing[way.dx])
        else:
            ways[way, 1] = pawns & step(targets, back)
            first = pawns & HOME & step(board.empty, back)
            ways[way, 2] = first & steps(targets, back, 2)
    return ways


def _passing(board: _Board, threats: Threats) -> dict[int, Bits]:
    """Return the pawns that may take one that has passed them, by the change of file: the king must
    not be in check after it.
    """
    pawns, runner = {}, board.runner
    lines = board.opp & board.sliders(N), board.opp & board.sliders(NE)
    left = nonzero(threats.checking & ~(runner | lines[0] | lines[1])) ^ 1
    for way in (E, W):
        pawn = step(runner, way.opposite) & board.own & board.pawns
        empty = (board.empty | pawn | runner) & ~board.passed & ALL
        open_ = when(pawn, _is_open, board.own & board.kings, empty, *lines)
        pawns[way.dx] = pawn & spread(left & open_)
    return pawns


def _is_open(king: Bits, empty: Bits, straight: Bits, diagonal: Bits) -> Bits:
    """Return the flag 1 where no line leads to the king."""
    hit = [
        step(king | fill(king, empty, way), way) & (diagonal if way in DIAGONAL else straight)
        for way in DIRECTIONS
    ]
    return all_empty(hit)


def _castling(board: _Board, threats: Threats) -> Iterator[tuple[tuple[Direction, int], Bits]]:
    """The king, where nothing stands between it and the rook and nothing attacks its way."""
    for king, rook in _CASTLING.items():
        start, end = map(parse_square, king.split())
        corner = 1 << parse_square(rook[:2])
        way = E if end > start else W
        between = fill(1 << start, ~corner & ALL, way)
        path = 1 << start | 1 << end | 1 << (start + end) // 2
        wrong = between & ~board.empty | path & threats.attacked | ~board.castling & corner
        side = board.going(S if start > 32 else N)
        yield (way, 2), 1 << start & side & spread(nonzero(wrong & ALL) ^ 1)


def _threats(board: _Board) -> Threats:
    king, opp, empty = board.own & board.kings, board.opp, board.empty
    attacked, checking, lines, pinned = 0, 0, 0, {}
    for way in DIRECTIONS:
        sliders, pawns = opp & board.sliders(way), 0
        if way in DIAGONAL:
            pawns = opp & board.pawns & board.going(way.opposite)
            checking |= step(king, way.opposite) & pawns
        near = sliders | pawns | opp & board.kings
        attacked |= step(near | fill(sliders, empty | king, way), way)
        line = king | fill(king, empty, way)
        checker = step(line, way) & sliders
        checking |= checker
        lines |= line & spread(nonzero(checker))
        shield = step(line, way) & board.own
        behind = step(shield | fill(shield, empty, way), way) & sliders
        pinned[way] = shield & spread(nonzero(behind))
    for jump in JUMPS:
        attacked |= step(opp & board.knights, jump)
        checking |= step(king, jump) & opp & board.knights
    count = popcount(checking)
    blocked = (lines & ~king | checking) & spread(less(count, 2))
    return Threats(attacked, checking, blocked | spread(nonzero(count) ^ 1), pinned)


def _nobody_mates(board: _Board) -> Bits:
    """Return the flag 1 for kings alone, with one knight, or with bishops of one colour."""
    others = board.pawns | board.rooks | board.queens
    dark = 0xAA55AA55AA55AA55
    bishops = nonzero(board.bishops & dark) & nonzero(board.bishops & ~dark & ALL)
    some_bishops = nonzero(board.bishops)
    knights = popcount(board.knights)
    too_many = less(0, knights) & some_bishops | less(1, knights) | bishops
    return (nonzero(others) | too_many) ^ 1


# The worth of pawns to queens and of the king, and how much more of it on each ring of inner
# squares.
WORTH = (100, 7), (315, 10), (325, 6), (500, 1), (950, 2), (0, 10)
CORNERS = 0xC7000000000000C7  # where a king hides from queens


def _value(board: _Board) -> Bits:
    """Return what the own pieces are worth; while there is a queen against it, the king stays at
    home.
    """
    hunted = spread(nonzero(board.opp & board.queens))
    pieces = (*board[2:7], board.kings & ~hunted & ALL)
    terms = [popcount(board.own & (board.kings & CORNERS | board.castling) & hunted) * 20]
    for kind, (worth, more) in zip(pieces, WORTH, strict=True):
        weights = zip(rings(EIGHT), (worth, more, more, more), strict=True)
        terms += [popcount(board.own & kind & ring) * weight for ring, weight in weights]
    terms += [popcount(board.own & board.pawns & board.rank(y)) * 12 * (y - 3) for y in (4, 5, 6)]
    return reduce(add, terms)
