"""Random play and PPO in JAX, ours and Pgx's: `python -m boardenvs.bench --jax`.

All of a slice runs on the device: the processor, or whatever accelerator JAX finds.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from rich.console import Console
from rich.table import Table

from boardenvs.bench.measure import Measurement, measure
from boardenvs.bench.workloads import Workload
from boardenvs.cli.console import make_progress
from boardenvs.game.contract import Game
from boardenvs.games import spec_of
from boardenvs.utils.files import write_atomically
from boardenvs.utils.version import processor, version

PLIES = 16  # on every board, in one compiled scan

# (state, key) -> actions, of a batch
Sampler: TypeAlias = Callable[[Any, Any], Any]
_PACKAGES = ("boardenvs", "numpy", "jax", "jaxlib", "optax", "pgx")
_OURS, _PGX = "boardenvs", "Pgx"


def run(games: list[Game], arguments: argparse.Namespace, console: Console, pinned: bool) -> None:
    """Measure, print a table and write jax.json."""
    if pinned:  # one thread, for figures of processor time
        flags = os.environ.get("XLA_FLAGS", "")
        os.environ["XLA_FLAGS"] = f"{flags} --xla_cpu_multi_thread_eigen=false".strip()
        os.environ["NPROC"] = "1"
    import jax

    device = jax.devices()[0]
    chosen = list(workloads(games, arguments.sizes, peers=not arguments.no_peers))
    with make_progress(console) as progress:
        results, errors = measure(chosen, arguments.rounds, arguments.seconds, progress)
    on_cpu = device.platform == "cpu"
    console.print(_table(results, on_cpu, str(device.device_kind)))
    for name, error in errors.items():
        console.print(f"not run: {name}: {error}", style="yellow")
    arguments.out.mkdir(parents=True, exist_ok=True)
    setting = {"rounds": arguments.rounds, "seconds": arguments.seconds, "one_core": pinned}
    _write(arguments.out / "jax.json", results, on_cpu, setting | {"device": str(device)})
    console.print(f"the figures are in {arguments.out}/jax.json")


def workloads(games: list[Game], sizes: list[int], *, peers: bool) -> Iterator[Workload]:
    """Random play of these games and PPO, and the same of Pgx's Othello where it is installed."""
    pgx = bool(find_spec("pgx"))
    for size in sizes:
        for game in games:
            name = spec_of(game)
            yield Workload(_OURS, name, "play", size, None, _play(game, size))
            if pgx:
                for sampler in ("own", "mask", "Pgx's"):
                    start = pgx_play(_adapter(game), sampler, size)
                    yield Workload(_OURS, name, f"pgx.Env, {sampler} sampler", size, None, start)
            if find_spec("optax"):
                yield Workload(_OURS, name, "PPO", size, None, _ppo(_ours(game), size), "steps")
        if pgx and peers:
            for sampler in ("mask", "Pgx's"):
                start = pgx_play(_original, sampler, size)
                yield Workload(_PGX, "othello", f"pgx.Env, {sampler} sampler", size, None, start)
            if find_spec("optax"):
                start = _ppo(_reset(_original), size)
                yield Workload(_PGX, "othello", "PPO", size, None, start, "steps")


# ---- environments --------------------------------------------------------------------------------


def _original() -> Any:
    import pgx

    return pgx.make("othello")


def _adapter(game: Game) -> Callable[[], Any]:
    def make() -> Any:
        from boardenvs.envs.jax.pgx import PgxEnv

        return PgxEnv(game)

    return make


def _ours(game: Game) -> Callable[[], tuple[Any, Any]]:
    def make() -> tuple[Any, Any]:
        from boardenvs.envs.jax import JaxEnv

        env = JaxEnv(game)
        return env.init, env.step

    return make


def _reset(make: Callable[[], Any]) -> Callable[[], tuple[Any, Any]]:
    """`init` and `step` of a pgx.Env, whose games begin anew as Pgx has it."""

    def made() -> tuple[Any, Any]:
        from pgx.experimental import auto_reset

        env = make()
        return env.init, auto_reset(env.step, env.init)

    return made


# ---- random play ---------------------------------------------------------------------------------


def _play(game: Game, boards: int) -> Callable[[], Callable[[], int]]:
    def start() -> Callable[[], int]:
        from boardenvs.envs.jax import JaxEnv

        env = JaxEnv(game)
        return _slices(env.init, env.step, _by_words(env, boards), boards)

    return start


def pgx_play(make: Callable[[], Any], sampler: str, boards: int) -> Callable[[], Callable[[], int]]:
    """A compiled scan over vmapped steps with automatic resets, as Pgx's guide has it.

    The sampler is "Pgx's" `act_randomly`, which draws a random number for every action, the
    environment's "own", or by "mask": one number for the k-th legal action.
    """

    def start() -> Callable[[], int]:
        from pgx.experimental import act_randomly, auto_reset

        env = make()
        samplers: dict[str, Callable[[], Sampler]] = {
            "own": lambda: _by_words(env, boards),
            "mask": lambda: _by_mask,
            "Pgx's": lambda: lambda state, key: act_randomly(key, state.legal_action_mask),
        }
        return _slices(env.init, auto_reset(env.step, env.init), samplers[sampler](), boards)

    return start


def _by_words(env: Any, boards: int) -> Sampler:
    import jax

    return lambda state, key: jax.vmap(env.sample)(state, jax.random.split(key, boards))


def _by_mask(state: Any, key: Any) -> Any:
    import jax
    import jax.numpy as jnp

    reached = jnp.cumsum(state.legal_action_mask.astype(jnp.float32), axis=1)
    count = reached[:, -1]
    wanted = jnp.floor(jax.random.uniform(key, count.shape) * count)
    return (reached <= wanted[:, None]).sum(axis=1).astype(jnp.int32)


def _slices(init: Any, step: Any, sampler: Sampler, boards: int) -> Callable[[], int]:
    """A function that plays `PLIES` plies on every board."""
    import jax

    def one(state: Any, key: Any) -> tuple[Any, None]:
        choice, chance = jax.random.split(key)
        keys = jax.random.split(chance, boards)
        return jax.vmap(step)(state, sampler(state, choice), keys), None

    def scan(state: Any, key: Any) -> Any:
        return jax.lax.scan(one, state, jax.random.split(key, PLIES))[0]

    many = jax.jit(scan)
    state = jax.jit(jax.vmap(init))(jax.random.split(jax.random.key(0), boards))
    key = jax.random.key(1)

    def play() -> int:
        nonlocal state, key
        key, chance = jax.random.split(key)
        state = many(state, chance)
        _wait(state)
        return boards * PLIES

    return play


def _wait(tree: Any) -> None:
    """Until the arrays of a tree are computed, which a call only begins."""
    import jax

    for array in jax.tree.leaves(tree):
        array.block_until_ready()


# ---- PPO -----------------------------------------------------------------------------------------


def _ppo(make: Callable[[], tuple[Any, Any]], boards: int) -> Callable[[], Callable[[], int]]:
    """Updates of a small PPO in self-play: the learner's steps, not its strength, are measured."""

    def start() -> Callable[[], int]:

        from boardenvs.bench.jax_ppo import STEPS, new_learner

        learner, update = new_learner(*make(), boards)

        def play() -> int:
            nonlocal learner
            learner = update(learner)
            _wait(learner)
            return boards * STEPS

        return play

    return start


# ---- what comes out ------------------------------------------------------------------------------


def _figures(result: Measurement, on_cpu: bool) -> list[float]:
    """Of processor time where that is what works, else of the clock."""
    return result.cpu if on_cpu else result.wall


def _times_pgx(result: Measurement, results: list[Measurement], on_cpu: bool) -> float | None:
    """How many times Pgx's best of the same kind, whatever its sampler, at this number of boards.

    Only Othello is compared: it is the only game that both have.
    """
    kind, w = result.workload.unit, result.workload
    best = [
        float(np.median(_figures(r, on_cpu)))
        for r in results
        if (r.workload.library, r.workload.unit, r.workload.boards) == (_PGX, kind, w.boards)
    ]
    if not best or w.game != "othello":
        return None
    return float(np.median(_figures(result, on_cpu))) / max(best)


def _table(results: list[Measurement], on_cpu: bool, device: str) -> Table:
    second = "CPU second" if on_cpu else "second"
    table = Table(title=f"JAX on {device}, plies or steps of PPO a {second} (medians)")
    for name in ("boards", "library", "game", "what"):
        table.add_column(name, justify="right" if name == "boards" else "left")
    for name in (f"a {second}", "spread", "compiled in", "times Pgx"):
        table.add_column(name, justify="right")
    for result in results:
        w, figures = result.workload, _figures(result, on_cpu)
        times = _times_pgx(result, results, on_cpu)
        low, middle, high = np.percentile(figures, [25, 50, 75])
        table.add_row(
            f"{w.boards:,}",
            w.library,
            w.game,
            w.interface,
            f"{middle:,.0f}",
            f"{(high - low) / middle:.0%}",
            f"{result.setup:.1f} s",
            f"{times:.1f}" if times else "",
        )
    table.caption = "times Pgx: its best figure of the kind, at so many boards"
    return table


def _write(path: Path, results: list[Measurement], on_cpu: bool, setting: dict[str, Any]) -> None:
    rows = [
        {
            "library": r.workload.library,
            "game": r.workload.game,
            "what": r.workload.interface,
            "boards": r.workload.boards,
            "unit": r.workload.unit,
            "per_cpu_second": r.cpu,
            "per_wall_second": r.wall,
            "seconds_to_compile": r.setup,
            "times_pgx": _times_pgx(r, results, on_cpu),
        }
        for r in results
    ]
    document = {
        "setting": setting,
        "machine": {"processor": processor(), "cores": os.cpu_count()},
        "versions": {name: version(name) for name in _PACKAGES},
        "results": rows,
    }
    write_atomically(path, json.dumps(document, indent=1).encode())
