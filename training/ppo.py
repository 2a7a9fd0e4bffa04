"""Train a policy by self-play: `python -m training.ppo CONFIG [--resume | --overwrite]`.

README.md in this folder explains the recipe, the figures and the files of a run.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import shlex
import shutil
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

import torch as th
import yaml
from rich.console import Console
from rich.table import Table
from sb3_contrib import MaskablePPO

from boardenvs.errors import unknown
from boardenvs.files import write_atomically
from training.checkpoint import CheckpointError, load_newest
from training.config import Config, ConfigError, read_config
from training.evaluation import PanelResult, Score, evaluate
from training.interrupt import InterruptRequest
from training.loop import FINAL_SEED, StopTraining, Training
from training.model import make_env, make_model, model_file
from training.plots import learning_curve
from training.policy import PolicyAgent
from training.progress import Display

RUNS = Path("runs")
EXIT_USAGE, EXIT_INTERRUPTED = 2, 130

# What may differ between the settings of a run and those it is resumed with.
_FREE_TO_CHANGE = {"steps", "minutes", "checkpoint_every"}


_PACKAGES = ("numpy", "torch", "stable-baselines3", "sb3-contrib")


class RunError(Exception):
    """A run that cannot start; the message says why and what to do."""


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code: 0, 2 for wrong input, 130 for an interruption."""
    options = _parse(arguments)
    # One thread: more of them wait for each other in loops that steal time from other processes,
    # and the same seed gives the same run only with a fixed number.
    th.set_num_threads(1)
    th.distributions.Distribution.set_default_validate_args(False)  # the masks are checked
    console = Console()
    try:
        config = read_config(options.config, options.set)
        folder = RUNS / config.name
        if options.resume:
            _check_resumable(folder)
        else:
            _make_folder(folder, config, options.overwrite)
        finished = train(config, folder, options.resume, console)
    except (ConfigError, CheckpointError, RunError) as error:
        print(f"error: {error}", file=sys.stderr)
        return EXIT_USAGE
    except KeyboardInterrupt:
        finished = False
    if not finished:
        console.print(f"interrupted; go on with: {_resume_command(options)}", soft_wrap=True)
        return EXIT_INTERRUPTED
    return 0


def train(config: Config, folder: Path, resume: bool, console: Console) -> bool:
    """Train, evaluate the best policy and write the results; False where it was interrupted."""
    env = make_env(config)
    model = make_model(config, env)
    with InterruptRequest() as interrupt:
        training = Training(config, folder, env, interrupt)
        if resume:
            _load(training, model, console)
        done = model.num_timesteps
        with Display(console, folder / "tensorboard", config.name, config.steps, done) as display:
            training.display = display
            if not training.is_finished(done):
                with contextlib.suppress(StopTraining):
                    model.learn(
                        config.steps - done,
                        callback=training,
                        log_interval=None,  # type: ignore[arg-type]  # the callback logs
                        reset_num_timesteps=not resume,
                    )
        if interrupt.requested:
            return False
    _finish(training, model, console)
    return True


def _finish(training: Training, model: MaskablePPO, console: Console) -> None:
    """Judge the best policy on openings that did not choose it, and write what came of the run."""
    config, best = training.config, training.best
    assert best is not None  # the first evaluation comes before the first step
    model.policy.load_state_dict(training.best_policy)
    final = evaluate(
        training.env.game,
        PolicyAgent(model.policy),
        config.evaluation.opponents,
        pairs=config.evaluation.final_pairs,
        opening_plies=config.evaluation.opening_plies,
        seed=FINAL_SEED + config.seed,
    )
    title = f"{config.name}: {config.game}, self-play, seed {config.seed}"
    write_atomically(training.folder / "best_model.zip", model_file(model))
    write_atomically(
        training.folder / "learning_curve.png", learning_curve(title, training.results, best, final)
    )
    result = {
        "config": config.model_dump(mode="json"),
        "versions": {p: metadata.version(p) for p in _PACKAGES},
        "steps": training.results[-1].steps,
        "minutes": training.minutes,
        "best": best.model_dump(),
        "final": {name: score.model_dump() for name, score in final.items()},
        "evaluations": [r.model_dump() for r in training.results],
    }
    write_atomically(training.folder / "result.json", json.dumps(result, indent=2).encode())
    console.print(_summary(training, best, final))


def _summary(training: Training, best: PanelResult, final: dict[str, Score]) -> Table:
    games = 2 * training.config.evaluation.final_pairs
    table = Table(
        title=f"The best policy, of step {best.steps:,}, over {games} games an opponent on new "
        f"openings",
        caption=f"{training.minutes:.1f} minutes; files in {training.folder}/",
    )
    for heading in ("opponent", "score", "95 % interval", "won", "drawn", "lost"):
        table.add_column(heading, justify="left" if heading == "opponent" else "right")
    for name, s in final.items():
        interval = f"{s.low:.3f} to {s.high:.3f}"
        table.add_row(name, f"{s.score:.3f}", interval, str(s.wins), str(s.draws), str(s.losses))
    return table


def _load(training: Training, model: MaskablePPO, console: Console) -> None:
    """Go on from the run's newest whole checkpoint."""
    path, content, problems = load_newest(training.folder / "checkpoints")
    for problem in problems:
        console.print(f"warning: {problem}; going on from {path}", markup=False, soft_wrap=True)
    before, now = content["config"], training.config.model_dump(mode="json")
    changed = sorted(k for k in now if before[k] != now[k] and k not in _FREE_TO_CHANGE)
    if changed:
        lines = [f"  {k} was {before[k]!r} and is {now[k]!r}" for k in changed]
        raise RunError(
            f"{training.folder} was made with other settings; take those to resume, or another "
            "name:\n" + "\n".join(lines)
        )
    training.load(model, content)


def _check_resumable(folder: Path) -> None:
    if not folder.is_dir():
        known = sorted(str(p.parent) for p in RUNS.glob("*/config.yaml"))
        raise RunError(unknown("run to resume", str(folder), known))


def _make_folder(folder: Path, config: Config, overwrite: bool) -> None:
    """An empty folder for a new run, with its settings."""
    if folder.exists():
        if not overwrite:
            raise RunError(
                f"{folder} exists: --resume goes on with it, --overwrite replaces it, and "
                "--set name=NAME makes another"
            )
        if not (folder / "config.yaml").is_file():
            raise RunError(
                f"{folder} is not replaced: without config.yaml it is no folder of a run"
            )
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    text = yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False)
    write_atomically(folder / "config.yaml", text.encode())


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m training.ppo", description="Train a policy by self-play."
    )
    parser.add_argument("config", type=Path, metavar="CONFIG", help="a YAML file with settings")
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--resume", action="store_true", help="go on from the last checkpoint")
    group.add_argument("--overwrite", action="store_true", help="replace an earlier run")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="change a setting, for example ppo.epochs=3 (may be repeated)",
    )
    return parser.parse_args(arguments)


def _resume_command(options: argparse.Namespace) -> str:
    words = ["python", "-m", "training.ppo", str(options.config), "--resume"]
    return shlex.join(words + [word for item in options.set for word in ("--set", item)])


if __name__ == "__main__":
    sys.exit(main())
