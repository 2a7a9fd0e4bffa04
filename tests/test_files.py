"""Files that are whole or not there, whoever writes them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import cast

import pytest

from boardenvs.utils.files import replacing, write_atomically


def test_threads_may_write_the_same_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with ThreadPoolExecutor(1) as other, replacing(path) as file:
        file.write(b"begun first, ")
        other.submit(write_atomically, path, b"whole").result()
        assert path.read_bytes() == b"whole"
        file.write(b"ended last")
    assert path.read_bytes() == b"begun first, ended last"
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_atomically(path, b"old")
    with pytest.raises(TypeError), replacing(path) as file:
        file.write(cast("bytes", "no bytes"))
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
