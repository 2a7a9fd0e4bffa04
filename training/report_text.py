"""The report of a run as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from boardenvs.exams import Accuracy
from training.evaluation import RAW, SHIELDED, FinalEvaluation, SuiteResult
from training.history import History
from training.settings import RunSettings

_NUMBER = re.compile(r"[-\d.,e+]*")  # an empty cell too


def report_text(
    title: str,
    config: RunSettings,
    history: History,
    judged: FinalEvaluation,
    made_with: Mapping[str, str],
) -> str:
    """The whole of it; `made_with` is what the weights depend on beside the settings."""
    made, best = ", ".join(f"{k} {v}" for k, v in made_with.items()), history.best
    parts = [
        f"# {title}",
        f"{history.results[-1].steps:,} steps in {history.minutes:.1f} minutes of wall time and "
        f"{history.cpu_minutes:.1f} of CPU time, evaluations included. Made with {made}.",
        f"The policy with the best worst {_chosen_by(config, best)} is that of step "
        f"{best.steps:,}. "
        f"It is in `policy.npz` and plays as `policy:{Path('runs') / config.name / 'policy.npz'}`.",
        "![Scores over steps](learning_curve.png)",
        *_scores(config, judged),
        *_ratings(judged),
    ]
    if judged.exact[RAW]:
        parts += _exact(judged)
    if judged.exam:
        parts += _exam(judged.exam, history)
    parts += ["## The training", "![Metrics of the training](metrics.png)"]
    return "\n\n".join(parts) + "\n"


def _chosen_by(config: RunSettings, best: SuiteResult) -> str:
    if best.exact:
        return "share by the exact solution"
    return f"score on the evaluation suite ({', '.join(config.evaluation.opponents)})"


def _scores(config: RunSettings, judged: FinalEvaluation) -> list[str]:
    """The section on the games against the report's opponents."""
    rows = [
        (name, kind, f"{s.score:.3f}", f"{s.low:.3f} to {s.high:.3f}",
         f"{s.wins} / {s.draws} / {s.losses}", *(f"{x:.3f}" for x in s.by_role),
         str(s.wiped_out), f"{s.plies:.0f}")
        for name in config.report.opponents
        for kind, s in ((k, judged.scores[k][name]) for k in (RAW, SHIELDED))
    ]  # fmt: skip
    headings = (
        "opponent", "player", "score", "95 % interval", "won / drawn / lost",
        *(f"as {role}" for role in config.make_game().roles), "wiped out", "plies",
    )  # fmt: skip
    return [
        "## Against the report's opponents",
        f"{2 * config.report.pairs} games each, from openings that did not choose the policy; a "
        "draw counts ½. *Shielded* takes a win in one and avoids a loss in one. *Wiped out* are "
        "the games lost without a piece left.",
        _table(headings, rows),
    ]


def _ratings(judged: FinalEvaluation) -> list[str]:
    rows = [(name, f"{r.rating:.0f}", " to ".join(r.ends)) for name, r in judged.ratings.items()]
    is_bounded = all(None not in (r.low, r.high) for r in judged.ratings.values())
    unbounded = (
        "" if is_bounded else " Where one won or lost all, an end of its interval is open: ?."
    )
    return [
        "## Ratings",
        "Elo points from the games of all against all; random play is 0." + unbounded,
        "![Ratings](ratings.png)",
        _table(("player", "rating", "95 % interval"), rows),
    ]


def _exact(judged: FinalEvaluation) -> list[str]:
    """The section on the comparison with the exact solution."""
    rows = [
        (name, *(f"{judged.exact[kind][name]:.4g}" for kind in (RAW, SHIELDED)))
        for name in judged.exact[RAW]
    ]
    return [
        "## By the exact solution",
        "Of the positions that games can reach and a role has won: *keeps* is the share in "
        "which its move keeps the win, *only* the same where one move does, *punishes* the "
        "share of the other role's mistakes after which it wins against perfect play. *Leaks* "
        "counts the positions in which the winner of the start gives its win away, of all that "
        "any replies to its moves can lead to: at 0 it loses no line.",
        _table(("metric", "policy", "shielded"), rows),
    ]


def _exam(marks: dict[str, list[Accuracy]], history: History) -> list[str]:
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


def _table(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    names, cells = list(headings), [list(row) for row in rows]
    is_number = [all(_NUMBER.fullmatch(row[i]) for row in cells) for i in range(len(names))]
    lines = [names, ["---:" if right else "---" for right in is_number], *cells]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
