"""Inputs of all kinds: right ones, and right ones with something wrong in them.

FUZZ_CASES says how many each test draws. Without it they are few, and the same ones in each run;
with it they are new, and those that fail are kept in `corpus` beside this file and tried first.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.database import DirectoryBasedExampleDatabase

from fuzz.oracle import CANARY

CASES = int(os.environ.get("FUZZ_CASES", "0"))
PHASES = [phase for phase in Phase if phase is not Phase.explain]  # which traces each line

settings.register_profile(
    "fuzz",
    max_examples=CASES or 25,
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


@st.composite
def mutated(draw: st.DrawFn, base: st.SearchStrategy[str], tokens: Sequence[str] = ()) -> str:
    """A text with up to four parts cut out, doubled or replaced by others."""
    found = draw(base)
    for _ in range(draw(st.integers(0, 4))):
        start, length = draw(st.integers(0, len(found))), draw(st.integers(0, 6))
        part = found[start : start + length]
        new = draw(
            st.sampled_from(["", part * 2, part.swapcase(), part[::-1], *tokens])
            | st.sampled_from(TEXTS)
            | st.text(max_size=3)
        )
        found = found[:start] + new + found[start + length :]
    return found


@st.composite
def mutated_bytes(draw: st.DrawFn, base: st.SearchStrategy[bytes]) -> bytes:
    """Bytes with up to four parts changed, cut out or put in, or all cut off behind a place."""
    found = draw(base)
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(found)))
        length = draw(st.integers(0, 8))
        new = draw(st.binary(max_size=8) | st.sampled_from([b"\xff" * 4, b"\0" * 4, b"\xff" * 8]))
        found = found[:start] + new + found[start + length :]
    if draw(st.integers(0, 5)) == 0:
        found = found[: draw(st.integers(0, len(found)))]
    return found


@st.composite
def mutated_values(draw: st.DrawFn, base: Any) -> Any:
    """Lists and objects in one another with up to three of their values changed, gone or added."""
    found = copy.deepcopy(base)
    for _ in range(draw(st.integers(0, 3))):
        at, owner = found, None
        key: Any = None
        while isinstance(at, dict | list) and at and (owner is None or draw(st.booleans())):
            key = draw(st.sampled_from(sorted(at, key=str) if isinstance(at, dict) else
                                       list(range(len(at)))))  # fmt: skip
            owner, at = at, at[key]
        if owner is None:
            return draw(value)
        match draw(st.integers(0, 3)):
            case 0:
                del owner[key]
            case 1 if isinstance(owner, dict):
                owner[draw(text)] = draw(value)
            case 1 | 2:
                owner[key] = draw(value)
            case 3:
                owner[key] = draw(_other(at))
    return found


def _other(value_: Any) -> st.SearchStrategy[Any]:
    """Values of the same kind."""
    if isinstance(value_, bool):
        return st.booleans()
    if isinstance(value_, int):
        return whole
    if isinstance(value_, float):
        return real
    return mutated(st.just(value_)) if isinstance(value_, str) else value
