"""What is said of values, texts and files that others wrote, in tables."""

from __future__ import annotations

import errno
import io
import math
import os
import re
import shutil
import sys
import unicodedata
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.lib.npyio import NpzFile

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
from boardenvs.utils.console import counting, make_console, python_command
from boardenvs.utils.decoding import decode, parse_json, parse_yaml
from boardenvs.utils.ending import message_of, why_interrupted
from boardenvs.utils.files import append_lines, naming, read_bytes, safe_name
from boardenvs.utils.imports import describe, extra, import_object
from boardenvs.utils.npz import notes_in, read_array, read_json
from boardenvs.utils.spec import parse_parameters, write_spec
from boardenvs.utils.threads import limit_jax
from boardenvs.utils.version import version

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


def test_errors_have_messages_in_a_line() -> None:
    """Of any length; a file's with its name, and an error's without a message with its kind."""
    missing = FileNotFoundError(errno.ENOENT, "No such file", "a.txt")
    assert message_of(missing) == "a.txt: No such file"
    assert message_of(OSError(errno.ENOENT, "No such file")) == "[Errno 2] No such file"
    assert message_of(MemoryError("1 GiB")) == "there is too little memory for this. 1 GiB"
    assert message_of(MemoryError()) == "there is too little memory for this."
    assert [message_of(ValueError("x")), message_of(ValueError())] == ["x", "ValueError"]
    assert why_interrupted(KeyboardInterrupt("SIGTERM")) == "interrupted"
    assert len(why_interrupted(type("Stop", (KeyboardInterrupt,), {})("x" * 9999))) < 3000
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        raise ValueError("one\ntwo" + "x" * 9999)
    said = describe(caught.value)
    assert re.fullmatch(rf"ValueError: one twox+\.\.\.x+ \({Path(__file__).name}, line \d+\)", said)
    assert len(said) < 400


# ---- JSON and YAML -------------------------------------------------------------------------------


# Each name stands for eight times the one before.
ALIASES = "a: &a [1, 2, 3, 4, 5, 6, 7, 8]\n" + "".join(
    f"{y}: &{y} [{', '.join([f'*{x}'] * 8)}]\n" for x, y in pairwise("abcdefg")
)


@pytest.mark.parametrize(
    ("parse", "text", "said"),
    [
        (parse_json, "1e999", "this is not JSON"),
        (parse_json, f'{{"x": {"9" * 5000}}}', "this is not JSON"),
        (parse_json, "[NaN]", "this is not JSON"),
        (parse_json, '"\\ud800"', "this is not JSON"),
        (parse_json, "[" * 300 + "]" * 300, "this is not JSON"),
        (parse_yaml, "#" * ((1 << 18) + 1), "there are more than 262,144 characters"),
        (parse_yaml, "a: 1\n" * 10_001, "there are more than 10,000 keys"),
        (parse_yaml, f"a: {10**30}", "1" + "0" * 30 + " is too large for a whole number"),
        (parse_yaml, ALIASES, "its aliases stand for too many values"),
        (parse_yaml, "[" * 1000, "lists and groups are nested too deeply"),
        (parse_yaml, "a: 2020-01-01", "this is not plain YAML: .*date"),
        (parse_yaml, "a: [", "this is not plain YAML: "),
        (parse_yaml, '"\\ud800"', "this is not plain YAML: "),
    ],
    ids=range(13),
)  # fmt: skip
def test_texts_that_are_too_large_or_no_plain_values(
    parse: Callable[[str], object], text: str, said: str
) -> None:
    with pytest.raises(ValueError, match=said) as caught:
        parse(text)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_plain_values_are_read() -> None:
    assert parse_json('{"a": [1, -2.5, true, null, "é"]}') == {"a": [1, -2.5, True, None, "é"]}
    assert parse_json("9" * 400) == int("9" * 400)
    assert parse_yaml("a: [1, -2.5, true, null, é]") == {"a": [1, -2.5, True, None, "é"]}
    assert parse_yaml("'12345678901234567890'") == "12345678901234567890"
    assert decode(dict[str, int], {"a": 1}, "a value") == {"a": 1}
    with pytest.raises(ValueError, match=r"^a\.b is 'x': it must be a valid integer"):
        decode(dict[str, dict[str, int]], {"a": {"b": "x"}}, "a value")
    with pytest.raises(ValueError, match=r"^a value is 3: it must be"):
        decode(dict[str, int], 3, "a value")


# ---- texts with parameters, and code -------------------------------------------------------------


def factory(
    depth: int,
    share: float = 0.5,
    quick: bool = False,
    name: str = "",
    limit: int | None = None,
    other: list[int] = [],  # noqa: B006
    unknown: "Nothing" = None,  # type: ignore[name-defined]  # noqa: F821, UP037
) -> None: ...


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("4", {"depth": 4}),
        ("depth=4,share=1,quick=true", {"depth": 4, "share": 1.0, "quick": True}),
        ("4,name=none,limit=none", {"depth": 4, "name": "none", "limit": None}),
        ('4,name=a "b,c=d" e,limit=-3', {"depth": 4, "name": 'a "b,c=d" e', "limit": -3}),
        ("4,quick=false,name=x=y", {"depth": 4, "quick": False, "name": "x=y"}),
        ("", "ends in \":\" without a parameter: write 'it' for defaults"),
        (None, "'it:None' lacks depth: write it:DEPTH"),
        ("share=1", "'it:share=1' lacks depth: write it:DEPTH"),
        ("4,depth=5", "depth is given twice in 'it:4,depth=5'"),
        ("4,5", "'5' in 'it:4,5' is not a parameter: write it as key=value"),
        ("4,name=", "'name=' in 'it:4,name=' is not a parameter"),
        ("4,shore=1", "unknown parameter of it 'shore'. Did you mean 'share'"),
        ("4,hidden=1", "unknown parameter of it 'hidden'"),
        ("4,quick=1", "quick is '1': it must be true or false"),
        ("4,limit=x", "limit is 'x': it must be a whole number or none"),
        ("depth=none", "depth is 'none': it must be a whole number"),
        ("4,share=x", "share is 'x': it must be a number"),
        ("4,other=1", "other cannot be given in a text: it must be annotated as bool, int"),
        ("4,unknown=1", "unknown cannot be given in a text"),
    ],
)
def test_parameters_of_texts(text: str | None, values: Any) -> None:
    if isinstance(values, dict):
        found = parse_parameters(f"it:{text}", "it", text, factory)
        assert found == values
        assert [*map(type, found.values())] == [*map(type, values.values())]
        written = write_spec("it", found)
        assert parse_parameters(written, "it", written.partition(":")[2], factory) == values
    else:
        with pytest.raises(ValueError) as caught:  # noqa: PT011
            parse_parameters(f"it:{text}", "it", text, factory)
        assert values in str(caught.value)


def test_code_is_found_by_its_name() -> None:
    assert import_object("os.path:join") is os.path.join
    assert import_object("numpy:random.Generator") is np.random.Generator
    for target, said in (
        ("os", "'os' names nothing in Python: write MODULE:NAME"),
        ("os:a b", "'os:a b' names nothing in Python"),
        ("no_such_module:x", "cannot import 'no_such_module': No module named"),
        ("os:getcwdd", "unknown name in os 'getcwdd'. Did you mean 'getcwd'"),
    ):
        with pytest.raises(ValueError, match=said):
            import_object(target)
    for missing, said in (("rich", r'rich is not installed: pip install "boardenvs\[x\]"'),):
        with pytest.raises(ModuleNotFoundError, match=said), extra("x"):
            raise ModuleNotFoundError("gone", name=missing)
    with pytest.raises(ModuleNotFoundError, match=r"^gone$"), extra("x"):
        raise ModuleNotFoundError("gone", name="boardenvs.nothing")
    assert version("no_such_package") is None
    assert version("numpy") == np.__version__


def test_jax_gets_one_thread_beside_the_flags_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_FLAGS", "--mine=1")
    monkeypatch.setenv("NPROC", "8")
    limit_jax()
    flags = os.environ["XLA_FLAGS"].split()
    assert (flags, os.environ["NPROC"]) == (
        ["--mine=1", "--xla_cpu_multi_thread_eigen=false"], "1"
    )  # fmt: skip


# ---- files ---------------------------------------------------------------------------------------


def _archive(**arrays: Any) -> NpzFile:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    buffer.seek(0)
    return np.load(buffer, allow_pickle=False)


def test_arrays_of_archives_are_read_as_they_were() -> None:
    by_rows = np.arange(6, dtype=np.int16).reshape(2, 3)
    archive = _archive(a=by_rows, b=np.asfortranarray(by_rows), text=np.array('{"x": [1]}'))
    for name in "ab":
        np.testing.assert_array_equal(read_array(archive, name, (2, 3), ("int16",)), by_rows)
    assert read_json(archive, "text") == {"x": [1]}
    for shape, kind in (((3, 2), "int16"), ((2, 3), "uint16"), ((6,), "int16")):
        with pytest.raises(ValueError, match=r"a is int16 of shape \(2, 3\): it must be"):
            read_array(archive, "a", shape, (kind,))
    huge = _archive(a=np.zeros(1000, np.int64))
    with pytest.raises(ValueError, match=r"a is int64 of shape \(1000,\): it must be 48 bytes"):
        read_array(huge, "a", (2, 3), ("int64",))
    with pytest.raises(ValueError, match=r"its a are int16 of shape .*: no text"):
        read_json(archive, "a")
    with pytest.raises(ValueError, match="notes is 3: it must be a JSON object"):
        notes_in({"notes": 3})


def test_lines_that_cannot_be_written_change_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "lines"
    append_lines(path, [b"one"])

    def full(number: int) -> None:
        raise OSError(errno.ENOSPC, "No space left")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=f"No space left: '{path}'"):
        append_lines(path, [b"two"])
    assert path.read_bytes() == b"one\n"
    with pytest.raises(OSError, match="it has more than 3 bytes"):
        read_bytes(path, 3)
    assert read_bytes(path, 4) == b"one\n"
    with pytest.raises(OSError, match="elsewhere"), naming(path):
        raise OSError(errno.EACCES, "denied", str(tmp_path / "elsewhere"))
    assert safe_name("../a b:c=é.txt") == ".._a_b_c_é.txt"


# ---- the terminal --------------------------------------------------------------------------------


def test_what_others_wrote_is_printed_without_control_characters(
    capsys: pytest.CaptureFixture[str],
) -> None:
    make_console().print("\x1b[2J[bold]" + "x" * 110)
    assert capsys.readouterr().out == "\N{REPLACEMENT CHARACTER}[2J[bold]" + "x" * 110 + "\n"


def test_progress_in_a_file_is_a_line_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    for every, lines in ((0.0, ["1 of 10: games", "2 of unknown: more"]), (1e6, [])):
        with counting("games", every) as show:
            show(1, 10)
            show(2, None, "more")
        assert capsys.readouterr().err.splitlines() == lines


def test_commands_to_copy_begin_with_the_python_that_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    for found, begins in ((sys.executable, "python"), ("/other/python", sys.executable)):
        monkeypatch.setattr(shutil, "which", lambda name, found=found: found)
        assert python_command("boardenvs", "a b") == f"{begins} -m boardenvs 'a b'"
