"""The looks of the games, and the texts of their pages."""

from __future__ import annotations

from dataclasses import replace

from boardenvs.game.look import SHADOW, Circle, Ink, Look, piece, read_shapes
from boardenvs.game.rules import About

# ---- Othello, Othello with holes, Reversi --------------------------------------------------------

_SUMMARIES = {
    "othello": "Bracket the opponent's discs to flip them; more discs win.",
    "othello_holes": "Othello on a board with four squares cut out.",
    "reversi": "Othello under the name that it has in the General Game Playing repository.",
}

_RULES = """\
Black and white place discs in turn, black first. A disc must bracket one or more opposing discs in
a straight line between itself and another disc of its side, in any of the eight directions; all
discs so bracketed flip. A side without such a square passes.

The game starts with white on {white} and black on {black}; row 1 is at the top. In Python white is
the role "red", and squares and planes are numbered from the bottom row on, as in the rule sheet."""

_HOLES = """

Holes are never occupied, and no line of discs runs through one. `othello_holes_v0` has them
diagonally beside the four squares in the centre: on 8x8 c3, c6, f3 and f6."""

_INSTRUCTIONS = """\
Black and white take turns, black first. The board has {size}x{size} squares. The game starts with
white discs on {white} and black discs on {black}. On its turn a side places a disc of its own on an
empty square, such that one or more opposing discs lie in a straight line, along a row, a column or
a diagonal, without a gap between the new disc and another disc of its own. All opposing discs that
are bracketed so, in whatever direction, flip and are its own from then on. A side that has no such
square passes; a side that has one may not pass.

The game ends as soon as neither side has a move, even if there are empty squares left. The side
with more discs on the board wins; the same number is a draw."""

_SOURCES = {
    "othello": "The rule sheet `othello-comp2007` of the General Game Playing repository.",
    "othello_holes": "The rule sheet `othelloHoles` of the General Game Playing repository.",
    "reversi": "The rule sheet `reversi` of the General Game Playing repository. The older Reversi,"
    " whose players choose the first four squares, is another game.",
}


def about_othello(game_id: str, size: int, black: str, white: str, holes: str) -> About:
    """Return the words of the page of Othello under this id, on a board of this size with these
    holes, where black and white begin on these squares.
    """
    words = {"black": black, "white": white, "size": size}
    without = f"\n\nHoles are {holes}: no disc is placed there, nor does a line run through one."
    return About(
        title={
            "othello": "Othello",
            "othello_holes": "Othello with holes",
            "reversi": "Reversi",
        }.get(game_id, ""),
        summary=_SUMMARIES.get(game_id, ""),
        rules=_RULES.format(**words) + (_HOLES if holes else ""),
        pieces="discs",
        planes=("the holes",) if holes else (),
        end="The game ends as soon as neither side has a move, also with empty squares left; no "
        "trailing double pass is played. The side with more discs wins; the same number is a draw. "
        "Nothing is truncated.",
        options={
            "holes": "squares out of play, as a bitboard (bit s is square s), without the four "
            "squares in the centre; holes add a plane to the observation.",
            "empties": 'whose the squares are that stay empty when the game ends: `"nobody"`, or '
            '`"winner"`, as tournaments and collections of endgames count. It changes by how much '
            "a game is won, never who wins it.",
            "size": "ranks, and files: 4 to 16, and even.",
        },
        choice="`othello_v0` is the game that others play and write about. `reversi_v0` has the "
        "same rules, and `othello_holes_v0` is for those who want a board that no opening theory "
        "covers.",
        source=_SOURCES.get(game_id, ""),
        instructions=_INSTRUCTIONS.format(**words) + without * bool(holes),
    )


# ---- Lines of Action -----------------------------------------------------------------------------

_LINES_OF_ACTION = About(
    title="Lines of Action",
    summary="Bring all your pieces together in one group.",
    rules="""\
Black starts on {black}, white on {white}; black moves first. With
`rules="classic"` (default) a piece moves in one of the eight directions exactly as many squares as
there are pieces of both sides on the whole line of movement, itself included. It may pass over own
pieces, not over opposing ones, and ends on an empty square or captures an opposing piece.""",
    planes=("steps left, in binary: plane 2 everywhere if the lowest digit is 1",),
    end="Every move and noop counts one step. The game ends when, after it, either side is one "
    "group (connected in any of the eight directions; one piece, or none, is a group), or at step "
    "`max_steps`. If one side is a group it wins; both, or neither, is a draw. Nothing is "
    "truncated.",
    options={
        "rules": '`"classic"`, `"described"` or `"tournament"`.',
        "max_steps": "steps before the game ends, which set the number of planes; a tournament's "
        "games have 1,000 and no planes for them.",
        "size": "ranks, and files: 4 to 16.",
    },
    choice="""\
Take `rules="classic"`, the default: it is Lines of Action as people and other programs play it, but
for the limit of 50 steps, which the rule sheet sets. `rules="tournament"` is the game of
tournaments and of OpenSpiel: no such limit, a move that connects both sides wins, a repeated
position draws, and a side without a move loses. `rules="described"` is another game, for comparison
with programs that implement the description.""",
    source="""\
The rule sheet `linesOfAction` of the General Game Playing repository (the limit of 50 steps is its
own). The description that this project was given of the game departs from it, and
`rules="described"` plays that description's words: black starts on the second rank and the last
but one, and the distance is the length of the contiguous line of own pieces in the direction of
movement, the moving one included, so that a piece lands on the first square beyond them.""",
)

_DISTANCE = {
    "classic": """\
by exactly as many squares as there are pieces of both sides on that whole line, from one edge of
the board to the other, itself included. It may pass over pieces of its own side, but not over
opposing ones.""",
    "described": """\
by exactly as many squares as there are pieces of its own side in an unbroken row from itself on in
that direction, itself included: it lands on the first square beyond them.""",
}


def about_lines_of_action(rules: str, max_steps: int, size: int, black: str, white: str) -> About:
    """Return the words of the game's page, with the squares where the sides begin."""
    instructions = f"""\
Black and white take turns, black first, on a board of {size}x{size} squares. Black starts with
pieces on {black}, white on {white}. On its turn a side moves one of its pieces in a straight line,
along a row, a column or a diagonal, {_DISTANCE.get(rules, _DISTANCE["classic"])} It ends on an
empty square, or on an opposing piece, which is captured and leaves the board; never on a piece of
its own side or off the board.
{_TOURNAMENT if rules == "tournament" else _SHEET.format(max_steps=max_steps)}"""
    words = _LINES_OF_ACTION.rules.format(black=black, white=white)
    return replace(_LINES_OF_ACTION, rules=words, instructions=instructions)


_CONNECTED = """
A side is connected if all its pieces are one group, in which pieces touch along rows, columns or
diagonals; a single piece is a group, and so is none. The game ends as soon as, after a move of
either side, at least one side is connected."""
_SHEET = f"""\
A side that has no move passes; a side that has one may not pass.
{_CONNECTED} If only one is, it wins; if both are, it is a draw.
After {{max_steps}} moves in all, of both sides together and with passes, the game ends as well: in
a draw, if neither side is connected."""
_TOURNAMENT = f"""\
A side that has no move loses.
{_CONNECTED} It wins; if a move connects both, the side
that made it wins. A move to a position that the board has had before ends the game as a draw."""


# ---- Wolf and Sheep ------------------------------------------------------------------------------

ABOUT_WOLF_AND_SHEEP = About(
    title="Wolf and Sheep",
    summary="One wolf tries to get past four sheep, which try to leave it without a move (Fox and "
    "Hounds).",
    rules="""\
The wolf starts on d8, the sheep on a1, c1, e1 and g1; the wolf moves first. A move takes a piece to
an empty neighbouring square. With `rules="classic"` (default) the wolf steps diagonally in all
four directions and the sheep diagonally forwards, to the north. With perfect play the sheep win
the classic game.""",
    planes=(
        "everywhere for the sheep, nowhere for the wolf",
        "plies left before `max_plies`, in binary: plane 3 everywhere if the lowest digit is 1",
    ),
    passing="It is never legal in turn-based play: a side without a move ends the game.",
    end="The game ends when no sheep stands on a lower rank than the wolf, or when either side has "
    "no move, whoever is to move. The wolf wins if it can move in that position, else the sheep "
    "win. There is no draw. A classic game ends by itself. After `max_plies` plies both agents are "
    "truncated, not terminated, and get the rewards that the position would give as an end.",
    options={
        "rules": '`"classic"` or `"described"`.',
        "max_plies": "plies before truncation; None for no cap (the observation then has no planes "
        "for it).",
    },
    choice='Take `rules="classic"`, the default: it is Fox and Hounds, a game that both sides can '
    'win. With `rules="described"` the wolf wins whatever it plays, so there is nothing to learn.',
    source="""\
The rule sheet `sheepAndWolf` of the General Game Playing repository. The description that this
project was given of the game departs from it, and `rules="described"` plays that description's
words: the wolf steps in all eight directions and the sheep in all four diagonal ones. Then the
sheep can never win: they stay on squares of one colour, and every square has neighbours of both, so
the wolf can always move. (The description also ends the game when the wolf's y is "numerically
greater" than a sheep's, which would be at the start; the rule sheet's condition is used.)""",
)


_STEPS = {
    "classic": """\
The piece of wolf steps along a diagonal, in any of its four directions. A piece of sheep steps
along a diagonal too, but only towards the side of the board from a8 to h8, never towards that from
a1 to h1.""",
    "described": """\
The piece of wolf steps along a row, a column or a diagonal, in any of the eight directions, a piece
of sheep along a diagonal, in any of its four directions.""",
}


def instructions_of_wolf_and_sheep(rules: str, max_plies: int | None) -> str:
    """Return the rules for players by text."""
    cap = (
        f" After {max_plies} moves in all, of both sides, the game is stopped, and decided so too."
    )
    return f"""\
Wolf has one piece, which starts on d8, and sheep has four, on a1, c1, e1 and g1. The sides take
turns, wolf first. A move takes one piece to an empty square that touches its own. {_STEPS[rules]}
Nothing is captured, and nobody passes.

The game ends as soon as no piece of sheep is closer to the side of the board from a1 to h1 than the
piece of wolf is, or when either side has no move, whoever's turn it is. Then wolf wins if its piece
has a move, and otherwise sheep wins; there is no draw.{cap if max_plies else ""}"""


# Head with ears and ruff, inside of the ears, cheeks, muzzle, eyes, nose.
_WOLF = """
half #323a45 0.58,0.27 0.79,0.05 0.86,0.40 0.93,0.63 0.78,0.72 0.66,0.88 0.56,0.96
half #56616f 0.58,0.31 0.765,0.12 0.82,0.42 0.87,0.60 0.74,0.68 0.63,0.84 0.55,0.92
pair #323a45 0.66,0.31 0.745,0.20 0.765,0.38
pair #c3cad3 0.87,0.60 0.74,0.68 0.63,0.84 0.57,0.70 0.66,0.60
half #c3cad3 0.53,0.56 0.57,0.70 0.63,0.84 0.55,0.92
pair #ffc93c 0.58,0.545 0.70,0.47 0.67,0.56
half #15191e 0.56,0.80 0.54,0.86 0.51,0.89
"""
_WOOL = """
discs #a59c8b 0.5,0.2,{0} 0.7,0.27,{0} 0.81,0.45,{0} 0.77,0.65,{0} 0.62,0.77,{0}
discs #a59c8b 0.38,0.77,{0} 0.23,0.65,{0} 0.19,0.45,{0} 0.3,0.27,{0}
"""
# Ears, face, fringe, eyes.
_SHEEP = """
pair #3b3434 0.60,0.44 0.70,0.43 0.82,0.53 0.80,0.60 0.70,0.57
half #3b3434 0.56,0.36 0.64,0.43 0.645,0.58 0.60,0.75 0.55,0.81
discs #fbf8f1 0.41,0.38,0.07 0.50,0.36,0.085 0.59,0.38,0.07
discs #ffffff 0.435,0.535,0.035 0.565,0.535,0.035
"""
LOOK_WOLF_AND_SHEEP = Look(
    "wood",
    (
        piece("#303030", (Circle(0.54, 0.64, 0.325, SHADOW), *read_shapes(_WOLF))),
        piece(
            "#ffffff",
            (
                Circle(0.53, 0.56, 0.40, SHADOW),
                *read_shapes(_WOOL.format(0.155)),
                *read_shapes(_WOOL.format(0.13).replace("#a59c8b", "#f1ece1")),
                Circle(0.5, 0.48, 0.30, Ink("#f1ece1"), "#ffffff"),
                *read_shapes(_SHEEP),
            ),
        ),
    ),
)
