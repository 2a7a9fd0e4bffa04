"""What every run does between its updates: evaluations, checkpoints, the best policy, the end."""

from __future__ import annotations

import errno
import io
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("pydantic")

from rich.console import Console

from boardenvs.agents.policy import Policy
from boardenvs.agents.policy_file import load_policy
from boardenvs.game.contract import Game
from training import evaluation, run
from training.checkpoint import load_newest
from training.evaluation import Score
from training.folder import RunError, make_folder
from training.run import Run
from training.settings import RunSettings

pytestmark = pytest.mark.usefixtures("in_python")


class Settings(RunSettings):
    """Of what learns here: one layer of two."""

    hidden_setting: ClassVar = "width"
    width: tuple[int, ...] = (2,)


def settings(**changes: Any) -> RunSettings:
    panel = {"pairs": 1, "opponents": ["random"], "opening_plies": [0, 2]}
    fields = {
        "name": "tiny", "game": "three_in_a_row:ThreeInARow", "steps": 100,
        "checkpoint_every": 25, "evaluation": {"every": 50, **panel}, **changes,
    }  # fmt: skip
    return Settings.model_validate(fields)


def ranking(monkeypatch: pytest.MonkeyPatch, worth: dict[int, float]) -> None:
    """Evaluations say what policies are worth by the steps that they have learnt for."""

    def score_of(game: Game, player: Any, *_: object) -> dict[str, Score]:
        score = worth[int(player.policy.value_head[1][0])]
        return {"random": Score(score=score, low=score, high=score, wins=0, draws=0, losses=0)}

    monkeypatch.setattr(evaluation, "play_suite", score_of)


class Counting(Run):
    """Learns to count: an update is ten steps, and the policy has their number in it."""

    def __init__(self, config: RunSettings, folder: Path) -> None:
        super().__init__(config, folder)
        self.saved = list[int]()
        self.passed = list[int]()
        self.then: Callable[[], object] = lambda: None
        self.finished, self.shown = False, ""

    def _update(self) -> dict[str, float]:
        self.steps += 10
        if self.steps == 70:
            self.then()
        return {"train/entropy": 0, "train/explained_variance": 0, "games/plies": 9}

    def _policy(self) -> Policy:
        game = self.history.game
        inputs = int(np.prod(game.observation_shape))
        sizes = [(inputs, 2), (2, game.num_actions), (2, 1)]
        hidden, policy, value = (
            (np.zeros(size, np.float32), np.full(size[1], self.steps, np.float32)) for size in sizes
        )
        return Policy(game, (hidden,), policy, value)

    def _log(self, metrics: dict[str, float]) -> None:
        self.passed.append(self.steps)

    def _snapshot(self) -> dict[str, Any]:
        return {"counted": self.steps}

    def _restore(self, snapshot: dict[str, Any]) -> list[str]:
        assert snapshot["counted"] == self.steps
        return ["counted"]

    def save(self) -> None:
        super().save()
        self.saved.append(self.steps)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "tiny"
    make_folder(made, settings(), overwrite=False)
    return made


def test_where_no_folder_can_be_is_said(tmp_path: Path) -> None:
    (tmp_path / "runs").touch()
    for folder in (tmp_path / "runs", tmp_path / "runs" / "tiny"):
        with pytest.raises(RunError, match=r"runs is a file, not a folder; a run has a folder"):
            make_folder(folder, settings(), overwrite=False)


def trained(
    folder: Path,
    resume: bool = False,
    then: Callable[[], object] = lambda: None,
    **changes: Any,
) -> Counting:
    """A run that has ended, whose `then` is done in the update that comes to 70 steps."""
    training, shown = Counting(settings(**changes), folder), io.StringIO()
    training.then = then
    training.finished = training.train(resume, Console(file=shown, width=200))
    training.shown = shown.getvalue()
    return training


def evaluated(training: Run) -> list[int]:
    return [result.steps for result in training.history.results]


def counted(file: Path) -> list[int]:
    """The steps of the policy in a file."""
    steps: list[int] = load_policy(file).value_head[1].tolist()
    return steps


def test_what_is_due_is_done(folder: Path) -> None:
    training = trained(folder)
    assert training.finished
    assert evaluated(training) == [0, 50, 100]
    assert training.saved == [0, 30, 50, 80, 100]
    assert training.passed == list(range(0, 110, 10))
    assert [row["steps"] for row in training.history.metrics] == list(range(10, 110, 10))
    # All evaluations are equal: the last of them counts as the best.
    assert counted(folder / "policy.npz") == [100]


class Killed(BaseException):
    pass


def kill() -> None:
    raise Killed


@pytest.mark.parametrize("killed", [False, True])
def test_a_run_that_is_stopped_goes_on_from_its_checkpoint(folder: Path, killed: bool) -> None:
    """That of a signal, or the one before a kill, which has the evaluation that was due with it."""
    if killed:
        with pytest.raises(Killed):
            trained(folder, then=kill)
    else:
        training = trained(folder, then=lambda: signal.raise_signal(signal.SIGINT))
        assert not training.finished
        assert training.saved == [0, 30, 50, 70]
    again = trained(folder, resume=True)
    assert again.finished
    assert "warning: counted" in again.shown
    assert again.passed == ([60, 70, 80, 90, 100] if killed else [80, 90, 100])
    assert evaluated(again) == [0, 50, 100]
    (folder / "policy.npz").unlink()
    last = trained(folder, resume=True)
    assert (last.finished, last.passed, last.saved) == (True, [], [])
    last.write_best()
    assert load_policy(folder / "policy.npz").notes == {"run": "tiny", "seed": 0, "steps": 100}
    assert evaluated(trained(folder, resume=True, steps=130)) == [0, 50, 100, 130]


def test_the_best_policy_is_kept_whatever_comes_after(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ranking(monkeypatch, {0: 0.2, 50: 0.9, 100: 0.5})
    assert trained(folder).history.best.steps == 50
    assert counted(folder / "policy.npz") == [50]
    (folder / "policy.npz").unlink()
    trained(folder, resume=True).write_best()
    assert counted(folder / "policy.npz") == [50]


def test_a_run_whose_minutes_end_with_an_evaluation_is_saved(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    late, monotonic, play_suite = [0], time.monotonic, evaluation.play_suite

    def slow(*arguments: Any) -> Any:
        late[0] += 40  # seconds
        return play_suite(*arguments)

    monkeypatch.setattr(time, "monotonic", lambda: monotonic() + late[0])
    monkeypatch.setattr(evaluation, "play_suite", slow)
    training = trained(folder, minutes=1)
    assert training.finished
    assert evaluated(training) == [0, 50]
    assert training.saved[-1] == 50


def test_a_full_disk_is_told_and_ends_no_run_but_at_its_end(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    training, shown = Counting(settings(), folder), io.StringIO()
    with monkeypatch.context() as patch:
        patch.setattr(run, "save_checkpoint", full)
        patch.setattr(run, "save_policy", full)
        with pytest.raises(OSError, match="No space left"):
            training.train(False, Console(file=shown, width=200))
    for what in ("the first checkpoint", "a checkpoint", "the best policy"):
        assert f"warning: {what} could not be written ([Errno 28] No space left" in shown.getvalue()
    assert training.steps == 100
    training.save()
    assert load_newest(folder / "checkpoints")[1]["steps"] == 100
