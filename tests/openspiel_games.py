"""Games beside OpenSpiel's: which of its actions is which of ours."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from boardenvs_breakthrough import Breakthrough

from boardenvs.game import Game, Position
from boardenvs.games import (
    Checkers,
    Chess,
    ConnectFour,
    Go,
    Hex,
    LinesOfAction,
    NineMensMorris,
    Othello,
    TicTacToe,
    make,
)

Legal = Callable[[Position, Any], dict[int, int]]  # their numbers of all legal actions, and ours

# Points of the board of Nine Men's Morris as OpenSpiel numbers them.
_POINTS = "a7 d7 g7 b6 d6 f6 c5 d5 e5 a4 b4 c4 e4 f4 g4 c3 d3 e3 b2 d2 f2 a1 d1 g1"
_NUMBERS = {name: str(number) for number, name in enumerate(_POINTS.split())}


def _by_number(position: Position, state: Any) -> dict[int, int]:
    return {action: action for action in position.legal_actions()}


def _from_the_top(position: Position, state: Any) -> dict[int, int]:
    return {(2 - a // 3) * 3 + a % 3: a for a in position.legal_actions()}


def _by_name(translate: Callable[[str], str]) -> Legal:
    def legal(position: Position, state: Any) -> dict[int, int]:
        theirs = {state.action_to_string(action): action for action in state.legal_actions()}
        ours = {translate(position.game.action_name(a)): a for a in position.legal_actions()}
        assert ours.keys() == theirs.keys()
        return {theirs[name]: action for name, action in ours.items()}

    return legal


def _morris(name: str) -> str:
    points = [_NUMBERS[point] for point in name.split("-")]
    return f"Point {points[0]}" if len(points) == 1 else f"Move {' -> '.join(points)}"


def _chess(position: Position, state: Any) -> dict[int, int]:
    found = {}
    for action in position.legal_actions():
        name = position.game.action_name(action)
        queens = name[3] in "18" and len(name) == 4 and position.word("pawns") >> action % 64 & 1
        found[state.parse_move_to_action(name + "q" * queens)] = action
    return found


def _read(translate: Callable[[str], str] = str) -> Legal:
    """Our parser reads their names."""

    def legal(position: Position, state: Any) -> dict[int, int]:
        names = {
            action: translate(state.action_to_string(action)) for action in state.legal_actions()
        }
        actions = {action: position.game.parse_action(name) for action, name in names.items()}
        assert sorted(actions.values()) == position.legal_actions()
        return actions

    return legal


def _without_capture(name: str) -> str:
    return name.replace("x", "-")


@dataclass(frozen=True)
class Theirs:
    """A game here, and what it is there."""

    game: Game
    name: str
    legal: Legal
    games: int  # that are played; they come to so many different results
    results: int = 2
    first: int = 0  # who moves first there
    same_end: bool = True


GAMES = {
    "checkers": Theirs(
        Checkers(rules="openspiel"), "checkers", _by_name(lambda x: x.replace("-", "")), 12, 3
    ),
    "chess": Theirs(Chess(), "chess", _chess, 5, 3, first=1),
    "connect_four": Theirs(ConnectFour(), "connect_four", _by_number, 20),
    "go": Theirs(Go(), "go(board_size=9)", _by_number, 6),
    "hex": Theirs(Hex(), "hex(board_size=11)", _by_number, 6),
    "nine_mens_morris": Theirs(NineMensMorris(), "nine_mens_morris", _by_name(_morris), 8, 3),
    "tictactoe": Theirs(TicTacToe(), "tic_tac_toe", _from_the_top, 50, 3),
}

# Repetitions and the last step draw there, and who has no move has lost.
_CLASSIC = Theirs(
    LinesOfAction(max_steps=20),
    "lines_of_action(max_game_length=20)",
    _read(_without_capture),
    4,
    same_end=False,
)
OWN = {
    "othello": Theirs(Othello(), "othello", _read(), 6),
    "reversi": Theirs(make("reversi"), "othello", _read(), 6),
    "lines_of_action:max_steps=20": _CLASSIC,
    "lines_of_action:rules=tournament": Theirs(
        LinesOfAction(rules="tournament"), "lines_of_action", _read(_without_capture), 4
    ),
    "breakthrough": Theirs(
        Breakthrough(), "breakthrough", _read(lambda name: f"{name[:2]}-{name[2:4]}"), 4
    ),
}
SIZES = {
    text: Theirs(
        make(text), theirs, _by_number, 10 if "=2" in text else 5, 1 if text.startswith("go") else 2
    )
    for text, theirs in {
        "go:size=2": "go(board_size=2)",
        "go:komi=0.5,size=5": "go(board_size=5,komi=0.5)",
        "go:size=8": "go(board_size=8)",
        "go:size=13": "go(board_size=13)",
        "hex:size=2": "hex(board_size=2)",
        "hex:size=5": "hex(board_size=5)",
        "hex:size=8": "hex(board_size=8)",
        "hex:size=16": "hex(board_size=16)",
        "connect_four:rows=7,columns=9,connect=5": "connect_four(rows=7,columns=9,x_in_row=5)",
        "connect_four:rows=4,columns=5,connect=3": "connect_four(rows=4,columns=5,x_in_row=3)",
        "connect_four:rows=9,columns=16": "connect_four(rows=9,columns=16)",
    }.items()
}


def compare(name: str) -> int:
    """Play random games here and there: turns, legal actions, ends and results must be the same.
    Returns how many positions were compared.
    """
    pyspiel = pytest.importorskip("pyspiel")
    game = {**GAMES, **OWN, **SIZES}[name]
    rng, theirs = random.Random(0), pyspiel.load_game(game.name)
    seen, positions = set(), 0
    for _ in range(game.games):
        position, state = game.game.start(), theirs.new_initial_state()
        while not state.is_terminal():
            assert not position.is_over()
            assert position.to_move ^ game.first == state.current_player()
            legal = game.legal(position, state)
            assert sorted(legal) == sorted(state.legal_actions())
            action = rng.choice(sorted(legal))
            position = position.step(legal[action])
            state.apply_action(action)
            positions += 1
        if not game.same_end:
            continue
        assert position.is_over()
        results = [(goal - 50) / 50 for goal in position.result()]
        assert results[:: 1 - 2 * game.first] == state.returns()
        seen.add(tuple(results))
    assert len(seen) >= game.results * game.same_end
    return positions
