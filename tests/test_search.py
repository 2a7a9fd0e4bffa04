"""Alpha-beta search is a full-width search that skips what cannot matter."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from negamax import WIN, loses_within, wins_within, worth, worth_by_memory, worths
from variants import make, random_line, random_position, searched

from boardenvs.game.contract import Position, stack
from boardenvs.game.fen import parse_position
from boardenvs.game.state import State, concat, take
from boardenvs.games import Game, Othello, parse
from boardenvs.kernel import get_backend, set_backend
from boardenvs.search import (
    Engine,
    Limits,
    SearchResults,
    compiler,
    engine,
    engine_for,
    search_trees,
)
from boardenvs.search.compiled.alphabeta import search_positions

# Machine code for each game takes seconds to make: these stand for all.
COMPILED = ("othello", "wolf_and_sheep", "lines_of_action")
# Plies that the plain search can look ahead.
DEPTHS = {
    "othello": 4,
    "othello_holes": 4,
    "reversi": 4,
    "wolf_and_sheep": 5,
    "wolf_and_sheep_described": 4,
    "lines_of_action": 3,
    "lines_of_action_described": 2,
}


def depth_for(name: str) -> int:
    return DEPTHS.get(name, 3)


def backends(name: str) -> Iterator[str]:
    """The backends that a game is searched with here, each in use while the caller works."""
    try:
        for backend in ("numpy", "numba"):
            if backend == "numpy" or (name in COMPILED and find_spec("numba")):
                set_backend(backend)
                yield backend
    finally:
        set_backend(None)


def seeds_of(state: State, first: int = 1) -> np.ndarray:
    return np.arange(first, first + len(state.ply), dtype=np.uint64)


def found_by(name: str, position: Position, limits: Limits) -> SearchResults:
    state = stack([position])
    return engine_for(make(name)).search(state, seeds_of(state), limits, forced=True)


def assert_same(a: SearchResults, b: SearchResults) -> None:
    for one, other in zip(a, b, strict=True):
        np.testing.assert_array_equal(one, other)


# ---- against the plain search ------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_values_and_actions_are_those_of_the_plain_search(name: str, seed: int) -> None:
    game = make(name)
    line, _ = random_line(game, seed, 40)
    # Early, and in the middle of a game that may be short.
    position = line[(2 + 5 * seed) % (len(line) - 1)]
    for depth in range(1, min(depth_for(name), 4) + 1):
        expected = worths(game, position, depth)
        best = max(expected.values())
        for backend in backends(name):
            found = found_by(name, position, Limits(depth))
            assert found.value == best, (backend, depth)
            assert expected[int(found.action[0])] == best
            if not found.exact[0]:
                assert found.depth == depth


@pytest.mark.parametrize("seed", range(4))
def test_near_the_end_too_and_exact_values_stay(name: str, seed: int) -> None:
    """A value called exact is one of the end of the game, and no deeper search changes it."""
    game, deepest = make(name), depth_for(name)
    line, _ = random_line(game, seed, game.max_plies or 500)
    position = line[-deepest]
    expected = [worth(game, position, depth) for depth in range(deepest + 1)]
    for _ in backends(name):
        for depth in range(1, deepest + 1):
            found = found_by(name, position, Limits(depth))
            assert found.value == expected[depth]
            is_final = abs(expected[depth]) > WIN // 2
            if found.exact[0]:
                assert is_final or expected[depth] == 0
                assert set(expected[depth:]) == {expected[depth]}
            elif not isinstance(game, Othello):
                assert not is_final  # the soonest win has been found


@pytest.mark.parametrize(
    ("spec", "text", "deepest"),
    [
        ("wolf_and_sheep", "8/3w4/8/8/8/s7/3s3s/2s5 sheep 1", 10),
        ("wolf_and_sheep", "8/8/3w4/8/7s/8/8/s1s1s3 sheep 7", 10),
        ("wolf_and_sheep", "8/8/8/4w3/1s6/8/1s1s3s/8 sheep 13", 10),
        ("wolf_and_sheep:rules=described", "8/3w4/8/8/8/s7/3s3s/2s5 wolf 4", 6),
        ("wolf_and_sheep:rules=described", "8/8/3w4/s3s3/8/8/7s/2s5 wolf 194", 7),  # of 200 plies
        ("othello", "8/8/3b4/3bb3/3brr2/8/8/8 red 3", 6),
        ("lines_of_action", "w6b/8/8/8/5w2/8/1b6/8 black 45", 5),  # of 50 steps
    ],
)
def test_where_many_lines_meet(spec: str, text: str, deepest: int) -> None:
    """Deeper, and so with what the table holds of other lines and earlier iterations."""
    game = parse(spec)
    position = parse_position(game, text)
    set_backend("numpy")
    state = stack([position])
    for depth in range(deepest - 2, deepest + 1):
        found = Engine(game).search(state, seeds_of(state), Limits(depth), forced=True)
        assert found.value == worth_by_memory(game, position, depth)
        assert found.depth == depth or found.exact
    set_backend(None)


def test_a_table_that_forgets_costs_time_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    game, spent = make("othello"), 0
    usual = Engine(game)
    monkeypatch.setattr(engine, "_SLOTS", 2)
    forgetful = Engine(game)
    for seed in range(6):
        position = random_position(game, seed, 30)
        state = stack([position])
        known, found = (
            searcher.search(state, seeds_of(state), Limits(5), forced=True)
            for searcher in (usual, forgetful)
        )
        spent += int(found.nodes[0] - known.nodes[0])
        assert found.value == known.value
        line = forgetful.line(position, found)
        assert len(line) == 5
        for action in line:
            assert position.is_legal(action)
            position = position.step(action)
        assert -worth(game, position, 0) == found.value  # the line leads to what it promises
    assert spent > 0


def test_exact_is_what_no_heuristic_had_a_say_in() -> None:
    """Six empty squares: the value is exact as soon as the depth reaches all ends, not before."""
    game = make("othello")
    position = next(p for p in random_line(game, 3, 200)[0] if (p.own | p.opp).bit_count() == 58)
    ends = longest(position)
    assert ends >= 6
    for _ in backends("othello"):
        for depth in (*range(1, ends), ends, 40):
            found = found_by("othello", position, Limits(depth))
            assert bool(found.exact[0]) == (depth >= ends)
            if found.exact[0]:
                assert found.value == worth(game, position, ends)
        assert found.depth == ends  # it does not go on when nothing is left to see


def longest(position: Position) -> int:
    """The plies of the longest game from here."""
    if position.terminated:
        return 0
    return 1 + max(longest(position.step(action)) for action in position.legal_actions())


# ---- one search and another ----------------------------------------------------------------------


def sample_of(name: str, rows: int = 6) -> State:
    game = make(name)
    return stack([random_position(game, seed, 4 * seed % 30) for seed in range(rows)])


@pytest.mark.parametrize("name", COMPILED)
def test_backends_rows_and_earlier_searches_do_not_matter(name: str) -> None:
    game, state = make(name), sample_of(name)
    limits = [Limits(3), Limits(nodes=3000), Limits(nodes=5000, endgame=30)]
    by_backend = []
    for _ in backends(name):
        fresh = [Engine(game).search(state, seeds_of(state), limit) for limit in limits]
        by_backend.append(fresh)
        used = engine_for(game)
        for limit, expected in zip(reversed(limits), reversed(fresh), strict=True):
            assert_same(used.search(state, seeds_of(state), limit), expected)
        for row in range(len(state.ply)):
            one = take(state, [row])
            alone = used.search(one, seeds_of(one, row + 1), limits[1])
            assert_same(alone, SearchResults(*(column[[row]] for column in fresh[1])))
    for other in by_backend[1:]:
        for a, b in zip(by_backend[0], other, strict=True):
            assert_same(a, b)


@pytest.mark.parametrize("name", COMPILED)
def test_threads_do_not_disturb_each_other(name: str) -> None:
    game, state = make(name), sample_of(name)
    limits = [Limits(2), Limits(3)] * 4

    def search(limit: Limits) -> SearchResults:
        return engine_for(game).search(state, seeds_of(state), limit)

    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(search, limits))
    for results, limit in zip(found, limits, strict=True):
        assert_same(results, search(limit))


def test_threads_link_once() -> None:
    """What they link at the same time is one thing, and CPython 3.11 may fail to parse it twice."""
    for _ in backends("othello"):
        game, start = parse("othello_holes:holes=3"), threading.Barrier(4)

        def link(game: Game = game, start: threading.Barrier = start) -> object:
            start.wait()
            return compiler.compile_for(game, search_positions)

        with ThreadPoolExecutor(4) as threads:
            found = [threads.submit(link) for _ in range(4)]
        assert len({id(future.result()) for future in found}) == 1


def test_many_positions_are_searched_in_several_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """No call begins another position after so many nodes, however few the first ones take; and
    rows with the same position know nothing of one another.
    """
    game, enough = make("othello"), 500
    late = parse_position(game, "8/8/8/8/8/8/8/brr2rrb black 40")  # searched in a few nodes
    midgame = [random_position(game, seed, 20) for seed in (0, 1, 0, 1, 0)]
    state = stack([late, late, *midgame])
    seeds = seeds_of(state)
    calls: list[list[int]] = []

    class Counting(Engine):
        def _run(self, call: Any, search: Any) -> Any:
            spent = np.asarray(call.results.nodes)
            before = spent.copy()
            result = super()._run(call, search)
            calls.append(np.flatnonzero(before != spent).tolist())
            return result

    for _ in backends("othello"):
        alone = [
            engine_for(game).search(take(state, [row]), seeds[row : row + 1], Limits(3))
            for row in range(len(seeds))
        ]
        searcher = Counting(game)
        calls.clear()
        with monkeypatch.context() as patch:
            patch.setattr(engine, "_NODES_A_CALL", enough)
            found = searcher.search(state, seeds, Limits(3))
        for field in SearchResults._fields:
            expected = [getattr(result, field)[0] for result in alone]
            assert getattr(found, field).tolist() == expected
        assert [row for rows in calls for row in rows] == list(range(len(seeds)))
        assert calls[0][:3] == [0, 1, 2]
        assert all(found.nodes[rows[:-1]].sum() < enough for rows in calls)
        assert all(found.nodes[rows].sum() >= enough for rows in calls[:-1])


def test_seeds_choose_between_equal_moves() -> None:
    """The four first moves of Othello are one, turned and mirrored."""
    game = make("othello")
    state = concat([game.init(40)])
    found = engine_for(game).search(state, seeds_of(state), Limits(2))
    assert len(np.unique(found.action)) == 4
    assert len(np.unique(found.value)) == 1


def test_what_is_over_or_forced_is_not_searched() -> None:
    game = make("othello")
    over = parse_position(game, "8/8/8/8/8/8/8/bbb5 black 40")
    forced = parse_position(game, "8/8/8/8/8/8/8/brr5 black 4")
    state = stack([over, forced, game.start()])
    searcher, seeds = engine_for(game), seeds_of(state)
    found = searcher.search(state, seeds, Limits(3))
    assert found.action[:2].tolist() == [game.noop, 3]
    assert (found.nodes > 0).tolist() == [False, False, True]
    assert (found.depth > 0).tolist() == [False, False, True]
    found = searcher.search(state, seeds, Limits(3), forced=True)
    assert (found.nodes > 0).tolist() == [False, True, True]
    assert found.value[1] == WIN + 4
    empty = searcher.search(take(state, []), seeds[:0], Limits(3))
    assert [len(column) for column in empty] == [0] * 5


# ---- limits ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", COMPILED)
def test_a_limit_of_nodes_is_kept_and_used(name: str) -> None:
    position = random_position(make(name), 1, 8)
    moves = 80  # more than any position here has
    for _ in backends(name):
        deepest = found_by(name, position, Limits(4))
        depths = []
        for nodes in (1, 1000, 4000, 16000):
            found = found_by(name, position, Limits(nodes=nodes))
            # The first two plies are always searched; between two looks at the count, one is.
            assert found.nodes[0] < nodes + 2 * moves * moves
            assert position.is_legal(int(found.action[0]))
            depths.append(int(found.depth[0]))
            assert found.nodes[0] >= nodes
        assert 1 <= depths[0] < depths[-1]
        assert found_by(name, position, Limits(4, nodes=10**9)).value == deepest.value


def test_a_loss_is_claimed_only_where_every_move_loses() -> None:
    """A limit may end a search when it knows of the first moves that they lose, and of the others
    nothing yet. Such limits lie between those that end the third and the fourth iteration here.
    """
    game = make("lines_of_action")
    position = parse_position(game, "b2bb3/2w2b2/5wwb/2w1bw1w/w2ww3/1bbb4/3b4/5bb1 black 44")
    assert not loses_within(game, position, 4)
    for _ in backends("lines_of_action"):
        whole = found_by("lines_of_action", position, Limits(4))
        first = found_by("lines_of_action", position, Limits(3))
        action = int(first.action[0])
        assert wins_within(game, position.step(action), 3)  # the third iteration's choice
        limits = range(int(first.nodes[0]), int(whole.nodes[0]), 900)
        assert len(limits) > 5
        for nodes in limits:
            found = found_by("lines_of_action", position, Limits(nodes=nodes))
            assert found.value[0] > -WIN // 2, nodes


def test_a_time_ends_a_search() -> None:
    for _ in backends("othello"):
        found = found_by("othello", make("othello").start(), Limits(time=0.05))
        assert found.exact == 0
        assert found.depth[0] >= 2
        assert make("othello").start().is_legal(int(found.action[0]))
        found = found_by("othello", make("othello").start(), Limits(time=1e-9))
        assert make("othello").start().is_legal(int(found.action[0]))
        found = found_by("othello", make("othello").start(), Limits(3, time=1e9))
        assert found.depth == 3


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="no such signals here")
def test_ctrl_c_ends_a_search() -> None:
    for _ in backends("othello"):
        searcher = engine_for(make("othello"))
        main = threading.main_thread().ident
        assert main is not None
        timer = threading.Timer(0.1, signal.pthread_kill, (main, signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            searched(make("othello").start())
        timer.join()
        # And the engine is as good as before.
        state = stack([make("othello").start()])
        assert_same(
            searcher.search(state, seeds_of(state), Limits(3)),
            Engine(make("othello")).search(state, seeds_of(state), Limits(3)),
        )


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"depth": 0}, "depth is 0: it must be 1 to 100 plies"),
        ({"depth": 101}, "depth is 101"),
        ({"depth": 2.5}, "depth is 2.5"),
        ({"nodes": 0}, "nodes is 0: it must be 1 or more"),
        ({"time": 0.0}, "time is 0.0: it must be more than 0 seconds"),
        ({"time": float("nan")}, "time is nan"),
        ({"endgame": 65}, "endgame is 65: it must be 0 to 64 empty squares"),
    ],
)
def test_limits_that_are_none_are_named(wrong: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Limits(**wrong)  # type: ignore[arg-type]


def test_a_finished_game_is_not_analysed() -> None:
    game = make("othello")
    with pytest.raises(ValueError, match="the game is over"):
        searched(parse_position(game, "8/8/8/8/8/8/8/bbb5 black 40"))
    game = make("wolf_and_sheep")
    with pytest.raises(ValueError, match="the game is over"):
        searched(game.start()._replace(ply=200))


def test_an_engine_stays_with_its_backend() -> None:
    if not find_spec("numba"):
        pytest.skip("numba is not installed")
    *_, compiled = [engine_for(make("othello")) for _ in backends("othello")]
    assert compiled is not engine_for(make("othello")) or get_backend() == "numba"
    set_backend("numpy")
    try:
        with pytest.raises(RuntimeError, match="this engine is of 'numba', not of 'numpy'"):
            compiled.search(sample_of("othello"), np.ones(6, np.uint64), Limits(2))
    finally:
        set_backend(None)


def test_without_numba_a_warning_says_what_would_help(monkeypatch: pytest.MonkeyPatch) -> None:
    set_backend("numpy")
    monkeypatch.setattr(compiler, "find_spec", lambda name: None)
    game = parse("othello_holes:holes=5")  # never linked before
    try:
        with pytest.warns(UserWarning, match=r"without Numba: pip install 'boardenvs\[fast\]'"):
            Engine(game)
        with pytest.warns(UserWarning, match="without Numba"):
            search_trees(game, game.init(1), np.ones(1, np.uint64), simulations=1, c=1.0)
    finally:
        set_backend(None)
