"""Train a policy by self-play: `python -m training.ppo CONFIG [--resume | --overwrite]`.

README.md in this folder explains the recipe, the figures and the files of a run.
"""

from __future__ import annotations

import argparse
import contextlib
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

import torch as th
from rich.console import Console
from sb3_contrib import MaskablePPO
from threadpoolctl import threadpool_limits

from boardenvs.utils.signals import interrupting
from training.checkpoint import CheckpointError
from training.config import Config, ConfigError, read_config
from training.folder import RUNS, RunError, find_checkpoint, make_folder, write_settings
from training.interrupt import InterruptRequest
from training.loop import REPORT_SEED, StopTraining, Training
from training.model import make_env, make_model
from training.progress import TrainingDisplay
from training.report import RunHistory, judge, summary, write_report

EXIT_FAILURE, EXIT_USAGE, EXIT_INTERRUPTED = 1, 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code: 0, 1 where files cannot be written, 2 for wrong
    input, 130 for an interruption.
    """
    options = _parse(arguments)
    th.distributions.Distribution.set_default_validate_args(False)  # the masks are checked
    console = Console(markup=False)
    try:
        config = read_config(options.config, options.set, trust=options.trust)
        folder = RUNS / config.name
        if not options.resume:
            make_folder(folder, config, options.overwrite)
        th.set_num_threads(config.threads)
        with threadpool_limits(config.threads), interrupting():  # NumPy's threads
            finished = train(config, folder, options.resume, console)
    except (ConfigError, CheckpointError, RunError) as error:
        print(f"error: {error}", file=sys.stderr)
        return EXIT_USAGE
    except OSError as error:
        print(f"error: {error}\nWhen it is put right: {_resume(options)}", file=sys.stderr)
        return EXIT_FAILURE
    except KeyboardInterrupt:
        finished = False
    if not finished:
        console.print(f"interrupted; go on with: {_resume(options)}", soft_wrap=True)
        return EXIT_INTERRUPTED
    return 0


def train(config: Config, folder: Path, resume: bool, console: Console) -> bool:
    """Train, judge the best policy and write the results; False where it was interrupted."""
    env = make_env(config)
    model = make_model(config, env)
    with contextlib.closing(env), InterruptRequest() as interrupt:
        training = Training(config, folder, env, interrupt)
        resumed = resume and _load(training, model, console)
        done = model.num_timesteps
        with TrainingDisplay(
            console, folder / "tensorboard", config.name, config.steps, done
        ) as display:
            training.display = display
            if not training.is_finished(done):
                with contextlib.suppress(StopTraining):
                    model.learn(
                        config.steps - done,
                        callback=training,
                        log_interval=None,  # type: ignore[arg-type]  # the callback logs
                        reset_num_timesteps=not resumed,
                    )
        if interrupt.requested:
            return False
    model.policy.load_state_dict(training.best_policy)
    training.write_best(model)
    assert training.best is not None  # the first evaluation comes before the first step
    history = RunHistory(training.results, training.best, training.figures, *training.times)
    judgement = judge(config, folder / "policy.npz", REPORT_SEED + config.seed, console)
    write_report(folder, config, history, judgement)
    console.print(summary(folder, config, training.best, judgement))
    return True


def _load(training: Training, model: MaskablePPO, console: Console) -> bool:
    """Go on from the run's newest whole checkpoint; False where there is none yet."""
    resumed, warnings = find_checkpoint(
        training.folder, training.config, lambda content: training.load(model, content)
    )
    if resumed:
        write_settings(training.folder, training.config)
    for warning in warnings:
        console.print(f"warning: {warning}", markup=False, soft_wrap=True)
    return resumed


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m training.ppo", description="Train a policy by self-play."
    )
    parser.add_argument("config", type=Path, metavar="CONFIG", help="a YAML file with settings")
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--resume", action="store_true", help="go on from the last checkpoint")
    group.add_argument("--overwrite", action="store_true", help="replace an earlier run")
    parser.add_argument(
        "--trust",
        action="store_true",
        help="import the code that CONFIG names: python: players and games in modules",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="change a setting, for example ppo.epochs=3 (may be repeated)",
    )
    return parser.parse_args(arguments)


def _resume(options: argparse.Namespace) -> str:
    words = ["python", "-m", "training.ppo", str(options.config), "--resume"]
    words += ["--trust"] * options.trust
    return shlex.join(words + [word for item in options.set for word in ("--set", item)])


if __name__ == "__main__":
    sys.exit(main())
