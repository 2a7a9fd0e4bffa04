"""Generated code in tracebacks."""

import linecache
import traceback

import numpy as np
import pytest

from boardenvs.kernel import trace
from boardenvs.kernel.generated import load_source, run_source
from boardenvs.kernel.numpy_writer import NumpyProgram
from boardenvs.kernel.python_writer import compile_python


def shown(error, run):
    """The traceback of the error that this raises."""
    with pytest.raises(error) as caught:
        run()
    return "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("shift", [3, 5])
def test_python_lines(shift):
    """Also where two programs have the same name."""
    run = compile_python(trace(lambda a: (a >> shift) & 1, 1, "scalar"), "failing")
    text = shown(TypeError, lambda: run("a word"))
    assert 'File "<boardenvs failing (python)' in text
    assert f"return (((a0 >> {shift}) & 1),)" in text


@pytest.mark.parametrize("operation", ["and", "or"])
def test_numpy_lines(operation):
    program = trace(lambda a, b: a & b if operation == "and" else a | b, 2, "batch")
    run = NumpyProgram(program, "failing")
    arrays = [np.zeros(3, np.uint64), np.zeros(4, np.uint64)]
    text = shown(ValueError, lambda: run(arrays, [np.zeros(3, np.uint64)]))
    assert 'File "<boardenvs failing (numpy)' in text
    assert f"{operation}_(i0, i1, b0)" in text


def test_lines_of_what_numba_compiles():
    module = load_source("def divide(a):\n    return a // 0  # here\n")
    assert "return a // 0  # here" in shown(ZeroDivisionError, lambda: module.divide(1))


def test_the_same_source_is_kept_once():
    for _ in range(3):
        run_source("x = 1\n", "once", {})
    run_source("x = 2\n", "once", {})
    linecache.checkcache()
    kept = [name for name in linecache.cache if name.startswith("<boardenvs once")]
    assert kept == ["<boardenvs once>", "<boardenvs once 2>"]
