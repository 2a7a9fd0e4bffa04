"""Thousands of recorded games replayed at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import index
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from boardenvs.game.game import Game
from boardenvs.game.position import Position, stack
from boardenvs.game.state import State, put, take
from boardenvs.records.record import Record, until_illegal


class Replayed(NamedTuple):
    """The B games as far as they could be replayed."""

    final: State  # (B,) rows
    actions: list[tuple[int, ...]]  # all, passes that were put in included
    left: list[list[int]]  # the moves that were not played, the last one first


def play(
    game: Game, starts: State, moves: Sequence[Sequence[int]], *, insert_passes: bool = False
) -> Replayed:
    """Play the moves of each game up to its end or to the first illegal action.

    insert_passes: play a noop before one of the `moves` if a noop is legal.
    """
    final = take(starts, np.arange(len(moves)))  # a copy
    left = [[*map(index, reversed(actions))] for actions in moves]
    played: list[list[int]] = [[] for _ in moves]
    rows = np.arange(len(moves))
    while (rows := rows[[bool(left[row]) for row in rows]]).size:
        state = take(final, rows)
        actions = np.array([left[row][-1] for row in rows])
        if insert_passes:
            actions[game.is_legal(state, np.full(len(rows), game.noop))] = game.noop
        legal = game.is_legal(state, actions) & ~game.is_truncated(state)
        rows, actions = rows[legal], actions[legal]
        put(final, rows, game.step(take(state, legal), actions))
        for row, action in zip(rows.tolist(), actions.tolist(), strict=True):
            played[row].append(action)
            if action == left[row][-1]:  # else it is a pass that was put in
                left[row].pop()
    actions_of = [(*done, *reversed(rest)) for done, rest in zip(played, left, strict=True)]
    return Replayed(final, actions_of, left)


Ending: TypeAlias = Literal["finished", "truncated", "cut off", "illegal"]


class Verdict(NamedTuple):
    """The result of checking a record by the rules."""

    ending: Ending
    goal: tuple[float, float] | None  # by role, of a game that is over
    error: str | None  # what is wrong with the record


def check(records: Sequence[Record]) -> list[Verdict]:
    """Check each record by the rules, all games of a kind in one batch.

    Endings: "finished" by the rules, "truncated" by the cap on plies, "cut off" before the end, and
    "illegal" with an action that is not legal or not read. An error is that action, or a goal that
    differs from the rules'.
    """
    verdicts: dict[int, Verdict] = {}
    for game, rows in group_by_game(records).items():
        starts = starts_of(game, [records[row].start for row in rows])
        final, _, left = play(game, starts, [records[row].actions for row in rows])
        goals, truncated = game.results(final), game.is_truncated(final)
        for i, row in enumerate(rows):
            goal = (float(goals[i, 0]), float(goals[i, 1]))
            if left[i] or "unread" in records[row].info:
                verdicts[row] = Verdict("illegal", None, str(until_illegal(records[row])[1]))
            elif final.terminated[i] or truncated[i]:
                ending: Ending = "finished" if final.terminated[i] else "truncated"
                verdicts[row] = Verdict(ending, goal, _wrong_goal(records[row], goal))
            else:
                verdicts[row] = Verdict("cut off", None, None)
    return [verdicts[row] for row in range(len(records))]


def group_by_game(records: Iterable[Record]) -> dict[Game, list[int]]:
    """Return the indices of the records of each game."""
    groups: dict[Game, list[int]] = {}
    for place, record in enumerate(records):
        groups.setdefault(record.game, []).append(place)
    return groups


def starts_of(game: Game, starts: Sequence[Position | None]) -> State:
    """Return a batch of these positions; None is the game's own start."""
    own = game.start()
    return stack([start or own for start in starts])


def _wrong_goal(record: Record, goal: tuple[float, float]) -> str | None:
    if record.goal in (None, goal):
        return None
    written, ruled = (
        ", ".join(map("{} {:g}".format, record.game.sides, values))
        for values in (record.goal, goal)
    )
    return f"the record gives {written}; the rules give {ruled}"
