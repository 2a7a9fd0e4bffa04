"""Inputs are tried in a folder of their own, with the rules in Python: nothing is compiled."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _in_python(in_python: None) -> None:
    """For every test."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, the only one that may be written to."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
