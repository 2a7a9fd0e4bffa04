"""Files of strangers: records, journals, policies, checkpoints, configurations."""

from __future__ import annotations

import hashlib
import io
import json
import os
import pickle
import zipfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from reference import REFERENCE, Board
from test_policy import array, metadata, random_policy
from test_robust_journals import PLAYED, SETTINGS
from variants import make, random_line

from boardenvs import games, records
from boardenvs.agents.policy import PolicyAgent
from boardenvs.agents.policy_file import PolicyFileError, load_policy, save_policy
from boardenvs.arena.journal import JournalError
from boardenvs.arena.settings import resumed_settings
from boardenvs.arena.tournament import open_journal
from boardenvs.board.bitboard import squares_of
from boardenvs.records.record import Record
from fuzz.inputs import (
    GAMES,
    NAMED_CODE,
    TEXTS,
    fuzzed,
    mutated,
    mutated_bytes,
    mutated_values,
    text,
)
from fuzz.oracle import attempt

# ---- records -------------------------------------------------------------------------------------

BY_GAME = {make(name): rules for name, rules in REFERENCE.items()}


def played(name: str, seed: int, plies: int, start: int = 0) -> Record:
    """A random game from a later position on, broken off after so many plies."""
    game = games.make(name)
    positions, actions = random_line(game, seed, start + plies)
    start = min(start, len(actions))
    first = positions[start] if start else None
    last = positions[-1]
    goal = last.result() if last.is_over() else None
    return Record(game, tuple(actions[start:]), first, goal, ("a", "b"), {"event": "x", "n": 1})


RECORDS = [
    played(name, seed, plies, start)
    for seed, name in enumerate(GAMES)
    for plies, start in ((200, 0), (9, 4))
]
JSON = ["[" * 100_000, "NaN", "Infinity", "1e999", "\\ud800", "\\u0000", '{"a":1,"a":2}', "null",
        "[]", "{}", ",", '"', *NAMED_CODE]  # fmt: skip


def as_the_reference_says(record: Record) -> tuple[bool, tuple[float, float] | None]:
    """Whether all actions are legal, and the goal values of a game that is over."""
    rules, game = BY_GAME[record.game], record.game
    position = record.first_position
    cells = [frozenset((s % 8 + 1, s // 8 + 1) for s in squares_of(position.pieces(role)))
             for role in (0, 1)]  # fmt: skip
    board = Board((cells[0], cells[1]), position.to_move, position.ply)
    for action in record.actions:
        capped = game.max_plies is not None and board.ply >= game.max_plies
        moves = {game.parse_gdl(rules.spell(move)): move for move in rules.legal(board)}
        if capped or action not in moves:
            return False, None
        board = rules.after(board, moves[action])
    capped = game.max_plies is not None and board.ply >= game.max_plies
    return True, rules.goals(board) if capped or rules.over(board) else None


def check_records(found: list[Record]) -> None:
    verdicts, _ = attempt(lambda: records.check(found))
    for record, verdict in zip(found, verdicts, strict=True):
        if record.game in BY_GAME:
            legal, goal = as_the_reference_says(record)
            assert (verdict.ending != "illegal", verdict.goal) == (legal, goal)
            if legal:
                assert (verdict.error is None) == (goal is None or record.goal in (None, goal))


# Each format's right records, and what texts of it may have in them; None for bytes.
PLAIN = [record for record in RECORDS if record.start is None]
FORMATS: dict[str, tuple[list[Record], list[str] | None]] = {
    "games.jsonl": (RECORDS, JSON),
    "games.jsonl.gz": (RECORDS[:3], None),
    "games.wtb": ([record for record in PLAIN if record.game.id == "othello"], None),
    "games.txt": (PLAIN, ["pass", "x", "--", "1.", ",", "#", "b1-b3", "b1xb3", "a9", "--a1"]),
}


@pytest.mark.parametrize("name", FORMATS)
@fuzzed
@given(data=st.data())
def test_records(folder: Path, name: str, data: st.DataObject) -> None:
    found, tokens = FORMATS[name]
    right, path, again = folder / f"right-{name}", folder / name, folder / "again.jsonl.gz"
    # One record alone, and a game that has to be told, where its lines do not name it.
    one = data.draw(st.sampled_from(found))
    records.save(right, [one] if name == "games.txt" else found)
    content = right.read_bytes()
    if name == "games.jsonl":
        values = json.loads(content.splitlines()[data.draw(st.integers(0, len(found) - 1))])
        content = json.dumps(data.draw(mutated_values(values))).encode()
    if tokens is not None:
        text_ = data.draw(mutated(st.just(content.decode()), tokens))
        content = text_.encode(errors="surrogatepass")
    if tokens is None or data.draw(st.integers(0, 3)) == 0:
        content = data.draw(mutated_bytes(st.just(content)))
    if name == "games.wtb" and data.draw(st.booleans()):  # its length is checked first
        content = content[:16] + data.draw(st.binary(min_size=68, max_size=68)) + content[84:]
    path.write_bytes(content)
    game = one.game if name == "games.txt" else None
    read, error = attempt(lambda: records.load(path, game=game), ValueError)
    if error is not None:
        assert str(path) in str(error)
        return
    check_records(list(read))
    attempt(lambda: records.save(again, read), folder=folder)
    assert records.load(again) == read


# ---- journals ------------------------------------------------------------------------------------


@fuzzed
@given(data=st.data())
def test_journals(folder: Path, data: st.DataObject) -> None:
    lines = [json.dumps(data.draw(mutated_values(x))) for x in (SETTINGS, PLAYED)]
    content = "\n".join([*lines, ""])
    if data.draw(st.booleans()):
        content = data.draw(mutated(st.just(content), JSON))
    path = folder / "journal.jsonl"
    path.write_bytes(content.encode(errors="surrogatepass"))
    journal, error = attempt(lambda: open_journal(path.parent), JournalError, folder=folder)
    if error is not None:
        assert str(path) in str(error)
        return
    settings, error = attempt(lambda: resumed_settings(journal.settings, {}), ValueError)
    if error is None:
        assert settings.to_json()["pairs"] == journal.settings["pairs"]
    attempt(lambda: [played.to_json() for played in journal.played])


# ---- policies ------------------------------------------------------------------------------------

POLICY = random_policy(games.make("reversi"))
MEMBERS: dict[str, bytes] = {}


def right_members(folder: Path) -> dict[str, bytes]:
    if not MEMBERS:
        save_policy(POLICY, folder / "right.npz")
        with zipfile.ZipFile(folder / "right.npz") as archive:
            MEMBERS.update({name: archive.read(name) for name in archive.namelist()})
    return dict(MEMBERS)


@fuzzed
@given(data=st.data())
def test_policies(folder: Path, data: st.DataObject) -> None:
    members = right_members(folder)
    about = json.loads(str(np.load(io.BytesIO(members["metadata.npy"]))))
    name = data.draw(st.sampled_from(sorted(members)))
    match data.draw(st.integers(0, 3)):
        case 0:
            content = data.draw(mutated_values(about))
            written = data.draw(mutated(st.just(json.dumps(content)), JSON))
            members["metadata.npy"] = metadata(written.encode(errors="replace").decode())
        case 1:
            members[name] = data.draw(mutated_bytes(st.just(members[name])))
        case 2:
            shape = tuple(data.draw(st.lists(st.integers(-1, 2**40), max_size=3)))
            kind = data.draw(st.sampled_from(["<f4", "<f2", "|O", "<f8", "<U9", "|V8", ">f4"]))
            members[name] = array(shape, data.draw(st.binary(max_size=99)), kind)
        case 3:
            del members[name]
            members[data.draw(st.sampled_from(["x.npy", "../x.npy", "/x.npy", name]))] = b""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, written_bytes in members.items():
            archive.writestr(member, written_bytes)
    content_bytes = buffer.getvalue()
    if data.draw(st.integers(0, 3)) == 0:
        content_bytes = data.draw(mutated_bytes(st.just(content_bytes)))
    path = folder / "policy.npz"
    path.write_bytes(content_bytes)
    policy, error = attempt(lambda: load_policy(path), PolicyFileError)
    if error is not None:
        assert str(path) in str(error)
        return
    game, rng = policy.game, np.random.default_rng(0)
    state = game.init(3)
    while not game.is_over(state).all():
        actions, _ = attempt(partial(PolicyAgent(policy).act, game, state, rng))
        assert (game.is_legal(state, actions) | state.terminated).all()
        state = game.step(state, actions)


# ---- training ------------------------------------------------------------------------------------


class Planted:
    """What runs a command where it is unpickled without care."""

    def __reduce__(self) -> Any:
        return os.system, ("touch planted",)


@fuzzed
@given(data=st.data())
def test_checkpoints(folder: Path, data: st.DataObject) -> None:
    th = pytest.importorskip("torch")
    from training.checkpoint import CheckpointError, load_newest, save_checkpoint

    content = {"config": {"name": "x"}, "model": {"steps": 3, "weights": th.ones(3)}, "list": [1]}
    right = save_checkpoint(folder / "right", 1, content).read_bytes()
    start = right.index(b"\n") + 1 + hashlib.sha256().digest_size
    payload = right[start:]
    match data.draw(st.integers(0, 4)):
        case 0:
            payload = pickle.dumps(Planted())
        case 1:
            buffer = io.BytesIO()
            th.save({"model": Planted()}, buffer)
            payload = buffer.getvalue()
        case 2:
            buffer = io.BytesIO()
            th.save(data.draw(mutated_values({"config": {"x": 1}, "model": [1, 2]})), buffer)
            payload = buffer.getvalue()
        case _:
            payload = data.draw(mutated_bytes(st.just(payload)))
    written = right[: start - 32] + hashlib.sha256(payload).digest() + payload
    if data.draw(st.integers(0, 3)) == 0:
        written = data.draw(mutated_bytes(st.just(written)))
    (folder / "checkpoints").mkdir(exist_ok=True)
    path = folder / "checkpoints" / "000000000002.ckpt"
    path.write_bytes(written)
    found, error = attempt(lambda: load_newest(path.parent), CheckpointError)
    if error is not None:
        assert str(path) in str(error)
    else:
        assert isinstance(found[1], dict)
    assert not (folder / "planted").exists()


CONFIG = {
    "game": "wolf_and_sheep",
    "rules": {"rules": "described", "max_plies": 60},
    "steps": 4096,
    "self_play": {"boards": 32, "opponents": {"greedy": 0.5}, "openings": {"random": 1.0},
                  "opening_plies": [0, 4], "pool": {"share": 0.25, "every": 1000}},
    "ppo": {"hidden": [16], "steps_per_update": 32, "batch_size": 256, "target_kl": 0.1},
    "evaluation": {"every": 2000, "pairs": 2, "opponents": ["random"]},
    "report": {"pairs": 2, "opponents": ["random", "perfect"]},
}  # fmt: skip
BOMB = "\n".join(
    ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    + [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12)]
    + ["game: *a11", "name: *a11", "steps: 1"]
)
YAML = ["[" * 3000, "- " * 3000, "&a", "*a", "!!python/object/apply:os.system [x]", "!!binary x",
        "? ", ": ", "1e9", ".inf", "0x" + "1" * 5000, "2001-01-01", "<<: ", "|",
        *NAMED_CODE]  # fmt: skip


@fuzzed
@given(data=st.data())
def test_configurations(folder: Path, data: st.DataObject) -> None:
    pytest.importorskip("pydantic")
    from training.config import Config
    from training.settings import ConfigError, read_settings

    written = BOMB
    if data.draw(st.integers(0, 20)):
        content = data.draw(mutated_values(CONFIG))
        written = yaml.safe_dump(content, allow_unicode=True)
    if data.draw(st.booleans()):
        written = data.draw(mutated(st.just(written), YAML))
    path = folder / "settings.yaml"
    path.write_bytes(written.encode(errors="surrogatepass"))
    keys = st.sampled_from(
        ["steps", "game", "ppo.epochs", "self_play.pool.share", "x.y", "", "ppo"]
    )
    override = st.builds(lambda key, x: f"{key}={x}", keys, text | st.sampled_from(YAML + TEXTS))
    overrides = data.draw(st.lists(override, max_size=2))
    if any(code in item for code in NAMED_CODE for item in overrides):
        return  # who writes it on the command line wants it imported
    config, error = attempt(lambda: read_settings(Config, path, overrides), ConfigError)
    if error is None:
        again, _ = attempt(lambda: type(config).model_validate(config.model_dump(mode="json")))
        assert again == config
