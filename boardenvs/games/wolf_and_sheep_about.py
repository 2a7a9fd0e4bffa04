"""The words of the page of Wolf and Sheep."""

from boardenvs.game.about import About

ABOUT = About(
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
