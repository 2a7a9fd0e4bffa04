"""Examples that compile or train for long: those with JAX, RLlib and Stable-Baselines3.

`make jax`, `make rllib` and `make learning` run them by these names.
"""

import pytest
from examples import run_example, runs_jax, trains
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
