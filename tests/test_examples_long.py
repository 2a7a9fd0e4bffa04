"""Examples that compile or train for long: those with JAX, RLlib and Stable-Baselines3.

`make jax`, `make rllib` and `make learning` run them by these names.
"""

import os
import re
import subprocess
import sys

import pytest
from examples import (
    ROOT,
    TUTORIALS,
    Example,
    examples,
    follow,
    run_example,
    runs_jax,
    trains,
)
from test_examples import PYTHON, run_here

JAX = [e for e in PYTHON if runs_jax(e)]
RLLIB = [e for e in PYTHON if "rllib" in e.text]
LEARNING = [e for e in PYTHON if trains(e) and e not in JAX + RLLIB]
NEEDED = {"rllib": "ray.rllib", "jax": "jax", "learning": "sb3_contrib"}


@pytest.mark.parametrize(
    ("kind", "example"),
    [(kind, e) for kind, found in zip(NEEDED, (RLLIB, JAX, LEARNING), strict=True) for e in found],
    ids=lambda value: getattr(value, "place", value),
)
def test_example(kind, example, tmp_path, monkeypatch):
    pytest.importorskip(NEEDED[kind], reason=f"make {kind} installs it")
    if kind == "learning":
        run_here(example.text, tmp_path, monkeypatch)
    else:
        run_example(example, tmp_path)


# Each tutorial prints scores; the last one is its trained policy's.
TRAINING = {
    "learning-sb3": ("sb3.md", r"'random': (\d\.\d+), 'greedy': \d\.\d+\}"),
    "learning-single-file": ("single_file.md", r"  (\d\.\d+) \[.*\) against random"),
    "jax": ("jax.md", r"after (\d\.\d+) \["),
}


@pytest.mark.parametrize("name", TRAINING)
def test_tutorial(name, tmp_path):
    pytest.importorskip(NEEDED[name.partition("-")[0]])
    page, score = TRAINING[name]
    assert float(re.findall(score, follow(TUTORIALS / page, tmp_path))[-1]) > 0.7


def test_learning_by_the_commands_of_how_do_i(tmp_path):
    """One after the other, in a folder with the trainers; fewer steps and games."""
    commands = [e.text for e in examples("sh") if e.place.startswith("boardenvs/HOWTO.md")]
    text = "\n".join(["```sh", *commands, "```"]).replace("0000", "000")
    text = re.sub(r"(--pairs|--games) \d+", r"\1 4", text)
    text = text.replace("demo.yaml", "demo.yaml --set evaluation.pairs=4 --set report.pairs=4")
    (tmp_path / "configs").symlink_to(ROOT / "configs")
    (tmp_path / "commands.md").write_text(text, encoding="utf-8")
    assert "games.html is written" in follow(tmp_path / "commands.md", tmp_path)


def test_the_notebook_of_learning(tmp_path):
    """It runs. README's training, which is the same, shows that it learns."""
    pytest.importorskip("sb3_contrib")
    text = (TUTORIALS / "notebook.ipynb").read_text(encoding="utf-8")
    run = tmp_path / "run.ipynb"
    run.write_text(text.replace("learn(50_000", "learn(5_000"), encoding="utf-8")
    program, path = ROOT / ".ci" / "notebook.py", {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, program, run], check=True, cwd=tmp_path, env=path)


def test_the_tutorial_on_engines(tmp_path):
    assert "my_engine.py is rated" in follow(TUTORIALS / "engine.md", tmp_path)


def test_searching_with_mctx_in_jax(tmp_path):
    pytest.importorskip("mctx")
    text = (ROOT / "training" / "examples" / "mctx_search.py").read_text(encoding="utf-8")
    run_example(Example("mctx_search.py", "python", text), tmp_path)  # it asserts its score
