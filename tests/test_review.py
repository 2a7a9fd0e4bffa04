"""The review of a whole game."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from variants import random_position

from boardenvs.game.position import Position
from boardenvs.games import make
from boardenvs.play import GameSession, read_turn, record_of, review
from boardenvs.play.review import ReviewedPly, loss_of, value_after, with_next
from boardenvs.search.analysis import Analysis, MoveAnalysis


def test_one_value_per_position_and_losses_between_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """The default review, by fewer nodes: what a position is worth, a move loses, and the next
    position is worth is one calculation, and the end is exact.
    """
    for name, value in {"_QUICK": 100, "_DEEP": 300, "_DEEPER": 300, "_EXACT": 8}.items():
        monkeypatch.setattr(import_module("boardenvs.play.review"), name, value)
    session = GameSession(game := make("othello"), random_position(game, 6, 49))
    rng = np.random.default_rng(6)
    while not session.is_over:
        session.play(int(rng.choice(session.legal_actions())))
    done = list[tuple[int, int]]()
    found = review(record_of(session), progress=lambda *counts: done.append(counts))
    count = 2 * len(session.positions)  # each is analysed twice
    assert done == [(number, count) for number in range(1, count + 1)]
    for ply, following in zip(found.plies, found.plies[1:], strict=False):
        seen, after = ply.analysis, following.analysis
        same = after.position.to_move == seen.position.to_move
        worth = (after.value or 0) * (1 if same else -1)
        assert ply.after == worth
        assert ply.lost == max(0.0, (seen.value or 0) - worth)
        if not seen.proven:
            assert worth <= (seen.value or 0)
            assert next(m.value for m in seen.moves if m.action == ply.action) == worth
        empty = 64 - (seen.position.own | seen.position.opp).bit_count()
        assert seen.proven or empty > 8
    assert sum((ply.lost or 0) >= 8 for ply in found.plies) > 2  # of a random game


def test_positions_in_doubt_are_searched_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the second pass differs from the first, or from the next position after the move that
    it would have played; not for as much as is usual, nor where the result is proven.
    """
    module = import_module("boardenvs.play.review")
    session = GameSession(make("othello"))
    for _ in range(4):
        session.play(session.legal_actions()[0])
    first, second = (9.0, 0.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 4.5, 4.0)
    searched = list[tuple[int, int]]()

    def search(position: Position, nodes: int) -> Analysis:
        ply, moves = position.ply, position.legal_actions()
        searched.append((ply, nodes))
        value = (first if nodes == module._QUICK else second)[ply]
        return Analysis(
            position=position,
            unit="margin",
            value=value,
            outcome=None if ply else "draw",
            choice=moves[0 if ply == 2 else 1],
            moves=tuple(MoveAnalysis(action=a, line=(a,), value=value) for a in moves),
        )

    monkeypatch.setattr(module, "_search", search)
    told = [(ply, rough) for ply, _, rough in module.analyse_line(session)]
    assert told == [(ply, True) for ply in range(5)] + [(ply, False) for ply in range(5)[::-1]]
    sizes = [[nodes for ply, nodes in searched if ply == n] for n in range(5)]
    quick, deep, deeper = module._QUICK, module._DEEP, module._DEEPER
    again = [quick, deep, deeper]
    assert sizes == [[quick, deep], [quick, deep], again, again, [quick, deep]]


def seen(position: Position, *values: float | None, **known: Any) -> Analysis:
    """An analysis with these values of the first moves, the first of which is chosen."""
    moves = (MoveAnalysis(action=a, line=(a,), value=v) for a, v in enumerate(values))
    return Analysis(
        position=position, moves=tuple(moves), choice=0, **{"unit": "heuristic", **known}
    )


@pytest.mark.parametrize(
    ("value", "action", "following", "expected"),
    [
        (3.0, 1, {"value": 2.0}, (-2.0, 5.0)),  # what the next position says, for the other side
        (3.0, 1, {"value": -9.0}, (9.0, 0.0)),  # better than was thought: nothing is lost
        (3.0, 0, {"value": 2.0}, (-2.0, 0.0)),  # the analyst's own choice
        (3.0, 1, {"value": 2.0, "unit": "score"}, (1.0, 2.0)),  # cannot be compared: as before
        (3.0, 8, {}, (None, None)),
        (None, 8, {}, (None, None)),
        (None, 0, {}, (3.0, 0.0)),  # the analyst's own choice
    ],
)
def test_a_loss_is_the_difference_of_what_is_known(value, action, following, expected) -> None:
    start = make("tictactoe").start()
    before = seen(start, 3.0, 1.0, value=value)
    assert loss_of(action, before, seen(start.step(action), **following)) == expected


@pytest.mark.parametrize(
    ("unit", "value", "after", "decides"),
    [
        ("heuristic", 100_000.0, 5.0, True),
        ("heuristic", 5.0, -100_000.0, True),
        ("heuristic", 5.0, -99_999.0, False),
        ("heuristic", None, None, False),
        ("score", 1.0, -1.0, False),
    ],
)
def test_a_loss_of_the_game_is_no_loss_to_add_up(unit, value, after, decides) -> None:
    analysis = seen(make("tictactoe").start(), 0.0, unit=unit, value=value)
    assert ReviewedPly(1, 0, analysis, after, 1.0).decides == decides


def test_solved_games_are_reviewed_by_their_solution() -> None:
    module, start = import_module("boardenvs.play.review"), make("connect_four").start()
    assert (module._search(start, module._DEEP).outcome, start.ply) == ("win", 0)


def test_a_move_worth_nothing_keeps_its_value() -> None:
    """The next position corrects the value of the move that was played, and no lower one."""
    start = make("tictactoe").start()
    before = seen(start, 3.0, 0.0, -9.0, value=3.0)
    for value, expected in ((-5.0, [5.0, 0.0, -9.0]), (5.0, [-5.0, -5.0, -9.0])):
        after = seen(start.step(0), value=value)
        assert [move.value for move in with_next(before, 0, after).moves] == expected
    better = with_next(before, 1, seen(start.step(1), value=-4.0))
    assert (better.choice, better.value) == (1, 4.0)
    assert with_next(before, 1, seen(start.step(1), value=-3.0)).choice == 0  # as good is no better

    after = replace(after, outcome="loss", plies=3)
    played = with_next(before, 0, after).moves[0]
    assert (played.outcome, played.plies) == ("win", 4)
    proven = replace(before, outcome="draw", value=0.0)
    assert with_next(proven, 0, after) == proven


def test_a_side_that_moves_again_sees_the_next_value_as_its_own() -> None:
    position = make("nine_mens_morris").start()
    for word in ("a7", "b6", "d7", "b4"):
        position = position.step(*read_turn(word, position))
    for word, value in (("g7", 2.0), ("g4", -2.0)):  # one closes a mill and removes a man
        (action,) = read_turn(word, position)
        before = Analysis(position=position, unit="heuristic", value=2.0)
        after = replace(before, position=position.step(action), outcome="win", plies=7)
        assert value_after(before, after) == value
        moves = (MoveAnalysis(action=action, line=(action,)),)
        (played,) = with_next(replace(before, moves=moves, choice=action), action, after).moves
        assert (played.value, played.outcome) == (value, "win" if value > 0 else "loss")
