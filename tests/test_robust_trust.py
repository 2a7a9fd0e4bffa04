"""SECURITY.md: what strangers' files can do, each row of its table by a file that tries."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import pickle
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch as th
import yaml
from command_line import invoke

from boardenvs.agents import trained
from boardenvs.arena import make_settings
from boardenvs.arena.settings import resumed_settings
from boardenvs.utils.checks import quote
from training import checkpoint, ppo
from training.config import Config
from training.settings import ConfigError, read_settings

PAGE = Path(__file__).parent.parent / "SECURITY.md"

# Whatever is imported or unpickled leaves this file.
MARK = Path("executed")
PLANTED = """
from pathlib import Path
Path("executed").touch()
from three_in_a_row import ThreeInARow as Game
def player(observation): return int(observation["action_mask"].argmax())
"""


class Planted:
    """What runs code when it is unpickled."""

    def __reduce__(self) -> Any:
        return os.mkdir, (str(MARK),)


@pytest.fixture(autouse=True)
def _folder(in_python: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    Path("planted.py").write_text(PLANTED)
    yield
    sys.modules.pop("planted", None)


def run(*words: object) -> tuple[int, str]:
    result = invoke(*words)
    return result.exit_code, result.output


def open_records() -> Iterator[tuple[int, str]]:
    record = {"version": 1, "game": "planted:Game", "actions": ""}
    Path("a.jsonl").write_text(json.dumps(record))
    yield run("replay", "a.jsonl")
    Path("a.wtb").write_bytes(pickle.dumps(Planted()))
    yield run("replay", "a.wtb")
    Path("a.txt").write_text("planted:Game\n")
    yield run("replay", "a.txt")


def open_policies() -> Iterator[tuple[int, str]]:
    content = dict(np.load(trained.FOLDER / "othello.npz"))
    about = json.loads(str(content["metadata"]))
    for change in ({"metadata": json.dumps({**about, "game": "planted:Game"})},
                   {"bias_0": np.array([Planted()], object)},
                   {"metadata": np.array([Planted()], object)}):  # fmt: skip
        np.savez(Path("a.npz"), **{**content, **change})
        yield run("match", "othello", "policy:a.npz", "random", "--pairs", 1)


def open_positions() -> Iterator[tuple[int, str]]:
    Path("a.txt").write_text("planted:Game black\n")
    yield run("solve", "othello", "--file", "a.txt")
    yield run("solve", "othello", "--position", "python:planted:player black 0")


def journal(**change: Any) -> None:
    Path("arena").mkdir(exist_ok=True)
    settings = make_settings(["random", "greedy"], ["reversi"], pairs=1).to_json()
    Path("arena/journal.jsonl").write_text(json.dumps({**settings, **change}) + "\n")


def open_journals() -> Iterator[tuple[int, str]]:
    for change in ({"entrants": ["random", "python:planted:player"]},
                   {"opening_plies": {"planted:Game": [0, 2]}}):  # fmt: skip
        journal(**change)
        yield run("arena", "--resume", "--out", "arena", "--workers", 1)


SETTINGS: list[dict[str, Any]] = [
    {"game": "planted:Game"},
    {"game": "planted:Game:x=1"},
    {"game": "reversi", "callbacks": {"planted:Game": {}}},
    {"game": "reversi", "self_play": {"opponents": {"python:planted:player": 0.5}}},
    {"game": "reversi", "self_play": {"openings": {"python:planted:player": 0.5}}},
    {"game": "reversi", "evaluation": {"opponents": ["python:planted:player"]}},
    {"game": "reversi", "report": {"opponents": ["python:planted:player"]}},
]


def open_settings() -> Iterator[tuple[int, str]]:
    for settings in SETTINGS:
        Path("a.yaml").write_text(yaml.safe_dump({"steps": 1, **settings}))
        yield ppo.main(["a.yaml"]), "code"
    Path("a.yaml").write_text("game: !!python/object/apply:os.mkdir [executed]\nsteps: 1\n")
    yield ppo.main(["a.yaml"]), ""


def open_checkpoints() -> Iterator[tuple[int, str]]:
    config = {"game": "reversi", "steps": 1}
    Path("a.yaml").write_text(yaml.safe_dump(config))
    Path("runs/a/checkpoints").mkdir(parents=True)
    Path("runs/a/config.yaml").write_text(yaml.safe_dump(config))
    payload = io.BytesIO()
    th.save({"config": Planted()}, payload)
    for content in (payload.getvalue(), pickle.dumps(Planted())):
        whole = checkpoint._MAGIC + hashlib.sha256(content).digest() + content
        Path("runs/a/checkpoints/000000000001.ckpt").write_bytes(whole)
        yield ppo.main(["a.yaml", "--resume"]), ""


ROWS: dict[str, Callable[[], Iterator[tuple[int, str]]]] = {
    "Records of games": open_records,
    "Policies": open_policies,
    "Positions": open_positions,
    "Journals of tournaments": open_journals,
    "Settings of trainings": open_settings,
    "Checkpoints of trainings": open_checkpoints,
}


def test_each_row_of_the_page_has_its_test() -> None:
    rows = re.findall(r"^\| ([A-Z][\w ]*?)(?::.*?)? \| `", PAGE.read_text(), re.M)
    assert rows == list(ROWS)


@pytest.mark.parametrize("row", ROWS)
def test_what_is_safe_to_open_runs_nothing(row: str, capsys: pytest.CaptureFixture[str]) -> None:
    tried = 0
    for code, output in ROWS[row]():
        tried += 1
        assert code == 2, output
        assert "Traceback" not in output + capsys.readouterr().err
        assert not MARK.exists()
        assert "planted" not in sys.modules
    assert tried >= 2


# ---- code that was asked for ---------------------------------------------------------------------


def test_a_journals_code_is_imported_with_trust() -> None:
    before = make_settings(["random", "greedy"], ["reversi"], pairs=1).to_json()
    journal_ = {**before, "entrants": ["random", "python:planted:player"], "anchor": None}
    with pytest.raises(ValueError, match="names code, which has not been imported: python:planted"):
        resumed_settings(journal_, {})
    assert resumed_settings(journal_, {"entrants": ["random", "python:planted:player"]})
    assert resumed_settings(journal_, {"entrants": ["random", "greedy"]})
    assert not MARK.exists()
    other = {**before, "opening_plies": {"planted:Game": [0, 2]}}
    with pytest.raises(ValueError, match="names code, which has not been imported: planted:Game"):
        resumed_settings(other, {"entrants": ["random", "greedy"]})
    assert resumed_settings(other, {"games_played": ["reversi"]})
    assert not MARK.exists()
    journal(entrants=["random", "greedy", "python:planted:player"])
    code, output = run("arena", "--resume", "--trust", "--out", "arena", "--workers", 1)
    assert code == 0, output
    assert MARK.exists()


@pytest.mark.parametrize("settings", SETTINGS[3:])
def test_code_of_settings_is_imported_with_trust(settings: dict[str, Any]) -> None:
    path = Path("a.yaml")
    path.write_text(yaml.safe_dump({"steps": 1, **settings}))
    with pytest.raises(ConfigError, match=r"a\.yaml names code, .* python:planted:player"):
        read_settings(Config, path)
    assert not MARK.exists()
    read_settings(Config, path, trust=True)
    assert MARK.exists()


def test_code_on_the_command_line_is_imported() -> None:
    record = {"version": 1, "game": "planted:Game", "actions": ""}
    Path("a.jsonl").write_text(json.dumps(record))
    code, output = run("replay", "a.jsonl", "--game", "planted:Game")
    assert code == 0, output
    assert "three_in_a_row:ThreeInARow" in output
    assert MARK.exists()
    MARK.unlink()
    del sys.modules["planted"]
    path = Path("a.yaml")
    path.write_text(yaml.safe_dump({"steps": 1, **SETTINGS[5]}))
    read_settings(Config, path, ["evaluation.opponents=[python:planted:player]"])
    assert MARK.exists()
    code, output = run("match", "reversi", "python:planted:player", "random", "--pairs", 1)
    assert code == 0, output


def test_how_to_go_on_is_told_with_trust(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(path: Path, content: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    Path("a.yaml").write_text(yaml.safe_dump({"steps": 1, **SETTINGS[5]}))
    monkeypatch.setattr("training.folder.write_atomically", fail)
    assert ppo.main(["a.yaml", "--trust"]) == 1
    assert "put right: python -m training.ppo a.yaml --resume --trust\n" in capsys.readouterr().err


NAMES_OF_NAMES = [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12)]


@pytest.mark.parametrize(
    "text",
    [
        "game: reversi\nsteps: 1\nreport: &a {opponents: [*a, *a]}\n",
        "\n".join(["a0: &a0 [x, x]", *NAMES_OF_NAMES, "game: *a11", "name: *a11", "steps: 1"]),
    ],
)
def test_settings_that_stand_for_billions_of_values_end(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("a.yaml").write_text(text)
    assert ppo.main(["a.yaml"]) == 2
    said = capsys.readouterr().err
    assert "a.yaml" in said
    assert "more than 10,000 values" in said


def test_what_a_message_quotes_is_not_written_out() -> None:
    bomb: list[Any] = ["x"]
    for _ in range(40):
        bomb = [bomb] * 9
    assert len(quote(bomb)) < 200
    assert quote([1, "x", {"a": None}]) == "[1, 'x', {'a': None}]"


def test_a_part_of_what_the_command_line_says_is_not_what_it_says() -> None:
    """Another module would be imported, or another player of it."""
    path = Path("a.yaml")
    own = ["evaluation.opponents=[python:planted_by_me:players]"]
    for text in ("python:planted_by_me:player", "by_me:players", "me:player"):
        path.write_text(yaml.safe_dump({"game": "reversi", "steps": 1, "callbacks": {text: {}}}))
        with pytest.raises(ConfigError, match=f"names code, .* {text}"):
            read_settings(Config, path, own)
    assert not MARK.exists()


def test_a_model_of_sb3_is_code_as_the_page_says() -> None:
    assert "best_model.zip" in PAGE.read_text()
    import base64

    from stable_baselines3.common.save_util import json_to_data

    text = base64.b64encode(pickle.dumps(Planted())).decode()
    json_to_data(json.dumps({"x": {":type:": "x", ":serialized:": text}}))
    assert MARK.exists()
