"""How a player's answers change when the same positions are shown under other names.

A model that plays by what it has read of a game, and not by the rules in the prompt, loses much of
its strength in a disguise; one that guesses gives other moves when asked the same again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from boardenvs.arena.ratings import score_interval
from boardenvs.exams.positions import exam_positions, has_exam
from boardenvs.game.contract import Game
from boardenvs.game.openings import distinct_openings
from boardenvs.game.state import FloatArray, IntArray, State, take
from boardenvs.report import ReportTable
from boardenvs.text.disguise import PARTS, Disguise
from boardenvs.text.player import NO_MOVE, TextPlayer
from boardenvs.text.question import Counts

PLAIN, AGAIN, ALL = "as it is", "as it is, again", "all of these"


@dataclass(frozen=True)
class Face:
    """The answers to all positions under one face; shares are of all of them."""

    name: str  # what of the game is disguised
    legal: float
    low: float  # the 95 % interval of `legal`
    high: float
    kept: float | None  # moves that keep the win or the draw; None in a game without an exam
    same: float  # moves as in the first row
    counts: Counts


@dataclass(frozen=True)
class Comparison:
    """A player's answers under each face; printed as a table in Markdown."""

    positions: int
    faces: tuple[Face, ...]

    def __str__(self) -> str:
        rows = [
            {
                "shown": face.name,
                "legal": f"{face.legal:.2f}",
                "95 %": f"{face.low:.2f} to {face.high:.2f}",
                "keeps the value": "" if face.kept is None else f"{face.kept:.2f}",
                "same move": f"{face.same:.2f}",
                "illegal": str(face.counts.illegal),
                "unparsable": str(face.counts.unparsable),
                "ambiguous": str(face.counts.ambiguous),
            }
            for face in self.faces
        ]
        return ReportTable(rows).markdown()


def compare(
    model: Callable[..., str],
    game: Game,
    *,
    positions: int = 40,
    disguise: int = 1,
    seed: int = 0,
    **asked: Any,
) -> Comparison:
    """Ask a model for its move in so many positions, as the game is, the same again, with each part
    of a disguise alone, and with all of them: once each, without retries.

    The positions are those of the game's exam, drawn with `seed`, or else random ones. The other
    parameters are those of `TextPlayer`. ValueError for a game that cannot be disguised.

    ```python
    import boardenvs
    from boardenvs.text.faces import compare

    def model(prompt):  # stands for one that knows the game by heart
        return "I play b1-b3."

    print(compare(model, boardenvs.games.make("lines_of_action"), positions=10))
    ```
    """
    drawn = {part: Disguise.draw(game, disguise, (part,)) for part in PARTS}
    shown = {PLAIN: None, AGAIN: None, **drawn, ALL: Disguise.draw(game, disguise)}
    state, values = _asked(game, positions, np.random.default_rng(seed))
    first, faces = None, []
    for name, face in shown.items():
        player = TextPlayer(model, disguise=face, retries=0, **asked)
        actions = player.act(game, state)
        first = actions if first is None else first
        faces.append(_face(name, actions, first, values, player.counts))
    return Comparison(len(state.ply), tuple(faces))


def _asked(game: Game, count: int, rng: np.random.Generator) -> tuple[State, FloatArray | None]:
    """Positions, and the value of each action in them where that is known."""
    if not has_exam(game):
        return distinct_openings(game, count, game.opening_plies, rng).state, None
    exam = exam_positions(game)
    rows = np.sort(rng.permutation(len(exam.kinds))[:count])
    return take(exam.state, rows), exam.values[rows]


def _face(
    name: str, actions: IntArray, first: IntArray, values: FloatArray | None, counts: Counts
) -> Face:
    legal = actions != NO_MOVE
    kept = None
    if values is not None:
        given = values[np.arange(len(actions)), np.maximum(actions, 0)]
        kept = float((legal & (np.sign(given) == np.sign(values.max(axis=1)))).mean())
    low, high = score_interval(legal.astype(np.float64))
    same = float((legal & (actions == first)).mean())
    return Face(name, float(legal.mean()), low, high, kept, same, counts)
