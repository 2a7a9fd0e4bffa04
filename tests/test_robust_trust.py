"""SECURITY.md: what strangers' files can do, each row of its table by a file that tries."""

from __future__ import annotations

import io
import json
import os
import pickle
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from command_line import run
from test_robust_folders import saved, with_digest

from boardenvs.agents import trained
from boardenvs.arena import make_settings, open_settings
from boardenvs.arena.tournament_settings import read_settings as read_tournament
from boardenvs.records.jsonl import parse_record
from boardenvs.text.env import TextEnv
from boardenvs.web.boards import parsed
from training import ppo
from training.command import read_settings
from training.run_settings import ConfigError, PPOConfig

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

    def __reduce__(self):
        return os.mkdir, (str(MARK),)


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    Path("planted.py").write_text(PLANTED)
    yield
    sys.modules.pop("planted", None)


PICKLE = pickle.dumps(Planted())
RECORD = json.dumps({"version": 1, "game": "planted:Game", "actions": ""}).encode()
TOURNAMENT = make_settings(["random", "greedy"], ["reversi"], pairs=1).to_json()
PLAYERS: dict[str, Any] = {"entrants": ["random", "python:planted:player"]}
PLIES = {"opening_plies": {"planted:Game": [0, 2]}}
SETTINGS: list[dict[str, Any]] = [
    {"game": "planted:Game"},
    {"game": "planted:Game:x=1"},
    {"game": "reversi", "self_play": {"opponents": {"python:planted:player": 0.5}}},
    {"game": "reversi", "self_play": {"openings": {"python:planted:player": 0.5}}},
    {"game": "reversi", "evaluation": {"opponents": ["python:planted:player"]}},
    {"game": "reversi", "report": {"opponents": ["python:planted:player"]}},
]


POLICY = dict(np.load(trained.FOLDER / "othello.npz"))
ABOUT = json.loads(str(POLICY["metadata"]))


def policy(**changes):
    """One that comes with the package, changed."""
    buffer = io.BytesIO()
    np.savez(buffer, **{**POLICY, **changes})
    return buffer.getvalue()


def tournament(**changes):
    return json.dumps({**TOURNAMENT, **changes}).encode() + b"\n"


def settings(**changes):
    return yaml.safe_dump({"game": "reversi", "steps": 1, **changes}).encode()


MATCH = ["match", "othello", "policy:a.npz", "random", "--pairs", 1]
RESUME = ["arena", "--resume", "--out", "arena", "--workers", 1]
BEGUN = {"a.yaml": settings(), "runs/a/config.yaml": settings()}
CHECKPOINT = "runs/a/checkpoints/000000000001.ckpt"
# For each row of the page files, and the command that opens them; "train" is that of trainings.
ROWS: dict[str, list[tuple[dict[str, bytes], list[Any]]]] = {
    "Records of games": [
        ({"a.jsonl": RECORD}, ["records", "a.jsonl"]),
        ({"a.wtb": PICKLE}, ["records", "a.wtb"]),
        ({"a.txt": b"planted:Game\n"}, ["records", "a.txt"]),
    ],
    "Policies": [
        ({"a.npz": policy(metadata=json.dumps({**ABOUT, "game": "planted:Game"}))}, MATCH),
        ({"a.npz": policy(bias_0=np.array([Planted()], object))}, MATCH),
    ],
    "Positions": [
        ({}, ["analyse", "othello", "python:planted:player black 0"]),
    ],
    "Settings of tournaments": [
        ({"arena/tournament.json": tournament(**PLAYERS)}, RESUME),
        ({"arena/tournament.json": tournament(**PLIES)}, RESUME),
    ],
    "Settings of trainings": [
        *(({"a.yaml": settings(**some)}, ["train", "a.yaml"]) for some in SETTINGS),
        ({"a.yaml": b"game: !!python/object/apply:os.mkdir [executed]\nsteps: 1\n"},
         ["train", "a.yaml"]),
    ],
    "Checkpoints of trainings": [
        ({**BEGUN, CHECKPOINT: with_digest(content)}, ["train", "a.yaml", "--resume"])
        for content in (saved({"config": Planted()}), PICKLE)
    ],
}  # fmt: skip


def test_each_row_of_the_page_has_its_test():
    rows = re.findall(r"^\| ([A-Z][\w ]*?)(?::.*?)? \| `", PAGE.read_text(), re.M)
    assert rows == list(ROWS)


@pytest.mark.parametrize("row", ROWS)
def test_what_is_safe_to_open_runs_nothing(row, capsys):
    for files, (command, *words) in ROWS[row]:
        for name, content in files.items():
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_bytes(content)
        if command == "train":
            assert ppo.main(words) == 2
            output = "".join(capsys.readouterr())
        else:
            output = run(command, *words, code=2)
        assert "Traceback" not in output
        assert not MARK.exists()
        assert "planted" not in sys.modules


# ---- code that was asked for ---------------------------------------------------------------------


@pytest.mark.usefixtures("undrawn")
def test_a_tournaments_code_is_imported_with_trust():
    for change, named in ((PLAYERS, "python:planted"), (PLIES, "planted:Game")):
        with pytest.raises(ValueError, match=f"code, which has not been imported: {named}"):
            read_tournament({**TOURNAMENT, **change})
    Path("arena").mkdir()
    Path("arena/tournament.json").write_bytes(tournament(**PLAYERS))
    with pytest.raises(ValueError, match=r"tournament\.json: .* not been imported: python:planted"):
        open_settings("arena")
    assert not MARK.exists()
    run(*RESUME, "--trust")
    assert MARK.exists()


A = Path("a.yaml")


@pytest.mark.parametrize("some", SETTINGS[2:])
def test_code_of_settings_is_imported_with_trust(some):
    A.write_bytes(settings(**some))
    with pytest.raises(ConfigError, match=r"a\.yaml names code, .* python:planted:player"):
        read_settings(PPOConfig, A)
    assert not MARK.exists()
    read_settings(PPOConfig, A, trust=True)
    assert MARK.exists()


def test_code_on_the_command_line_is_imported():
    A.write_bytes(settings(**SETTINGS[4]))
    read_settings(PPOConfig, A, ["evaluation.opponents=[python:planted:player]"])
    Path("a.jsonl").write_bytes(RECORD)
    assert "three_in_a_row:ThreeInARow" in run("records", "a.jsonl", "--game", "planted:Game")
    assert MARK.exists()


# ---- names of files, and values ------------------------------------------------------------------

OUTSIDE = "boardenvs.games.wolf_and_sheep:WolfAndSheep:id=../../outside"


def test_no_id_is_a_path():
    """A tablebase was written to it: 9 MB, anywhere."""
    record = json.dumps({"version": 1, "game": OUTSIDE, "actions": ""})
    Path("arena").mkdir()
    Path("arena/tournament.json").write_bytes(tournament(opening_plies={OUTSIDE: [0, 2]}))
    assert "is not an id of a game" in run(*RESUME, code=2)
    for opening in (
        lambda: parse_record(record),  # which the page opens
        lambda: parsed(OUTSIDE),  # what the page names itself
        lambda: TextEnv(OUTSIDE, opponent="perfect"),  # what models name by MCP
    ):
        with pytest.raises(ValueError, match="is not an id of a game"):
            opening()


LAUGHS = "".join(f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]\n" for i in range(1, 40))


def test_settings_that_stand_for_endless_values_end(capsys):
    A.write_text(f"game: reversi\nsteps: 1\na0: &a0 [1]\n{LAUGHS}")
    assert ppo.main(["a.yaml"]) == 2
    assert re.search("a.yaml.*too many values", capsys.readouterr().err, re.DOTALL)


def endless(path):
    path.touch()
    os.truncate(path, 1 << 40)


@pytest.mark.parametrize(
    ("make", "why"), [(os.mkfifo, "it is no file"), (endless, "it has more than 1,048,576 bytes")]
)
def test_what_is_no_file_or_has_no_end_is_named(make, why, capsys):
    Path("runs/a").mkdir(parents=True)
    for name in (A, Path("runs/a/config.yaml"), Path("a.jsonl")):
        make(name)
    assert ppo.main([str(A)]) == 2
    assert why in (said := capsys.readouterr().err)
    assert said.startswith("error: a.yaml cannot be read: ")
    A.unlink()
    A.write_bytes(settings())
    assert ppo.main([str(A), "--resume"]) == 2
    assert why in (said := capsys.readouterr().err)
    assert "runs/a/config.yaml" in said
    assert "a.jsonl" in run("records", "a.jsonl", code=2)
    Path("arena").mkdir()
    make(Path("arena/tournament.json"))
    assert why in " ".join(run(*RESUME, code=2).split())
