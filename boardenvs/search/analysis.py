"""The analysis of a position: values of its moves, the one result type of all analysts."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from boardenvs.game.game import Game
from boardenvs.game.perft import successors
from boardenvs.game.position import Position, stack
from boardenvs.game.rules import MAX_VALUE
from boardenvs.game.state import FloatArray, IntArray, State, for_movers, take
from boardenvs.game.views import over_symmetries
from boardenvs.games import spec_of
from boardenvs.report import ReportTable
from boardenvs.search.mcts import Evaluator

Outcome: TypeAlias = Literal["win", "draw", "loss"]
Unit: TypeAlias = Literal["score", "margin", "heuristic"]

# By the result to the side to move.
OUTCOMES: dict[float, Outcome] = {1: "win", 0: "draw", -1: "loss"}
OPPOSITE: dict[Outcome, Outcome] = {"win": "loss", "draw": "draw", "loss": "win"}
# The value of a win, by the unit.
MOST: dict[Unit, float] = {"score": 1.0, "margin": 64.0, "heuristic": MAX_VALUE}

_LINE_PLIES = 8  # of a line of a network's most probable actions


@dataclass(frozen=True, kw_only=True)
class MoveAnalysis:
    """An analyst's view of a legal action; None stands for values that it does not know."""

    action: int
    line: tuple[int, ...]  # the action, and the expected play after it
    value: float | None = None  # to the side to move, in the analysis's unit
    outcome: Outcome | None = None  # for the side to move, if proven
    plies: int | None = None  # to the end of the game, this one included, if proven
    probability: float | None = None  # by a network, 0 to 1
    visits: int | None = None  # by a tree search
    mistakes: float | None = None  # share of the replies that give the value away


@dataclass(frozen=True, kw_only=True)
class Analysis:
    """An analyst's result for a position; see `boardenvs.analyse`.

    All values are for the side to move. The value of the position is the value of its best move;
    the difference to it is what a move loses. The unit of values is one of

    - "score": the expected result, from -1 (a loss) over 0 (a draw) to 1 (a win);
    - "margin": points ahead at the end of the game, in Othello discs, from -64 to 64: with best
      play if `margin` is known, else as a learnt evaluation expects;
    - "heuristic": the analyst's own numbers, between -100,000 and 100,000 (`MAX_VALUE`), which
      themselves stand for proven losses and wins.

    ```python
    import boardenvs

    analysis = boardenvs.analyse(boardenvs.games.make("wolf_and_sheep"))
    print(analysis.outcome, analysis.plies, analysis.names(analysis.line))
    ```
    """

    position: Position
    unit: Unit = "score"
    value: float | None = None  # of the position; None if the analyst has no values
    outcome: Outcome | None = None  # with best play of both sides; None: not proven
    margin: int | None = None  # points ahead at the end with best play, if proven
    plies: int | None = None  # to the end of the game with best play, if proven
    moves: tuple[MoveAnalysis, ...] = ()  # best first
    choice: int | None = None  # the move that the analyst plays; None if the game is over
    depth: int = 0  # plies of alpha-beta; empty squares if solved to the end
    nodes: int = 0  # positions searched or judged
    seconds: float = 0.0

    @property
    def game(self) -> Game:
        """The game of the position."""
        return self.position.game

    @property
    def proven(self) -> bool:
        """Whether the outcome is proven, not only estimated."""
        return self.outcome is not None

    @property
    def line(self) -> tuple[int, ...]:
        """The best move and the expected play after it."""
        return self.moves[0].line if self.moves else ()

    def names(self, line: Iterable[int], *, usual: bool = False) -> list[str]:
        """Return the names of actions played from the position, one after the other; `usual` as
        people write them, such as "Nf3".
        """
        position, names = self.position, []
        write = self.game.usual_name if usual else self.game.action_name
        for action in line:
            names.append(write(action, position))
            position = position.step(action)
        return names

    def rows(self, count: int | None = None) -> list[dict[str, Any]]:
        """Return the moves, best first, at most `count`, as rows of a table."""
        rows = []
        for move in self.moves[:count]:
            line = self.names(move.line[:_LINE_PLIES], usual=True)
            rows.append(
                {
                    "move": line[0],
                    "value": written_value(move.value, move.outcome, self.unit),
                    "plies": move.plies,
                    "visits": move.visits,
                    "probability": None if move.probability is None else f"{move.probability:.1%}",
                    "mistakes": None if move.mistakes is None else f"{move.mistakes:.0%}",
                    "line": " ".join(line),
                }
            )
        return rows

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the board with the best value of each square's moves, and
        all moves.
        """
        side, digits = self.game.sides[self.position.to_move], 2 if self.unit == "score" else 0
        values: dict[int, str] = {}
        for move in self.moves:
            squares = self.game.action_squares(move.action, self.position)[:1]
            if move.value is not None:
                values = dict.fromkeys(squares, f"{move.value:+z.{digits}f}") | values
        table = ReportTable(self.rows(), values_for(side, self.unit))
        return f"{self.position._repr_svg_(values) or ''}{table.html()}"

    def to_json(self) -> dict[str, Any]:
        """Return JSON values, with names for actions: what `boardenvs analyse --json` prints."""
        game, position = self.game, self.position
        moves = []
        for move in self.moves:
            line = self.names(move.line)
            squares = list(game.action_squares(move.action, position))
            moves.append({"move": line[0], "squares": squares, **vars(move), "line": line})
            moves[-1]["usual"] = self.names(move.line, usual=True)
        return {
            "game": spec_of(game),
            "position": position.fen(),
            "proven": self.proven,
            "line": self.names(self.line),
            **{name: getattr(self, name) for name in _KEPT},
            "choice": None if self.choice is None else self.names([self.choice])[0],
            "moves": moves,
        }


UNITS: dict[Unit, str] = {
    "score": "expected result, -1 to 1",
    "margin": "points ahead at the end",
    "heuristic": "the analyst's own heuristic",
}
_VERBS: dict[Outcome, str] = {"win": "wins", "draw": "draws", "loss": "loses"}


def values_for(side: str, unit: Unit) -> str:
    """Return the caption of a table: the unit of its values."""
    return f"values: {UNITS[unit]}, for {side}"


def written_value(value: float | None, outcome: Outcome | None, unit: Unit) -> str:
    """Return a value as text; a word if it is proven."""
    if outcome is not None:
        by = f" by {abs(value):g}" if unit == "margin" and value else ""
        return _VERBS[outcome] + by
    if value is None:
        return ""
    digits = 0 if unit == "heuristic" or (value.is_integer() and unit == "margin") else 2
    return f"{value:+z.{digits}f}"  # no negative zero


_KEPT = ("unit", "value", "outcome", "margin", "plies", "depth", "nodes", "seconds")


def final_analysis(position: Position) -> Analysis:
    """Return the analysis of a finished game: its result, and no moves."""
    game = position.game
    lead = int(game.score_margin(stack([position]))[0])
    result = int(np.sign(lead))
    return Analysis(
        position=position,
        unit="margin" if game.margin_counts else "score",
        value=float(lead if game.margin_counts else result),
        outcome=OUTCOMES[result],
        margin=lead if game.margin_counts else None,
        plies=0,
    )


def ranked(analysis: Analysis, began: float) -> Analysis:
    """Sort the moves, which come in the analyst's order of preference, its choice first, by value;
    moves that are symmetric get equal values.

    Among equal values proven wins come first, sooner before later ones, and proven losses last;
    then the analyst's order counts. Seconds count from `began`, by `time.perf_counter`.
    """
    moves = sorted(_equal_images(analysis), key=_by_value, reverse=True)
    return replace(
        analysis,
        moves=tuple(moves),
        choice=analysis.moves[0].action,
        value=moves[0].value,
        seconds=time.perf_counter() - began,
    )


def _by_value(move: MoveAnalysis) -> tuple[float, int, float]:
    value = -math.inf if move.value is None else move.value
    proven = (move.outcome == "win") - (move.outcome == "loss")
    return value, proven, -math.copysign(move.plies or 0, value)


def _equal_images(analysis: Analysis) -> Iterator[MoveAnalysis]:
    """Yield the moves; symmetric ones with the mean of their values and probabilities, or with the
    result that is proven for one of them.
    """
    game, position = analysis.game, analysis.position
    images = [
        game.action_images(symmetry)
        for symmetry in game.symmetries
        if game.image(symmetry, position.words) == position.words
    ]
    moves = {move.action: move for move in analysis.moves}
    for move in analysis.moves:
        actions = {int(image[move.action]) for image in images}
        group = [moves[action] for action in sorted(actions) if action in moves]
        proven = next((other for other in group if other.outcome), None)
        if len(group) == 1:
            yield move
        elif proven is not None:
            yield replace(move, value=proven.value, outcome=proven.outcome, plies=proven.plies)
        else:
            value = _mean([other.value for other in group])
            yield replace(move, value=value, probability=_mean([m.probability for m in group]))


def _mean(numbers: Sequence[float | None]) -> float | None:
    """Return the mean of the numbers that are not None, independent of their order."""
    values = [number for number in numbers if number is not None]
    return math.fsum(values) / len(values) if values else None


def final_scores(game: Game, movers: IntArray, after: State) -> FloatArray:
    """Return the results to the sides that have just moved, for rows whose game is over, (B,)
    float.
    """
    lead = for_movers(movers, after, game.score_margin(after))
    return np.sign(lead).astype(np.float64)


def lines_after(
    game: Game,
    actions: Sequence[int],
    after: State,
    reply: Callable[[State], IntArray],
    plies: int | None = None,
) -> list[list[int]]:
    """Return each action, followed by what `reply` plays, to the end of the game or for `plies`
    plies.
    """
    lines, rows, state = [[action] for action in actions], np.arange(len(actions)), after
    for _ in itertools.count() if plies is None else range(plies):
        live = np.flatnonzero(~game.is_over(state))
        if not live.size:
            break
        rows, state = rows[live], take(state, live)
        replies = reply(state)
        for row, action in zip(rows.tolist(), replies.tolist(), strict=True):
            lines[row].append(action)
        state = game.step(state, replies)
    return lines


# ---- by an evaluator -----------------------------------------------------------------------------


def analyse_by_evaluator(evaluator: Evaluator, position: Position) -> Analysis:
    """Analyse by the evaluator's probabilities, and its values after each move, both averaged over
    the game's symmetries. The most probable move of the board as it stands comes first.

    The value of a move that ends the game is its result. Lines follow the most probable actions.
    """
    game, state = position.game, stack([position])
    probabilities = over_symmetries(evaluator.evaluate, game, state)[0][0].tolist()
    unaveraged = evaluator.evaluate(game, state)[0][0]
    rows, actions, after = successors(game, state)
    movers = state.to_move[rows]
    over, values = game.is_over(after), final_scores(game, movers, after)
    live = take(after, ~over)
    if len(live.ply):
        means = over_symmetries(evaluator.evaluate, game, live)[1]
        values[~over] = for_movers(movers[~over], live, means)
    lines = lines_after(
        game,
        actions.tolist(),
        after,
        lambda state: evaluator.evaluate(game, state)[0].argmax(axis=1),
        _LINE_PLIES,
    )
    moves = [
        MoveAnalysis(
            action=action,
            value=value,
            outcome=OUTCOMES[value] if ends else None,
            plies=1 if ends else None,
            probability=probabilities[action],
            line=tuple(line),
        )
        for action, value, ends, line in zip(
            actions.tolist(), values.tolist(), over.tolist(), lines, strict=True
        )
    ]
    moves.sort(key=lambda move: -unaveraged[move.action])
    nodes = len(game.symmetries) * (1 + len(live.ply)) + sum(len(line) - 1 for line in lines)
    return Analysis(position=position, moves=tuple(moves), nodes=nodes)
