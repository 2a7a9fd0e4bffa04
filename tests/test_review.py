"""The review of a whole game."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from variants import random_position

from boardenvs.games import make
from boardenvs.play import GameSession, read_turn, record_of, review
from boardenvs.play.review import value_after, with_next
from boardenvs.search.analysis import Analysis, MoveAnalysis


def test_one_value_per_position_and_losses_between_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """The default review, by fewer nodes: what a position is worth, a move loses, and the next
    position is worth is one calculation, and the end is exact.
    """
    for name, value in {"_QUICK": 100, "_DEEP": 300, "_DEEPER": 300, "_EXACT": 8}.items():
        monkeypatch.setattr(import_module("boardenvs.play.review"), name, value)
    session = GameSession(game := make("othello"), random_position(game, 6, 44))
    rng = np.random.default_rng(6)
    while not session.is_over:
        session.play(int(rng.choice(session.legal_actions())))
    found = review(record_of(session))
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


def test_a_move_worth_nothing_keeps_its_value() -> None:
    """The next position corrects the value of the move that was played, and no lower one."""
    start = make("tictactoe").start()

    before = Analysis(
        position=start,
        unit="heuristic",
        value=3.0,
        choice=0,
        moves=tuple(MoveAnalysis(action=a, line=(a,), value=v) for a, v in enumerate((3.0, 0.0))),
    )
    after = Analysis(position=start.step(0), unit="heuristic", value=-5.0)
    assert [move.value for move in with_next(before, 0, after).moves] == [5.0, 0.0]

    after = replace(after, outcome="loss", plies=3)
    played = with_next(before, 0, after).moves[0]
    assert (played.outcome, played.plies) == ("win", 4)


def test_a_side_that_moves_again_sees_the_next_value_as_its_own() -> None:
    position = make("nine_mens_morris").start()
    for word in ("a7", "b6", "d7", "b4"):
        position = position.step(*read_turn(word, position))
    for word, value in (("g7", 2.0), ("g4", -2.0)):  # one closes a mill and removes a man
        after = position.step(*read_turn(word, position))
        seen = [Analysis(position=x, unit="heuristic", value=2.0) for x in (position, after)]
        assert value_after(*seen) == value
