"""Exams: what the files say is true, and players are marked as they answer."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping
from functools import cache
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
import pytest
from command_line import rows, run
from negamax import is_over, lead_with_best_play, loses_within, wins_within

from boardenvs.agents import Agent, as_agent, make_agent
from boardenvs.agents.simple import RandomAgent
from boardenvs.exams import take_exam
from boardenvs.exams.positions import exam_positions
from boardenvs.game.game import Game
from boardenvs.game.position import Position
from boardenvs.game.state import IntArray, State
from boardenvs.games import make
from boardenvs.tablebase import Tablebase

GAMES = ["othello", "othello_holes", "lines_of_action"]


class Question(NamedTuple):
    """A position, and the value of each legal action."""

    kind: str
    position: Position
    values: Mapping[int, int]


@cache
def questions(game: Game) -> list[Question]:
    asked = exam_positions(game)
    rows = zip(asked.kinds, game.positions(asked.state), asked.values, strict=True)
    return [
        Question(kind, position, {a: int(values[a]) for a in position.legal_actions()})
        for kind, position, values in rows
    ]


def worth(kind: str, before: Position, action: int) -> int:
    """What an action is worth, by a search that knows neither tables nor cut-offs."""
    game, after = before.game, before.step(action)
    if kind.endswith("squares"):
        return -lead_with_best_play(game, after)
    if is_over(game, after):
        return after.result()[before.to_move] > (0 if kind == "only defence" else 50)
    if kind == "only defence":
        return not wins_within(game, after, 1)
    return loses_within(game, after, int(kind.split()[2]) - 1)


@pytest.mark.parametrize(
    ("game_id", "kind", "count"),
    [
        ("othello", "8 empty squares", 3),
        ("othello_holes", "8 empty squares", 3),
        ("lines_of_action", "win in 1 ply", 5),
        ("lines_of_action", "win in 3 plies", 1),
        ("lines_of_action", "only defence", 8),
        ("hex", "win in 1 ply", 3),
        ("hex", "only defence", 2),
        ("nine_mens_morris", "win in 1 ply", 5),
        ("nine_mens_morris", "win in 3 plies", 1),
        ("nine_mens_morris", "only defence", 5),
    ],
)
def test_every_move_is_worth_what_the_file_says(game_id: str, kind: str, count: int) -> None:
    asked = [question for question in questions(make(game_id)) if question.kind == kind]
    assert len(asked) >= count
    for question in asked[:: len(asked) // count][:count]:  # from all over the file
        position = question.position
        legal = position.legal_actions()
        assert question.values == {action: worth(kind, position, action) for action in legal}
        if kind == "only defence":
            assert sum(question.values.values()) == 1
        elif kind.startswith("win"):
            assert any(question.values.values())
            assert not wins_within(position.game, position, int(kind.split()[2]) - 2)


Pick = Callable[[Mapping[int, int]], int]


def answering(pick: Pick) -> Agent:
    """Plays what is picked of the worth of each move, as the file has it."""

    def act(game: Game, state: State, rng: np.random.Generator) -> IntArray:
        known = {q.position.words: q.values for q in questions(game)}
        return np.array([pick(known[position.words]) for position in game.positions(state)])

    return as_agent(act)


def best(values: Mapping[int, int]) -> int:
    return max(values, key=lambda action: values[action])


def worst(values: Mapping[int, int]) -> int:
    return min(values, key=lambda action: values[action])


def careless(values: Mapping[int, int]) -> int:
    """Keeps the win, or the draw, by as little as it can."""
    result = np.sign(max(values.values()))
    return worst({action: value for action, value in values.items() if np.sign(value) == result})


@pytest.mark.parametrize(("pick", "kept"), [(best, 1.0), (careless, 1.0), (worst, 0.0)])
@pytest.mark.parametrize("game_id", GAMES)
def test_answers_are_marked_by_what_they_keep_and_lose(
    game_id: str, pick: Pick, kept: float
) -> None:
    game = make(game_id)
    done = list[tuple[int, int]]()
    marked = take_exam(game, answering(pick), progress=lambda *counts: done.append(counts))
    count = marked.total.positions
    assert done == [(min(answered, count), count) for answered in range(50, count + 50, 50)]
    assert {mark.kept for mark in marked.marks} == {kept}
    if game.margin_counts:
        lost = [max(q.values.values()) - q.values[pick(q.values)] for q in questions(game)]
        assert marked.total.loss == pytest.approx(np.mean(lost))
        assert marked.total.best == lost.count(0) / len(lost)
        error = np.std(lost, ddof=1) / len(lost) ** 0.5
        ends = np.mean(lost) + np.array([-1, 1]) * NormalDist().inv_cdf(0.975) * error
        assert (marked.total.loss_low, marked.total.loss_high) == pytest.approx(tuple(ends))


def test_wolf_and_sheep_is_marked_by_its_table() -> None:
    game = make("wolf_and_sheep")
    assert take_exam(game, make_agent("perfect")).total.kept == 1
    found = exam_positions(game)
    value, _ = Tablebase.load(game).lookup(found.state)
    assert (value == 1).all()
    assert [*found.kinds] == ["wolf to win"] * 400 + ["sheep to win"] * 400
    assert 0.3 < take_exam(game, make_agent("random")).total.kept < 0.9


def test_an_illegal_move_is_as_wrong_as_the_worst_legal_one() -> None:
    marked = take_exam(make("othello"), make_agent("python:arena_agents:Otherwise"))
    assert marked.marks == take_exam(make("othello"), answering(worst)).marks
    assert marked.total.kept == 0
    assert marked.stats.forfeits == marked.total.positions
    assert "not legal" in str(marked.stats.message)


def test_no_interval_of_losses_begins_below_none() -> None:
    """Of one loss among many moves that lose nothing."""
    number = itertools.count()
    agent = answering(lambda values: best(values) if next(number) else worst(values))
    total = take_exam(make("othello"), agent).total
    assert total.loss is not None
    assert total.loss_low == 0 < total.loss


def test_an_exam_has_what_the_player_has_counted() -> None:
    class Counting(RandomAgent):
        asked = 0.0

        def act(self, game: Game, state: State, rng: Any = None) -> Any:
            self.asked += len(state.ply)
            return super().act(game, state, rng)

        def report(self) -> dict[str, float]:
            return {"asked": self.asked}

    marked = take_exam(make("hex"), Counting())
    assert marked.stats.counts == {"asked": marked.total.positions}


def test_the_command_says_what_python_says() -> None:
    found = json.loads(run("exam", "random", "--game", "othello", "--seed", "5", "--json"))
    marked = take_exam(make("othello"), make_agent("random"), seed=5)
    assert [mark["kept"] for mark in found[0]["marks"]] == [mark.kept for mark in marked.marks]
    printed = rows(run("exam", "random", "--game", "othello", "--seed", "5"))
    assert [cells[-5:] for cells in printed] == [
        [m.kind, str(m.positions), f"{m.kept:.3f} [{m.low:.3f}, {m.high:.3f}]", f"{m.best:.3f}",
         f"{m.loss:.2f} [{m.loss_low:.2f}, {m.loss_high:.2f}]"]
        for m in marked.marks
    ]  # fmt: skip
    found_all = json.loads(run("exam", "trained", "--json"))
    assert {one["game"] for one in found_all} == {
        *("checkers", "connect_four", "hex", "lines_of_action"),
        *("othello", "othello_holes", "wolf_and_sheep"),
    }
    words = ["exam", "python:arena_agents:Otherwise", "--game", "othello_holes", "--json"]
    (dead,) = json.loads(run(*words))
    assert dead["wrong_answers"] == dead["marks"][-1]["positions"]
    assert found[0].keys() == dead.keys() == {
        "agent", "game", "marks", "seconds", "seed", "positions", "wrong_answers", "message",
    }  # fmt: skip
