"""Files of strangers: records, journals, policies, checkpoints, configurations."""

from __future__ import annotations

import io
import json
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from test_policy import array, metadata, random_policy
from test_robust_journals import PLAYED, SETTINGS
from variants import random_line

from boardenvs import IllegalActionError, games, records
from boardenvs.agents.policy import PolicyAgent
from boardenvs.agents.policy_file import PolicyFileError, load_policy, save_policy
from boardenvs.arena.settings import resumed_settings
from boardenvs.arena.tournament import JournalError, open_journal
from boardenvs.records import Record
from boardenvs.records.jsonl import write_record
from fuzz.inputs import (
    GAMES,
    NAMED_CODE,
    TEXTS,
    fuzzed,
    mutated,
    mutated_values,
    text,
)
from fuzz.oracle import CANARY, attempt

JSON = ["[" * 100_000, "NaN", "Infinity", "1e999", "\\ud800", "\\u0000", '{"a":1,"a":2}', "null",
        "[]", "{}", ",", '"', *NAMED_CODE]  # fmt: skip


def as_bytes(text: str) -> bytes:
    return text.encode(errors="surrogatepass")


# ---- records -------------------------------------------------------------------------------------


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
    right = st.just(path.read_bytes())
    if name == "games.jsonl":
        values = mutated_values(json.loads(write_record(one)))
        right = values.map(lambda changed: json.dumps(changed).encode())
    if tokens is not None:
        right |= mutated(right.map(bytes.decode), tokens).map(as_bytes)
    path.write_bytes(data.draw(right | mutated(right)))
    read, error = attempt(lambda: records.load(path, game=game), ValueError)
    if error is not None:
        assert str(path) in str(error)
        return
    verdicts, _ = attempt(lambda: records.check(read))
    for record, verdict in zip(read, verdicts, strict=True):
        legal, goal = True, None
        try:
            last = records.replay(record)[-1]
            goal = last.result() if last.is_over() else None
        except IllegalActionError:
            legal = False
        assert (verdict.ending != "illegal", verdict.goal) == (legal, goal)
        if legal:
            assert (verdict.error is None) == (goal is None or record.goal in (None, goal))
    attempt(lambda: records.save(again, read), folder=folder)
    assert records.load(again) == read


# ---- journals ------------------------------------------------------------------------------------

lines = st.tuples(mutated_values(SETTINGS), mutated_values(PLAYED)).map(
    lambda both: "".join(f"{json.dumps(line)}\n" for line in both)
)


@fuzzed
@given(content=(lines | mutated(lines, JSON)).map(as_bytes))
def test_journals(folder: Path, content: bytes) -> None:
    path = folder / "journal.jsonl"
    path.write_bytes(content)
    journal, error = attempt(lambda: open_journal(path.parent), JournalError, folder=folder)
    if error is not None:
        assert str(path) in str(error)
        return
    settings, error = attempt(lambda: resumed_settings(journal.settings, {}), ValueError)
    if error is None:
        assert settings.to_json()["pairs"] == journal.settings["pairs"]
    attempt(lambda: [played.to_json() for played in journal.played])


# ---- policies ------------------------------------------------------------------------------------

with tempfile.NamedTemporaryFile(suffix=".npz") as file:
    save_policy(random_policy(games.make("reversi")), Path(file.name))
    with zipfile.ZipFile(file.name) as right_one:
        MEMBERS = {name: right_one.read(name) for name in right_one.namelist()}
ABOUT = json.loads(str(np.load(io.BytesIO(MEMBERS["metadata.npy"]))))
some_member = st.sampled_from(sorted(MEMBERS))
arrays = st.builds(
    array,
    st.lists(st.integers(-1, 2**40), max_size=3).map(tuple),
    st.binary(max_size=99),
    st.sampled_from(["<f4", "<f2", "|O", "<f8", "<U9", "|V8", ">f4"]),
)
changes = st.one_of(
    st.fixed_dictionaries(
        {
            "metadata.npy": mutated(mutated_values(ABOUT).map(json.dumps), JSON).map(
                lambda text: metadata(text.encode(errors="replace").decode())
            )
        }
    ),
    st.dictionaries(some_member, arrays, min_size=1, max_size=1),
    some_member.flatmap(
        lambda name: st.fixed_dictionaries({name: mutated(st.just(MEMBERS[name]))})
    ),
)


@fuzzed
@given(changed=changes, data=st.data())
def test_policies(folder: Path, changed: dict[str, bytes], data: st.DataObject) -> None:
    path = folder / "policy.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, content in {**MEMBERS, **changed}.items():
            archive.writestr(member, content)
    right = st.just(path.read_bytes())
    path.write_bytes(data.draw(right | mutated(right)))
    policy, error = attempt(lambda: load_policy(path), PolicyFileError)
    if error is not None:
        assert str(path) in str(error)
        return
    game, state = policy.game, policy.game.init(3)
    actions, _ = attempt(lambda: PolicyAgent(policy).act(game, state, np.random.default_rng(0)))
    assert game.is_legal(state, actions).all()


# ---- training ------------------------------------------------------------------------------------


@fuzzed
@given(data=st.data(), with_right_digest=st.booleans())
def test_checkpoints(folder: Path, data: st.DataObject, with_right_digest: bool) -> None:
    th = pytest.importorskip("torch")
    from test_robust_folders import saved, with_digest

    from training.folder import CheckpointError, load_newest

    content = {"config": {"name": "x"}, "model": {"steps": 3}, "list": [1, None]}
    payloads = st.just(saved({"weights": th.ones(3)})) | mutated_values(content).map(saved)
    whole = (payloads | mutated(payloads)).map(with_digest)
    path = folder / "checkpoints" / "000000000001.ckpt"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data.draw(whole if with_right_digest else mutated(whole)))
    found, error = attempt(lambda: load_newest(path.parent), CheckpointError)
    if error is not None:
        assert str(path) in str(error)
    else:
        assert isinstance(found[0], dict)


CONFIG = {
    "game": "wolf_and_sheep",
    "rules": {"rules": "described", "max_plies": 60},
    "steps": 4096,
    "self_play": {"boards": 32, "opponents": {"greedy": 0.5}, "openings": {"random": 1.0},
                  "opening_plies": [0, 4], "pool": {"share": 0.25, "every": 1000}},
    "ppo": {"hidden": [16], "steps_per_update": 32, "batch_size": 256},
    "evaluation": {"every": 2000, "pairs": 2, "opponents": ["random"]},
    "report": {"pairs": 2, "opponents": ["random", "perfect"]},
}  # fmt: skip
YAML = ["[" * 3000, "- " * 3000, "&a", "*a", "!!python/object/apply:os.system [x]", "!!binary x",
        "? ", ": ", "1e9", ".inf", "0x" + "1" * 5000, "2001-01-01", "<<: ", "|",
        *NAMED_CODE]  # fmt: skip
overrides = st.builds(
    "{}={}".format,
    st.sampled_from(["steps", "game", "ppo.gae_lambda", "self_play.pool.share", "x.y", "", "ppo"]),
    text | st.sampled_from(YAML + TEXTS),
).filter(lambda word: CANARY not in word)  # who writes it there wants it imported
configurations = mutated_values(CONFIG).map(lambda x: yaml.safe_dump(x, allow_unicode=True))


@fuzzed
@given(
    content=(configurations | mutated(configurations, YAML)).map(as_bytes),
    words=st.lists(overrides, max_size=2),
)
def test_configurations(folder: Path, content: bytes, words: list[str]) -> None:
    pytest.importorskip("pydantic")
    from training.command import read_settings
    from training.run_settings import ConfigError, PPOConfig

    path = folder / "settings.yaml"
    path.write_bytes(content)
    config, error = attempt(lambda: read_settings(PPOConfig, path, words), ConfigError)
    if error is None:
        again, _ = attempt(lambda: type(config).model_validate(config.model_dump(mode="json")))
        assert again == config
