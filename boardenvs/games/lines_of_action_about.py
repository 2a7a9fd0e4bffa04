"""The words of the page of Lines of Action."""

from boardenvs.game.about import About

ABOUT = About(
    title="Lines of Action",
    summary="Bring all your pieces together in one group.",
    rules="""\
Black starts on b1 to g1 and b8 to g8, white on a2 to a7 and h2 to h7; black moves first. With
`rules="classic"` (default) a piece moves in one of the eight directions exactly as many squares as
there are pieces of both sides on the whole line of movement, itself included. It may pass over own
pieces, not over opposing ones, and ends on an empty square or captures an opposing piece.""",
    planes=("steps left, in binary: plane 2 everywhere if the lowest digit is 1",),
    end="Every move and noop counts one step. The game ends when, after it, either side is one "
    "group (connected in any of the eight directions; one piece, or none, is a group), or at step "
    "`max_steps`. If one side is a group it wins; both, or neither, is a draw. Nothing is "
    "truncated.",
    options={
        "rules": '`"classic"` or `"described"`.',
        "max_steps": "steps before the game ends; it sets the number of planes.",
    },
    choice="""\
Take `rules="classic"`, the default: it is Lines of Action as people and other programs play it, but
for the limit of 50 steps, which the rule sheet sets. `rules="described"` is another game, for
comparison with programs that implement the description.""",
    source="""\
The rule sheet `linesOfAction` of the General Game Playing repository (the limit of 50 steps is its
own). The description that this project was given of the game departs from it, and
`rules="described"` plays that description's words: black starts on ranks 2 and 7, and the distance
is the length of the contiguous line of own pieces in the direction of movement, the moving one
included, so that a piece lands on the first square beyond them.""",
)
