"""Every trainer and file with games of outside authors: in plain Python, of numbers, of 16x16."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("pydantic")

import torch as th
import yaml
from same import same
from test_arena import without_timings

import boardenvs
from boardenvs import records
from boardenvs.agents.network import flat_planes
from boardenvs.agents.policy_file import load_policy
from boardenvs.arena import make_settings, run_tournament
from boardenvs.arena.recorder import record_match
from boardenvs.exams import take_exam
from boardenvs.exams.positions import FOLDER
from boardenvs.game.openings import random_openings
from boardenvs.games.files import path_of
from training import ppo, ppo_single_file
from training.folder import load_newest
from training.gumbel.__main__ import main as gumbel
from training.ntuple import tempo
from training.ntuple.__main__ import main as ntuple

GAMES = ("sowing:Sowing", "author_games:Heaps", "author_games:Sixteen")
th.set_num_threads(1)
pytestmark = [
    pytest.mark.usefixtures("_folder"),
    pytest.mark.parametrize("name", GAMES),
]
TINY: dict[str, Any] = {
    "name": "tiny",
    "steps": 256,
    "checkpoint_every": 64,
    "self_play": {"boards": 8, "opening_plies": [0, 2]},
    "evaluation": {"every": 128, "pairs": 1, "opponents": ["random"]},
    "report": {"pairs": 1, "opponents": ["random"]},
}
RATES = {"learning_rate": 1e-3, "final_learning_rate": 1e-3}  # whatever the number of steps
LEARNER: dict[str, dict[str, Any]] = {
    "ppo": {"network": {"hidden": [8]}, "ppo": {"steps_per_update": 16, "batch_size": 64}},
    "gumbel": {
        "network": {"channels": 4, "blocks": 1},
        "learning": {"replay": 512, "batch_size": 64, **RATES},
        "search": {"simulations": 2, "considered": 2},
    },
}
MAIN = {"ppo": ppo.main, "gumbel": gumbel}


@pytest.fixture
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def plays(name: str, policy: str) -> bool:
    """Whether a policy's file can be read and plays a match of this game."""
    game = boardenvs.games.make(name)
    match = boardenvs.play_match(game, f"policy:{policy}", "random", pairs=1)
    return load_policy(Path(policy)).game == game and not match.forfeits.any()


@pytest.mark.parametrize("trainer", MAIN)
def test_a_run_learns_and_goes_on_bit_for_bit(name: str, trainer: str) -> None:
    """From its checkpoint, which has the games, and the replay of a search."""
    Path("c.yaml").write_text(yaml.safe_dump({**TINY, **LEARNER[trainer], "game": name}))
    checkpoints, found = Path("runs/tiny/checkpoints"), []
    for resume in ([], ["--resume"]):
        assert not MAIN[trainer](["c.yaml", "--trust", *resume])
        found.append(load_newest(checkpoints)[0])
        max(checkpoints.iterdir()).unlink()
    assert plays(name, "runs/tiny/policy.npz")
    for one in found:
        assert one is not None
        for part in ("seconds", "results"):
            del one[part]
    assert same(*found)


def test_other_trainers_learn_or_refuse(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempo, "_GAMES", 4)
    monkeypatch.setattr("training.ntuple.__main__._DEPTH", 1)
    tiny = "--total-timesteps 256 --num-envs 8 --num-steps 16 --hidden 8 --num-minibatches 2"
    few = "--pool-every 128 --eval-pairs 1 --opening-plies 0 2"
    arguments = ["--game", name, *tiny.split(), *few.split()]
    ppo_single_file.main(ppo_single_file.parse_args(arguments))
    assert plays(name, "policy.npz")
    game = boardenvs.games.make(name)
    play = {"games": 2, "depth": 1, "endgame": 2, "opening_plies": [0, 2]}
    learnt = {"generations": [play], "report": TINY["report"]}
    Path("n.yaml").write_text(
        yaml.safe_dump({"name": game.id, "game": name, "tuples": ["a1 b1"], "stages": 1, **learnt})
    )
    refused = not game.in_words
    assert ntuple(["n.yaml", "--trust"]) == 2 * refused
    assert ("Sowing is written in plain Python" in capsys.readouterr().err) == refused


def test_files_are_read_back(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Openings, records, a journal that goes on, and an exam."""
    game = boardenvs.games.make(name)
    state = random_openings(game, 4, (2, 3), np.random.default_rng(1))
    kept = [np.array(array) for array in game.packed(state)]
    assert game.positions(game.unpacked(kept)) == game.positions(state)
    match = boardenvs.play_match(game, "random", "greedy", pairs=1)
    made = record_match(game, match, ("random", "greedy"))
    records.save("games.jsonl", made)
    assert [(r.game, r.actions, r.goal) for r in records.load("games.jsonl")] == [
        (r.game, r.actions, r.goal) for r in made
    ]
    settings = make_settings(["random", "greedy"], [name], pairs=1)
    found = run_tournament(settings, Path("arena"), workers=0)
    again = run_tournament(settings, Path("arena"), workers=0, resume=True)
    assert without_timings(again) == without_timings(found)
    monkeypatch.setattr(game.source, "files", Path("own"), raising=False)
    own = boardenvs.games.make(name)
    position = own.start()
    question = {
        "kind": "any",
        "position": position.fen(),
        "moves": {own.action_name(a, position): 0 for a in position.legal_actions()},
    }
    path = path_of(FOLDER, own, ".jsonl")
    path.parent.mkdir(parents=True)
    path.write_text("\n".join(map(json.dumps, ({"made": "now"}, question))))
    assert take_exam(own, boardenvs.make_agent("random")).total.positions == 1


def test_planes_are_flat_in_whole_games(name: str) -> None:
    """On a large board the first file is filled late. What is always empty is not flat."""
    flat = {"sowing:Sowing": (12,), "author_games:Heaps": (2, 3, *range(5, 11))}
    game = name.replace("Sixteen", "Stripes:rows=16,columns=16")
    assert flat_planes(boardenvs.games.make(game)) == flat.get(name, ())
