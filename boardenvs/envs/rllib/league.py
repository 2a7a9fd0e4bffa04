"""The learner's earlier selves as opponents of RLlib's env runners, in files that outlive a run.

What an RLlib callback keeps in memory is lost when a run is restored from a checkpoint. The pool
here is a folder: whatever restores the algorithm, the files up to its steps are read again.

    from functools import partial

    config.boards("othello", [BoardGroup(192), *[BoardGroup(16, "random", name="pool")] * 4])
    config.callbacks(partial(League, folder="runs/league", every=250_000))
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ray
from ray.rllib.callbacks.callbacks import RLlibCallback

from boardenvs.agents.pool import OpponentPool


class League(RLlibCallback):
    """A snapshot of the policy joins the pool in `folder` every so many steps, and after the first
    update; the last `size` of them play on the groups of boards called `name`, drawn anew for each
    update, as many as there are such groups.

    `notes` are kept in the snapshots' files. The callback of a `BoardPPO`. `problems` says what was
    wrong with files of the pool.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        every: int = 250_000,
        size: int = 20,
        name: str = "pool",
        seed: int = 0,
        notes: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__()
        self.every, self.name, self.notes = every, name, dict(notes or {})
        self.pool = OpponentPool(Path(folder), size, seed)
        self.problems: list[str] = []
        self._seen = 0  # steps when the last update ended

    def on_checkpoint_loaded(self, *, algorithm: Any, **kwargs: Any) -> None:
        """Go on from the pool's files."""
        self._seen = algorithm.steps
        self.problems = self.pool.read(algorithm.steps)
        self._draw(algorithm)

    def on_train_result(self, *, algorithm: Any, **kwargs: Any) -> None:
        """A new opponent where it is time for one, and others on the boards."""
        before, self._seen = self._seen, algorithm.steps
        if self._groups(algorithm):
            if not len(self.pool) or self._seen // self.every > before // self.every:
                self._add(algorithm)
            self._draw(algorithm)

    def on_env_runners_recreated(
        self, *, algorithm: Any, env_runner_indices: list[int], **kwargs: Any
    ) -> None:
        """Opponents for runners that had failed, which have begun with those of the config."""
        self._draw(algorithm, env_runner_indices)

    def _groups(self, algorithm: Any) -> int:
        """How many groups of boards of the pool a runner has."""
        groups = algorithm.config.env_config["groups"]
        return sum(group.name == self.name for group in groups)

    def _add(self, algorithm: Any) -> None:
        policy = algorithm.as_policy({**self.notes, "steps": self._seen})
        try:
            self.pool.add(policy, self._seen)
        except OSError as error:
            self.problems.append(f"opponent {self._seen} could not be written ({error})")

    def _draw(self, algorithm: Any, indices: list[int] | None = None) -> None:
        """Other opponents on the boards of these runners, by default of all."""
        count, name = self._groups(algorithm), self.name
        if not count or not len(self.pool):
            return
        drawn = ray.put(self.pool.draw(count))  # once for all runners of a node

        def place(runner: Any) -> None:
            if runner.env is not None:
                runner.set_opponents(name, ray.get(drawn))

        algorithm.env_runner_group.foreach_env_runner(
            place, remote_worker_ids=indices, local_env_runner=indices is None
        )
