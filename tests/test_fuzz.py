"""Wrong inputs of all kinds: texts, files of strangers, and what environments are given.

Each ends in a result or in an error that the documentation names, and nothing else happens.
"""

from __future__ import annotations

import copy
import json
import tempfile
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from fuzzing import (
    CANARY,
    NAMED_CODE,
    WHOLE,
    attempt,
    fuzzed,
    mutated,
    mutated_values,
    scalar,
    text,
    thing,
    whole,
)
from hypothesis import given
from hypothesis import strategies as st
from pettingzoo import ParallelEnv
from test_policy import metadata, random_policy
from variants import make, random_line, random_position, wthor_file

import boardenvs
from boardenvs import IllegalActionError, games, records
from boardenvs.agents import agent_for, make_agent
from boardenvs.agents.policy import PolicyAgent
from boardenvs.agents.policy_file import PolicyFileError, load_policy, save_policy
from boardenvs.envs.factory import single_env
from boardenvs.game import fen
from boardenvs.game.errors import PositionError
from boardenvs.records import Record
from boardenvs.records.jsonl import write_record
from boardenvs.records.moves import write_moves

pytestmark = pytest.mark.usefixtures("in_python")

GAMES = ["othello", "othello_holes", "reversi", "wolf_and_sheep", "lines_of_action",
         "wolf_and_sheep:rules=described", "wolf_and_sheep:max_plies=9",
         "lines_of_action:max_steps=7"]  # fmt: skip
OTHELLO, REVERSI = make("othello"), make("reversi")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


# ---- texts ---------------------------------------------------------------------------------------

PARAMETERS = ["=", ":", ",", "rules", "max_plies", "holes", "described", "none", "id"]
AGENTS = ["greedy", "alphabeta:depth=1,endgame=2", "alphabeta:nodes=100", "mcts:rollouts=5",
          "perfect", "policy:file.npz", "mcts:policy=file.npz", "trained:shield=true"]  # fmt: skip
LIMITS = ["depth", "nodes", "time", "endgame", "rollouts", "c", "leaves", "policy", "=", ":", ","]


@fuzzed
@given(name=mutated(st.sampled_from(GAMES), PARAMETERS), from_file=st.booleans())
def test_games(name: str, from_file: bool) -> None:
    if CANARY in name and not from_file:  # which is rightly imported
        return
    make_it: Any = games.make_from_file if from_file else games.make
    game, error = attempt(lambda: make_it(name), ValueError, TypeError)
    if error is None:
        again, _ = attempt(lambda: games.make_from_file(games.spec_of(game)))
        assert again == game


@fuzzed
@given(spec=mutated(st.sampled_from(AGENTS), LIMITS + [str(n) for n in WHOLE[:-1]]) | thing)
def test_agents(spec: Any) -> None:
    if CANARY in f"{spec}":
        return
    make_it = make_agent if isinstance(spec, str) else partial(agent_for, OTHELLO)
    attempt(lambda: make_it(spec), ValueError, TypeError)


POSITIONS = [
    (name, random_position(make(name), plies, plies).fen())
    for name in ("othello", "wolf_and_sheep", "lines_of_action")
    for plies in (0, 20)
]
PIECES = ["b", "r", "w", "s", "8", "1", "/", " ", "black", "white", "9", "X", "O", str(2**30)]


@fuzzed
@given(data=st.data())
def test_texts_of_positions(data: st.DataObject) -> None:
    name, base = data.draw(st.sampled_from(POSITIONS))
    game, written = make(name), data.draw(mutated(st.just(base), PIECES))
    position, error = attempt(lambda: fen.parse_position(game, written), PositionError)
    if error is None:
        assert fen.parse_position(game, position.fen()) == position
        attempt(lambda: [position.step(action) for action in position.legal_actions()])


# ---- files of strangers --------------------------------------------------------------------------

JSON = ["[" * 100_000, "NaN", "1e999", "\\ud800", "\\u0000", '{"a":1,"a":2}', "null", "[]", "{}",
        ",", '"', *NAMED_CODE]  # fmt: skip


def as_bytes(text: str) -> bytes:
    return text.encode(errors="surrogatepass")


def played(name: str, seed: int, plies: int, start: int = 0) -> Record:
    """A random game from a later position on, broken off after this number of plies."""
    game = games.make(name)
    positions, actions = random_line(game, seed, start + plies)
    last = positions[-1]
    goal = last.result() if last.is_over() else None
    first = positions[start] if start else None
    return Record(game, tuple(actions[start:]), first, goal, ("a", "b"), {"event": "x", "n": 1})


RECORDS = [played(name, 1, *plies) for name in GAMES[:5] for plies in ((200, 0), (9, 4))]
PLAIN = [record for record in RECORDS if record.start is None]
# The right records of each format, and what texts of it may contain; None for bytes.
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
    """What is read has the verdict of a replay, and can be written and read again."""
    found, tokens = FORMATS[name]
    path, again = folder / name, folder / "again.jsonl.gz"
    one = data.draw(st.sampled_from(found))
    game = one.game if name == "games.txt" else None  # whose lines do not name it
    if name == "games.wtb":
        path.write_bytes(wthor_file(*map(write_moves, found)))
    else:
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
    attempt(lambda: records.save(again, read))
    assert records.load(again) == read


with tempfile.NamedTemporaryFile(suffix=".npz") as file:
    save_policy(random_policy(REVERSI), Path(file.name))
    with zipfile.ZipFile(file.name) as right_one:
        MEMBERS = {name: right_one.read(name) for name in right_one.namelist()}
    with np.load(file.name) as arrays:
        ABOUT = json.loads(str(arrays["metadata"]))
changes = st.fixed_dictionaries(
    {"metadata.npy": mutated(mutated_values(ABOUT).map(json.dumps), JSON).map(
        lambda text: metadata(text.encode(errors="replace").decode()))}
) | st.sampled_from(sorted(MEMBERS)).flatmap(
    lambda name: st.fixed_dictionaries({name: mutated(st.just(MEMBERS[name]))})
)  # fmt: skip


@fuzzed
@given(changed=changes)
def test_policies(folder: Path, changed: dict[str, bytes]) -> None:
    path = folder / "policy.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, content in {**MEMBERS, **changed}.items():
            archive.writestr(member, content)
    policy, error = attempt(lambda: load_policy(path), PolicyFileError)
    if error is not None:
        assert str(path) in str(error)
        return
    game, state = policy.game, policy.game.init(3)
    actions, _ = attempt(lambda: PolicyAgent(policy).act(game, state, np.random.default_rng(0)))
    assert game.is_legal(state, actions).all()


# ---- environments --------------------------------------------------------------------------------

# Named in docstrings; ResetNeeded is Gymnasium's.
ERRORS = (ValueError, TypeError, gymnasium.error.Error)
MAKERS: dict[str, Callable[..., Any]] = {
    "env": boardenvs.env,
    "raw_env": boardenvs.raw_env,
    "parallel_env": boardenvs.parallel_env,
    "vec_env": partial(boardenvs.vec_env, num_envs=3),
    "single_env": single_env,
}
kinds = st.sampled_from(list(MAKERS))
resets = st.one_of(
    st.none(),
    thing,
    st.dictionaries(st.sampled_from(["position", "reset_mask"]) | text, thing, max_size=2),
    st.fixed_dictionaries({"reset_mask": st.lists(st.booleans(), max_size=4).map(np.array)}),
)
seeds = st.none() | whole | thing | st.lists(whole, max_size=3)
actions = st.one_of(
    thing,
    whole.map(np.array),
    st.lists(scalar, max_size=4),
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=3, max_size=3).map(np.array),
    st.lists(st.floats(), min_size=3, max_size=3).map(np.array),
    st.dictionaries(st.sampled_from(["black", "red", "wolf"]) | text, whole | thing, max_size=3),
)


def played_env(kind: str, plies: int) -> Any:
    env = MAKERS[kind](REVERSI)
    env.reset(seed=1)
    play(env, plies)
    return env


def play(env: Any, plies: int) -> list[Any]:
    """The first legal action everywhere, to the end at most; what is seen then."""
    seen = []
    for _ in range(plies):
        board = getattr(env, "board", env)
        found: Any
        if hasattr(env, "num_envs"):
            found = env.step(env.action_masks().argmax(axis=1))
        elif not board.agents or board.position.is_over():
            break
        elif isinstance(env, ParallelEnv):
            joint = dict.fromkeys(env.agents, REVERSI.noop)
            joint[env.agents[env.position.to_move]] = env.position.legal_actions()[0]
            found = env.step(joint)
        else:
            found = env.step(board.position.legal_actions()[0]), board.last()
        seen.append(found)
    return seen


@fuzzed
@given(kind=kinds, plies=st.integers(0, 60), action=actions)
def test_a_refused_action_leaves_no_trace(kind: str, plies: int, action: Any) -> None:
    env = played_env(kind, plies)
    twin = copy.deepcopy(env)
    _, error = attempt(lambda: env.step(action), *ERRORS)
    if error is not None:
        assert str(play(env, 9)) == str(play(twin, 9))


@fuzzed
@given(kind=kinds, plies=st.integers(0, 9), seed=seeds, options=resets)
def test_a_refused_reset_leaves_no_trace(kind: str, plies: int, seed: Any, options: Any) -> None:
    env = played_env(kind, plies)
    twin = copy.deepcopy(env)
    _, error = attempt(lambda: env.reset(seed=seed, options=options), *ERRORS)
    assert error is None or str(play(env, 9)) == str(play(twin, 9))


def test_faults_are_seen() -> None:
    """The watch itself."""
    for call, message in (
        (lambda: games.GAMES["x"], "KeyError"),
        (lambda: games.make(NAMED_CODE[1]), "import"),
    ):
        with pytest.raises(AssertionError, match=message):
            attempt(call, ValueError)
