"""What came of a run: the best policy judged, and everything told in files for people and programs.

The policy is judged as it will be used: read back from its file, as it is and with the shield
(`boardenvs.agents.shield`). It meets the report's opponents, which it did not learn from, in games
from openings that did not choose it. All meet one another too, and the arena's ratings say in one
number how strong each is: 0 is random play.
"""

from __future__ import annotations

import csv
import html
import io
import itertools
import json
import platform
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field
from rich.console import Console
from rich.progress import track
from rich.table import Table

from boardenvs import games
from boardenvs.agents import Agent, make_agent
from boardenvs.agents.policy import PolicyAgent
from boardenvs.agents.policy_file import load_policy
from boardenvs.agents.shield import Shield
from boardenvs.arena.tournament.ratings import rate
from boardenvs.exams import Mark
from boardenvs.records.page import write_page
from boardenvs.records.recorder import record_match
from boardenvs.render.page import to_frame
from boardenvs.utils.files import write_atomically
from boardenvs.utils.html import report_page
from training.exact import examine
from training.history import REPORT_SEED, History
from training.panel import PanelResult, Score, exam, match, score_of
from training.plots import figures_over_steps, learning_curve, rating_scale
from training.precision import find_precision, processor
from training.settings import RunSettings

RAW, SHIELDED, ANCHOR = "policy", "policy, shielded", "random"


class Rating(BaseModel):
    """A rating in Elo points and its 95 % interval; None where the games give no end."""

    rating: float
    low: float | None
    high: float | None


class Judgement(BaseModel):
    """The best policy against the report's opponents."""

    scores: dict[str, dict[str, Score]]  # of RAW and SHIELDED, by opponent
    exact: dict[str, dict[str, float]]  # of RAW and SHIELDED, by figure
    ratings: dict[str, Rating]  # of all entrants, the strongest first
    exam: dict[str, list[Mark]] = {}  # of RAW and SHIELDED; empty for a game without an exam
    samples: list[Any] = Field(default_factory=list, exclude=True)  # records: two by opponent


def judge(config: RunSettings, file: Path, seed: int, console: Console) -> Judgement:
    """Play all matches between the policy in the file, raw and shielded, and the opponents."""
    game = config.make_game()
    policy = PolicyAgent(load_policy(file))
    entrants: dict[str, Agent] = {RAW: policy, SHIELDED: Shield(policy)}
    entrants |= {spec: make_agent(spec) for spec in (*config.report.opponents, ANCHOR)}
    pairings = list(itertools.combinations(entrants, 2))
    results = {
        (a, b): match(game, entrants[a], entrants[b], config.report, seed)
        for a, b in track(pairings, "the report's matches", console=console, transient=True)
    }
    ratings = rate(list(entrants), {k: [r.pair_scores] for k, r in results.items()}, ANCHOR, seed)
    columns = (ratings.entrants, ratings.rating, ratings.low, ratings.high)
    return Judgement(
        scores={
            kind: {spec: score_of(game, results[kind, spec]) for spec in config.report.opponents}
            for kind in (RAW, SHIELDED)
        },
        exact={k: examine(game, entrants[k], seed) for k in (RAW, SHIELDED)},
        exam={
            kind: list(marked.marks)
            for kind in (RAW, SHIELDED)
            if (marked := exam(game, entrants[kind], seed)) is not None
        },
        ratings={
            name: Rating(rating=value, low=_finite(low), high=_finite(high))
            for name, value, low, high in zip(*columns, strict=True)
        },
        samples=[
            record
            for spec in config.report.opponents
            for record in record_match(game, results[RAW, spec], (RAW, spec))[:2]
        ],
    )


def conclude(folder: Path, config: RunSettings, history: History, console: Console) -> None:
    """Judge the policy of a run that has ended, its `policy.npz`; write and show the report."""
    history.stop_clocks()
    judgement = judge(config, folder / "policy.npz", REPORT_SEED + config.seed, console)
    write_report(folder, config, history, judgement)
    console.print(summary(folder, config, history.best, judgement))


def write_report(folder: Path, config: RunSettings, history: History, judgement: Judgement) -> None:
    """Write the files of a finished run; README.md in this folder says what each is."""
    results, best, figures = history.results, history.best, history.figures
    title = f"{config.name}: {games.spec_of(config.make_game())}, seed {config.seed}"
    result = {
        "config": config.model_dump(mode="json"),
        "made_with": _made_with(config),
        "steps": results[-1].steps,
        "minutes": history.minutes,
        "cpu_minutes": history.cpu_minutes,
        "best": best.model_dump(),
        "report": judgement.model_dump(),
        "evaluations": [r.model_dump() for r in results],
    }
    raw, shielded = (judgement.scores[kind] for kind in (RAW, SHIELDED))
    ratings = {n: (r.rating, r.low, r.high) for n, r in judgement.ratings.items()}
    write_atomically(
        folder / "learning_curve.png", learning_curve(title, results, best, raw, shielded)
    )
    write_atomically(folder / "ratings.png", rating_scale(title, ratings, (RAW, SHIELDED)))
    if figures:
        write_atomically(folder / "figures.png", figures_over_steps(title, figures))
        write_atomically(folder / "figures.csv", _csv(figures))
    report = _page(title, config, history, judgement)
    write_atomically(folder / "report.md", report.encode())
    write_atomically(folder / "report.html", _html(report, folder, config, judgement).encode())
    # The last file: where it is, all others are.
    write_atomically(folder / "result.json", json.dumps(result, indent=2).encode())


def _html(report: str, folder: Path, config: RunSettings, judgement: Judgement) -> str:
    """The report with its pictures, games to step through and settings in it."""
    extra = []
    if judgement.samples:
        page = write_page(judgement.samples, title="Games of the report")
        extra += ["<h2>Two games against each opponent</h2>", to_frame(page)]
    settings = html.escape(json.dumps(config.model_dump(mode="json"), indent=1))
    extra += ["<h2>Settings</h2>", f"<pre>{settings}</pre>"]
    return report_page(report, folder, extra)


def summary(folder: Path, config: RunSettings, best: PanelResult, judgement: Judgement) -> Table:
    """The judgement as a table for the terminal."""
    table = Table(
        title=f"The best policy, of step {best.steps:,}, over {2 * config.report.pairs} games an "
        f"opponent on new openings",
        caption=f"rated {_rating(judgement.ratings[RAW])}, shielded "
        f"{_rating(judgement.ratings[SHIELDED])} (random is 0); all in {folder}/report.md",
    )
    for heading in ("opponent", "score", "95 % interval", "won", "drawn", "lost", "shielded"):
        table.add_column(heading, justify="left" if heading == "opponent" else "right")
    for name, s in judgement.scores[RAW].items():
        interval = f"{s.low:.3f} to {s.high:.3f}"
        shielded = f"{judgement.scores[SHIELDED][name].score:.3f}"
        counts = (str(s.wins), str(s.draws), str(s.losses))
        table.add_row(name, f"{s.score:.3f}", interval, *counts, shielded)
    return table


def _page(title: str, config: RunSettings, history: History, judged: Judgement) -> str:
    game = config.make_game()
    made = ", ".join(f"{k} {v}" for k, v in _made_with(config).items())
    games_each = 2 * config.report.pairs
    rows = [
        (name, kind, f"{s.score:.3f}", f"{s.low:.3f} to {s.high:.3f}",
         f"{s.wins} / {s.draws} / {s.losses}", *(f"{x:.3f}" for x in s.by_role),
         str(s.wiped_out), f"{s.plies:.0f}")
        for name in config.report.opponents
        for kind, s in ((k, judged.scores[k][name]) for k in (RAW, SHIELDED))
    ]  # fmt: skip
    headings = (
        "opponent", "player", "score", "95 % interval", "won / drawn / lost",
        *(f"as {role}" for role in game.roles), "wiped out", "plies",
    )  # fmt: skip
    ratings = [
        (name, f"{r.rating:.0f}", f"{_end(r.low)} to {_end(r.high)}")
        for name, r in judged.ratings.items()
    ]
    exact = [
        (name, *(f"{judged.exact[kind][name]:.4g}" for kind in (RAW, SHIELDED)))
        for name in judged.exact[RAW]
    ]
    parts = [
        f"# {title}",
        f"{history.results[-1].steps:,} steps in {history.minutes:.1f} minutes of wall time and "
        f"{history.cpu_minutes:.1f} of CPU time, evaluations included. Made with {made}.",
        f"The policy with the best worst {_chosen_by(config, history.best)} is that of step "
        f"{history.best.steps:,}. "
        f"It is in `policy.npz` and plays as `policy:{Path('runs') / config.name / 'policy.npz'}`.",
        "![Scores over steps](learning_curve.png)",
        "## Against the report's opponents",
        f"{games_each} games each, from openings that did not choose the policy; a draw counts ½. "
        "*Shielded* takes a win in one and avoids a loss in one. *Wiped out* are the games lost "
        "without a piece left.",
        _table(headings, rows),
        "## Ratings",
        "Elo points from the games of all against all; random play is 0.",
        "![Ratings](ratings.png)",
        _table(("player", "rating", "95 % interval"), ratings),
    ]
    if exact:
        parts += [
            "## By the exact solution",
            "Of the positions that games can reach and a role has won: *keeps* is the share in "
            "which its move keeps the win, *only* the same where one move does, *punishes* the "
            "share of the other role's mistakes after which it wins against perfect play. *Leaks* "
            "counts the positions in which the winner of the start gives its win away, of all that "
            "any replies to its moves can lead to: at 0 it loses no line.",
            _table(("figure", "policy", "shielded"), exact),
        ]
    if judged.exam:
        parts += _exam(judged.exam, history)
    parts += ["## The training", "![Figures of the training](figures.png)"]
    return "\n\n".join(parts) + "\n"


def _exam(marks: dict[str, list[Mark]], history: History) -> list[str]:
    """The section on the exam: of the best policy by kind, and over the training."""
    rows = [
        (
            raw.kind,
            str(raw.positions),
            *(f"{m.kept:.3f} [{m.low:.3f}, {m.high:.3f}]" for m in (raw, shielded)),
            *("" if m.loss is None else f"{m.loss:.2f}" for m in (raw, shielded)),
        )
        for raw, shielded in zip(marks[RAW], marks[SHIELDED], strict=True)
    ]
    headings = (
        "kind", "positions", "policy keeps", "shielded keeps", "policy loses, discs",
        "shielded loses, discs",
    )  # fmt: skip
    over_steps = [(f"{r.steps:,}", f"{r.exam:.3f}") for r in history.results if r.exam is not None]
    return [
        "## The exam",
        "Positions of which the value of every move is known exactly (`boardenvs exam`): the share "
        "of moves that keep the win or the draw, with 95 % intervals, and the mean loss in discs "
        "where these count.",
        _table(headings, rows),
        "Over the training:",
        _table(("steps", "exam share"), over_steps),
    ]


def _chosen_by(config: RunSettings, best: PanelResult) -> str:
    if best.exact:
        return "share by the exact solution"
    return f"score on the selection panel ({', '.join(config.evaluation.opponents)})"


def _table(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [list(headings)]
    lines += [["---"] * len(lines[0]), *(list(row) for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


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


def _rating(r: Rating) -> str:
    return f"{r.rating:.0f} [{_end(r.low)}, {_end(r.high)}]"


def _end(value: float | None) -> str:
    return "?" if value is None else f"{value:.0f}"


def _finite(value: float) -> float | None:
    return float(value) if abs(value) < float("inf") else None
