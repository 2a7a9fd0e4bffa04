"""Inputs of all kinds: right ones, and right ones with something wrong in them.

FUZZ_CASES says how many each test draws. Without it they are few, and the same ones in each run;
with it they are new, and those that fail are kept in `corpus` beside this file and tried first.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.database import DirectoryBasedExampleDatabase
from reference import Board

from boardenvs.board.bitboard import squares_of
from boardenvs.game.position import Position
from fuzz.oracle import CANARY

CASES = int(os.environ.get("FUZZ_CASES", "0"))
PHASES = [phase for phase in Phase if phase is not Phase.explain]  # which traces each line

settings.register_profile(
    "fuzz",
    max_examples=CASES or 12,
    deadline=None,
    phases=PHASES,
    derandomize=not CASES,
    print_blob=bool(CASES),
    database=DirectoryBasedExampleDatabase(Path(__file__).parent / "corpus") if CASES else None,
    suppress_health_check=list(HealthCheck),
)
fuzzed = settings.get_profile("fuzz")  # decorates each test

GAMES = ["othello", "othello_holes", "reversi", "wolf_and_sheep", "lines_of_action",
         "wolf_and_sheep:rules=described", "wolf_and_sheep:max_plies=9",
         "lines_of_action:rules=described", "lines_of_action:max_steps=7"]  # fmt: skip

WHOLE = [0, -1, 1, 2, 7, 63, 64, 65, 512, 2**30, 2**31 - 1, 2**31, 2**32, 2**53 + 1, 2**63 - 1,
         2**63, 2**64 - 1, 2**64, 10**30, -(10**30), 10**400]  # fmt: skip
REAL = [0.5, -0.0, 1.0, 1e300, -1e300, 5e-324, float("nan"), float("inf"), float("-inf")]
NAMED_CODE = [f"python:{CANARY}:run", f"{CANARY}:Game", f"{CANARY}:Game:x=1", f"!!python/{CANARY}"]
TEXTS = ["", " ", "\0", "x", "x" * 4000, "\N{WOLF FACE}", "../../x", "[/b]", "%s", "'", "\n",
         "\u0663", "\u00b2", "1_000", "1e3", "nan", "none", "true", "-0", "1" * 4000,
         "\ud800", "\x1b[2J", *NAMED_CODE]  # fmt: skip

whole = st.sampled_from(WHOLE) | st.integers(-(2**70), 2**70) | st.integers(-3, 70)
real = st.sampled_from(REAL) | st.floats()
text = st.sampled_from(TEXTS) | st.text(max_size=20)
scalar = st.none() | st.booleans() | whole | real | text
# Of the kinds that JSON and YAML know.
value = st.recursive(
    scalar,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4),
    max_leaves=6,
)
# Of any kind that Python code may hand over.
thing = value | st.binary(max_size=9) | st.tuples(scalar, scalar) | st.sampled_from([object(), int])


def as_board(position: Position) -> Board:
    """A position as the slow rules have it."""
    first, second = (
        frozenset((s % 8 + 1, s // 8 + 1) for s in squares_of(position.pieces(role)))
        for role in (0, 1)
    )
    return Board((first, second), position.to_move, position.ply)


NEW: dict[type, st.SearchStrategy[Any]] = {
    str: st.sampled_from(TEXTS) | st.text(max_size=3),
    bytes: st.sampled_from([b"\xff" * 4, b"\0" * 4, b"\xff" * 8]) | st.binary(max_size=8),
}


@st.composite
def mutated(draw: st.DrawFn, base: st.SearchStrategy[Any], tokens: Sequence[str] = ()) -> Any:
    """A text, or bytes, with up to four parts cut out, doubled, turned or replaced by others; a
    part may go as far as the end.
    """
    found = draw(base)
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(found)))
        end = start + draw(st.integers(0, 8) | st.just(len(found)))
        part = found[start:end]
        changed = [part[:0], part * 2, part.swapcase(), part[::-1], *tokens]
        found = found[:start] + draw(st.sampled_from(changed) | NEW[type(found)]) + found[end:]
    return found


@st.composite
def mutated_values(draw: st.DrawFn, base: Any) -> Any:
    """Lists and objects in one another with up to three of their values changed, gone or added."""
    found = copy.deepcopy(base)
    for _ in range(draw(st.integers(0, 3))):
        places = list(_places(found))
        if not places:
            return draw(value)
        owner, key = draw(st.sampled_from(places))
        match draw(st.integers(0, 3)):
            case 0:
                del owner[key]
            case 1 if isinstance(owner, dict):
                owner[draw(text)] = draw(value)
            case 3 if isinstance(owner[key], str):
                owner[key] = draw(mutated(st.just(owner[key])))
            case 3:
                owner[key] = draw(SAME_KIND.get(type(owner[key]), value))
            case _:
                owner[key] = draw(value)
    return found


SAME_KIND = {bool: st.booleans(), int: whole, float: real}


def _places(inside: Any) -> Iterator[tuple[Any, Any]]:
    """Where a value is, in whatever depth: the list or object, and its index or key."""
    if not isinstance(inside, dict | list):
        return
    for key in sorted(inside, key=str) if isinstance(inside, dict) else range(len(inside)):
        yield inside, key
        yield from _places(inside[key])
