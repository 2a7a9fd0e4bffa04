"""Inputs are tried in a folder of their own, with the rules in Python: nothing is compiled."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from boardenvs.kernel import set_backend


@pytest.fixture(autouse=True)
def numpy_backend() -> Iterator[None]:
    set_backend("numpy")
    yield
    set_backend(None)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, the only one that may be written to."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
