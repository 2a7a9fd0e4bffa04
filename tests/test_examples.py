"""Every example runs in a namespace and a folder of its own, as one who copies it would run it."""

import re
import runpy
from pathlib import Path

import pytest
from examples import examples, run_example, runs_jax, trains

import boardenvs

# README's blocks run in tests/test_readme.py; test_games_page.py follows the page on games.
ELSEWHERE = ("README.md", "boardenvs/games/README.md")
PYTHON = [e for e in examples("python") if not e.place.startswith(ELSEWHERE)]
QUICK = [example for example in PYTHON if not runs_jax(example) and not trains(example)]


def run_here(text, folder, monkeypatch):
    """In this process, in which most of what it needs is loaded."""
    monkeypatch.chdir(folder)
    Path("example.py").write_text(text, encoding="utf-8")
    runpy.run_path("example.py", run_name="__main__")


@pytest.mark.parametrize("example", QUICK, ids=[example.place for example in QUICK])
def test_examples_run_alone(example, tmp_path, monkeypatch):
    """With few games a match and steps of learning. The others in `test_examples_long.py`, those of
    README in `test_readme.py`, as processes.
    """
    if "register_game" in example.text:  # which would stay
        run_example(example, tmp_path)
        return
    text = re.sub(r"\b(games|pairs)=\d+", r"\1=2", example.text)
    run_here(re.sub(r"range\(\d+_000\)", "range(50)", text), tmp_path, monkeypatch)


@pytest.mark.parametrize("name", boardenvs.__all__)
def test_public_names_have_a_docstring_with_an_example(name):
    thing = getattr(boardenvs, name)
    text = thing.__doc__ or ""
    assert re.search(r"^ *```python$", text, re.MULTILINE), name


def test_the_package_says_that_it_is_typed():
    assert (Path(boardenvs.__file__).parent / "py.typed").exists()
