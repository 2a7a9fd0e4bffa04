"""Policy files of strangers: what they may ask for, and what their weights may do."""

from __future__ import annotations

import io
import json
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_policy import random_policy

from boardenvs import games
from boardenvs.agents.policy import Policy, PolicyAgent
from boardenvs.agents.policy_file import PolicyFileError, load_policy, save_policy

OTHELLO = games.make("othello")
MOST_MEMORY = 20_000_000  # bytes; the file's own network has 5 kB


def write(path: Path, **changes: bytes) -> None:
    """A policy file in which members are replaced by these bytes."""
    save_policy(random_policy(OTHELLO), path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, changes.get(name.removesuffix(".npy"), content))


def array(shape: tuple[int, ...], content: bytes = b"", kind: str = "<f4") -> bytes:
    """An array in NumPy's format that says it has this shape."""
    buffer = io.BytesIO()
    about: dict[str, Any] = {"descr": kind, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(buffer, about)
    return buffer.getvalue() + content


def metadata(text: str) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.array(text))
    return buffer.getvalue()


def about(**changes: object) -> bytes:
    whole = {"format": 1, "game": "othello", "rules": {"holes": 0}, "hidden": [24, 16], "notes": {}}
    return metadata(json.dumps(whole | changes))


def test_weights_may_lie_in_memory_by_columns(tmp_path: Path) -> None:
    """As those of torch do, which has them the other way round."""
    policy, file = random_policy(OTHELLO), tmp_path / "policy.npz"
    layers = (*policy.hidden, policy.policy_head, policy.value_head)
    *hidden, head, value = ((np.asfortranarray(w), biases) for w, biases in layers)
    save_policy(Policy(OTHELLO, tuple(hidden), head, value), file)
    save_policy(policy, tmp_path / "by_rows.npz")
    state = OTHELLO.init(1)
    by_columns, by_rows = (load_policy(f) for f in (file, tmp_path / "by_rows.npz"))
    for one, same in zip(
        by_columns.evaluate(OTHELLO, state), by_rows.evaluate(OTHELLO, state), strict=True
    ):
        np.testing.assert_allclose(one, same, atol=1e-6)


CASES = {
    "a header that asks for terabytes": {"weight_0": array((1 << 20, 1 << 20))},
    "a bomb": {"weight_0": array((128, 24), bytes(400_000_000))},
    "a bomb of metadata": {"metadata": array((), bytes(4 * 10**8), f"<U{10**8}")},
    "deep metadata": {"metadata": metadata("[" * 100_000)},
    "deep notes": {"metadata": metadata('{"format":1,"notes":' + "[" * 50_000)},
    "wide layers": {"metadata": about(hidden=[1 << 23, 1 << 23])},
    "many layers": {"metadata": about(hidden=[1] * 5000)},
    "a long name": {"metadata": about(game="x" * 100_000)},
    "a long format": {"metadata": about(format="x" * 100_000)},
    "a long rule": {"metadata": about(rules={"x" * 100_000: 1})},
    "code": {"metadata": about(game="antigravity:Game")},
    "no numbers": {"weight_0": array((128, 24), bytes(128 * 24), "|O")},
    "short": {"weight_0": array((128, 24), bytes(17))},
}


@pytest.mark.parametrize("case", CASES)
def test_they_end_as_one_line_that_names_the_file(tmp_path: Path, case: str) -> None:
    path = tmp_path / "policy.npz"
    write(path, **CASES[case])
    tracemalloc.start()
    try:
        with pytest.raises(PolicyFileError, match=r"policy\.npz") as caught:
            load_policy(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < MOST_MEMORY
    assert len(str(caught.value)) < 1000
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("size", [3e38, 1e36, 1e30])
def test_weights_that_could_overflow_are_refused(tmp_path: Path, size: float) -> None:
    weights = np.full((128, 24), size, np.float32)
    path = tmp_path / "policy.npz"
    write(path, weight_0=array((128, 24), weights.tobytes()))
    with pytest.raises(PolicyFileError, match="outputs can be as large as"):
        load_policy(path)


def test_the_largest_weights_that_are_taken_play_legally() -> None:
    small = random_policy(OTHELLO)
    scale = np.float32(1e26)
    first = (small.hidden[0][0] * scale, small.hidden[0][1] * scale)
    policy = Policy(OTHELLO, (first, *small.hidden[1:]), small.policy_head, small.value_head)
    state, rng = OTHELLO.init(64), np.random.default_rng(0)
    for _ in range(70):
        for agent in (PolicyAgent(policy), PolicyAgent(policy, sample=True)):
            actions = agent.act(OTHELLO, state, rng)
            live = ~state.terminated
            assert OTHELLO.is_legal(state, actions)[live].all()
        chances, values = policy.evaluate(OTHELLO, state)
        assert np.isfinite(chances).all()
        assert (np.abs(values) <= 1).all()
        state = OTHELLO.step(state, OTHELLO.sample(state, rng))
