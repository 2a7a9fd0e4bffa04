"""A run of any trainer: its boards, and evaluations and checkpoints between updates."""

from __future__ import annotations

import csv
import io
import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from stable_baselines3.common.logger import Logger, TensorBoardOutputFormat

from boardenvs.agents import make_agent
from boardenvs.agents.simple import RandomAgent
from boardenvs.arena.executor import seed_libraries
from boardenvs.envs.batch import BoardGroup, EndedGames
from boardenvs.envs.groups import Opponent
from boardenvs.game.game import Game
from boardenvs.game.openings import PlayedBy, distinct_openings, random_openings
from boardenvs.game.state import FloatArray, State, concat
from boardenvs.utils.console import counting
from boardenvs.utils.ending import ENDING, handling
from boardenvs.utils.files import write_atomically
from boardenvs.utils.imports import describe
from training.folder import RunError, begin, load_newest, save_checkpoint, to_arrays
from training.run_settings import POOL, POOL_SIZE, SELF_PLAY, RunSettings, SelfPlaySettings

if TYPE_CHECKING:
    from boardenvs.agents.policy import Policy
    from boardenvs.agents.pool import OpponentPool
    from training.evaluation import SuiteResult

# Seeds of openings, far from each other: the policy is chosen on the first, judged on the second.
SUITE_SEED, REPORT_SEED = 10_000, 20_000

LINES_EVERY = 60.0  # seconds between lines of progress in files and pipes

_STARTS = 1 << 16  # openings that players play before the training begins
_NOISE = 0.25  # the share of random plies in openings by players


class Run(ABC):
    """A training in progress, in its folder.

    A subclass defines an update, the policy learnt so far, and what a checkpoint must hold.
    """

    def __init__(self, config: RunSettings, folder: Path) -> None:
        self.config = config
        self.folder = folder
        self.game = config.game_to_train()
        self.steps = 0
        self.results: list[SuiteResult] = []
        self.logger = Logger(str(folder), [])
        self._began = _clocks()  # less what earlier parts of the run took
        self._saved = 0  # steps of the last checkpoint
        self._show: Callable[..., None]  # moves the progress bar

    # ---- what a trainer defines ------------------------------------------------------------------

    @abstractmethod
    def _update(self) -> dict[str, float]:
        """Play, learn and count the steps; return the metrics."""

    @abstractmethod
    def _policy(self) -> Policy:
        """Return a copy of the policy learnt so far."""

    @abstractmethod
    def _snapshot(self) -> dict[str, Any]:
        """Return everything else that the rest of the run depends on."""

    @abstractmethod
    def _restore(self, snapshot: dict[str, Any]) -> None:
        """Go on from a `_snapshot`, whose arrays are tensors now."""

    def is_finished(self) -> bool:
        """Return whether the steps of the run are used up."""
        return self.steps >= self.config.steps

    # ---- the run ---------------------------------------------------------------------------------

    def whole(self, resume: bool, console: Console) -> bool:
        """Train, judge the best policy and write the report; False if interrupted."""
        finished = self.train(resume, console)
        if finished:
            from training.report import write_report

            write_report(self, console)
        return finished

    def train(self, resume: bool, console: Console) -> bool:
        """Train to the end, from the newest checkpoint if resumed; False if interrupted."""
        begin(self.folder, self.config, resume)  # not before: nothing refuses these settings now
        if resume:
            self.resume(console)
        self.logger.output_formats = [TensorBoardOutputFormat(str(self.folder / "tensorboard"))]
        self._console, progress = console, counting(self.config.name, LINES_EVERY, console)
        with stop_requests() as stop_requested, progress as self._show:
            self._show(self.steps, self.config.steps)
            while not (self.is_finished() or stop_requested()):
                self._step()
            if self._saved < self.steps:
                self.save()
            return not stop_requested()

    def _step(self) -> None:
        """Update, and do what is due then."""
        config, before, began = self.config, self.steps, time.monotonic()
        if not before:
            self._add_to_pool()
        metrics = self._update()
        speed = (self.steps - before) / (time.monotonic() - began)
        metrics = {"speed/steps_per_second": speed, **metrics}
        self._show(self.steps, config.steps, f"{config.name}: {speed:,.0f} steps/s")
        is_last = self.is_finished()
        if is_last or not self.results or is_due(before, self.steps, config.evaluation.every):
            metrics |= self._evaluate({k: x for k, x in metrics.items() if "loss" in k})
        for name, value in metrics.items():
            self.logger.record(name, value)
        self.logger.dump(self.steps)
        if is_due(before, self.steps, config.self_play.pool.every):
            self._add_to_pool()
        if not is_last and is_due(self._saved, self.steps, config.checkpoint_every):
            self.save()

    def _learnt(self) -> Policy:
        """Return the policy that is learning; RunError if its weights are those of none."""
        try:
            return self._policy()
        except ValueError as error:
            why = "perhaps the learning rate is too high"
            raise RunError(f"what was learnt is of no use, {why}: {error}") from error

    def _evaluate(self, losses: dict[str, float]) -> dict[str, float]:
        from boardenvs.agents.policy_file import load_policy, save_policy
        from training.evaluation import SuiteResult, evaluate

        path = self._policy_file(self.steps)
        path.parent.mkdir(exist_ok=True)
        save_policy(self._learnt(), path)
        judged = evaluate(self.config, load_policy(path), SUITE_SEED + self.config.seed)
        judged |= dict(zip(("minutes", "cpu_minutes"), self.minutes, strict=True))
        result = SuiteResult(steps=self.steps, losses=losses, **judged)
        self.results.append(result)
        best = "   best so far" if self.best is result else ""
        line = f"{result.steps:>11,} steps {result.minutes:6.2f} min   {result}{best}"
        self._console.print(line, soft_wrap=True)
        text = io.StringIO()
        names = ["steps", "minutes", "cpu_minutes", *result.metrics]
        writer = csv.DictWriter(text, names, "nan", "ignore")
        writer.writeheader()
        for r in self.results:
            writer.writerow(dict(r) | r.metrics)
        write_atomically(self.folder / "evaluations.csv", text.getvalue().encode())
        if best:
            self._take_best()
        return result.metrics

    def _policy_file(self, steps: int) -> Path:
        """Return the file of the policy that was evaluated after these steps."""
        return self.folder / "policies" / f"{steps:012d}.npz"

    def _take_best(self) -> None:
        best = self._policy_file(self.best.steps)
        write_atomically(self.folder / "policy.npz", best.read_bytes())

    @property
    def best(self) -> SuiteResult:
        """The evaluation whose policy is kept, see `best_of`."""
        from training.evaluation import best_of

        return best_of(self.results)

    @cached_property
    def pool(self) -> OpponentPool:
        """The earlier policies that are opponents."""
        from boardenvs.agents.pool import OpponentPool

        return OpponentPool(self.folder / "pool", POOL_SIZE, self.config.seed)

    @property
    def _has_pool(self) -> bool:
        return bool(self.config.self_play.pool.share)

    def _add_to_pool(self) -> None:
        if self._has_pool:
            self.pool.add(self._learnt(), self.steps)

    def notes(self) -> dict[str, Any]:
        """Return what a policy's file says about its origin."""
        return {"run": self.config.name, "seed": self.config.seed, "steps": self.steps}

    # ---- checkpoints and time --------------------------------------------------------------------

    def save(self) -> None:
        """Write a checkpoint."""
        content = {
            "steps": self.steps,
            "seconds": _clocks() - self._began,
            "results": [r.model_dump() for r in self.results],
            "pool": self.pool.snapshot() if self._has_pool else None,
            **self._snapshot(),
        }
        save_checkpoint(self.folder / "checkpoints", self.steps, content)
        self._saved = self.steps

    def resume(self, console: Console) -> None:
        """Go on from the newest checkpoint.

        RunError if there are only damaged ones, or it is of another run.
        """
        folder = self.folder / "checkpoints"
        saved, warnings = load_newest(folder)
        if saved is None:
            warnings.append(f"{self.folder} has no checkpoint yet: the run begins again")
        else:
            try:
                warnings += self._go_on(saved)
            except OSError:  # of this machine, such as a full disk
                raise
            except Exception as error:  # others may have made it
                raise RunError(
                    f"{folder} has no checkpoint of this run: {describe(error)}"
                ) from error
        for warning in warnings:
            console.print(f"warning: {warning}", markup=False, soft_wrap=True)

    def _go_on(self, saved: dict[str, Any]) -> list[str]:
        """Go on from a checkpoint; return warnings."""
        from training.evaluation import SuiteResult

        self.steps = self._saved = int(saved["steps"])
        self._began = _clocks() - to_arrays(saved["seconds"])
        self.results = [SuiteResult.model_validate(r) for r in saved["results"]]
        self._take_best()
        self._restore(saved)
        return self.pool.restore(saved["pool"]) if self._has_pool else []

    @property
    def minutes(self) -> tuple[float, float]:
        """The wall time and the CPU time of the run so far, evaluations and workers included."""
        wall, cpu = (_clocks() - self._began) / 60
        return float(wall), float(cpu)


def _clocks() -> FloatArray:
    """Return the wall clock and the CPU clock, in seconds."""
    return np.array([time.monotonic(), time.process_time()])


def is_due(before: int, now: int, every: int) -> bool:
    """Return whether a multiple of `every` lies above `before`, up to `now`."""
    return now // every > before // every


@contextmanager
def stop_requests() -> Iterator[Callable[[], bool]]:
    """Turn Ctrl-C, SIGTERM and SIGHUP into requests: the update in progress is finished and saved.

    Yields a function that tells whether there was a request. A second signal interrupts.
    """
    received: list[int] = []
    with handling((signal.SIGINT, *ENDING), received.append):
        yield lambda: bool(received)


# ---- boards, opponents, openings ----------------------------------------------------------------


def board_groups(settings: SelfPlaySettings) -> list[BoardGroup]:
    """Return the groups of boards; the pool's have random players until there are snapshots."""
    special: dict[str, Opponent | None] = {SELF_PLAY: None, POOL: RandomAgent()}
    return [
        BoardGroup(boards, special.get(name, name), "alternating", name)
        for name, boards in settings.groups()
    ]


def board_options(config: RunSettings) -> dict[str, Any]:
    """Return the keyword arguments of `Batch` that all groups share."""
    settings, starts = config.self_play, None
    seed_libraries(config.seed)  # a player of openings may draw from them
    if settings.openings.keys() != {"random"} or settings.undecided:
        starts = played_openings(
            config.game_to_train(), settings, _STARTS, np.random.default_rng([config.seed, _STARTS])
        )
    return {
        "opening_plies": settings.opening_plies,
        "starts": starts,
        "symmetries": True,
        "mover_view": True,
        "threads": settings.threads,
    }


def played_openings(
    game: Game, settings: SelfPlaySettings, count: int, rng: np.random.Generator
) -> State:
    """Return about `count` positions that are not over, played by the players of the settings.

    Random play reaches some kinds of positions only: in Lines of Action hardly ever one near a
    win. Undecided openings are distinct before they are repeated, or the few short ones of Wolf
    and Sheep would crowd out the rest. ValueError if there are none.
    """
    from boardenvs.arena.match import same_winner

    parts = []
    for spec, share in settings.openings.items():
        by = None if spec == "random" else PlayedBy(make_agent(spec), _NOISE)
        undecided = round(share * settings.undecided * count)
        others = round(share * (1 - settings.undecided) * count)
        plies = settings.opening_plies
        if others:
            parts.append(random_openings(game, others, plies, rng, by))
        if undecided:
            parts.append(distinct_openings(game, undecided, plies, rng, same_winner, by).state)
    return concat(parts)


def game_metrics(ended: Mapping[str, EndedGames]) -> dict[str, float]:
    """Return the metrics of the games that ended, by group; nan if none did."""
    games = sum(e.games for e in ended.values()) or np.nan
    metrics = {
        "games/plies": sum(e.plies for e in ended.values()) / games,
    }
    for name, e in ended.items():
        if name != SELF_PLAY:
            metrics[f"games/{name}"] = e.points / (e.games or np.nan)
    return metrics
