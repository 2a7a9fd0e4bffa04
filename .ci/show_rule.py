"""Show what a rule of a game is compiled to.

`python .ci/show_rule.py lines_of_action step_words numpy`

The last argument is "trace" (the recorded operations), "python" or "jax" (the code for one board),
or "numpy" or "numba" (the code for a batch).
"""

import sys

from boardenvs import games
from boardenvs.kernel import Kernel
from boardenvs.kernel.jax_writer import write_jax
from boardenvs.kernel.numba_writer import write_batch
from boardenvs.kernel.numpy_writer import NumpyProgram
from boardenvs.kernel.python_writer import write_python


def write_listing(kernel: Kernel, form: str) -> str:
    """The traced operations, or the source that is run."""
    program = kernel.program("scalar" if form == "python" else "batch")
    match form:
        case "python":
            return write_python(program, kernel.name)[0]
        case "numpy":
            return NumpyProgram(program, kernel.name).source
        case "numba":
            return write_batch(program, kernel.name)
        case "jax":
            return write_jax(program, kernel.name)
    return f"{program}\n"


if __name__ == "__main__":
    game, rule, form = sys.argv[1:]
    print(write_listing(getattr(games.make(game).kernels, rule), form), end="")
