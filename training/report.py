"""The end of a run: the best policy against the report's opponents, and the report.

The policy plays as it will be used: read from its file, as it is and with the shield
(`boardenvs.agents.shield`).
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, Field
from rich.console import Console

from boardenvs import games
from boardenvs.agents import Agent
from boardenvs.agents.policy import PolicyAgent
from boardenvs.agents.policy_file import load_policy
from boardenvs.agents.shield import Shield
from boardenvs.arena.recorder import record_match
from boardenvs.records.page import write_page
from boardenvs.render.page import to_frame
from boardenvs.report import Document, ReportTable
from boardenvs.report.figures import FAINT, PALETTE, drawing, to_svg
from boardenvs.utils.console import counting, python_command
from boardenvs.utils.files import write_atomically
from boardenvs.utils.version import version
from training.evaluation import Score, SuiteResult, play, score_of
from training.exact import examine
from training.run import LINES_EVERY, REPORT_SEED, Run
from training.run_settings import RunSettings, find_device, find_precision

RAW, SHIELDED = "policy", "policy, shielded"

# The weights depend on these beside the settings.
PACKAGES = ("boardenvs", "numpy", "torch", "stable-baselines3", "sb3-contrib")


class FinalEvaluation(BaseModel):
    """The best policy, RAW and SHIELDED, against the report's opponents."""

    scores: dict[str, dict[str, Score]]  # by opponent
    exact: dict[str, dict[str, float]]  # by metric
    samples: list[Any] = Field(default_factory=list, exclude=True)  # records, two by opponent


def write_report(run: Run, console: Console) -> None:
    """Judge the policy of a finished run, `policy.npz`; write and show the report."""
    folder, config = run.folder, run.config
    final = evaluate_finally(config, folder / "policy.npz", console)
    wall, cpu = run.minutes
    result = {
        "config": config.model_dump(mode="json"),
        "made_with": {
            **{name: version(name) or "from a checkout" for name in PACKAGES},
            "precision": find_precision(find_device(config.device)),
        },
        "steps": run.steps,
        "minutes": wall,
        "cpu_minutes": cpu,
        "best": run.best.model_dump(),
        "evaluations": [r.model_dump() for r in run.results],
        "report": final.model_dump(),
    }
    _document(run, final, result).write(folder)
    # The last file: if it is there, all others are.
    write_atomically(folder / "result.json", json.dumps(result, indent=2).encode())
    console.print(_scores(config, final))
    console.print(
        f"The report, with the learning curve and games to step through: {folder / 'report.html'}\n"
        f"{_next_steps(run)}",
        soft_wrap=True,
        highlight=False,
    )


def _next_steps(run: Run) -> str:
    """Return what can be done with the policy, and the commands, as Markdown."""
    game, policy = games.spec_of(run.game), f"policy:{run.folder / 'policy.npz'}"
    play = python_command("boardenvs", "play", game, "--against", policy)
    return (
        f"To play against the policy:\n\n    {play}\n\n"
        f"On a page, which shows the run too:\n\n    {python_command('boardenvs', 'web')}"
    )


def evaluate_finally(config: RunSettings, file: Path, console: Console) -> FinalEvaluation:
    """Return the results of the policy, raw and shielded, against the report's opponents."""
    game, seed = config.make_game(), REPORT_SEED + config.seed
    policy = PolicyAgent(load_policy(file))
    agents: dict[str, Agent] = {RAW: policy, SHIELDED: Shield(policy)}
    final = FinalEvaluation(
        scores={kind: {} for kind in agents},
        exact={kind: examine(game, agent, seed) for kind, agent in agents.items()},
    )
    pairs = [(kind, name) for kind in agents for name in config.report.opponents]
    with counting("matches of the report", LINES_EVERY, console) as show:
        for played, (kind, name) in enumerate(pairs):
            show(played, len(pairs))
            result = play(game, config.report, agents[kind], name, seed)
            final.scores[kind][name] = score_of(result)
            if kind == RAW:
                final.samples += record_match(game, result, (RAW, name))[:2]
    return final


# ---- the report ----------------------------------------------------------------------------------


def _document(run: Run, final: FinalEvaluation, result: Mapping[str, Any]) -> Document:
    config, best = run.config, run.best
    document = Document(f"{config.name}: {games.spec_of(run.game)}, seed {config.seed}")
    made = ", ".join(f"{k} {v}" for k, v in result["made_with"].items())
    suite = ", ".join(config.evaluation.opponents)
    document.text(
        f"{run.steps:,} steps in {result['minutes']:.1f} minutes of wall time and "
        f"{result['cpu_minutes']:.1f} of CPU time, evaluations included. Made with {made}. The "
        f"best policy is that of step {best.steps:,}, chosen by "
        + ("the exact solution." if best.exact else f"its worst score against {suite}.")
    )
    document.picture(
        "learning_curve.svg",
        "Scores over steps",
        lambda: draw_learning_curve(run.results, best.steps),
    )
    document.heading("Against the report's opponents")
    document.text(
        f"{2 * config.report.pairs} games each, on openings that did not choose the policy; a draw "
        "counts ½. *Shielded* takes a win in one and avoids a loss in one."
    )
    document.table(_scores(config, final))
    if final.exact[RAW]:
        document.heading("By the exact solution")
        document.text(
            "Of all positions that games can reach and a role has won, the share in which its move "
            "keeps the win."
        )
        rows = [
            {"metric": name} | {kind: f"{final.exact[kind][name]:.4g}" for kind in final.exact}
            for name in final.exact[RAW]
        ]
        document.table(ReportTable(rows))
    document.heading("What to do next")
    document.text(_next_steps(run))
    document.html("<h2>Two games against each opponent</h2>")
    document.html(to_frame(write_page(final.samples, title="Games of the report")))
    return document


def _scores(config: RunSettings, final: FinalEvaluation) -> ReportTable:
    rows = [
        {
            "opponent": name,
            "player": kind,
            "score": f"{s.score:.3f}",
            "95 % interval": f"{s.low:.3f} to {s.high:.3f}",
            "won / drawn / lost": f"{s.wins} / {s.draws} / {s.losses}",
        }
        for name in config.report.opponents
        for kind in (RAW, SHIELDED)
        for s in [final.scores[kind][name]]
    ]
    return ReportTable(
        rows,
        f"The best policy on new openings, {2 * config.report.pairs} games against each opponent",
    )


def draw_learning_curve(results: Sequence[SuiteResult], best: int) -> bytes:
    """Return an SVG: the score against each opponent over steps, with its 95 % interval; a line
    marks the step of the best policy.
    """
    with drawing(9, 3.6) as figure:
        axes = figure.subplots()
        steps = [result.steps / 1e6 for result in results]
        axes.axvline(best / 1e6, color=FAINT, linestyle=":", label="the best policy")
        for name, colour in zip(results[0].scores, itertools.cycle(PALETTE)):
            scores = [result.scores[name] for result in results]
            low, middle, high = np.array([(s.low, s.score, s.high) for s in scores]).T
            axes.fill_between(steps, low, high, color=colour, alpha=0.2, linewidth=0)
            axes.plot(steps, middle, "o-", markersize=4, color=colour, label=name)
        axes.set(xlabel="million steps", ylabel="score (win 1, draw ½)", ylim=(None, 1.01))
        figure.legend(loc="outside right upper")
        return to_svg(figure, "Score by opponent, with 95 % intervals")
