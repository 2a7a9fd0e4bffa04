"""Options and files that the trainings in one file share."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

import boardenvs
from boardenvs.agents.policy import Policy, PolicyAgent
from boardenvs.agents.policy_file import save_policy
from boardenvs.utils.checks import unknown
from boardenvs.utils.files import write_atomically

OPPONENTS = ("random", "greedy")  # of evaluations


def option(default: Any, meaning: str) -> Any:
    """A field of a dataclass of settings, with its help text."""
    return field(default=default, metadata={"help": meaning})


@dataclass(frozen=True)
class SingleRunSettings:
    """The options that these trainings share; each adds its own."""

    game: str = option("othello", "any game of boardenvs, or MODULE:NAME")
    steps_per_update: int = option(32, "moves in each game between two updates")
    learning_rate: float = option(2e-3, "of Adam, at the start")
    final_learning_rate: float = option(1e-4, "at the end, falling linearly")
    gae_lambda: float = option(0.9, "how far advantages look ahead")
    epochs: int = option(2, "how often each move is learnt from")
    pairs: int = option(100, "openings of an evaluation, each played from both sides")


Settings = TypeVar("Settings", bound=SingleRunSettings)


def parser_of(
    settings: type[SingleRunSettings], module: str, description: str
) -> argparse.ArgumentParser:
    """A parser of a command with an option for each field of `settings`, and --resume."""
    formatter = argparse.ArgumentDefaultsHelpFormatter
    parser = argparse.ArgumentParser(
        f"python -m {module}", None, description, formatter_class=formatter
    )
    for setting in fields(settings):
        default: Any = setting.default
        one, nargs = (default[0], "+") if isinstance(default, tuple) else (default, None)
        name, meaning = setting.name.replace("_", "-"), setting.metadata["help"]
        parser.add_argument(f"--{name}", type=type(one), nargs=nargs, default=default, help=meaning)
    parser.add_argument("--resume", action="store_true", help="go on with the run as it was begun")
    return parser


def begun(settings: type[Settings], given: dict[str, Any]) -> tuple[Settings, Path]:
    """The settings of a run and its folder; with "resume" those that the run has kept.

    ValueError if the folder has another run, or none to resume, or for wrong settings.
    """
    folder, resume = Path("runs", given["name"]), given.pop("resume")
    file = folder / "settings.json"
    if resume and not file.exists():
        known = [str(path.parent) for path in folder.parent.glob("*/settings.json")]
        raise ValueError(unknown("run to resume", str(folder), known))
    if file.exists() and not resume:
        raise ValueError(f"{folder} has a run: add --resume, or choose another --name")
    made = settings(**json.loads(file.read_text()) if resume else given)
    boardenvs.games.make(made.game)
    return made, folder


def evaluate(
    policy: Policy,
    settings: SingleRunSettings,
    folder: Path,
    rows: Sequence[dict[str, float]],
    row: dict[str, float],
) -> list[dict[str, float]]:
    """Play against `OPPONENTS`; write policy.npz, metrics.json and settings.json, with which the
    folder has a run; print and return the rows with the new one.
    """
    for name in OPPONENTS:
        match = boardenvs.play_match(policy.game, PolicyAgent(policy), name, settings.pairs)
        row = {**row, f"score_{name}": match.score}
    rows = [*rows, row]
    print("  ".join(f"{name} {value:,.4g}" for name, value in row.items()), flush=True)
    folder.mkdir(parents=True, exist_ok=True)
    save_policy(policy, folder / "policy.npz")
    for file, values in (("metrics.json", rows), ("settings.json", asdict(settings))):
        write_atomically(folder / file, json.dumps(values, indent=1).encode())
    return rows
