"""Files of strangers: records, journals, policies, checkpoints, configurations."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from reference import REFERENCE
from test_policy import array, metadata, random_policy
from test_robust_journals import PLAYED, SETTINGS
from variants import make, random_line

from boardenvs import games, records
from boardenvs.agents.policy import PolicyAgent
from boardenvs.agents.policy_file import PolicyFileError, load_policy, save_policy
from boardenvs.arena.journal import JournalError
from boardenvs.arena.settings import resumed_settings
from boardenvs.arena.tournament import open_journal
from boardenvs.records.record import Record
from fuzz.inputs import (
    GAMES,
    NAMED_CODE,
    TEXTS,
    as_board,
    fuzzed,
    mutated,
    mutated_values,
    text,
)
from fuzz.oracle import attempt

JSON = ["[" * 100_000, "NaN", "Infinity", "1e999", "\\ud800", "\\u0000", '{"a":1,"a":2}', "null",
        "[]", "{}", ",", '"', *NAMED_CODE]  # fmt: skip

# ---- records -------------------------------------------------------------------------------------

BY_GAME = {make(name): rules for name, rules in REFERENCE.items()}


def played(name: str, seed: int, plies: int, start: int = 0) -> Record:
    """A random game from a later position on, broken off after so many plies."""
    game = games.make(name)
    positions, actions = random_line(game, seed, start + plies)
    last = positions[-1]
    goal = last.result() if last.is_over() else None
    first = positions[start] if start else None
    return Record(game, tuple(actions[start:]), first, goal, ("a", "b"), {"event": "x", "n": 1})


RECORDS = [
    played(name, seed, plies, start)
    for seed, name in enumerate(GAMES)
    for plies, start in ((200, 0), (9, 4))
]


def as_the_reference_says(record: Record) -> tuple[bool, tuple[float, float] | None]:
    """Whether all actions are legal, and the goal values of a game that is over."""
    rules, game = BY_GAME[record.game], record.game
    board = as_board(record.first_position)
    for action in (*record.actions, None):
        capped = game.max_plies is not None and board.ply >= game.max_plies
        moves = {} if capped else {game.parse_gdl(rules.spell(m)): m for m in rules.legal(board)}
        if action is None:
            return True, None if moves else rules.goals(board)
        if action not in moves:
            break
        board = rules.after(board, moves[action])
    return False, None


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
    path, again = folder / name, folder / "again.jsonl.gz"
    # One record alone, and a game that has to be told, where its lines do not name it.
    one = data.draw(st.sampled_from(found))
    game = one.game if name == "games.txt" else None
    records.save(path, [one] if game else found)
    content: Any = path.read_bytes()
    if name == "games.jsonl":
        values = json.loads(data.draw(st.sampled_from(content.splitlines())))
        content = json.dumps(data.draw(mutated_values(values))).encode()
    if tokens is not None:
        content = data.draw(mutated(st.just(content.decode()), tokens))
        content = content.encode(errors="surrogatepass")
    if tokens is None or data.draw(st.integers(0, 3)) == 0:
        content = data.draw(mutated(st.just(content)))
    if name == "games.wtb" and data.draw(st.booleans()):  # its length is checked first
        content = content[:16] + data.draw(st.binary(min_size=68, max_size=68)) + content[84:]
    path.write_bytes(content)
    read, error = attempt(lambda: records.load(path, game=game), ValueError)
    if error is not None:
        assert str(path) in str(error)
        return
    verdicts, _ = attempt(lambda: records.check(read))
    for record, verdict in zip(read, verdicts, strict=True):
        if record.game in BY_GAME:
            legal, goal = as_the_reference_says(record)
            assert (verdict.ending != "illegal", verdict.goal) == (legal, goal)
            if legal:
                assert (verdict.error is None) == (goal is None or record.goal in (None, goal))
    attempt(lambda: records.save(again, read), folder=folder)
    assert records.load(again) == read


# ---- journals ------------------------------------------------------------------------------------


@fuzzed
@given(data=st.data())
def test_journals(folder: Path, data: st.DataObject) -> None:
    lines = [json.dumps(data.draw(mutated_values(x))) for x in (SETTINGS, PLAYED)]
    content = data.draw(st.just("\n".join([*lines, ""])) | mutated(st.just("\n".join(lines)), JSON))
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


@fuzzed
@given(data=st.data())
def test_policies(folder: Path, data: st.DataObject) -> None:
    path = folder / "policy.npz"
    save_policy(POLICY, path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = data.draw(st.sampled_from(sorted(members)))
    match data.draw(st.integers(0, 2)):
        case 0:
            about = json.loads(str(np.load(io.BytesIO(members["metadata.npy"]))))
            changed = json.dumps(data.draw(mutated_values(about)))
            written = data.draw(mutated(st.just(changed), JSON))
            members["metadata.npy"] = metadata(written.encode(errors="replace").decode())
        case 1:
            members[name] = data.draw(mutated(st.just(members[name])))
        case 2:
            shape = tuple(data.draw(st.lists(st.integers(-1, 2**40), max_size=3)))
            kind = data.draw(st.sampled_from(["<f4", "<f2", "|O", "<f8", "<U9", "|V8", ">f4"]))
            members[name] = array(shape, data.draw(st.binary(max_size=99)), kind)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, content in members.items():
            archive.writestr(member, content)
    if data.draw(st.integers(0, 3)) == 0:
        path.write_bytes(data.draw(mutated(st.just(path.read_bytes()))))
    policy, error = attempt(lambda: load_policy(path), PolicyFileError)
    if error is not None:
        assert str(path) in str(error)
        return
    game, state = policy.game, policy.game.init(3)
    actions, _ = attempt(lambda: PolicyAgent(policy).act(game, state, np.random.default_rng(0)))
    assert game.is_legal(state, actions).all()


# ---- training ------------------------------------------------------------------------------------


@fuzzed
@given(data=st.data())
def test_checkpoints(folder: Path, data: st.DataObject) -> None:
    th = pytest.importorskip("torch")
    from training.checkpoint import CheckpointError, load_newest, save_checkpoint

    content = {"config": {"name": "x"}, "model": {"steps": 3, "weights": th.ones(3)}, "list": [1]}
    path = save_checkpoint(folder / "checkpoints", 1, content)
    head, payload = path.read_bytes().split(b"\n", maxsplit=1)
    payload = data.draw(mutated(st.just(payload[hashlib.sha256().digest_size :])))
    if data.draw(st.booleans()):
        buffer = io.BytesIO()
        th.save(data.draw(mutated_values({"config": {"x": 1}, "model": [1, 2]})), buffer)
        payload = buffer.getvalue()
    written = head + b"\n" + hashlib.sha256(payload).digest() + payload
    if data.draw(st.integers(0, 3)) == 0:
        written = data.draw(mutated(st.just(written)))
    path.write_bytes(written)
    found, error = attempt(lambda: load_newest(path.parent), CheckpointError)
    if error is not None:
        assert str(path) in str(error)
    else:
        assert isinstance(found[1], dict)


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
YAML = ["[" * 3000, "- " * 3000, "&a", "*a", "!!python/object/apply:os.system [x]", "!!binary x",
        "? ", ": ", "1e9", ".inf", "0x" + "1" * 5000, "2001-01-01", "<<: ", "|",
        *NAMED_CODE]  # fmt: skip
overrides = st.builds(
    "{}={}".format,
    st.sampled_from(["steps", "game", "ppo.epochs", "self_play.pool.share", "x.y", "", "ppo"]),
    text | st.sampled_from(YAML + TEXTS),
)


@fuzzed
@given(data=st.data(), words=st.lists(overrides, max_size=2))
def test_configurations(folder: Path, data: st.DataObject, words: list[str]) -> None:
    pytest.importorskip("pydantic")
    from training.config import Config
    from training.settings import ConfigError, read_settings

    if any(code in word for code in NAMED_CODE for word in words):
        return  # who writes it on the command line wants it imported
    written = yaml.safe_dump(data.draw(mutated_values(CONFIG)), allow_unicode=True)
    if data.draw(st.booleans()):
        written = data.draw(mutated(st.just(written), YAML))
    path = folder / "settings.yaml"
    path.write_bytes(written.encode(errors="surrogatepass"))
    config, error = attempt(lambda: read_settings(Config, path, words), ConfigError)
    if error is None:
        again, _ = attempt(lambda: type(config).model_validate(config.model_dump(mode="json")))
        assert again == config
