"""What messages and checks of values say, in tables."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from boardenvs.utils.checks import (
    check_name,
    check_seed,
    check_whole,
    is_number,
    printable,
    quote,
    unknown,
)
from boardenvs.utils.child import describe_end, is_secret

_MARKS = ("ARABIC LETTER MARK", "LEFT-TO-RIGHT MARK", "RIGHT-TO-LEFT MARK")


def _acts(character: str) -> bool:
    """Whether Unicode says that it controls, ends lines, reorders text or is half a character."""
    return (
        unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")
        or unicodedata.bidirectional(character)[:2] + "I" in ("LRI", "RLI", "PDI", "FSI")
        or unicodedata.name(character, "") in _MARKS
    )


def test_a_terminal_gets_no_character_that_acts_on_it() -> None:
    """Except tabs and the ends of lines."""
    everything = "".join(map(chr, range(0xE000)))
    replaced = {a for a, b in zip(everything, printable(everything), strict=True) if a != b}
    assert replaced == {*filter(_acts, everything)} - {"\t", "\n"}
    assert printable("\x1b[31m") == "\N{REPLACEMENT CHARACTER}[31m"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("a", "'a'"),
        ([*range(99)], "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ...]"),
        ({"x": [[[[[1]]]]]}, "{'x': [[[[...]]]]}"),
        ("x" * 500, "'" + "x" * 49 + "..." + "x" * 24 + "'"),
    ],
)
def test_values_are_quoted_in_short(value: object, shown: str) -> None:
    assert quote(value) == shown
    assert quote(10**5000) == "a int too long to be written"


@pytest.mark.parametrize(
    ("name", "names", "said"),
    [
        ("othelo", ("reversi", "othello"), "Did you mean 'othello'? Known: 'othello', 'reversi'."),
        ("LOA", ("lines_of_action", "loa2"), "Did you mean 'lines_of_action'? Known: 'lines_of"),
        ("--pear", ("--seed", "--pairs"), "Did you mean '--pairs'?"),
        ("wolf", ("woof", "wolf_and_sheep"), "Did you mean 'wolf_and_sheep'?"),  # begins with it
        ("--", ("--seed", "--pairs"), "'--'. Known: '--pairs', '--seed'."),
        ("xyzzy", (), "unknown thing 'xyzzy'. Known: none."),
    ],
)
def test_the_nearest_name_is_said(name: str, names: tuple[str, ...], said: str) -> None:
    assert said in unknown("thing", name, names)


WRONG: list[tuple[Callable[[], object], type[Exception], str]] = [
    (partial(check_whole, "n", 3, 4), ValueError, "n is 3: it must be 4 or more, and whole"),
    (partial(check_whole, "n", 9, 4, 8), ValueError, "n is 9: it must be 4 to 8, and whole"),
    (partial(check_whole, "n", 5, 4, 8, True), ValueError, "n is 5: it must be 4 to 8, and even"),
    (partial(check_whole, "n", True, 0), ValueError, "n is True: it must be 0 or more"),
    (partial(check_whole, "n", 4.0, 0), ValueError, "n is 4.0: it must be 0 or more"),
    (partial(check_name, "thing", 1, ["1"]), ValueError, "unknown thing 1"),
    (partial(check_seed, True), TypeError, "seed is True: it must be a whole number"),
    (partial(check_seed, 1.0), TypeError, "seed is 1.0: it must be a whole number"),
    (partial(check_seed, -1), ValueError, "seed is -1: it must be 0 or more"),
]


@pytest.mark.parametrize(("check", "error", "said"), WRONG, ids=[said for *_, said in WRONG])
def test_wrong_values_are_refused(
    check: Callable[[], object], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        check()


def test_right_values_pass() -> None:
    check_whole("n", 4, 4, 4, even=True)
    check_name("thing", "b", iter("ab"))
    for seed in (None, 0, 10**30, np.int64(3)):
        check_seed(seed)
    wrong: Any = "1"
    values = (0, 1, 0.5, -0.1, 1.1, True, math.nan, wrong)
    assert [is_number(value, 0, 1) for value in values] == [True] * 3 + [False] * 5
    assert is_number(math.inf, 0)


def test_keys_and_passwords_are_known_by_their_names() -> None:
    secret = ("OPENAI_API_KEY", "my_key", "GITHUB_TOKEN", "CLIENT_SECRET_2", "PGPASSWORD")
    assert all(map(is_secret, secret))
    assert not any(map(is_secret, ("PATH", "HOME", "LANG", "BOARDENVS_CACHE", "")))


def test_ends_of_processes_are_described() -> None:
    assert [*map(describe_end, (None, 0, 3, -9, -40))] == [
        "without an exit code",
        "with exit code 0",
        "with exit code 3",
        "by signal 9 (SIGKILL)",
        "by signal 40 (a real-time signal)",
    ]
