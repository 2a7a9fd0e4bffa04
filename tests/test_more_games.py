"""Games of other packages that have more state, other turns or other boards than ours: their rules
against OpenSpiel's, and every interface.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from boardenvs_checkers import Checkers
from boardenvs_connect_four import ConnectFour
from boardenvs_hex import Hex
from boardenvs_morris import NineMensMorris
from negamax import WIN, worth, worths
from pettingzoo.test import api_test, parallel_api_test
from variants import random_line

import boardenvs
from boardenvs import records
from boardenvs.agents import RandomAgent
from boardenvs.envs.batch import Batch, BoardGroup
from boardenvs.game import Game, PositionError, check_rules
from boardenvs.game.contract import Position, stack
from boardenvs.game.fen import parse_position
from boardenvs.kernel import set_backend
from boardenvs.search import Limits, engine_for, search_trees

game = Checkers()

LATE = "8/5w2/8/4b3/3w4/8/1b6/8 black 31 kings=b2,f7 quiet=7"


def late_positions(game: Game) -> list[Position]:
    """Of several games, some plies before their ends; one where the side to move has moved."""
    found = []
    for seed in range(6):
        line, _ = random_line(game, seed, 500)
        again = [b for a, b in pairwise(line[:-1]) if a.to_move == b.to_move]
        found += [line[-4], line[-7], *again[-1:]]
    return found


# Points of the board of Nine Men's Morris as OpenSpiel numbers them.
_TEXT = "a7 d7 g7 b6 d6 f6 c5 d5 e5 a4 b4 c4 e4 f4 g4 c3 d3 e3 b2 d2 f2 a1 d1 g1"
POINTS = _TEXT.split()


def morris_name(name: str) -> str:
    """A move of Nine Men's Morris as OpenSpiel writes it."""
    points = [str(POINTS.index(point)) for point in name.split("-")]
    return f"Point {points[0]}" if len(points) == 1 else f"Move {' -> '.join(points)}"


# Each with OpenSpiel's name of the game and of a move, the results that games come to, and how many
# games are played for them.
GAMES: dict[str, tuple[Game, str, Callable[[str], str], int, int]] = {
    "checkers": (game, "checkers", lambda name: name.replace("-", ""), 3, 40),
    "connect_four": (ConnectFour(), "connect_four", lambda name: str(int(name) - 1), 2, 40),
    "hex": (Hex(), "hex(board_size=11)", str, 2, 10),
    "nine_mens_morris": (NineMensMorris(), "nine_mens_morris", morris_name, 3, 20),
}
every_game = pytest.mark.parametrize("name", GAMES)


@every_game
def test_rules_are_those_of_openspiel(name: str) -> None:
    pyspiel = pytest.importorskip("pyspiel")
    mine, other, translated, results, games = GAMES[name]
    rng, theirs = random.Random(0), pyspiel.load_game(other)
    seen = set()
    for _ in range(games):
        position, state = mine.start(), theirs.new_initial_state()
        while not state.is_terminal():
            assert not position.is_over()
            assert position.to_move == state.current_player()
            legal = {translated(mine.action_name(a)): a for a in position.legal_actions()}
            known = {move_of(state, a): a for a in state.legal_actions()}
            assert legal.keys() == known.keys()
            move = rng.choice(sorted(legal))
            position = position.step(legal[move])
            state.apply_action(known[move])
        assert position.is_over()
        assert [(goal - 50) / 50 for goal in position.result()] == state.returns()
        seen.add(tuple(state.returns()))
    assert len(seen) == results


def move_of(state: Any, action: int) -> str:
    """OpenSpiel's text of a move; Connect Four's begins with the side's piece."""
    text: str = state.action_to_string(action)
    return text.lstrip("xo") or text


@every_game
def test_rules_are_consistent(name: str) -> None:
    check_rules(GAMES[name][0], num_games=4)


def test_texts_name_what_is_beside_the_squares() -> None:
    position = parse_position(game, LATE)
    assert position.fen() == LATE
    assert position.word("kings") == 1 << 53 | 1 << 9
    for text, message in (
        (LATE.replace("kings", "queens"), "unknown word 'queens'"),
        (LATE.replace("f7 quiet", "f9 quiet"), "kings: 'f9' is not a square"),
        (LATE.replace("quiet=7", "quiet=41"), "quiet is 41: it must be below 41"),
        (LATE.replace("quiet=7", "quiet=x"), "quiet: 'x' is not a number"),
    ):
        with pytest.raises(PositionError, match=message):
            parse_position(game, text)


# ---- search --------------------------------------------------------------------------------------


def test_alpha_beta_is_plain_search() -> None:
    set_backend("numpy")
    for position in late_positions(game)[:9]:
        for depth in (1, 2, 3, 4):
            seeds = np.zeros(1, np.uint64)
            found = engine_for(game).search(stack([position]), seeds, Limits(depth), forced=True)
            assert found.value == worth(game, position, depth)
            assert worths(game, position, depth)[int(found.action[0])] == found.value
            line = position
            for action in engine_for(game).line(position, found):
                line = line.step(action)
            sign = 1 if line.to_move == position.to_move else -1
            assert worth(game, line, 0, int(found.depth[0])) * sign == found.value
    set_backend(None)


@pytest.mark.parametrize("name", ["checkers", "hex"])
def test_both_backends_search_alike(name: str) -> None:
    game = GAMES[name][0]
    state = stack(late_positions(game))
    seeds = np.arange(len(state.ply), dtype=np.uint64)
    found = []
    for backend in ("numpy", "numba"):
        set_backend(backend)
        searched = engine_for(game).search(state, seeds, Limits(nodes=300), forced=True)
        trees = search_trees(game, state, seeds, simulations=40, c=1.0)
        found.append([*searched, *trees])
    set_backend(None)
    for mine, other in zip(*found, strict=True):
        np.testing.assert_array_equal(mine, other)


def test_trees_prove_what_plain_search_proves() -> None:
    set_backend("numpy")
    decided = 0
    for position in late_positions(game):
        seeds = np.zeros(1, np.uint64)
        found = search_trees(game, stack([position]), seeds, simulations=300, c=1.0)
        for action in position.legal_actions():
            lower, upper = found.lower[0, action], found.upper[0, action]
            assert lower <= found.values[0, action] <= upper
            if lower == upper:
                decided += 1
                plain = worths(game, position, 6)[action]
                assert abs(plain) < WIN // 2 or np.sign(plain) == lower
    set_backend(None)
    assert decided > 10


# ---- interfaces ----------------------------------------------------------------------------------


@every_game
def test_environments_follow_the_turn(name: str) -> None:
    api_test(boardenvs.env(GAMES[name][0]), num_cycles=300)
    parallel_api_test(boardenvs.parallel_env(GAMES[name][0]), num_cycles=300)


def test_a_step_against_an_opponent_ends_with_the_learners_turn() -> None:
    """What the learner is paid is what its games come to; all plies of a turn are played."""
    batch = Batch(game, [BoardGroup(32, RandomAgent())], seed=1)
    rng, ended = np.random.default_rng(0), 0
    for _ in range(120):
        np.testing.assert_array_equal(batch.state.to_move, batch.seats)
        seats = batch.seats.copy()
        result = batch.step(game.sample(batch.state, rng))
        points = game.results(result.final)[np.arange(len(result.ended)), seats[result.ended]]
        np.testing.assert_array_equal(result.rewards[result.ended], (points - 50) / 50)
        ended += len(result.ended)
    assert ended > 20


def test_values_count_for_the_mover_while_it_goes_on() -> None:
    batch = Batch(game, 64, seed=1)
    rng, signs = np.random.default_rng(0), set()
    for _ in range(60):
        before = batch.state.to_move
        batch.step(game.sample(batch.state, rng))
        same = batch.state.to_move == before
        going_on = batch.state.ply > 0
        signs |= set(batch.discounts.tolist())
        expected = np.where(same, 1.0, -1.0)
        np.testing.assert_array_equal(batch.discounts[going_on], expected[going_on])
    assert signs == {1.0, -1.0}


def test_records_and_matches(tmp_path: Path) -> None:
    """A record from a position in the middle of a turn is read back."""
    found = boardenvs.play_match(game, "greedy", "random", 10, seed=1)
    assert found.wins > found.losses
    line, actions = random_line(game, 3, 500)
    begun = next(ply for ply, position in enumerate(line) if position.word("jumper"))
    record = records.make_record(game, actions[begun:], start=line[begun])
    records.save(tmp_path / "games.jsonl", [record])
    (read,) = records.load(tmp_path / "games.jsonl")
    assert list(records.replay(read)) == line[begun:]
