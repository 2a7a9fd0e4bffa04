"""The settings of all trainings: those of the project, and what is said of wrong ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("pydantic")

import yaml

from boardenvs.games import make
from training import ppo
from training.command import read_settings
from training.config import Config
from training.gumbel.settings import GumbelConfig
from training.ntuple.settings import NTupleConfig
from training.settings import ConfigError, GameSettings

CONFIGS = Path(__file__).resolve().parents[1] / "configs"
KINDS: dict[str, type[GameSettings]] = {
    "ppo": Config, "gumbel": GumbelConfig, "ntuple": NTupleConfig,
}  # fmt: skip
SMALL: dict[str, dict[str, Any]] = {
    "ppo": {
        "game": "othello",
        "steps": 6000,
        "self_play": {
            "boards": 32,
            "opponents": {"alphabeta:depth=1": 0.25},
            "pool": {"share": 0.25, "at_once": 2},
        },
        "ppo": {"hidden": [32], "steps_per_update": 32, "batch_size": 256},
    },
    "gumbel": {
        "game": "othello",
        "steps": 512,
        "self_play": {"boards": 8},
        "learning": {"hidden": [16], "replay": 512, "batch_size": 32},
    },
    "ntuple": {
        "game": "othello",
        "tuples": ["a1 b1"],
        "generations": [{"games": 1}],
        "one_ply": {"rounds": 8},
    },
}
OF_FOLDERS = {"ppo": "", "gumbel": "gumbel", "ntuple": "ntuple"}


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        (kind, path)
        for kind, folder in OF_FOLDERS.items()
        for path in sorted((CONFIGS / folder).glob("*.yaml"))
    ],
    ids=lambda x: x.stem if isinstance(x, Path) else x,
)
def test_configurations_that_come_with_the_project_are_valid(kind: str, path: Path) -> None:
    read_settings(KINDS[kind], path)


def read(folder: Path, kind: str, *overrides: str) -> Any:
    """Those of `SMALL`, changed."""
    path = folder / "small.yaml"
    path.write_text(yaml.safe_dump(SMALL[kind]))
    config = read_settings(KINDS[kind], path, overrides)
    config.check_machine()
    return config


@pytest.mark.parametrize(
    ("kind", "override", "message"),
    [
        ("ppo", *case)
        for case in [
            ("ppo.learning_rat=1", "ppo.learning_rat: unknown setting.*Did you mean 'learning_rat"),
            ("gam=othello", "gam: unknown setting 'gam'. Did you mean 'game'"),
            ("game=otello", "game is 'otello': unknown game 'otello'. Did you mean 'othello'"),
            ("game='othello:hole=3'", "game is 'othello:hole=3': unknown parameter"),
            ("rules={hole: 3}", "unknown parameter of othello 'hole'. Did you mean 'holes'"),
            ("ppo.epochs=many", "ppo.epochs is 'many': .*valid integer"),
            ("ppo.gae_lambda=1.5", "ppo.gae_lambda is 1.5: .*less than or equal to 1"),
            ("steps=0", "steps is 0: .*greater than 0"),
            (f"steps={10**400}", "steps is 1000.*0000: .*less than or equal to 1000000000000000"),
            (f"self_play.boards={10**400}", "boards is 1000.*less than or equal to 16777216"),
            ("ppo.learning_rate=.inf", "ppo.learning_rate is inf: .*finite"),
            ("evaluation.opening_plies=[0, 1001]", "less than or equal to 1000"),
            ("self_play.opening_plies=[9, 3]", r"opening_plies is \[9, 3\]: .*range"),
            ("evaluation.opponents=[greddy]", "evaluation.opponents: .*Did you mean 'greedy'"),
            ("evaluation.opponents=[random, random]", "named twice"),
            ("ppo.batch_size=100", "ppo.batch_size is 100: it must divide"),
            ("precision=half", "precision is 'half'"),
            ("self_play.opponents={greddy: 0.1}", "self_play.opponents: .*Did you mean 'greedy'"),
            ("self_play.opponents={greedy: 2}", "less than or equal to 1"),
            ("self_play.opponents={positional: 0.001}", "positional is 0.001: of 32 boards that"),
            (
                "self_play={threads: 2, opponents: {'python:random:Random': 0.5}}",
                "threads is 2, and 'python:random:Random' may take its chance",
            ),
            ("self_play.pool.share=0.8", "add up to more than 1"),
            ("self_play.learn=wolf", "unknown self_play.learn 'wolf'"),
            ("self_play.learn=black", "learn is 'black', and 16 of 32 boards have no opponent"),
            ("report.opponents=['alphabeta:depth=1']", "which self_play.opponents has too"),
            ("report.opponents=[perfect]", "report.opponents: 'perfect' cannot play othello"),
            ("name=../x", "name is '../x'"),
            ("ppo.hidden=[64, 1000000]", r"\d+ weights and biases: at most 16777216 are read"),
            ("steps.x=1", "steps is not a group"),
            ("steps", "write it as key=value"),
        ]
    ]
    + [
        ("gumbel", *case)
        for case in [
            ("self_play.pool={share: .5, at_once: 1}", "both roles are learnt"),
            ("learning.replay=100", "learning.replay is 100: it must be 512 or more"),
            ("start=trained", r"start is 'trained', with layers of"),
            ("start=none.npz", "none.npz"),
            ("search.simulations=0", "search.simulations is 0"),
            ("search.judge={evaluation: none.npz}", "none.npz"),
            ("device=cuda:99", "device is 'cuda:99': torch has"),
        ]
    ]
    + [
        ("ntuple", *case)
        for case in [
            ("tuples=[a1 a9]", "a9"),
            ("tuples=[a1 a1]", "is not a tuple"),
            ("tuples=[]", "tuples and blocks come to 0"),
            ("features=true", "features is true, and othello has none"),
            ("blocks=[3x9]", "3x9"),
            ("pieces=[9, 3]", r"pieces is \[9, 3\]: it must be a range"),
            ("generations=[]", "generations"),
            ("generations=[{games: 1, opening_plies: [4, 2]}]", "it must be a range"),
            ("generations=[{games: 1, dept: 2}]", "0.dept: unknown.*Did you mean 'depth'"),
            ("one_ply={round: 2}", "one_ply.round: unknown.*Did you mean 'rounds'"),
            ("generations=[{games: 1, targets: {depth: 1}}]", "the first generation has no eval"),
            ("generations=[{games: 1, random_move_share: 0.5}]", "it needs targets"),
            ("one_ply={rounds: 2, averaged: 3}", "averaged is 3, and rounds 2"),
            ("heuristic=true", "one_ply is set, and heuristic is true"),
            ("game=wolf", "game"),
            ("report.opponents=[nobody]", "nobody"),
        ]
    ],
)
def test_wrong_settings_are_named(tmp_path: Path, kind: str, override: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        read(tmp_path, kind, override)


def test_a_game_may_be_named_with_its_parameters(tmp_path: Path) -> None:
    config = read(tmp_path, "ppo", "game=lines_of_action:rules=described,max_steps=12")
    assert config.make_game() == make("lines_of_action", rules="described", max_steps=12)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("game: [othello", "is not YAML"),
        ("othello", "holds no settings"),
        ("game: othello", "steps is missing"),
        (None, "Did you mean"),
    ],
)
def test_a_bad_file_ends_with_code_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str | None, message: str
) -> None:
    (tmp_path / "tiny.yaml").touch()
    if text is not None:
        (tmp_path / "tinny.yaml").write_text(text)
    assert ppo.main([str(tmp_path / "tinny.yaml")]) == 2
    assert message in capsys.readouterr().err
