"""The games that the tests run over, and where their data lies."""

import functools
import gzip
import importlib
import json
import random
import struct
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import boardenvs
from boardenvs import games
from boardenvs.game.game import Game
from boardenvs.game.position import Position
from boardenvs.records import Record, make_record
from boardenvs.search import ENDGAME, Analysis, Limits, search_position

HERE = Path(__file__).resolve().parent
# Other people's data, which is read where it is there and not kept here.
SHARED = HERE.parents[1] / "shared"
PACKAGE = HERE / "breakthrough_package"

# The games that most tests run over; `test_more_games.py` and the tests of pictures, pages and
# environments have the others of the package.
FIVE = ("othello", "othello_holes", "reversi", "wolf_and_sheep", "lines_of_action")
FAMILIAR = tuple(game_id for game_id in games.BUILT_IN if game_id not in FIVE)
GAMES = [game_id for game_id in games.GAMES if game_id not in FAMILIAR]
# One of each kind, for what has nothing of its own in the others, and what is installed.
KINDS = (
    *("othello", "lines_of_action", "wolf_and_sheep"),
    *(game_id for game_id in GAMES if game_id not in FIVE),
)


def _variants() -> dict[str, tuple[str, dict[str, str]]]:
    """Each of these games, and twice where it takes `rules`."""
    found: dict[str, tuple[str, dict[str, str]]] = {}
    for game_id in GAMES:
        found[game_id] = (game_id, {})
        if "rules" in games.parameters(game_id):
            found[f"{game_id}_described"] = (game_id, {"rules": "described"})
    return found


VARIANTS = _variants()
# Those that there are data and second implementations of: not the games of other packages.
BUILT_IN = [name for name, (game_id, _) in VARIANTS.items() if game_id in FIVE]
of_built_in = pytest.mark.parametrize("name", BUILT_IN)

BACKENDS = ["numpy", "numba"]


@functools.cache
def make(name: str) -> Game:
    """The variant's game, or that of another package; one object for all tests, so that it is
    compiled once.
    """
    game_id, rules = VARIANTS.get(name, (name, {}))
    return games.make(game_id, **rules)


def load_playouts(name: str) -> list[dict[str, Any]]:
    with gzip.open(HERE / "playouts" / f"{name}.jsonl.gz", "rt") as file:
        return [json.loads(line) for line in file]


def random_line(game: Game, seed: int, plies: int) -> tuple[list[Position], list[int]]:
    """Uniformly random play for at most so many plies: the positions, and the actions between."""
    rng = random.Random(seed)
    positions, actions = [game.start()], list[int]()
    while not positions[-1].terminated and len(actions) < plies:
        actions.append(rng.choice(positions[-1].legal_actions()))
        positions.append(positions[-1].step(actions[-1]))
    return positions, actions


def random_position(game: Game, seed: int, plies: int) -> Position:
    return random_line(game, seed, plies)[0][-1]


def random_record(game: Game, seed: int = 0, plies: int = 200, **known: Any) -> Record:
    """Such a game as a record; `known` is what else there is to say of it."""
    return make_record(game, random_line(game, seed, plies)[1], **known)


def public_module(game_id):
    """The public module of a game, such as `boardenvs.othello_v0`, or what it would have."""
    if game_id in games.BUILT_IN:
        return importlib.import_module(f"boardenvs.{game_id}_v0")
    makers = ("env", "raw_env", "parallel_env", "vec_env")
    return SimpleNamespace(
        **{name: functools.partial(getattr(boardenvs, name), game_id) for name in makers}
    )


def searched(position: Position, **limits: Any) -> Analysis:
    """What alpha-beta finds of a position: by default until its outcome is proven."""
    return search_position(position, Limits(**{"endgame": ENDGAME} | limits), moves=False)


def wthor_file(*moves: str, score: int = 64, count: int | None = None, size: int = 8) -> bytes:
    """A file written by hand: the games' moves as in tournaments."""
    head = struct.pack("<BBBBIHHBBBB", 20, 26, 11, 21, count or len(moves), 0, 2025, size, 0, 22, 0)
    body = b""
    for game in moves:
        squares = [game[i : i + 2] for i in range(0, len(game), 2)]
        numbers = bytes(10 * int(s[1]) + "abcdefgh".index(s[0]) + 1 for s in squares)
        body += struct.pack("<HHHBB", 300, 7, 1000, score, 33) + numbers.ljust(60, b"\0")
    return head + body
