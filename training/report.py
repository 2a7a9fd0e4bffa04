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
from pathlib import Path

import yaml
from rich.console import Console
from rich.table import Table

from boardenvs import games
from boardenvs.exams import Accuracy
from boardenvs.games.notation import MoveNotation
from boardenvs.records.page import write_page
from boardenvs.render.page import to_frame
from boardenvs.utils.files import write_atomically
from boardenvs.utils.html import report_page
from boardenvs.utils.tables import make_table, markdown_table
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
    raw, shielded = (evaluation.scores[kind] for kind in (RAW, SHIELDED))
    ratings = {n: (r.rating, r.low, r.high) for n, r in evaluation.ratings.items()}
    write_atomically(
        folder / "learning_curve.svg", learning_curve(title, results, best, raw, shielded)
    )
    write_atomically(folder / "ratings.svg", rating_scale(title, ratings, (RAW, SHIELDED)))
    if metrics:
        write_atomically(folder / "metrics.svg", metrics_over_steps(title, metrics))
        write_atomically(folder / "metrics.csv", to_csv(metrics))
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


def summary(config: RunSettings, best: SuiteResult, evaluation: FinalEvaluation) -> Table:
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
    return make_table(
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


# ---- the report as Markdown ----------------------------------------------------------------------


def report_text(
    title: str,
    config: RunSettings,
    history: History,
    found: FinalEvaluation,
    made_with: Mapping[str, str],
) -> str:
    """The whole of it; `made_with` is what the weights depend on beside the settings."""
    made, best = ", ".join(f"{k} {v}" for k, v in made_with.items()), history.best
    chosen_by = f"score on the evaluation suite ({', '.join(config.evaluation.opponents)})"
    if best.exact:
        chosen_by = "share by the exact solution"
    parts = [
        f"# {title}",
        f"{history.results[-1].steps:,} steps in {history.minutes:.1f} minutes of wall time and "
        f"{history.cpu_minutes:.1f} of CPU time, evaluations included. Made with {made}.",
        f"The policy with the best worst {chosen_by} is that of step "
        f"{best.steps:,}. "
        f"It is in `policy.npz` and plays as `policy:{Path('runs') / config.name / 'policy.npz'}`.",
        "![Scores over steps](learning_curve.svg)",
        *_scores(config, found),
        *_ratings(found),
    ]
    if found.exact[RAW]:
        parts += _exact(found)
    if found.exam:
        parts += _exam(found.exam, history)
    parts += ["## The training", "![Metrics of the training](metrics.svg)"]
    return "\n\n".join(parts) + "\n"


def _scores(config: RunSettings, found: FinalEvaluation) -> list[str]:
    """The section on the games against the report's opponents."""
    rows = [
        (name, kind, f"{s.score:.3f}", f"{s.low:.3f} to {s.high:.3f}",
         f"{s.wins} / {s.draws} / {s.losses}", *(f"{x:.3f}" for x in s.by_role),
         str(s.wiped_out), f"{s.plies:.0f}")
        for name in config.report.opponents
        for kind, s in ((k, found.scores[k][name]) for k in (RAW, SHIELDED))
    ]  # fmt: skip
    headings = (
        "opponent", "player", "score", "95 % interval", "won / drawn / lost",
        *(f"as {side}" for side in MoveNotation(config.make_game()).sides), "wiped out", "plies",
    )  # fmt: skip
    return [
        "## Against the report's opponents",
        f"{2 * config.report.pairs} games each, from openings that did not choose the policy; a "
        "draw counts ½. *Shielded* takes a win in one and avoids a loss in one. *Wiped out* are "
        "the games lost without a piece left.",
        markdown_table(headings, rows),
    ]


def _ratings(found: FinalEvaluation) -> list[str]:
    rows = [(name, f"{r.rating:.0f}", " to ".join(r.ends)) for name, r in found.ratings.items()]
    is_bounded = all(None not in (r.low, r.high) for r in found.ratings.values())
    unbounded = (
        "" if is_bounded else " Where one won or lost all, an end of its interval is open: ?."
    )
    return [
        "## Ratings",
        "Elo points from the games of all against all; random play is 0." + unbounded,
        "![Ratings](ratings.svg)",
        markdown_table(("player", "rating", "95 % interval"), rows),
    ]


def _exact(found: FinalEvaluation) -> list[str]:
    """The section on the comparison with the exact solution."""
    rows = [
        (name, *(f"{found.exact[kind][name]:.4g}" for kind in (RAW, SHIELDED)))
        for name in found.exact[RAW]
    ]
    return [
        "## By the exact solution",
        "Of the positions that games can reach and a role has won: *keeps* is the share in "
        "which its move keeps the win, *only* the same where one move does, *punishes* the "
        "share of the other role's mistakes after which it wins against perfect play. *Leaks* "
        "counts the positions in which the winner of the start gives its win away, of all that "
        "any replies to its moves can lead to: at 0 it loses no line.",
        markdown_table(("metric", "policy", "shielded"), rows),
    ]


def _exam(marks: dict[str, list[Accuracy]], history: History) -> list[str]:
    """The section on the exam: of the best policy by kind, and over the training."""
    rows = [{"player": kind, **mark.row} for kind in (RAW, SHIELDED) for mark in marks[kind]]
    over_steps = [(f"{r.steps:,}", f"{r.exam:.3f}") for r in history.results if r.exam is not None]
    return [
        "## The exam",
        "Positions of which the value of every move is known exactly (`boardenvs exam`): the share "
        "of moves that keep the win or the draw, with 95 % intervals, and the mean loss in discs "
        "where these count.",
        markdown_table(rows[0], [row.values() for row in rows]),
        "Over the training:",
        markdown_table(("steps", "exam share"), over_steps),
    ]
