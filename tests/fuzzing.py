"""Inputs of all kinds, most of them slightly wrong, and what a call with such an input may do.

FUZZ_CASES sets how many inputs each test draws. Without it they are few, and the same in each run;
with it they are new, and the ones that fail are stored in `.fuzz_corpus` and tried first next time.
"""

from __future__ import annotations

import copy
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from hypothesis import HealthCheck, settings, strategies as st
from hypothesis.database import DirectoryBasedExampleDatabase

CASES = int(os.environ.get("FUZZ_CASES", "0"))
SECONDS = float(os.environ.get("FUZZ_SECONDS", "20"))  # of CPU, for one call
MESSAGE = 2500  # characters
CANARY = "fuzz_canary"  # the module that inputs name: importing it is a fault
_FORBIDDEN = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork",
              "socket.connect", "socket.bind", "pickle.find_class")  # fmt: skip

settings.register_profile(
    "fuzz",
    max_examples=CASES or 10,
    deadline=None,
    derandomize=not CASES,
    print_blob=bool(CASES),
    database=DirectoryBasedExampleDatabase(Path(__file__).with_name(".fuzz_corpus"))
    if CASES
    else None,
    suppress_health_check=list(HealthCheck),
)
fuzzed = settings.get_profile("fuzz")  # decorates each test

# ---- inputs --------------------------------------------------------------------------------------

WHOLE = [0, -1, 1, 2, 7, 63, 64, 65, 512, 2**30, 2**31, 2**53 + 1, 2**63, 2**64, 10**400]
REAL = [0.5, -0.0, 1e300, 5e-324, float("nan"), float("inf"), float("-inf")]
NAMED_CODE = [f"python:{CANARY}:run", f"{CANARY}:Game", f"!!python/{CANARY}"]
TEXTS = ["", " ", "\0", "x", "x" * 4000, "\N{WOLF FACE}", "../../x", "[/b]", "%s", "'", "\n",
         "\u0663", "1_000", "1e3", "nan", "none", "1" * 4000, "\ud800", *NAMED_CODE]  # fmt: skip


def texts(most: int) -> st.SearchStrategy[str]:
    """Any characters; `st.text()` takes a second to look up which there are."""
    return st.binary(max_size=2 * most).map(lambda some: some.decode("utf-16-le", "replace"))


whole = st.sampled_from(WHOLE) | st.integers(-3, 70)
real = st.sampled_from(REAL) | st.floats()
text = st.sampled_from(TEXTS) | texts(20)
scalar = st.none() | st.booleans() | whole | real | text
# Of the kinds that JSON and YAML know.
value = st.recursive(
    scalar,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4),
    max_leaves=6,
)

NEW: dict[type, st.SearchStrategy[Any]] = {
    str: st.sampled_from(TEXTS) | texts(3),
    bytes: st.sampled_from([b"\xff" * 4, b"\0" * 4]) | st.binary(max_size=8),
}
SAME_KIND = {bool: st.booleans(), int: whole, float: real}


@st.composite
def mutated(draw: st.DrawFn, base: st.SearchStrategy[Any], tokens: Sequence[str] = ()) -> Any:
    """A text or bytes with up to four parts removed, doubled, turned or replaced."""
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
    """Nested lists and objects with up to three of their values changed, removed or added."""
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


def _places(inside: Any) -> Iterator[tuple[Any, Any]]:
    """Every value at any depth: the list or object that holds it, and its index or key."""
    if not isinstance(inside, dict | list):
        return
    for key in sorted(inside, key=str) if isinstance(inside, dict) else range(len(inside)):
        yield inside, key
        yield from _places(inside[key])


# ---- what a call may do --------------------------------------------------------------------------


def attempt(
    call: Callable[[], Any], *errors: type[BaseException]
) -> tuple[Any, BaseException | None]:
    """Make the call; return its value, or the error, which must be one of `errors`.

    AssertionError if it raises another error, has a message too long to read, works too long,
    starts a process, opens a connection, unpickles, or imports what the input names.
    """
    value, raised = None, None
    with _watching() as faults:
        try:
            value = call()
        except Exception as error:
            raised = error
    # Not within `except`: a report would print the other error too, as long as the input is nested.
    if raised is not None and not isinstance(raised, errors):
        where = "".join(traceback.format_tb(raised.__traceback__)[1:])
        faults.append(f"{type(raised).__name__}\n{where}{str(raised)[:500]}")
    elif raised is not None and len(str(raised)) > MESSAGE:
        faults.append(f"a message of {len(str(raised))} characters")
    assert not faults, "\n".join(faults)
    return value, raised


_faults: list[str] | None = None  # None while no call is watched


@contextmanager
def _watching() -> Iterator[list[str]]:
    """The faults of a call; one that does not end is stopped."""
    global _faults

    def stop(number: int, frame: FrameType | None) -> None:
        found.append(f"still at work after {SECONDS} s")
        raise AssertionError

    _faults = found = list[str]()
    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield found
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        _faults = None


def _look(event: str, arguments: tuple[Any, ...]) -> None:
    if _faults is not None and event in _FORBIDDEN:
        _faults.append(f"{event} {arguments!r}"[:500])


class _Finder:
    """Sees which modules are imported, and has none."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> None:
        if _faults is not None and CANARY in name:
            _faults.append(f"import {name}")


# Both stay for the process, and do nothing between the calls.
sys.addaudithook(_look)
sys.meta_path.insert(0, _Finder)
