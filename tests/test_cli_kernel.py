"""`python -m boardenvs.kernel`: what it prints is what runs, and what it cannot show it names."""

import ast

import pytest
from typer.testing import CliRunner

from boardenvs import games
from boardenvs.kernel.__main__ import app

FORMS = ["trace", "python", "numpy", "numba", "jax"]
RULES = ["step_words", "sample", "planes"]


def kernel(*words, code=0):
    """What it prints, errors too, where it ends with this exit code."""
    result = CliRunner().invoke(app, words)
    assert result.exit_code == code, result.output
    return result.output


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("form", FORMS)
def test_every_rule_in_every_form(rule, form):
    if form == "numba":
        pytest.importorskip("numba", reason="the extra fast is not installed")
    text = kernel("wolf_and_sheep:rules=described", rule, "--as", form)
    assert text.startswith(f"# {rule} of wolf_and_sheep:rules=described: ")
    if form == "trace":
        assert text.splitlines()[-1].startswith("return ")
    else:
        functions = [n.name for n in ast.parse(text).body if isinstance(n, ast.FunctionDef)]
        assert functions[-1] == rule


def test_the_python_form_is_what_plays():
    """The printed function, run, makes the move."""
    game = games.make("othello")
    namespace = {"table_0": (*(1 << square for square in range(64)), 0)}
    exec(kernel("othello", "step_words", "--as", "python"), namespace)
    start, action = game.start(), 20
    own, opp, *legal, to_move, over = namespace["step_words"](start.own, start.opp, 0, 0, action)
    after = start.step(action)
    found = ((own, opp), tuple(legal), to_move, after.ply, bool(over), game)
    assert found == after


def test_the_head_counts():
    text = kernel("othello", "points")
    assert text.splitlines() == [
        *("# points of othello: 3 words in, 2 out, 2 operations", ""),
        *("t3 = popcount i0", "t4 = popcount i1", "return t3 t4"),
    ]
    assert "2 buffers" in kernel("othello", "points", "--as", "numpy").splitlines()[0]


def test_what_cannot_be_shown_is_named(monkeypatch):
    text = kernel("othello", "step_wrods", code=2)
    assert "unknown rule 'step_wrods'. Did you mean 'step_words'?" in text
    assert "Did you mean 'othello'?" in kernel("otello", "step_words", code=2)
    assert "python" in kernel("othello", "step_words", "--as", "c", code=2)
    monkeypatch.setattr("boardenvs.kernel.backend.find_spec", lambda name: None)
    text = kernel("othello", "step_words", "--as", "numba", code=2)
    assert 'error: numba is not installed: pip install "boardenvs[fast]"' in text
