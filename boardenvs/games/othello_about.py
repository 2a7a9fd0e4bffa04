"""The words of the pages of Othello, Othello with holes and Reversi."""

from __future__ import annotations

from boardenvs.game.about import About

_SUMMARIES = {
    "othello": "Bracket the opponent's discs to flip them; more discs win.",
    "othello_holes": "Othello on a board with four squares cut out.",
    "reversi": "Othello under the name that it has in the General Game Playing repository.",
}

_RULES = """\
Black and red place discs in turn, black first. A disc must bracket one or more opposing discs in a
straight line between itself and another disc of its side, in any of the eight directions; all
discs so bracketed flip. A side without such a square passes.

The game starts with black on d4 and e5 and red on d5 and e4. Tournament Othello counts ranks from
the top; flip them (y -> 9 - y) and the start is the tournament's."""

_HOLES = """

Holes are never occupied, and no line of discs runs through one. `othello_holes_v0` has them on c3,
c6, f3 and f6."""

_SOURCES = {
    "othello": "The rule sheet `othello-comp2007` of the General Game Playing repository.",
    "othello_holes": "The rule sheet `othelloHoles` of the General Game Playing repository.",
    "reversi": "The rule sheet `reversi` of the General Game Playing repository. The older Reversi,"
    " whose players choose the first four squares, is another game.",
}


def about_othello(game_id: str, holes: int) -> About:
    """The words of the page of Othello under this id and with these holes."""
    return About(
        title={
            "othello": "Othello",
            "othello_holes": "Othello with holes",
            "reversi": "Reversi",
        }.get(game_id, ""),
        summary=_SUMMARIES.get(game_id, ""),
        rules=_RULES + (_HOLES if holes else ""),
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
        },
        choice="`othello_v0` is the game that others play and write about. `reversi_v0` has the "
        "same rules, and `othello_holes_v0` is for those who want a board that no opening theory "
        "covers.",
        source=_SOURCES.get(game_id, ""),
    )
