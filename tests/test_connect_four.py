"""Connect Four solved: against plain search of every line, its mirror images, and what is known of
its first move.
"""

from __future__ import annotations

import random
import re
from functools import cache

import numpy as np
import pytest
from negamax import WIN

from boardenvs import analyse, games
from boardenvs.agents import perfect
from boardenvs.agents.analyse import prove
from boardenvs.agents.perfect import PerfectAgent
from boardenvs.game.errors import PositionError
from boardenvs.game.fen import parse_position
from boardenvs.game.position import Position, stack
from boardenvs.kernel import get_backend
from boardenvs.tablebase import connect_four
from boardenvs.tablebase.connect_four import Solution, exact_search

GAME = games.make("connect_four")


@cache
def played(plies: int, seed: int) -> Position:
    """A position of a random game."""
    rng, position = random.Random(seed), GAME.start()
    while position.ply < plies or position.is_over():
        if position.is_over():
            position = GAME.start()
        position = position.step(rng.choice(position.legal_actions()))
    return position


def played_as(moves: str) -> Position:
    """The position after these files, counted from 1."""
    position = GAME.start()
    for file in moves:
        position = position.step(int(file) - 1)
    return position


def solution(position: Position) -> Solution:
    return exact_search(get_backend()).solution(position)


def best_action(position: Position) -> int:
    return exact_search(get_backend()).best_action(position)


@cache
def worth(position: Position) -> int:
    """To the side to move, by every line: a million for a win, less the plies until then."""
    if position.is_over():
        return -WIN * (position.result() != (50, 50))
    values = [-worth(position.step(action)) for action in position.legal_actions()]
    return max(value - (value > 0) + (value < 0) for value in values)


def as_worth(found: Solution) -> int:
    return 0 if found.value == 0 else found.value * (WIN - (found.plies or 0))


def test_positions_are_searched_as_their_discs_say(in_machine_code: None) -> None:
    """Whatever the text says of the plies. None floats, as on a board that is upside down: search
    would leave its lists.
    """
    text = played(31, 0).fen().rsplit(maxsplit=1)[0]
    found = [solution(parse_position(GAME, f"{text} {plies}")) for plies in (0, 7, 31, 900)]
    assert found == [found[2]] * 4
    with pytest.raises(PositionError, match="c5, d6, e6: no disc is below"):
        parse_position(GAME, "3ry2/2y4/7/7/7/7 red")
    with pytest.raises(PositionError, match="a3: no disc is below"):
        solution(GAME.start()._replace(words=(1 << 14, 0)))


@pytest.mark.parametrize("plies", [28, 29, 31, 34, 37, 40, 41])
def test_solutions_and_moves_are_those_of_plain_search(backend: str, plies: int) -> None:
    for seed in range(4 if plies < 30 else 12):
        position = played(plies, seed)
        found = solution(position)
        assert as_worth(found) == worth(position)
        assert found.value or found.plies == 42 - plies
        after = position.step(best_action(position))
        assert worth(position) == -worth(after) - np.sign(-worth(after))


def test_mirror_images_have_the_same_solution(backend: str) -> None:
    for seed in range(10):
        position = played(18, seed)
        assert solution(position) == solution(position.image(GAME.symmetries[1]))


def test_perfect_players_get_what_is_promised(backend: str) -> None:
    """Against each other to the ply; against others that or more."""
    for seed in range(8):
        start = played(20, seed)
        promised = solution(start)
        for other in ("perfect", "random"):
            position, rng = start, random.Random(seed)
            while not position.is_over():
                action = rng.choice(position.legal_actions())
                if other == "perfect" or position.to_move == start.to_move:
                    action = int(PerfectAgent().act(GAME, stack([position]))[0])
                position = position.step(action)
            result, plies = position.result()[start.to_move] / 50 - 1, position.ply - start.ply
            if other == "perfect":
                assert (result, plies) == promised
            else:
                assert result >= promised.value
                assert promised.value < 1 or plies <= (promised.plies or 0)


def test_an_analysis_has_all_moves_and_lines_to_the_end() -> None:
    position = played(22, 3)
    found = analyse(position, "perfect")
    assert found.moves[0].action == found.choice
    for move in found.moves:
        after = position
        for action in move.line:
            after = after.step(action)
        assert after.is_over()
        assert after.ply - position.ply == move.plies
        assert after.result()[position.to_move] == 50 + 50 * (move.value or 0)


@pytest.mark.parametrize(
    ("moves", "best", "outcome", "plies"),
    [
        ("1475174", "3", "win", 3),
        ("7143525", "6", "loss", 12),
        ("453627", "1", "win", 1),
        ("4161", "5", "win", 3),
        ("", "4", "win", None),
    ],
)
@pytest.mark.usefixtures("in_machine_code")
def test_an_analysis_of_the_opening_is_exact(
    moves: str, best: str, outcome: str, plies: int | None
) -> None:
    """Scored by another program. Before seven discs only the result is claimed."""
    found = analyse(played_as(moves))
    assert (found.outcome, found.plies) == (outcome, plies)
    assert found.names(found.line)[0] == best


@pytest.mark.usefixtures("in_machine_code")
def test_the_plies_of_an_opening_are_never_those_of_one_move_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """At the border, where the positions after the moves are scored and the position is not."""
    position, discs = played(15, 1), 15
    assert (analyse(position, "perfect").plies or 0) > 9
    for module, name in ((connect_four, "EXACT"), (perfect, "EXACT"), (perfect, "_ALL_MOVES")):
        monkeypatch.setattr(module, name, discs + 1)
    assert analyse(position, "perfect").plies is None


def test_an_answer_that_takes_long_keeps_to_its_time(caplog: pytest.LogCaptureFixture) -> None:
    """It is rough then, and it is said that it takes long; the search can be asked again."""
    connect_four._announce.cache_clear()
    found = prove(played_as("64"), 0.3)
    assert (found.proven, len(found.moves)) == (False, 7)
    assert "Connect Four is being solved with 2 discs" in caplog.text
    assert "minute" in caplog.text
    test_an_analysis_of_the_opening_is_exact("", "4", "win", None)


def test_what_takes_seconds_in_machine_code_is_not_said_to_take_minutes(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    search = exact_search(get_backend())
    monkeypatch.setattr(connect_four, "get_backend", lambda: "numba")
    monkeypatch.setattr(search, "_score", lambda position, low, high: 0)
    connect_four._announce.cache_clear()
    for moves in ("1111777", "111177"):
        assert search.takes_long(played_as(moves))
        search.solution(played_as(moves))
    assert re.findall(r"with (\d) discs on the board", caplog.text) == ["6"]
    for backend, discs in (("numba", 10), ("numpy", 16)):
        monkeypatch.setattr(connect_four, "get_backend", lambda backend=backend: backend)
        long = [search.takes_long(played(plies, 1)) for plies in (discs - 1, discs)]
        assert long == [True, False]
    assert "without Numba" not in caplog.text


@pytest.mark.parametrize("seed", range(3))
def test_of_equal_moves_that_nearest_the_middle_is_played(seed: int) -> None:
    position = played(34, seed)
    worths = {action: worth(position.step(action)) for action in position.legal_actions()}
    equal = [action for action in worths if worths[action] == min(worths.values())]
    assert best_action(position) == min(equal, key=lambda action: abs(action - 3))


def test_the_first_moves_have_the_known_values() -> None:
    """Red wins by the middle file alone; the files beside it draw; all others lose."""
    assert solution(GAME.start()).value == 1
    assert best_action(GAME.start()) == 3
    to_yellow = [solution(played_as(file)).value for file in "1234567"]
    assert to_yellow == [1, 1, 0, -1, 0, 1, 1]
