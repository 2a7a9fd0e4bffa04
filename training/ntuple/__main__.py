"""Learn an evaluation for alpha-beta search by self-play:
`python -m training.ntuple CONFIG [--resume | --overwrite]`.

Alpha-beta search plays against itself from random openings, at first by the game's heuristic, and
weights of tuples of squares are fitted to how the games ended; then it plays by these, and so on.
`alphabeta:evaluation=runs/NAME/evaluation.npz` plays by what was learnt.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)

from boardenvs.agents import make_agent
from boardenvs.arena.executor import HERE, Executor
from boardenvs.report import Document, ReportTable
from boardenvs.search import Evaluation
from boardenvs.search.evaluation_file import (
    EvaluationFileError,
    load_evaluation,
    save_evaluation,
)
from boardenvs.utils.files import write_atomically
from training.command import training_command
from training.evaluation import Score, play_suite
from training.folder import RunError, check_settings
from training.history import REPORT_SEED
from training.ntuple.play import PositionsFileError
from training.ntuple.run import NTupleRun
from training.ntuple.run import Progress as Show
from training.ntuple.settings import NTupleConfig
from training.run import stop_requests


class StopLearning(Exception):  # noqa: N818 - no error, as StopIteration
    """The run was asked to stop."""


def train(
    config: NTupleConfig,
    folder: Path,
    resume: bool,
    console: Console,
    executor: Executor = HERE,
) -> bool:
    """Learn, judge the evaluation and write the results; False where it was interrupted."""
    if resume:
        check_settings(folder, config)
    began = time.process_time()
    try:
        with _display(console) as show:
            evaluation = NTupleRun(config, folder, show, executor).learn()
    except StopLearning:
        return False
    except (EvaluationFileError, PositionsFileError) as error:
        raise RunError(f"{error}; where it is removed, --resume makes it anew") from None
    minutes = (time.process_time() - began + executor.cpu_seconds) / 60
    file = folder / "evaluation.npz"
    save_evaluation(evaluation, file)
    player = make_agent(f"alphabeta:depth={config.report.depth},evaluation={file}")
    seed = REPORT_SEED + config.seed
    scores = play_suite(config.make_game(), player, config.report, seed, console, executor)
    _write_results(config, folder, minutes, scores)
    console.print((folder / "report.md").read_text(encoding="utf-8"), markup=False, soft_wrap=True)
    return True


@contextmanager
def _display(console: Console) -> Iterator[Show]:
    """Shows how much of what is done, one bar at a time; StopLearning where that is to be all."""
    columns = (
        TextColumn("[bold]{task.description}"),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    tasks = dict[str, TaskID]()
    with Progress(*columns, console=console) as bar, stop_requests() as stop_requested:

        def show(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=total)
            bar.update(tasks[what], completed=done)
            if stop_requested():
                raise StopLearning

        yield show


def _write_results(
    config: NTupleConfig, folder: Path, minutes: float, scores: dict[str, Score]
) -> None:
    """`result.json` and `report.md`: how well it tells results, and how well it plays."""
    generations = [
        load_evaluation(folder / "evaluations" / f"{k}.npz") for k in range(len(config.generations))
    ]
    result = {
        "name": config.name,
        "game": config.game,
        "cpu_minutes": round(minutes, 2),
        "scores": {name: score.model_dump() for name, score in scores.items()},
        "generations": [dict(e.notes) for e in generations],
    }
    text = _report(config, minutes, scores, generations)
    write_atomically(folder / "report.md", text.encode())
    # The last file: where it is, all others are.
    write_atomically(folder / "result.json", json.dumps(result, indent=1).encode())


def _report(
    config: NTupleConfig,
    minutes: float,
    scores: dict[str, Score],
    generations: list[Evaluation],
) -> str:
    unit = "points" if config.make_game().margin_counts else "hundredths of a win"
    played = [
        {
            "opponent": f"`{name}`",
            "score": f"{s.score:.3f} [{s.low:.3f}, {s.high:.3f}]",
            "wins": str(s.wins),
            "draws": str(s.draws),
            "losses": str(s.losses),
        }
        for name, s in scores.items()
    ]
    errors = [
        {"generation": f"{number}, {kind.replace('_', ' ')}"}
        | {str(stage): f"{x:.1f}" for stage, x in enumerate(evaluation.notes[kind], start=1)}
        for number, evaluation in enumerate(generations, start=1)
        for kind in ("error", "standard_deviation")
    ]
    report = Document(f"{config.name}: an evaluation of {config.game}")
    report.text(f"{minutes:.1f} CPU minutes in this part of the run, seed {config.seed}.")
    report.text(
        f"`alphabeta:depth={config.report.depth},evaluation={config.name}` against players of "
        f"the report, {2 * config.report.pairs} games each, with 95 % intervals over pairs:"
    )
    report.table(ReportTable(played))
    report.text(
        f"Error of the evaluation, in {unit}: root of the mean square over games that were not "
        "fitted, by stage; what a constant leaves is their standard deviation."
    )
    report.table(ReportTable(errors))
    return report.markdown()


main = partial(
    training_command, "training.ntuple", NTupleConfig, train, others_play=True
)  # of the words; the exit code


if __name__ == "__main__":
    sys.exit(main())
