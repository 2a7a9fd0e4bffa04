"""What moves are worth: `boardenvs.analyse`, and reviews of games."""

from __future__ import annotations

import functools
import itertools
import json
import math
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from negamax import WIN, lead_with_best_play, worths
from variants import FAMILIAR, KINDS, random_line

from boardenvs import games
from boardenvs.agents import agent_for, make_agent
from boardenvs.agents.analyse import (
    AnalysisClock,
    analyse,
    analyse_until,
    default_analyst,
    exact_analyst,
    prove,
    search_analyst,
)
from boardenvs.game import fen
from boardenvs.game.game import Game
from boardenvs.game.openings import random_openings
from boardenvs.game.position import Position, stack
from boardenvs.game.rules import MAX_VALUE
from boardenvs.games import make
from boardenvs.play import GameSession, record_of, review
from boardenvs.records import Record, replay
from boardenvs.search import Analysis, Limits, MoveAnalysis, search_position
from boardenvs.search.analysis import ranked, written_value
from boardenvs.tablebase import Tablebase

AGENTS = [
    "random",
    "greedy",
    "positional",
    "alphabeta:depth=2",
    "trained",
    "trained:shield=true",
    "mcts:rollouts=30",
    "mcts:rollouts=20,policy=trained",
    "perfect",
    "python:arena_agents:lowest",
]


# In Lines of Action, which takes longest, one of each kind.
LONG = ("greedy", "alphabeta:depth=2", "trained:shield=true", "mcts:rollouts=20,policy=trained")
CASES = [
    (game, spec)
    for game in KINDS
    for spec in (LONG if game == "lines_of_action" else AGENTS)
    if spec != "perfect" or "wolf" in game
]


def some_positions(
    game: Game, count: int, plies: tuple[int, int] | None = None, seed: int = 0
) -> list[Position]:
    rng = np.random.default_rng(seed)
    return game.positions(random_openings(game, count, plies or game.opening_plies, rng))


def play_line(position: Position, line: Sequence[int]) -> Position:
    """Play a line; fails where an action of it is not legal."""
    for action in line:
        assert not position.is_over()
        assert position.is_legal(action)
        position = position.step(action)
    return position


# ---- what every analysis holds -------------------------------------------------------------------


def check(found: Analysis, position: Position) -> None:
    """One number ranks the moves, and lines can be played."""
    values = [-math.inf if move.value is None else move.value for move in found.moves]
    assert values == sorted(values, reverse=True)
    assert found.value == found.moves[0].value
    assert found.line == found.moves[0].line
    for move, row in zip(found.moves, found.rows(), strict=True):
        assert len(row["line"].split()) == min(len(move.line), 8)
        share, chance = move.mistakes, move.probability
        assert row["mistakes"] == (None if share is None else f"{100 * share:.0f}%")
        assert row["probability"] == (None if chance is None else f"{100 * chance:.1f}%")
    most = {"score": 1, "margin": 64, "heuristic": MAX_VALUE}[found.unit]
    assert all(-most <= value <= most for value in values if value != -math.inf)
    for move in found.moves:
        assert move.line[0] == move.action
        play_line(position, move.line)
        if move.value is not None and move.outcome is not None:
            assert np.sign(move.value) == {"win": 1, "draw": 0, "loss": -1}[move.outcome]
    probabilities = [move.probability for move in found.moves if move.probability is not None]
    assert not probabilities or math.isclose(sum(probabilities), 1, rel_tol=1e-4)


@functools.cache
def equal_moves(game: Game) -> list[list[int]]:
    """The groups of first moves that lead to images of one position."""
    groups: dict[Any, list[int]] = {}
    for action in game.start().legal_actions():
        after = game.start().step(action)
        images = frozenset((s.apply(after.own), s.apply(after.opp)) for s in game.symmetries)
        groups.setdefault(images, []).append(action)
    return list(groups.values())


@pytest.mark.parametrize(("game_id", "spec"), CASES)
def test_what_every_analysis_holds(game_id: str, spec: str) -> None:
    """At the start, where moves that are one by symmetry are worth the same, and later."""
    game, agent = make(game_id), make_agent(spec)
    groups = equal_moves(game)
    if game_id in ("othello", "lines_of_action"):
        assert max(map(len, groups)) == 4
    for position in (game.start(), *some_positions(game, 1)):
        found = analyse(position, spec, rng=np.random.default_rng(5))
        check(found, position)
        # A search that is stopped at once has said something.
        (hasty,) = analyse_until(position, agent, lambda: True)
        check(hasty, position)
        played = agent.act(game, stack([position]), np.random.default_rng(5))
        assert found.choice == played[0]
        if spec.startswith("mcts") and position != game.start():
            assert found.choice == found.moves[0].action  # whatever luck others had
        says_one = spec.startswith(("python", "random"))  # move alone
        legal = played.tolist() if says_one else position.legal_actions()
        assert sorted(move.action for move in found.moves) == legal
        content = json.loads(json.dumps(found.to_json(), allow_nan=False))
        assert fen.parse_position(game, content["position"]) == position
        assert content["choice"] == game.action_name(int(played[0]), position)
        for move, shown, row in zip(found.moves, content["moves"], found.rows(), strict=True):
            assert shown["line"] == found.names(move.line)
            assert " ".join(shown["usual"][:8]) == row["line"]
            assert shown["squares"] == [*game.action_squares(move.action, position)]
        if position == game.start() and not says_one:
            values = {move.action: (move.value, move.probability) for move in found.moves}
            for group in groups:
                assert len({values[action] for action in group}) == 1, group
            if spec.startswith("mcts:rollouts"):
                visits = [move.visits or 0 for move in found.moves]
                assert sum(visits) == found.nodes == int(spec.split("=")[1].split(",")[0])


def test_moves_are_ranked_by_value_by_proof_and_by_haste() -> None:
    """The analyst's own first one is played."""
    positions = some_positions(make("othello"), 20)
    position = max(positions, key=lambda position: len(position.legal_actions()))
    known: list[tuple[float | None, Any, int | None]] = [
        (1.0, "win", 3), (1.0, "win", 7), (1.0, None, None), (0.5, None, None), (-0.5, None, None),
        (-1.0, None, None), (-1.0, "loss", 9), (-1.0, "loss", 4), (None, None, None),
    ]  # fmt: skip
    moves = [
        MoveAnalysis(action=action, line=(action,), value=value, outcome=outcome, plies=plies)
        for action, (value, outcome, plies) in zip(position.legal_actions(), known, strict=False)
    ]
    for seed in range(20):
        given = [moves[k] for k in np.random.default_rng(seed).permutation(len(moves))]
        found = ranked(Analysis(position=position, moves=tuple(given)), 0.0)
        assert found.moves == tuple(moves)
        assert (found.value, found.choice) == (1.0, given[0].action)
        assert [found.to_json()["choice"]] == found.names(given[0].line)


def test_symmetric_moves_share_what_is_known_of_each() -> None:
    start = make("othello").start()
    one, *others = start.legal_actions()
    moves = [MoveAnalysis(action=one, line=(one,), value=0.6, probability=0.1)]
    moves += [MoveAnalysis(action=action, line=(action,)) for action in others]
    moves[1] = replace(moves[1], value=0.2, probability=0.3)
    found = ranked(Analysis(position=start, moves=tuple(moves)), 0.0)
    assert [(m.value, m.probability) for m in found.moves] == [pytest.approx((0.4, 0.2))] * 4
    moves[2] = replace(moves[2], value=1.0, outcome="win", plies=5)
    found = ranked(Analysis(position=start, moves=tuple(moves)), 0.0)
    assert [(m.value, m.outcome, m.plies) for m in found.moves] == [(1.0, "win", 5)] * 4
    assert [move.action for move in found.moves] == start.legal_actions()


@pytest.mark.parametrize(
    ("value", "outcome", "unit", "written"),
    [
        (1.0, None, "score", "+1.00"),
        (-0.001, None, "score", "+0.00"),
        (-2.0, None, "margin", "-2"),
        (2.25, None, "margin", "+2.25"),
        (-31.0, None, "heuristic", "-31"),
        (None, None, "score", ""),
        (-4.0, "loss", "margin", "loses by 4"),
        (0.0, "draw", "margin", "draws"),
        (1.0, "win", "score", "wins"),
    ],
)
def test_values_are_written_by_their_unit(
    value: Any, outcome: Any, unit: Any, written: str
) -> None:
    assert written_value(value, outcome, unit) == written


def test_a_game_that_is_over_has_its_result() -> None:
    game = make("othello")
    corner = 1 << 63
    for squares, value, outcome in (
        ((3, corner), 1, "win"),
        ((0, 7), -3, "loss"),
        ((1, corner), 0, "draw"),
    ):
        found = analyse(game.position(squares), "mcts")
        assert (found.value, found.outcome, found.margin) == (value, outcome, value)
        assert (found.moves, found.line, found.choice) == ((), (), None)
    capped = analyse(make("wolf_and_sheep:max_plies=1").start(), "positional")
    assert {(move.value, move.outcome) for move in capped.moves} == {(MAX_VALUE, "win")}


# ---- by alpha-beta -------------------------------------------------------------------------------


@pytest.mark.parametrize("game_id", [*KINDS, "checkers", "lines_of_action:size=5,max_steps=12"])
def test_alphabeta_values_every_move_by_full_search(game_id: str) -> None:
    """Early and at the end of games: values, proofs, and how soon; as deep as the best move."""
    game, proven = make(game_id), set()
    for depth in (1, 2):
        some = some_positions(game, 2, seed=depth)
        lines = (random_line(game, seed, 500)[0] for seed in range(5 - 2 * depth))
        some += [line[place] for line in lines for place in (-2, -depth - 1)]
        for position in [position for position in some if not position.is_over()]:
            found = search_position(position, Limits(depth))
            plain = worths(game, position, max(found.depth, 1))
            assert found.margin is None or game.margin_counts
            for move in found.moves if found.unit == "heuristic" else ():
                value = plain[move.action]
                ahead = np.sign(value) * (abs(value) > WIN // 2)
                assert move.value == np.clip(value, -MAX_VALUE, MAX_VALUE)
                assert move.outcome == ("win" if ahead > 0 else "loss" if ahead else move.outcome)
                assert move.outcome != "draw" or value == 0
                assert move.plies == (WIN - abs(value) if ahead else None)
                proven.add(move.outcome)
    assert {"lines_of_action:size=5,max_steps=12": "draw"}.get(game_id) in {*proven, None}
    assert game.margin_counts or len(proven) > 1


def test_no_move_is_worth_more_than_the_best_whatever_ends_the_search() -> None:
    for position in some_positions(make("othello"), 6):
        found = search_position(position, Limits(nodes=60))
        values = [move.value for move in found.moves if move.value is not None]
        assert max(values) == found.value


# ---- by tables, networks and trees ---------------------------------------------------------------


def test_perfect_says_what_the_tablebase_knows() -> None:
    game = make("wolf_and_sheep")
    table = Tablebase.load(game)
    for position in some_positions(game, 10, (2, 12)):
        found = analyse(position, "perfect")
        value, plies = table.lookup(stack([position]))
        assert (found.proven, found.value, found.plies) == (True, value[0], plies[0])
        equal = [
            move for move in found.moves if move.plies == found.plies and move.value == found.value
        ]
        most = max(move.mistakes or 0 for move in equal)
        assert value == 1 or [m.mistakes for m in equal if m.action == found.choice] == [most]
        for move in found.moves:
            end = play_line(position, move.line)
            assert end.is_over()
            assert len(move.line) == move.plies
            assert move.value == end.result()[position.to_move] / 50 - 1
            (mistakes,) = table.mistakes(stack([position.step(move.action)]))
            assert move.mistakes == mistakes


# ---- searches that go on -------------------------------------------------------------------------


def test_the_tree_grows_as_one_tree() -> None:
    """What is seen after n simulations is what an agent of n simulations sees."""
    game = make("othello")
    position = some_positions(game, 1)[0]
    asked = itertools.count()
    seen = list(analyse_until(position, "mcts", lambda: next(asked) >= 12))
    counts = [found.nodes for found in seen]
    assert len(counts) >= 3
    assert counts == sorted(set(counts))
    for found in seen:
        alone = analyse(position, f"mcts:rollouts={found.nodes}")
        assert replace(alone, seconds=0) == replace(found, seconds=0)


def test_the_depths_of_a_search_are_counted_together() -> None:
    start = make("othello").start()
    seen = itertools.islice(analyse_until(start, "alphabeta", lambda: False), 2)
    alone = (search_position(start, Limits(depth)).nodes for depth in (1, 2))
    assert [found.nodes for found in seen] == [*itertools.accumulate(alone)]


def test_a_search_goes_on_until_all_is_proven() -> None:
    """To the soonest win, or how late each move loses, as the table says; to the most points."""
    game = make("wolf_and_sheep")
    positions = some_positions(game, 60, (8, 40))
    solved = Tablebase.load(game).lookup(stack(positions))
    ends = [*zip(*(column.tolist() for column in solved), strict=True)]
    for value, plies in ((1, 5), (-1, 4)):
        position = positions[ends.index((value, plies))]
        *before, found = analyse_until(position, "alphabeta", lambda: False)
        assert (found.value, found.plies) == (value * MAX_VALUE, plies)
        assert len(before) < plies
        if value < 0:
            exact = analyse(position, "perfect")
            moves = [{m.action: m.plies for m in it.moves} for it in (exact, found)]
            assert moves[0] == moves[1]
    (late,) = some_positions(make("othello"), 1, (54, 54))
    margin = lead_with_best_play(late.game, late)
    *before, found = analyse_until(late, "alphabeta:endgame=3", lambda: False)
    assert [it.margin for it in before] == [None] * len(before) != []
    assert found.margin == prove(late, 100).margin == margin


def test_the_time_of_an_analysis_begins_with_its_first_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [0.0]
    clock = SimpleNamespace(monotonic=lambda: now[0])
    monkeypatch.setattr("boardenvs.agents.analyse.clock", clock)
    thinking, answer = AnalysisClock(5), Analysis(position=make("othello").start())
    for now[0], over in ((10, False), (14, False), (16, True)):
        if now[0] < 16:
            assert thinking.start(answer) is answer
        assert thinking.is_over() == over
    assert not AnalysisClock(5).is_over()


def test_the_first_answer_does_not_wait_for_a_long_end() -> None:
    """Whose solution, from 22 empty squares, takes hours in Python."""
    (position,) = some_positions(make("othello"), 1, (38, 38))
    (hasty,) = analyse_until(position, "alphabeta:endgame=24", lambda: True)
    assert not hasty.proven
    assert hasty.choice is not None


def test_a_proof_draws_from_the_generator_that_it_gets() -> None:
    rng, other = (np.random.default_rng(5) for _ in range(2))
    prove(make("hex:size=2").start(), 0.01, rng)
    assert rng.random() != other.random()


# ---- games that were played ----------------------------------------------------------------------


def random_record(game_id: str, seed: int, start: Position | None = None) -> Record:
    session = GameSession(make(game_id), start, players=("ada", "bob"))
    rng = np.random.default_rng(seed)
    while not session.is_over:
        session.play(int(rng.choice(session.legal_actions())))
    return record_of(session)


def last_plies(seed: int, empty: int) -> Record:
    """The end of a random game of Othello."""
    (start,) = some_positions(make("othello"), 1, (60 - empty, 60 - empty), seed)
    return random_record("othello", seed, start)


@pytest.mark.parametrize("seed", [1, 2])
def test_the_end_of_a_game_is_that_of_the_plainest_search(seed: int) -> None:
    """The worth of each move, and so what was lost."""
    record = last_plies(seed, 6)
    game, positions = record.game, replay(record)
    found = review(record, "alphabeta:depth=1,endgame=10")
    lost, choices = [0, 0], [0, 0]
    for ply, position in zip(found.plies, positions, strict=False):
        leads = {
            action: -lead_with_best_play(game, position.step(action))
            for action in position.legal_actions()
        }
        best, played = max(leads.values()), leads[ply.action]
        assert (ply.before, ply.after, ply.lost) == (best, played, best - played)
        assert (ply.analysis.proven, ply.analysis.unit) == (True, "margin")
        assert ply.analysis.value == ply.analysis.margin == best
        assert {move.action: move.value for move in ply.analysis.moves} == leads
        check(ply.analysis, position)
        for move in ply.analysis.moves:
            end = play_line(position, move.line)
            assert end.terminated
            sign = 1 if end.to_move == position.to_move else -1
            assert sign * (end.own.bit_count() - end.opp.bit_count()) == move.value
        lost[ply.role] += best - played
        choices[ply.role] += len(leads) > 1
    assert [summary.lost.get("margin", 0) for summary in found.summaries] == lost
    assert [summary.choices for summary in found.summaries] == choices
    assert sum(lost) > 0
    assert found.largest_losses(1)[0].lost == max(ply.lost or 0 for ply in found.plies)


@pytest.mark.parametrize("name", [*FAMILIAR, "othello", "three_in_a_row:ThreeInARow"])
def test_the_players_of_analyses_play_the_game(name: str) -> None:
    game = games.parse(name)
    analysts = [analyst(game) for analyst in (default_analyst, search_analyst, exact_analyst)]
    for analyst in analysts:
        agent_for(game, analyst)
    judged, by_trees, exact = "alphabeta:depth=4,endgame=12", "mcts:rollouts=2000", "perfect"
    assert analysts == {
        "othello": [f"{judged},evaluation=trained"] * 2 + ["alphabeta:endgame=24"],
        "chess": [judged, judged, "alphabeta:endgame=24"],
        "hex": [by_trees, by_trees, "mcts"],
        "connect_four": [exact, by_trees, exact],
    }.get(name, analysts)
