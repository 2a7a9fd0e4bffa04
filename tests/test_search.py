"""Alpha-beta search is a full-width search that skips what cannot matter.

It is compared with plain search, with the tablebase of Wolf and Sheep, and with endgames and games
of others. `searches.json` has what it found, node by node, in both backends.
"""

from __future__ import annotations

import copy
import json
import random
import signal
import sys
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from traceback import walk_stack
from typing import Any, ClassVar

import numpy as np
import pytest
from negamax import WIN, lead_with_best_play, worth, worths
from placings import DESCRIBED
from variants import HERE, VARIANTS, make, random_line, random_position

from boardenvs import play_match
from boardenvs.agents.alphabeta import AlphaBetaAgent
from boardenvs.board.bitboard import from_squares
from boardenvs.game.fen import parse_position
from boardenvs.game.game import Game
from boardenvs.game.position import Position, stack
from boardenvs.game.state import State, take
from boardenvs.games import Othello, parse
from boardenvs.kernel import ALL, set_backend
from boardenvs.search import AlphaBeta, Limits, SearchResults, alphabeta, alphabeta_for
from boardenvs.search.compiled.alphabeta import reduction
from boardenvs.search.compiled.nodes import margin_of
from boardenvs.search.evaluation import POINT
from boardenvs.search.evaluation_file import trained_evaluation
from boardenvs.search.solver import _Searcher, search_position
from boardenvs.utils.halting import run_until

GOLDEN = HERE / "searches.json"
REPEATING = "lines_of_action:size=5,rules=tournament"  # where a repetition draws
RECORDED = ("othello", "wolf_and_sheep", "lines_of_action", "othello_holes", DESCRIBED)
OTHELLO = make("othello")
OVER, FORCED = (
    parse_position(OTHELLO, f"8/8/8/8/8/8/8/{rank} black 40") for rank in ("bbb5", "brr5")
)


def seeds_of(state: State, first: int = 1) -> Any:
    return np.arange(first, first + len(state.ply), dtype=np.uint64)


def sample_of(name: str, rows: int = 6) -> State:
    game = make(name)
    return stack([random_position(game, seed, 4 * seed % 30) for seed in range(rows)])


def remembering(position: Position, seed: int) -> Position:
    """In a game with a history: as if many positions that may come in two plies had been there."""
    live = [after for after in map(position.step, position.legal_actions()) if not after.is_over()]
    keys = [after.step(action).words[-2] for after in live for action in after.legal_actions()]
    keys = random.Random(seed).sample(keys, min(len(keys), len(position.history)))
    return position._replace(history=(*keys, *position.history[len(keys) :]))


def search_one(position: Position, limits: Limits) -> SearchResults:
    state = stack([position])
    return alphabeta_for(position.game).search(state, seeds_of(state), limits, forced=True)


def search_second(position: Position, limits: Limits) -> SearchResults:
    """The same beside another row, which is over and remembers nothing."""
    over, game = position._replace(terminated=True), position.game
    none = (0,) * len(position.legal_bits), (0,) * len(position.history)
    state = stack([over._replace(legal_bits=none[0], history=none[1]), position])
    found = alphabeta_for(game).search(state, seeds_of(state, 0), limits, forced=True)
    return SearchResults(*(column[1:] for column in found))


def line_of(position: Position, found: SearchResults) -> Position:
    """The last position of the line of the last search; its moves must be legal."""
    for action in alphabeta_for(position.game).line(position, found):
        assert position.is_legal(action)
        position = position.step(action)
    return position


# ---- as recorded ---------------------------------------------------------------------------------

Recorded = dict[str, list[list[int]]]
LIMITS = {
    "depth=1": Limits(1),
    "depth=3": Limits(3),
    "nodes=2000": Limits(nodes=2000, endgame=8),
    "probcut=1": Limits(4, probcut=1.0),
    "reductions": Limits(4, reductions=True),
    "nodes=2000 of fewer": Limits(nodes=2000, endgame=6, probcut=1.2, reductions=True),
}


def recorded(name: str, rows: slice, texts: Iterable[str] = LIMITS) -> Recorded:
    """Results of searches in columns: actions, values, depths, proofs, nodes."""
    game, state, found = make(name), sample_of(name), {}
    if name == "othello":
        late = [random_line(game, seed, 52)[0][-1] for seed in range(4)]
        state = stack([*(random_position(game, seed, 8 * seed) for seed in range(6)), *late])
    seeds, state = seeds_of(state)[rows], take(state, rows)
    for kind, evaluation in (("heuristic", None), ("learnt", trained_evaluation(game))):
        if kind == "heuristic" or evaluation is not None:
            for text in texts:
                results = alphabeta_for(game, evaluation).search(state, seeds, LIMITS[text])
                found[f"{kind} {text}"] = [column.tolist() for column in results]
    return found


@pytest.mark.parametrize("name", RECORDED[:4])
def test_searches_are_as_recorded(name: str) -> None:
    """Few of them, none that takes long."""
    expected, rows = json.loads(GOLDEN.read_text())[name], slice(4, None, 4)
    texts = [*LIMITS]
    if name == "lines_of_action":
        texts = ["depth=1", "depth=3", "nodes=2000 of fewer"]
    elif name == "othello_holes":
        texts = ["probcut=1", "reductions", "nodes=2000 of fewer"]
    found = recorded(name, rows, texts)
    assert found == {text: [x[rows] for x in expected[text]] for text in found}


@pytest.mark.usefixtures("in_machine_code")
def test_machine_code_searches_as_recorded() -> None:
    """The game that is compiled soonest; all of them: `make compiled`."""
    expected = json.loads(GOLDEN.read_text())["wolf_and_sheep"]
    assert recorded("wolf_and_sheep", slice(None)) == expected


# ---- against plain search ------------------------------------------------------------------------


# Where a side may move again, and where what has been there before counts.
@pytest.mark.parametrize("name", [*VARIANTS, "checkers", REPEATING])
def test_values_and_actions_are_those_of_plain_search(name: str) -> None:
    """Early and at the end; a value called exact is one of the end, and no deeper search changes
    it; lines lead to what they promise.
    """
    game = make(name)
    deepest = 2 if name.startswith("lines_of_action") else 3
    for seed in range(3):
        line, _ = random_line(game, seed, game.max_plies or 500)
        again = [a for a, b in pairwise(line[:-1]) if a.to_move == b.to_move][-2:]
        some = line[(2 + 5 * seed) % (len(line) - 1)], line[-deepest], *again
        for position in (remembering(position, seed) for position in some):
            by_depth = [worths(game, position, depth) for depth in range(1, deepest + 1)]
            for depth, expected in enumerate(by_depth, start=1):
                found = search_second(position, Limits(depth))
                assert found.value == expected[int(found.action[0])] == max(expected.values())
                if found.exact[0]:
                    assert abs(found.value[0]) > WIN // 2 or found.value == 0
                    assert {max(deeper.values()) for deeper in by_depth[depth:]} <= {*found.value}
                else:
                    assert found.depth == depth
                    assert game.margin_counts or abs(found.value[0]) < WIN // 2
                end = line_of(position, found)
                sign = 1 if end.to_move == position.to_move else -1
                assert sign * worth(game, end, 0, int(found.depth[0])) == found.value[0]


# ---- the exact end of Othello --------------------------------------------------------------------


@dataclass(frozen=True)
class PlainOthello(Othello):
    """Othello that says no more of itself than every game does."""

    fills_by_capture: ClassVar = False
    stable = Game.stable  # type: ignore[assignment]


BOARDS: dict[str, Othello] = {
    "othello": Othello(),
    "winner": Othello(empties="winner"),
    "plain": PlainOthello(),
    "centre": parse("othello_holes"),  # type: ignore[dict-item]
    "lopsided": Othello(holes=from_squares(["a4", "c1", "c2", "f3", "g7", "h2"])),
    "four": Othello(holes=ALL ^ sum(0x3C << (8 * y) for y in range(2, 6))),
}


def margin(position: Position) -> int:
    """The points that the side to move will be ahead; the search must have proven it, and its line
    must be a game that ends so.
    """
    game, found = position.game, search_one(position, Limits(endgame=64))
    assert found.exact == 1
    assert found.depth == 64 - (position.own | position.opp | game.holes).bit_count()
    end = line_of(position, found)
    sign = 1 if end.to_move == position.to_move else -1
    points = sign * int(game.score_margin(stack([end]))[0])
    assert end.terminated
    assert points == margin_of(int(found.value[0]))
    return points


@pytest.mark.parametrize("board", BOARDS)
def test_ends_are_those_of_plain_search(board: str) -> None:
    game = BOARDS[board]
    lines = [random_line(game, seed, 200)[0] for seed in range(3)]
    positions = [position for line in lines for position in line[-8:-1]]
    for position in positions:
        assert margin(position) == lead_with_best_play(game, position)
    if board == "four":  # the second player wins 11 to 3, which is well known
        assert margin(game.start()) == -8


def test_what_searches_skip_is_never_the_end() -> None:
    """Which they prove, however much they skip before it."""
    game = make("othello_holes")
    assert [reduction(*x) for x in ((2, 9), (3, 1), (3, 6), (4, 5), (4, 6), (5, 14), (6, 14))] == [
        *(0, 0, 1, 1, 2, 2, 3)
    ]
    lines = [random_line(game, seed, 200)[0] for seed in range(25, 40)]
    state = stack([position for line in lines for position in line[-9:-7]])
    search = alphabeta_for(game, trained_evaluation(game)).search
    limits = Limits(20, probcut=0.1, reductions=True)
    found = search(state, seeds_of(state), limits, forced=True)
    for position, value, exact in zip(
        game.positions(state), found.value.tolist(), found.exact, strict=True
    ):
        assert (margin_of(value), exact) == (lead_with_best_play(game, position), 1)


# ---- rows, calls, threads ------------------------------------------------------------------------


def test_rows_calls_and_earlier_searches_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    state, seeds = sample_of("othello", 4), seeds_of(sample_of("othello", 4))
    for limits in (Limits(3), Limits(nodes=1500, endgame=30)):
        whole = AlphaBeta(OTHELLO).search(state, seeds, limits)
        for row in reversed(range(len(seeds))):
            alone = alphabeta_for(OTHELLO).search(take(state, [row]), seeds[[row]], limits)
            assert [column[row] for column in whole] == [column[0] for column in alone]
        monkeypatch.setattr(alphabeta, "_NODES_A_CALL", 200)  # one or two positions a call
        np.testing.assert_array_equal(alphabeta_for(OTHELLO).search(state, seeds, limits), whole)


def test_matches_go_on_with_earlier_values_and_repeat() -> None:
    state, searcher, limits = sample_of("othello", 2), alphabeta_for(OTHELLO), Limits(nodes=400)
    tables = [searcher.new_table(400) for _ in range(2)]
    alone, first, second = (
        searcher.search(state, seeds_of(state), limits, tables=given)
        for given in ((), tables, tables)
    )
    np.testing.assert_array_equal(first, alone)
    assert second.depth.sum() > first.depth.sum()
    np.testing.assert_array_equal(searcher.search(state, seeds_of(state), limits), alone)

    def play(agent: object) -> list[int]:
        actions = play_match(OTHELLO, agent, "greedy", 1, opening_plies=(36, 36)).actions
        assert actions is not None
        return [*map(int, actions.flat)]

    agent = AlphaBetaAgent(nodes=600)
    games = play(agent)
    assert play(agent) == play(copy.deepcopy(agent)) == games
    assert play(lambda game, state, rng: agent.act(game, state, rng)) != games
    both = [
        play_match(OTHELLO, agent, other, 1, opening_plies=(44, 44))
        for other in (agent, copy.deepcopy(agent))
    ]
    np.testing.assert_array_equal(both[0].actions, both[1].actions)  # each side has its own


def test_what_is_over_or_forced_is_not_searched() -> None:
    state, searcher = stack([OTHELLO.start(), OVER, FORCED]), alphabeta_for(OTHELLO)
    for forced in (False, True):
        found = searcher.search(state, seeds_of(state), Limits(3), forced=forced)
        assert found.action[1:].tolist() == [OTHELLO.noop, 3]
        assert (found.nodes > 0).tolist() == (found.depth > 0).tolist() == [True, False, forced]
        at_the_end = take(state, [1, 2])  # which limits may solve at once
        found = searcher.search(at_the_end, seeds_of(at_the_end), Limits(endgame=61), forced=forced)
        assert found.action.tolist() == [OTHELLO.noop, 3]
        assert (found.depth > 0).tolist() == [False, forced]
    assert found.value[1] == WIN + 4
    nothing = searcher.search(take(state, []), seeds_of(state)[:0], Limits(3))
    assert [len(column) for column in nothing] == [0] * 5


# ---- learnt values -------------------------------------------------------------------------------


def check_tempo(name: str) -> None:
    """The learnt values credit neither side for being to move: `make compiled`."""
    game = make(name)

    def values(position: Position, *limits: Limits) -> list[float]:
        engine, state = alphabeta_for(game, trained_evaluation(game)), stack([position])
        return [engine.search(state, seeds_of(state), x).value[0] / POINT for x in limits]

    positions = [random_position(game, seed, 4 + seed % 24) for seed in range(40)]
    by_depth = np.array([values(position, *map(Limits, (5, 6, 7))) for position in positions])
    assert abs(np.mean(by_depth @ [-0.5, 1, -0.5])) < 1
    if name == "othello":
        limits = Limits(8), Limits(9), Limits(10), Limits(time=0.3)
        selective = Limits(nodes=20_000, probcut=1.2), Limits(nodes=300_000, probcut=1.2)
        assert np.ptp(values(game.start(), *limits, *selective)) < 1.5


# ---- limits --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", RECORDED[:3])
def test_a_limit_of_nodes_is_kept_and_used(name: str) -> None:
    game, moves = make(name), 80  # more than any position here has
    position, depths = random_position(game, 1, 8), []
    for nodes in (1, 1000, 8000):
        found = search_one(position, Limits(nodes=nodes))
        # The first two plies are always searched; between two looks at the count, one is.
        assert nodes <= found.nodes[0] < nodes + 2 * moves * moves
        depths.append(int(found.depth[0]))
    assert 1 <= depths[0] < depths[-1]


def test_a_search_that_is_cut_short_takes_no_loss_for_granted() -> None:
    """Where it has seen the best moves lose, and no others, it plays another one."""
    game = make("lines_of_action:size=5")
    for seed, place, nodes in ((2, -7, 800), (4, -7, 500), (7, -7, 800), (9, -5, 500)):
        found = search_one(random_line(game, seed, 300)[0][place], Limits(nodes=nodes))
        assert (found.exact[0], found.value[0] < -WIN // 2) == (0, False)


def test_a_time_ends_a_search() -> None:
    state, start = OTHELLO.init(1), OTHELLO.start()
    for seconds in (0.05, 1e-9):
        found = search_one(start, Limits(time=seconds))
        assert found.exact == 0
        assert start.is_legal(int(found.action[0]))
    assert search_one(start, Limits(3, time=1e9)).depth == 3
    stop = iter([False, False, True]).__next__
    assert alphabeta_for(OTHELLO).search(state, seeds_of(state), Limits(), stop=stop).exact == 0


def test_other_moves_share_the_nodes_and_the_time_of_an_analysis(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    search_move, given = _Searcher.search_move, list[Limits]()

    def noted(its: Any, position: Position, action: int, limits: Limits) -> Any:
        given.append(limits)
        return search_move(its, position, action, limits)

    monkeypatch.setattr(_Searcher, "search_move", noted)
    search_position(OTHELLO.start(), Limits(2, nodes=3000, time=6e6), moves=0.5)
    assert [(limits.nodes, limits.time) for limits in given] == [(500, 1e6)] * 3
    given.clear()  # an agent's time is for all of its analysis, in two halves
    AlphaBetaAgent(2, time=6e6).analyse(OTHELLO.start(), np.random.default_rng(0))
    assert [limits.time for limits in given] == [1e6] * 3


def test_the_end_and_what_is_before_it_share_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    given = list[float]()

    def in_no_time(search: Any, halt: Any, seconds: float, stop: Any) -> Any:
        given.append(seconds)
        return run_until(search, halt, 0.0, stop)

    monkeypatch.setattr(alphabeta, "run_until", in_no_time)
    assert search_one(random_position(OTHELLO, 1, 40), Limits(time=6, endgame=24)).exact == 0
    assert given == [3, 3]


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="no such signals here")
def test_ctrl_c_ends_a_search(backend: str) -> None:
    main, start = threading.main_thread().ident, make("wolf_and_sheep").start()
    assert main is not None

    def is_searching() -> bool:
        frames = walk_stack(sys._current_frames()[main])
        return AlphaBeta.search.__code__ in (frame.f_code for frame, _ in frames)

    def interrupt(over: threading.Event) -> None:
        while not over.wait(0.1):
            if is_searching():
                signal.pthread_kill(main, signal.SIGINT)
                return

    expected, over = search_one(start, Limits(3)), threading.Event()
    other = threading.Thread(target=interrupt, args=(over,))
    other.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            search_one(start, Limits(time=1e6))
    finally:
        over.set()
        other.join()
    # And the engine is as good as before.
    np.testing.assert_array_equal(search_one(start, Limits(3)), expected)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"depth": 0}, "depth is 0: it must be 1 to 100"),
        ({"nodes": 0}, "nodes is 0: it must be 1 to"),
        ({"time": float("nan")}, "time is nan: it must be more than 0 seconds"),
        ({"endgame": 65}, "endgame is 65: it must be 0 to 64"),
        ({"probcut": 101}, "probcut is 101: it must be 0 to 100 deviations"),
        ({"reductions": 1}, "reductions is 1: it must be true or false"),
    ],
)
def test_limits_that_are_none_are_named(wrong: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Limits(**wrong)  # type: ignore[arg-type]


if __name__ == "__main__":  # records what they are to find
    set_backend("numpy")
    found = {name: recorded(name, slice(None)) for name in RECORDED}
    GOLDEN.write_text(json.dumps(found) + "\n")
