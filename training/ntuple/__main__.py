"""Learn an evaluation for alpha-beta search by self-play:
`python -m training.ntuple CONFIG [--resume | --overwrite]`.

Alpha-beta search plays against itself from random openings, at first with the game's heuristic, and
weights of tuples of squares are fitted to the results; then it plays with these, and so on.
`alphabeta:evaluation=runs/NAME/evaluation.npz` plays with what was learnt.
"""

from __future__ import annotations

import json
import os
import sys
from functools import partial
from pathlib import Path

from rich.console import Console

from boardenvs.agents import make_agent
from boardenvs.arena.executor import Executor, WorkerError
from boardenvs.report import Document, ReportTable
from boardenvs.search.evaluation_file import EvaluationFileError, save_evaluation
from boardenvs.utils.console import counting
from boardenvs.utils.files import write_atomically
from training.command import training_command
from training.evaluation import play_suite
from training.folder import RunError, begin
from training.ntuple import run
from training.ntuple.ntuple_settings import NTupleConfig
from training.ntuple.play import PositionsFileError
from training.run import REPORT_SEED

_DEPTH = 4  # plies that the evaluation's player searches in the report


def train(config: NTupleConfig, folder: Path, resume: bool, console: Console) -> bool:
    """Learn, judge the evaluation and write the report; files make a run go on, not `resume`."""
    begin(folder, config, resume)
    try:
        with Executor(config.workers) as executor, counting(config.name) as show:
            evaluation = run.NTupleRun(config, folder, show, executor).learn()
    except WorkerError as error:
        raise RunError(f"{error}; go on with --resume") from None
    except (EvaluationFileError, PositionsFileError) as error:
        raise RunError(f"{error}; remove it, and --resume makes it again") from None
    minutes = sum(os.times()[:4]) / 60  # of the processes that played, too
    file = folder / "evaluation.npz"
    save_evaluation(evaluation, file)
    player = make_agent(f"alphabeta:depth={_DEPTH},evaluation={file}")
    scores = play_suite(config.make_game(), player, config.report, REPORT_SEED + config.seed)
    report = Document(f"{config.name}: an evaluation of {config.game}")
    report.text(
        f"{minutes:.1f} CPU minutes in this part of the run, seed {config.seed}. "
        f"`alphabeta:depth={_DEPTH},evaluation={config.name}`, {2 * config.report.pairs} games "
        "against each player, with 95 % intervals:"
    )
    report.table(ReportTable([{"opponent": f"`{k}`", "score": str(s)} for k, s in scores.items()]))
    report.write(folder)
    result = {
        "cpu_minutes": round(minutes, 2),
        "scores": {name: score.model_dump() for name, score in scores.items()},
        "notes": dict(evaluation.notes),
    }
    # The last file: if it is there, all others are.
    write_atomically(folder / "result.json", json.dumps(result, indent=1).encode())
    console.print(report.markdown(), markup=False, soft_wrap=True)
    return True


main = partial(training_command, "training.ntuple", NTupleConfig, train)  # takes the arguments


if __name__ == "__main__":
    sys.exit(main())
