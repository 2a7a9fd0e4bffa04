"""What tests in JAX share: one thread, rules in JAX beside those in NumPy, compiled batches."""

import os
from types import SimpleNamespace

import numpy as np
import pytest

# XLA reads it once, and examples that are started as processes again. A thread for each core would
# wait for the other tests' threads; what runs for moments need not be compiled well.
os.environ.setdefault(
    "XLA_FLAGS",
    "--xla_cpu_multi_thread_eigen=false --xla_backend_optimization_level=0 "
    "--xla_llvm_disable_expensive_passes=true",
)
os.environ.setdefault("NPROC", "1")
jax = pytest.importorskip("jax", reason="the extra jax is not installed")

from test_kernel import everything, on_ints, random_words  # noqa: E402
from test_operations import all_rows, expected  # noqa: E402

from boardenvs import games  # noqa: E402
from boardenvs.game.game import Game  # noqa: E402 - after what it needs
from boardenvs.game.jax_rules import JaxPosition, JaxRules  # noqa: E402
from boardenvs.game.state import State, put, take  # noqa: E402
from boardenvs.kernel import ALL, trace  # noqa: E402
from boardenvs.kernel.jax_writer import compile_jax  # noqa: E402

# For `jax.jit`: compiled as for users, whatever the flags above say.
OPTIMISED = {"xla_backend_optimization_level": 3, "xla_llvm_disable_expensive_passes": False}


def positions_of(game: Game, boards: JaxPosition) -> State:
    """The boards as positions in NumPy, the reverse of `JaxRules.boards`."""

    def numbers(word):
        low, high = (np.asarray(half).astype(np.uint64) for half in word)
        return low | high << np.uint64(32)

    return State(
        tuple(map(numbers, boards.words)),
        np.stack([numbers(word) for word in boards.legal_bits], axis=1),
        np.asarray(boards.to_move).astype(np.int8),
        np.array(boards.ply),
        np.array(boards.terminated),
        None if boards.history is None else numbers(boards.history),
    )


def compare(game: Game, plies: int, boards: int, x64: bool, optimised: bool) -> int:
    """Random play in JAX and in NumPy, ply by ply; how many games ended.

    Choice, board, legal actions, observation, result and end must be the same.
    """
    with jax.enable_x64(x64):
        rules = JaxRules(game)

        def step(board, bits):
            action = rules.sample_by(board, bits)
            after = rules.step_words(board, action)
            return (action, after, rules.is_legal(board, action), rules.legal(after),
                    rules.observe(after), rules.outcome(after, after.to_move),
                    rules.is_truncated(after), rules.is_over(after))  # fmt: skip

        step = jax.jit(jax.vmap(step), compiler_options=OPTIMISED if optimised else None)
        rng, state, ended = np.random.default_rng(0), game.init(boards), 0
        for _ in range(plies):
            bits = rng.integers(1 << 64, size=boards, dtype=np.uint64)
            actions = np.empty(boards, np.int64)
            game.kernels.sample.batch([state.legal_bits, bits], [actions])
            chosen, after, *found = step(rules.boards(state), rules.stored(bits))
            np.testing.assert_array_equal(chosen, actions)
            state = game.step(state, actions)
            assert_same_state(positions_of(game, after), state)
            expected = (
                np.ones(boards, np.bool_), game.legal(state), game.observe(state),
                np.sign(game.score_margin(state)), game.is_truncated(state), game.is_over(state),
            )  # fmt: skip
            jax.tree.map(np.testing.assert_array_equal, tuple(found), expected)
            over = np.flatnonzero(game.is_over(state))
            put(state, over, take(game.init(1), np.zeros(len(over), int)))
            ended += len(over)
    return ended


def assert_same_state(first: State, second: State) -> None:
    for a, b in zip(first.arrays, second.arrays, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


def check_operations(x64: bool) -> None:
    """Each row of the table of operations in all its uses, on numbers of all sizes."""
    rng = np.random.default_rng(0)
    words = random_words(600, 1).reshape(3, 200)
    words[rng.random(words.shape) < 0.2] &= np.uint64(127)
    words[rng.random(words.shape) < 0.1] |= np.uint64(ALL - 127)
    found = compiled(all_rows, x64, *words)
    assert found.tolist() == [expected(*row) for row in words.T.tolist()]


def check_functions(x64: bool) -> None:
    """Tables, rare parts, fills and the rest, as one function."""
    words, others = random_words(200, 3), random_words(200, 4)
    found = compiled(everything, x64, words, others)
    np.testing.assert_array_equal(found, on_ints(words, others))


def compiled(function, x64, *words):
    """The outputs of a function on words, (rows, outputs) uint64."""
    with jax.enable_x64(x64):
        run = compile_jax(trace(function, len(words), "batch"), function.__name__)
        rules = JaxRules(games.make("reversi"))  # only for how words are stored
        outputs = jax.jit(jax.vmap(run))(*map(rules.stored, words))
    halves = [np.array(x).astype(np.uint64) for x in jax.tree.leaves(outputs)]
    return np.stack(halves[::2], axis=1) | np.stack(halves[1::2], axis=1) << np.uint64(32)


def keys(seed, count=64):
    return jax.random.split(jax.random.key(seed), count)


def compiled_batch(env):
    functions = (env.init, env.step, env.sample)
    return SimpleNamespace(**{f.__name__: jax.jit(jax.vmap(f)) for f in functions})
