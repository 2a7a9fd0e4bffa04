"""What came of a run: its best policy judged, and all told in files for people and programs."""

from __future__ import annotations

import csv
import html
import io
import json
import platform
from importlib import metadata
from pathlib import Path

import yaml
from rich.console import Console
from rich.table import Table

from boardenvs import games
from boardenvs.records.page import write_page
from boardenvs.render.page import to_frame
from boardenvs.utils.files import write_atomically
from boardenvs.utils.html import report_page
from training.device import find_precision, processor
from training.evaluation import RAW, SHIELDED, FinalEvaluation, SuiteResult, evaluate_finally
from training.history import REPORT_SEED, History
from training.plots import learning_curve, metrics_over_steps, rating_scale
from training.report_text import report_text
from training.settings import RunSettings


def conclude(folder: Path, config: RunSettings, history: History, console: Console) -> None:
    """Judge the policy of a run that has ended, its `policy.npz`; write and show the report."""
    history.stop_clocks()
    seed = REPORT_SEED + config.seed
    evaluation = evaluate_finally(config, folder / "policy.npz", seed, console)
    write_report(folder, config, history, evaluation)
    console.print(summary(folder, config, history.best, evaluation))


def write_report(
    folder: Path, config: RunSettings, history: History, evaluation: FinalEvaluation
) -> None:
    """Write the files of a finished run; README.md in this folder says what each is."""
    results, best, metrics = history.results, history.best, history.metrics
    title = f"{config.name}: {games.spec_of(config.make_game())}, seed {config.seed}"
    made_with = _made_with(config)
    result = {
        "config": config.model_dump(mode="json"),
        "made_with": made_with,
        "steps": results[-1].steps,
        "minutes": history.minutes,
        "cpu_minutes": history.cpu_minutes,
        "best": best.model_dump(),
        "report": evaluation.model_dump(),
        "evaluations": [r.model_dump() for r in results],
    }
    raw, shielded = (evaluation.scores[kind] for kind in (RAW, SHIELDED))
    ratings = {n: (r.rating, r.low, r.high) for n, r in evaluation.ratings.items()}
    write_atomically(
        folder / "learning_curve.png", learning_curve(title, results, best, raw, shielded)
    )
    write_atomically(folder / "ratings.png", rating_scale(title, ratings, (RAW, SHIELDED)))
    if metrics:
        write_atomically(folder / "metrics.png", metrics_over_steps(title, metrics))
        write_atomically(folder / "metrics.csv", _csv(metrics))
    report = report_text(title, config, history, evaluation, made_with)
    write_atomically(folder / "report.md", report.encode())
    write_atomically(folder / "report.html", _html(report, folder, config, evaluation).encode())
    # The last file: where it is, all others are.
    write_atomically(folder / "result.json", json.dumps(result, indent=2).encode())


def _html(report: str, folder: Path, config: RunSettings, evaluation: FinalEvaluation) -> str:
    """The report with its pictures, games to step through and settings in it."""
    extra = []
    if evaluation.samples:
        page = write_page(evaluation.samples, title="Games of the report")
        extra += ["<h2>Two games against each opponent</h2>", to_frame(page)]
    settings = html.escape(yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False))
    extra += ["<h2>Settings</h2>", f'<pre tabindex="0">{settings}</pre>']
    return report_page(report, folder, extra)


def summary(
    folder: Path, config: RunSettings, best: SuiteResult, evaluation: FinalEvaluation
) -> Table:
    """The evaluation as a table for the terminal."""
    table = Table(
        title=f"The best policy, of step {best.steps:,}, over {2 * config.report.pairs} games an "
        f"opponent on new openings",
        caption=f"rated {evaluation.ratings[RAW]}, shielded "
        f"{evaluation.ratings[SHIELDED]} (random is 0); all in {folder}/report.md",
    )
    for heading in ("opponent", "score", "95 % interval", "won", "drawn", "lost", "shielded"):
        table.add_column(heading, justify="left" if heading == "opponent" else "right")
    for name, s in evaluation.scores[RAW].items():
        interval = f"{s.low:.3f} to {s.high:.3f}"
        shielded = f"{evaluation.scores[SHIELDED][name].score:.3f}"
        counts = (str(s.wins), str(s.draws), str(s.losses))
        table.add_row(name, f"{s.score:.3f}", interval, *counts, shielded)
    return table


def _made_with(config: RunSettings) -> dict[str, str]:
    """What the weights depend on beside the settings."""
    versions = {}
    for package in config.packages:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:  # boardenvs from a checkout that is not installed
            versions[package] = "from a checkout"
    return {
        **versions,
        "python": platform.python_version(),
        "processor": str(processor().get("cpu_name", platform.machine())),
        "precision": find_precision(config.precision),
        "threads": str(config.threads),
    }


def _csv(rows: list[dict[str, float]]) -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()
