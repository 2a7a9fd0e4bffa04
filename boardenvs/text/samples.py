"""What to learn from without playing: prompts with the value of each move, in lines of JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

from boardenvs import games
from boardenvs.agents import Agent
from boardenvs.agents.analyse import analyse, exact_analyst
from boardenvs.exams.positions import exam_positions
from boardenvs.game.contract import Game
from boardenvs.game.position import Position
from boardenvs.search.analysis import OUTCOMES
from boardenvs.text.prompt import Style
from boardenvs.utils.files import write_atomically

_SCORES = {outcome: score for score, outcome in OUTCOMES.items()}


class Sample(TypedDict):
    """A prompt, and each legal move by its name in the prompt.

    values: to the side that makes the move, with best play of both: points ahead where the game
    counts them, else 1, 0 or -1 for a win, a draw or a loss; in an exam 1 for what is right and 0
    for the rest. rewards: the same from 0, the worst move, to 1, the best.
    """

    game: str
    position: str
    source: str  # the kind of exam, or the player that proved it
    prompt: str
    values: dict[str, float]
    rewards: dict[str, float]


def exam_samples(game: Game | str, style: Style | None = None) -> Iterator[Sample]:
    """The questions of a game's exam; ValueError where there is none."""
    game = games.make(game)
    asked = exam_positions(game)
    rows = zip(asked.kinds, game.positions(asked.state), asked.values, strict=True)
    for kind, position, values in rows:
        legal = np.flatnonzero(np.isfinite(values)).tolist()
        yield _sample(position, kind, {action: float(values[action]) for action in legal}, style)


def solved_samples(
    positions: Iterable[Position], style: Style | None = None, *, agent: Agent | str | None = None
) -> Iterator[Sample]:
    """Those of the positions in which every move is proven by an agent, by default by the exact
    solution or the endgame solver; others are left out, and so are those where the game is over.
    """
    for position in positions:
        solver = agent or exact_analyst(position.game)
        found = analyse(position, solver)
        values = {}
        for move in found.moves:
            if move.outcome is not None:
                exact = found.unit == "margin" and move.value is not None
                values[move.action] = move.value if exact else _SCORES[move.outcome]
        if values and len(values) == len(position.legal_actions()):
            yield _sample(position, str(solver), values, style)


def rewards_of(values: Mapping[int, float]) -> dict[int, float]:
    """Each action's place between the worst, 0, and the best, 1; 1 where all are the same."""
    worst, best = min(values.values()), max(values.values())
    return {a: (v - worst) / (best - worst) if best > worst else 1.0 for a, v in values.items()}


def save_samples(path: Path | str, samples: Iterable[Sample]) -> int:
    """Write a line of JSON for each sample, and return how many there are.

    ```python
    import boardenvs
    from boardenvs.text.samples import exam_samples, save_samples

    print(save_samples("othello.jsonl", exam_samples("othello")))
    ```
    """
    lines = [json.dumps(sample) + "\n" for sample in samples]
    write_atomically(Path(path), "".join(lines).encode())
    return len(lines)


def _sample(
    position: Position, source: str, values: Mapping[int, Any], style: Style | None
) -> Sample:
    style = style or Style(legal_moves=True)
    shown = style.shown(position.game)
    rewards = rewards_of(values)
    return {
        "game": games.spec_of(position.game),
        "position": position.fen(),
        "source": source,
        "prompt": style.write([position], []),
        "values": {shown.move(action, position): value for action, value in values.items()},
        "rewards": {shown.move(action, position): value for action, value in rewards.items()},
    }
