"""Examples that compile or train for long: those with JAX, RLlib and Stable-Baselines3.

`make jax`, `make rllib` and `make learning` run them by these names.
"""

import re

import pytest
from examples import TUTORIALS, follow, run_example, runs_jax, trains
from test_examples import PYTHON

JAX = [e for e in PYTHON if runs_jax(e)]
RLLIB = [e for e in PYTHON if "rllib" in e.text]
LEARNING = [e for e in PYTHON if trains(e) and e not in JAX + RLLIB]


def each(found):
    assert found
    return pytest.mark.parametrize("example", found, ids=[example.place for example in found])


@each(JAX)
def test_jax(example, tmp_path):
    pytest.importorskip("jax")
    pytest.importorskip("pgx")
    if "import mctx" in example.text:
        pytest.importorskip("mctx", reason="mctx is not installed: pip install '.[test]'")
    run_example(example, tmp_path)


@each(RLLIB)
def test_rllib(example, tmp_path):
    pytest.importorskip("ray.rllib", reason="RLlib is not installed here: make rllib")
    run_example(example, tmp_path)


@each(LEARNING)
def test_learning(example, tmp_path):
    pytest.importorskip("sb3_contrib")
    run_example(example, tmp_path)


# Each tutorial prints scores, the last of which is that of what it has trained.
TRAINING = {
    "learning-sb3": ("sb3.md", r"'random': (\d\.\d+), 'greedy': \d\.\d+\}"),
    "learning-single-file": ("single_file.md", r"  (\d\.\d+) \[.*\) against random"),
    "rllib": ("rllib.md", r"score_random (\d\.\d+)"),
    "jax": ("jax.md", r"after (\d\.\d+) \["),
}
NEEDED = {"rllib": "ray.rllib", "jax": "jax"}


@pytest.mark.parametrize("name", TRAINING)
def test_tutorial(name, tmp_path):
    pytest.importorskip(NEEDED.get(name, "sb3_contrib"))
    page, score = TRAINING[name]
    assert float(re.findall(score, follow(TUTORIALS / page, tmp_path))[-1]) > 0.7


def test_the_tutorial_on_engines(tmp_path):
    assert "my_engine.py is rated" in follow(TUTORIALS / "engine.md", tmp_path)
