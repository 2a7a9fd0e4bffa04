"""How accurately a player moves: its moves in test positions, counted and drawn."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from boardenvs.agents import Agent, check_game
from boardenvs.agents.base import HistoryAgent
from boardenvs.agents.policy import Policy
from boardenvs.agents.shield import policy_player
from boardenvs.arena.player import FORFEIT, Faults, Player
from boardenvs.arena.ratings import Z95, score_interval
from boardenvs.envs.page import title_of
from boardenvs.exams.positions import ExamPositions, exam_positions, has_exam
from boardenvs.game.contract import Game
from boardenvs.game.state import BoolArray, FloatArray, IntArray, State, take
from boardenvs.games import spec_of
from boardenvs.report import ReportTable
from boardenvs.report.figures import IntervalRow, draw_intervals
from boardenvs.utils.imports import describe

ALL = "all"
_AT_ONCE = 50  # positions of one question to the player


@dataclass(frozen=True)
class Accuracy:
    """How well the positions of one kind were answered; ends of intervals of 95 %."""

    kind: str  # ALL over all kinds
    positions: int
    kept: float  # the share of moves that keep the value: the win, or the draw
    low: float
    high: float
    best: float | None  # the share of moves that lose no disc; None where discs do not count
    loss: float | None  # the mean loss in discs; an illegal move loses as the worst legal one
    loss_low: float | None
    loss_high: float | None

    @property
    def row(self) -> dict[str, object]:
        """For a table; ends of 95 % intervals are in brackets."""
        kept = f"{self.kept:.3f} [{self.low:.3f}, {self.high:.3f}]"
        row = {"kind": self.kind, "positions": self.positions, "keeps the value": kept}
        if self.loss is not None:
            row["best move"] = f"{self.best:.3f}"
            ends = f"[{self.loss_low:.2f}, {self.loss_high:.2f}]"
            row["mean loss in discs"] = f"{self.loss:.2f} {ends}"
        return row


@dataclass(frozen=True)
class ExamResult:
    """A player's exam in one game."""

    game: str  # its id
    marks: tuple[Accuracy, ...]  # of each kind, then of all
    seconds: float
    made: str  # where the positions are from
    faults: Faults

    @property
    def total(self) -> Accuracy:
        """Over all kinds."""
        return self.marks[-1]


def take_exam(
    game: Game,
    agent: Agent,
    *,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> ExamResult:
    """Ask the agent for its move in each position of the game's exam.

    An illegal move or an exception counts as a wrong move. `progress` is told how many positions
    are answered, and of how many. The same seed gives the same marks if the agent draws from
    the generator it gets alone.

    ValueError for a game without an exam, or where the agent cannot play it or must know how games
    came about.

    ```python
    import boardenvs
    from boardenvs.exams import take_exam

    marked = take_exam(boardenvs.games.make("othello"), boardenvs.make_agent("positional"))
    print(marked.total.kept, marked.total.loss)
    ```
    """
    check_game(agent, game)
    asked = exam_positions(game)
    alone = _WithoutHistory(agent)
    if isinstance(agent, HistoryAgent) and getattr(agent, "wants_history", True):
        try:
            alone.act(game, take(asked.state, slice(0, 1)), np.random.default_rng(0))
        except Exception as error:  # agents may be anybody's code
            raise ValueError(
                "the agent must know how a game came about, which an exam's positions do not tell: "
                f"it can play matches alone ({describe(error)})"
            ) from error
    began, count = time.monotonic(), len(asked.kinds)
    player = Player(alone, np.random.default_rng(seed))
    answers: IntArray = np.empty(count, np.int64)
    for start in range(0, count, _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        state = take(asked.state, part)
        answers[part] = player.act(game, state, np.empty((len(state.ply), 0), np.int16))
        if progress:
            progress(min(start + _AT_ONCE, count), count)
    return ExamResult(
        game=game.id,
        marks=_marks(game, asked, answers),
        seconds=time.monotonic() - began,
        made=asked.made,
        faults=player.faults,
    )


@dataclass(frozen=True)
class _WithoutHistory:
    """An agent that is asked about positions alone: an exam's are not told how they came about."""

    agent: Agent

    def act(self, game: Game, state: State, rng: np.random.Generator) -> IntArray:
        return self.agent.act(game, state, rng)


def _marks(game: Game, asked: ExamPositions, answers: IntArray) -> tuple[Accuracy, ...]:
    """Of each kind, then of all."""
    legal, best = np.isfinite(asked.values), asked.values.max(axis=1)
    worst = np.where(legal, asked.values, np.inf).min(axis=1)
    given = asked.values[np.arange(len(answers)), np.maximum(answers, 0)]
    forfeit = answers == FORFEIT
    kept = (np.sign(given) == np.sign(best)) & ~forfeit
    loss = best - np.where(forfeit, worst, given)
    kinds = np.array(asked.kinds)
    rows = {kind: kinds == kind for kind in dict.fromkeys(asked.kinds)}
    rows[ALL] = np.ones(len(kinds), np.bool_)
    return tuple(
        _mark(kind, kept[of], loss[of] if game.margin_counts else None) for kind, of in rows.items()
    )


def _mark(kind: str, kept: BoolArray, loss: FloatArray | None) -> Accuracy:
    low, high = score_interval(kept.astype(np.float64))
    share, count = float(kept.mean()), len(kept)
    if loss is None:
        return Accuracy(kind, count, share, low, high, None, None, None, None)
    mean = float(loss.mean())
    radius = Z95 * float(loss.std(ddof=1)) / math.sqrt(count) if count > 1 else math.inf
    best, lowest = float((loss == 0).mean()), max(mean - radius, 0.0)
    return Accuracy(kind, count, share, low, high, best, mean, lowest, mean + radius)


def draw(agent: str, marked: Sequence[ExamResult]) -> bytes:
    """An SVG with a row for each kind of each game. ImportError without matplotlib."""
    rows = [
        IntervalRow(
            f"{result.game}: {mark.kind}".replace("_", " "),
            *(mark.kept, mark.low, mark.high),
            (f"{mark.kept:.3f}", f"{mark.low:.3f} to {mark.high:.3f}"),
        )
        for result in marked
        for mark in result.marks
    ]
    label = "share of moves that keep the value, with 95 % intervals"
    return draw_intervals(agent, rows, label, limits=(0, 1))


# ---- the card of a policy: what it plays, how it was made, and how well it moves -----------------

_CARD = """\
---
library_name: boardenvs
pipeline_tag: reinforcement-learning
tags: [reinforcement-learning, board-games, {game_id}]
---

# A policy for {title}

It plays `{spec}`, and no other rules. It is a network of {numbers:,} numbers,
with {layers}: it takes observations {shape},
and gives logits of {actions} actions and a value. It runs with NumPy alone.

```python
import boardenvs

game = boardenvs.games.make("{spec}")
print(boardenvs.play_match(game, "{player}", "level:3", pairs=20))
```

## How it was made

```json
{notes}
```

## How well it moves

{marks}

`boardenvs rate {player} --game {spec}` rates it on the published anchors.
"""


def model_card(policy: Policy, player: str = "policy:policy.npz") -> str:
    """A page in Markdown to stand beside a policy's file, with its marks in the game's exam.

    player: the text of a player that has the policy. What the policy's notes say is shown as it is.

    ```python
    import boardenvs
    from boardenvs.agents.trained import trained_policy
    from boardenvs.exams import model_card

    print(model_card(trained_policy(boardenvs.games.make("wolf_and_sheep"))))
    ```
    """
    game = policy.game
    widths = [str(len(biases)) for _, biases in policy.hidden]
    return _CARD.format(
        game_id=game.id,
        title=title_of(game),
        spec=spec_of(game),
        numbers=sum(values.size for values in policy.arrays.values()),
        layers=f"hidden layers of {' and '.join(widths) or 0} units ({policy.activation})",
        shape="x".join(map(str, game.observation_shape)),
        actions=game.num_actions,
        notes=json.dumps(dict(policy.notes), indent=2),
        marks=_marks_of(policy),
        player=player,
    )


def _marks_of(policy: Policy) -> str:
    if not has_exam(policy.game):
        return "There is no exam of this game."
    result = take_exam(policy.game, policy_player(policy))
    table = ReportTable([mark.row for mark in result.marks]).markdown()
    return f"Its moves in the exam of the game, {result.made}; intervals are of 95 %.\n\n{table}"
