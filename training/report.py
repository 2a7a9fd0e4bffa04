"""What came of a run: its final evaluation, and all of it in files for people and programs."""

from __future__ import annotations

import csv
import html
import io
import json
import platform
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import yaml
from rich.console import Console

from boardenvs import games
from boardenvs.exams import Accuracy
from boardenvs.games.notation import MoveNotation
from boardenvs.records.page import write_page
from boardenvs.render.page import to_frame
from boardenvs.report import Document, ReportTable
from boardenvs.utils.files import write_atomically
from boardenvs.utils.version import version
from training.evaluation import RAW, SHIELDED, FinalEvaluation, SuiteResult, evaluate_finally
from training.history import REPORT_SEED, History
from training.plots import learning_curve, metrics_over_steps, rating_scale
from training.settings import RunSettings, find_precision, processor


def conclude(folder: Path, config: RunSettings, history: History, console: Console) -> None:
    """Judge the policy of a run that has ended, its `policy.npz`; write and show the report."""
    history.stop_clocks()
    seed = REPORT_SEED + config.seed
    evaluation = evaluate_finally(config, folder / "policy.npz", seed, console, history.executor)
    write_report(folder, config, history, evaluation)
    console.print(summary(config, history.best, evaluation))
    play = ["-m", "boardenvs", "play", games.spec_of(config.make_game())]
    play += ["--against", f"policy:{folder / 'policy.npz'}"]
    for line in (
        f"The report, with pictures and games to step through: {folder / 'report.html'}",
        f"To play against what was trained: {shlex.join([_python(), *play])}",
    ):
        console.print(line, soft_wrap=True, highlight=False)


def _python() -> str:
    """This Python as one would type it here."""
    path = Path(sys.executable)
    if shutil.which("python") == str(path):
        return "python"
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


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
    if metrics:
        write_atomically(folder / "metrics.csv", to_csv(metrics))
    compose(title, config, history, evaluation, made_with).write(folder)
    # The last file: where it is, all others are.
    write_atomically(folder / "result.json", json.dumps(result, indent=2).encode())


def summary(config: RunSettings, best: SuiteResult, evaluation: FinalEvaluation) -> ReportTable:
    """The evaluation as a table for the terminal."""
    rows = [
        {
            "opponent": name,
            "score": f"{s.score:.3f}",
            "95 % interval": f"{s.low:.3f} to {s.high:.3f}",
            "won": s.wins,
            "drawn": s.draws,
            "lost": s.losses,
            "shielded": f"{evaluation.scores[SHIELDED][name].score:.3f}",
        }
        for name, s in evaluation.scores[RAW].items()
    ]
    return ReportTable(
        rows,
        f"The best policy, of step {best.steps:,}, over {2 * config.report.pairs} games an "
        "opponent on new openings",
        f"rated {evaluation.ratings[RAW]}, shielded {evaluation.ratings[SHIELDED]} (random is 0)",
    )


def _made_with(config: RunSettings) -> dict[str, str]:
    """What the weights depend on beside the settings."""
    return {
        # boardenvs may be in a checkout that is not installed.
        **{package: version(package) or "from a checkout" for package in config.packages},
        "python": platform.python_version(),
        "processor": str(processor().get("cpu_name", platform.machine())),
        "precision": find_precision(config.precision),
        "threads": str(config.threads),
    }


def to_csv(rows: Sequence[Mapping[str, float]]) -> bytes:
    """Rows of the same names as a table, with these on top."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


# ---- the report ----------------------------------------------------------------------------------


def compose(
    title: str,
    config: RunSettings,
    history: History,
    found: FinalEvaluation,
    made_with: Mapping[str, str],
) -> Document:
    """The whole report; `made_with` is what the weights depend on beside the settings."""
    made, best = ", ".join(f"{k} {v}" for k, v in made_with.items()), history.best
    chosen_by = f"score on the evaluation suite ({', '.join(config.evaluation.opponents)})"
    if best.exact:
        chosen_by = "share by the exact solution"
    report = Document(title)
    report.text(
        f"{history.results[-1].steps:,} steps in {history.minutes:.1f} minutes of wall time and "
        f"{history.cpu_minutes:.1f} of CPU time, evaluations included. Made with {made}."
    )
    report.text(
        f"The policy with the best worst {chosen_by} is that of step {best.steps:,}. "
        f"It is in `policy.npz` and plays as `policy:{Path('runs') / config.name / 'policy.npz'}`."
    )
    raw, shielded = (found.scores[kind] for kind in (RAW, SHIELDED))
    report.picture(
        "learning_curve.svg",
        "Scores over steps",
        partial(learning_curve, title, history.results, best, raw, shielded),
    )
    _add_scores(report, config, found)
    _add_ratings(report, title, found)
    if found.exact[RAW]:
        _add_exact(report, found)
    if found.exam:
        _add_exam(report, found.exam, history)
    if history.metrics:
        report.heading("The training")
        draw = partial(metrics_over_steps, title, history.metrics)
        report.picture("metrics.svg", "Metrics of the training", draw)
    _add_games_and_settings(report, config, found)
    return report


def _add_games_and_settings(report: Document, config: RunSettings, found: FinalEvaluation) -> None:
    """Games to step through and the settings, in report.html alone."""
    if found.samples:
        report.html("<h2>Two games against each opponent</h2>")
        report.html(to_frame(write_page(found.samples, title="Games of the report")))
    settings = html.escape(yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False))
    report.html(f'<h2>Settings</h2>\n<pre tabindex="0">{settings}</pre>')


def _add_scores(report: Document, config: RunSettings, found: FinalEvaluation) -> None:
    """The section on the games against the report's opponents."""
    sides = MoveNotation(config.make_game()).sides
    rows = [
        {
            "opponent": name,
            "player": kind,
            "score": f"{s.score:.3f}",
            "95 % interval": f"{s.low:.3f} to {s.high:.3f}",
            "won / drawn / lost": f"{s.wins} / {s.draws} / {s.losses}",
            **{f"as {side}": f"{x:.3f}" for side, x in zip(sides, s.by_role, strict=True)},
            "wiped out": str(s.wiped_out),
            "plies": f"{s.plies:.0f}",
        }
        for name in config.report.opponents
        for kind, s in ((k, found.scores[k][name]) for k in (RAW, SHIELDED))
    ]
    report.heading("Against the report's opponents")
    report.text(
        f"{2 * config.report.pairs} games each, from openings that did not choose the policy; a "
        "draw counts ½. *Shielded* takes a win in one and avoids a loss in one. *Wiped out* are "
        "the games lost without a piece left."
    )
    report.table(ReportTable(rows))


def _add_ratings(report: Document, title: str, found: FinalEvaluation) -> None:
    rows = [
        {"player": name, "rating": f"{r.rating:.0f}", "95 % interval": " to ".join(r.ends)}
        for name, r in found.ratings.items()
    ]
    is_bounded = all(None not in (r.low, r.high) for r in found.ratings.values())
    unbounded = "" if is_bounded else " A player that won or lost all has an open interval: ?."
    ratings = {name: (r.rating, r.low, r.high) for name, r in found.ratings.items()}
    report.heading("Ratings")
    report.text("Elo points from the games of all against all; random play is 0." + unbounded)
    report.picture("ratings.svg", "Ratings", partial(rating_scale, title, ratings, (RAW, SHIELDED)))
    report.table(ReportTable(rows))


def _add_exact(report: Document, found: FinalEvaluation) -> None:
    """The section on the comparison with the exact solution."""
    rows = [
        {
            "metric": name,
            "policy": f"{found.exact[RAW][name]:.4g}",
            "shielded": f"{found.exact[SHIELDED][name]:.4g}",
        }
        for name in found.exact[RAW]
    ]
    report.heading("By the exact solution")
    report.text(
        "Of the positions that games can reach and a role has won: *keeps* is the share in "
        "which its move keeps the win, *only* the same where one move does, *punishes* the "
        "share of the other role's mistakes after which it wins against perfect play. *Leaks* "
        "counts the positions in which the winner of the start gives its win away, of all that "
        "any replies to its moves can lead to: at 0 it loses no line."
    )
    report.table(ReportTable(rows))


def _add_exam(report: Document, marks: dict[str, list[Accuracy]], history: History) -> None:
    """The section on the exam: of the best policy by kind, and over the training."""
    rows = [{"player": kind, **mark.row} for kind in (RAW, SHIELDED) for mark in marks[kind]]
    over_steps = [
        {"steps": f"{r.steps:,}", "exam share": f"{r.exam:.3f}"}
        for r in history.results
        if r.exam is not None
    ]
    report.heading("The exam")
    report.text(
        "Positions of which the value of every move is known exactly (`boardenvs exam`): the share "
        "of moves that keep the win or the draw, with 95 % intervals, and the mean loss in discs "
        "where these count."
    )
    report.table(ReportTable(rows))
    report.text("Over the training:")
    report.table(ReportTable(over_steps))
