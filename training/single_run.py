"""Options and files that the trainings in one file share."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

import boardenvs
from boardenvs.agents.policy import Policy, PolicyAgent
from boardenvs.agents.policy_file import save_policy
from boardenvs.agents.spec import runs_code
from boardenvs.utils.checks import cut, unknown
from boardenvs.utils.decoding import decode, parse_json
from boardenvs.utils.files import is_unused, read_text, working_alone, write_atomically
from training.policies import keep_policy

# All that these runs write into their folders.
WRITTEN = (
    "settings.json",
    "metrics.json",
    "policy.npz",
    "checkpoint.npz",
    "checkpoint/*",
    "policies/*.npz",
)

OPPONENTS = ("random", "greedy")  # of evaluations

_MAY_BE_0 = ("seed", "pool", "runners", "learners", "cpus_per_runner", "gpus_per_learner")


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

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            least = int(isinstance(value, int) and name not in _MAY_BE_0)
            if isinstance(value, int | float) and not least <= value < 1 << 63:
                word = name.replace("_", "-")
                raise ValueError(f"--{word} is {value}: it must be {least} or more, below 2**63")


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
    trusted = "with --resume: run the code that the run's folder names or holds"
    parser.add_argument("--trust", action="store_true", help=trusted)
    return parser


@contextmanager
def begun(settings: type[Settings], given: dict[str, Any]) -> Iterator[tuple[Settings, Path]]:
    """Yield the settings of a run and its folder, which no other run has until the block ends; with
    "resume" the settings that the run has kept, which may name code only with "trust".

    ValueError if the folder has another run, or none to resume, or for wrong settings; OSError if
    it has links, or another process has it.
    """
    folder, resume, trust = Path("runs", given["name"]), given.pop("resume"), given.pop("trust")
    file = folder / "settings.json"

    def check() -> None:
        if not resume and not is_unused(folder, WRITTEN):
            raise ValueError(f"{folder} has a run: add --resume, or choose another --name")

    made = _kept(settings, file, trust) if resume else settings(**given)
    boardenvs.games.make(made.game)
    with working_alone(folder, WRITTEN, check):
        yield made, folder


def _kept(settings: type[Settings], file: Path, trust: bool) -> Settings:
    """The settings of a run in its file; ValueError if there is none, they are wrong or, without
    `trust`, name code.
    """
    if not file.exists():
        known = [str(path.parent) for path in file.parent.parent.glob("*/settings.json")]
        raise ValueError(unknown("run to resume", str(file.parent), known))
    try:
        made = decode(settings, parse_json(read_text(file)), "the settings")
    except ValueError as error:
        raise ValueError(f"{file} cannot be used: {error}") from None
    code = [text for text in (getattr(made, "opponent", ""),) if runs_code(text)]
    code += [made.game] if boardenvs.games.imports_code(made.game) else []
    if code and not trust:
        raise ValueError(
            f"{file} names code, which has not been imported: {cut(', '.join(code))}. If you trust "
            "its author, --trust imports it"
        )
    return made


def evaluate(
    policy: Policy,
    settings: SingleRunSettings,
    folder: Path,
    rows: Sequence[dict[str, float]],
    row: dict[str, float],
) -> list[dict[str, float]]:
    """Play against `OPPONENTS`; write settings.json, with which the folder has a run, metrics.json,
    policy.npz and its copy in policies/; print and return the rows with the new one.
    """
    for name in OPPONENTS:
        match = boardenvs.play_match(policy.game, PolicyAgent(policy), name, settings.pairs)
        row = {**row, f"score_{name}": match.score}
    rows = [*rows, row]
    print("  ".join(f"{name} {value:,.4g}" for name, value in row.items()), flush=True)
    folder.mkdir(parents=True, exist_ok=True)
    for file, values in (("settings.json", asdict(settings)), ("metrics.json", rows)):
        write_atomically(folder / file, json.dumps(values, indent=1).encode())
    save_policy(policy, folder / "policy.npz")
    keep_policy(folder, policy, int(row["steps"]))
    return rows
