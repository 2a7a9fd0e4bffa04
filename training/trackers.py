"""Callbacks that show a run in the trackers that people use, which need not be installed.

In the settings of a run:

    callbacks:
      "training.trackers:MLflow": {experiment: othello}
      "training.trackers:WeightsAndBiases": {project: othello, mode: offline}

Each gets the run's settings, the metrics of each update over steps (README.md explains them) and,
when the run has ended, the files of `KEPT`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import KVWriter

from boardenvs.utils.decoding import parse_yaml

KEPT = ("config.yaml", "policy.npz", "report.html", "result.json")


class Tracker(BaseCallback, KVWriter):
    """What all trackers do: be a format of the logger's output, and know the run's folder."""

    def _on_training_start(self) -> None:
        self.logger.output_formats.append(self)
        self.begin(parse_yaml((self.folder / "config.yaml").read_text(encoding="utf-8")))

    def _on_step(self) -> bool:
        return True

    def _on_training_end(self) -> None:
        self.end([path for name in KEPT if (path := self.folder / name).exists()])

    def write(
        self, key_values: dict[str, Any], key_excluded: dict[str, tuple[str, ...]], step: int = 0
    ) -> None:
        """Take the metrics after so many steps."""
        self.show({key: float(value) for key, value in key_values.items()}, step)

    def close(self) -> None:
        """The logger's own end, after which nothing is written."""

    @property
    def folder(self) -> Path:
        """The run's folder."""
        assert self.logger.dir is not None
        return Path(self.logger.dir)

    def begin(self, settings: dict[str, Any]) -> None:
        """Open what the tracker calls a run."""
        raise NotImplementedError

    def show(self, metrics: dict[str, float], steps: int) -> None:
        """Show the metrics of an update."""
        raise NotImplementedError

    def end(self, files: list[Path]) -> None:
        """Keep the files, and close the run."""
        raise NotImplementedError


class MLflow(Tracker):
    """A run in MLflow's `experiment`; where that is kept, $MLFLOW_TRACKING_URI says."""

    def __init__(self, experiment: str = "boardenvs") -> None:
        super().__init__()
        self._experiment = experiment

    def begin(self, settings: dict[str, Any]) -> None:
        import mlflow

        mlflow.set_experiment(self._experiment)
        mlflow.start_run(run_name=settings["name"])
        mlflow.log_params({_allowed(key): value for key, value in _flat(settings)})

    def show(self, metrics: dict[str, float], steps: int) -> None:
        import mlflow

        mlflow.log_metrics({_allowed(key): value for key, value in metrics.items()}, steps)

    def end(self, files: list[Path]) -> None:
        import mlflow

        for file in files:
            mlflow.log_artifact(str(file))
        mlflow.end_run()


class WeightsAndBiases(Tracker):
    """A run in a project of Weights & Biases; `mode` is "online", or "offline" without network."""

    def __init__(self, project: str = "boardenvs", mode: str | None = None) -> None:
        super().__init__()
        self._project = project
        self._mode = mode
        self._run: Any = None

    def begin(self, settings: dict[str, Any]) -> None:
        import wandb

        self._run = wandb.init(
            project=self._project, name=settings["name"], config=settings, mode=self._mode
        )

    def show(self, metrics: dict[str, float], steps: int) -> None:
        self._run.log(metrics, step=steps)

    def end(self, files: list[Path]) -> None:
        for file in files:
            self._run.save(str(file), base_path=str(self.folder), policy="now")
        self._run.finish()


def _allowed(name: str) -> str:
    """The name with "_" for signs that MLflow does not take, such as "=" of "mcts:rollouts=16"."""
    return re.sub(r"[^\w./: -]", "_", name)


def _flat(settings: dict[str, Any], within: str = "") -> Iterator[tuple[str, Any]]:
    """Nested settings as "ppo.epochs" and their values."""
    for key, value in settings.items():
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{within}{key}.")
        else:
            yield f"{within}{key}", value
