"""The end of a run: the best policy against the report's opponents, and the report.

The policy plays as it will be used: read from its file, as it is and with the shield
(`boardenvs.agents.shield`). All players meet each other, so that ratings compare them.
"""

from __future__ import annotations

import itertools
import json
import math
import platform
import shlex
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from pydantic import BaseModel, Field
from rich.console import Console
from rich.progress import track

from boardenvs import games
from boardenvs.agents import Agent
from boardenvs.agents.policy import PolicyAgent
from boardenvs.agents.policy_file import load_policy
from boardenvs.agents.shield import Shield
from boardenvs.arena.match import MatchResult
from boardenvs.arena.ratings import rate
from boardenvs.games.notation import MoveNotation
from boardenvs.records.page import write_page
from boardenvs.records.recorder import record_match
from boardenvs.render.page import to_frame
from boardenvs.report import Document, ReportTable
from boardenvs.report.figures import BLUE, PALETTE, drawing, to_svg
from boardenvs.utils.files import write_atomically
from boardenvs.utils.version import version
from training.evaluation import Score, SuiteResult, play, score_of
from training.exact import examine
from training.run import REPORT_SEED, Run, write_csv
from training.run_settings import RunSettings, find_precision

RAW, SHIELDED, ANCHOR = "policy", "policy, shielded", "random"


class FinalEvaluation(BaseModel):
    """The best policy, RAW and SHIELDED, against the report's opponents."""

    scores: dict[str, dict[str, Score]]  # by opponent
    exact: dict[str, dict[str, float]]  # by metric
    ratings: dict[str, tuple[float, float, float]]  # Elo points and 95 % interval, strongest first
    samples: list[Any] = Field(default_factory=list, exclude=True)  # records, two by opponent


def write_report(run: Run, console: Console) -> None:
    """Judge the policy of a finished run, `policy.npz`; write and show the report."""
    folder, config = run.folder, run.config
    result = {
        "config": config.model_dump(mode="json"),
        "made_with": _made_with(config),
        "steps": run.steps,
        "minutes": run.minutes,
        "cpu_minutes": run.cpu_minutes,
        "best": run.best.model_dump(),
        "evaluations": [r.model_dump() for r in run.results],
    }
    found = evaluate_finally(config, folder / "policy.npz", console)
    if run.metrics:
        write_csv(folder / "metrics.csv", run.metrics)
    _document(run, found, result).write(folder)
    # The last file: if it is there, all others are.
    result["report"] = found.model_dump()
    write_atomically(folder / "result.json", json.dumps(result, indent=2).encode())
    console.print(_scores(config, found))
    command = ["python", "-m", "boardenvs", "play", games.spec_of(run.game)]
    command += ["--against", f"policy:{folder / 'policy.npz'}"]
    for line in (
        f"The report, with pictures and games to step through: {folder / 'report.html'}",
        f"To play against the policy: {shlex.join(command)}",
    ):
        console.print(line, soft_wrap=True, highlight=False)


def evaluate_finally(config: RunSettings, file: Path, console: Console) -> FinalEvaluation:
    """Play all matches between the policy, raw and shielded, and the report's opponents."""
    game, seed, policy = (
        config.make_game(),
        REPORT_SEED + config.seed,
        PolicyAgent(load_policy(file)),
    )
    agents: dict[str, Agent] = {RAW: policy, SHIELDED: Shield(policy)}
    opponents = dict.fromkeys((*config.report.opponents, ANCHOR))
    players: dict[str, object] = {**agents, **{name: name for name in opponents}}
    pairs = list(itertools.combinations(players, 2))
    results: dict[tuple[str, str], MatchResult] = {}
    for a, b in track(pairs, "the report's matches", console=console, transient=True):
        results[a, b] = play(game, config.report, players[a], players[b], seed)
    ratings = rate(list(players), {k: [r.pair_scores] for k, r in results.items()}, ANCHOR, seed)
    columns = zip(ratings.entrants, ratings.rating, ratings.low, ratings.high, strict=True)
    return FinalEvaluation(
        scores={
            kind: {name: score_of(results[kind, name]) for name in config.report.opponents}
            for kind in agents
        },
        exact={kind: examine(game, agent, seed) for kind, agent in agents.items()},
        ratings={name: (float(x), float(low), float(high)) for name, x, low, high in columns},
        samples=[
            record
            for name in config.report.opponents
            for record in record_match(game, results[RAW, name], (RAW, name))[:2]
        ],
    )


def _made_with(config: RunSettings) -> dict[str, str]:
    """Return what the weights depend on beside the settings."""
    versions = {name: version(name) or "from a checkout" for name in config.packages}
    here = {"python": platform.python_version(), "machine": platform.machine()}
    return versions | here | {"precision": find_precision()}


# ---- the report ----------------------------------------------------------------------------------


def _document(run: Run, found: FinalEvaluation, result: Mapping[str, Any]) -> Document:
    config, best = run.config, run.best
    document = Document(f"{config.name}: {games.spec_of(run.game)}, seed {config.seed}")
    made = ", ".join(f"{k} {v}" for k, v in result["made_with"].items())
    suite = ", ".join(config.evaluation.opponents)
    document.text(
        f"{result['steps']:,} steps in {result['minutes']:.1f} minutes of wall time and "
        f"{result['cpu_minutes']:.1f} of CPU time, evaluations included. Made with {made}. The "
        f"best policy is that of step {best.steps:,}, chosen by "
        + ("the exact solution." if best.exact else f"its worst score against {suite}.")
    )
    document.picture("learning_curve.svg", "Scores over steps", lambda: learning_curve(run.results))
    document.heading("Against the report's opponents")
    document.text(
        f"{2 * config.report.pairs} games each, on openings that did not choose the policy; a draw "
        "counts ½. *Shielded* takes a win in one and avoids a loss in one."
    )
    document.table(_scores(config, found))
    document.heading("Ratings")
    document.text("Elo points from the games of all against all; random play is 0.")
    document.table(
        ReportTable(
            [
                {"player": name, "rating": f"{x:.0f}", "95 % interval": f"{low:.0f} to {high:.0f}"}
                for name, (x, low, high) in found.ratings.items()
            ]
        )
    )
    if found.exact[RAW]:
        document.heading("By the exact solution")
        document.text(
            "Of all positions that games can reach and a role has won: *keeps* is the share in "
            "which its move keeps the win, *only* the same if just one move does, *punishes* the "
            "share of the other role's mistakes after which it beats perfect play. *Leaks* counts "
            "the positions in which the winner of the start gives its win away."
        )
        rows = [
            {"metric": name} | {kind: f"{found.exact[kind][name]:.4g}" for kind in found.exact}
            for name in found.exact[RAW]
        ]
        document.table(ReportTable(rows))
    document.heading("The training")
    document.picture("metrics.svg", "Metrics over steps", lambda: metrics_over_steps(run.metrics))
    document.html("<h2>Two games against each opponent</h2>")
    document.html(to_frame(write_page(found.samples, title="Games of the report")))
    settings = escape(yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False))
    document.html(f'<h2>Settings</h2><pre tabindex="0">{settings}</pre>')
    return document


def _scores(config: RunSettings, found: FinalEvaluation) -> ReportTable:
    sides = MoveNotation(config.make_game()).sides
    rows = [
        {
            "opponent": name,
            "player": kind,
            "score": f"{s.score:.3f}",
            "95 % interval": f"{s.low:.3f} to {s.high:.3f}",
            "won / drawn / lost": f"{s.wins} / {s.draws} / {s.losses}",
            **{f"as {side}": f"{x:.3f}" for side, x in zip(sides, s.by_role, strict=True)},
            "plies": f"{s.plies:.0f}",
        }
        for name in config.report.opponents
        for kind, s in ((kind, found.scores[kind][name]) for kind in (RAW, SHIELDED))
    ]
    title = (
        f"The best policy on new openings, {2 * config.report.pairs} games against each opponent"
    )
    return ReportTable(rows, title)


# ---- pictures ------------------------------------------------------------------------------------


def learning_curve(results: Sequence[SuiteResult]) -> bytes:
    """Draw the scores against each opponent over steps, with their 95 % intervals, as SVG."""
    with drawing(9, 4) as figure:
        axes = figure.subplots()
        steps = [r.steps for r in results]
        for colour, name in zip(itertools.cycle(PALETTE), results[0].scores):
            found = [r.scores[name] for r in results]
            low, scores, high = np.array([(s.low, s.score, s.high) for s in found]).T
            axes.fill_between(steps, low, high, color=colour, alpha=0.2, linewidth=0)
            axes.plot(steps, scores, "o-", ms=3, color=colour, label=name)
        axes.set(xlabel="steps", ylabel="score (win 1, draw ½)", ylim=(None, 1.02))
        axes.legend()
        return to_svg(figure)


def metrics_over_steps(metrics: Sequence[Mapping[str, float]]) -> bytes:
    """Draw each metric of the training over steps, as SVG."""
    names = [name for name in metrics[0] if name not in ("steps", "train/learning_rate")]
    rows = math.ceil(len(names) / 3)
    steps = [row["steps"] for row in metrics]
    with drawing(9, 1.8 * rows) as figure:
        grid = figure.subplots(rows, 3, sharex=True, squeeze=False)
        for axes, name in itertools.zip_longest(grid.flat, names):
            if name is None:
                axes.set_visible(False)
                continue
            axes.plot(steps, [row[name] for row in metrics], color=BLUE, lw=1)
            axes.set_title(name, fontsize=9)
            axes.tick_params(labelsize=8)
        return to_svg(figure)
