"""Files that are whole or not there, whoever writes them."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import cast

import pytest

from boardenvs.utils.files import check_writable, replacing, write_atomically


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


def test_content_is_on_the_disk_before_it_has_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lest a file be empty where the power went."""
    path, synced = tmp_path / "file", list[int]()
    sync, replace = os.fsync, Path.replace

    def syncing(number: int) -> None:
        sync(number)
        synced.append(os.fstat(number).st_size)

    def replacing_it(aside: Path, target: Path) -> Path:
        assert synced == [len(b"content")]
        return replace(aside, target)

    monkeypatch.setattr(os, "fsync", syncing)
    monkeypatch.setattr(Path, "replace", replacing_it)
    write_atomically(path, b"content")
    assert path.read_bytes() == b"content"


# ---- what is no plain file -----------------------------------------------------------------------


def test_a_device_stays_a_device() -> None:
    before = os.stat("/dev/null")
    write_atomically(Path("/dev/null"), b"gone")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    assert os.stat("/dev/null").st_ino == before.st_ino


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as reader:
        read = reader.submit(pipe.read_bytes)
        write_atomically(pipe, b"through")
        assert read.result() == b"through"
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_link_stays_a_link_and_a_mode_stays(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    file, link = tmp_path / "folder" / "file", tmp_path / "link"
    link.symlink_to(file)
    write_atomically(link, b"new")  # also where it leads to nothing yet
    assert link.is_symlink()
    assert file.read_bytes() == b"new"
    file.chmod(0o600)
    write_atomically(link, b"newer")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert file.read_bytes() == b"newer"
    write_atomically(tmp_path / "private", b"x", mode=0o600)
    assert stat.S_IMODE((tmp_path / "private").stat().st_mode) == 0o600


# ---- what cannot be written ----------------------------------------------------------------------


def test_errors_name_the_path_that_was_asked_for(tmp_path: Path) -> None:
    missing = tmp_path / "no" / "file"
    for write in (check_writable, lambda path: write_atomically(path, b"")):
        with pytest.raises(FileNotFoundError) as caught:
            write(missing)
        assert str(missing) in str(caught.value)
        assert ".tmp" not in str(caught.value)
        with pytest.raises(IsADirectoryError):
            write(tmp_path)
    check_writable(tmp_path / "file")
    assert not (tmp_path / "file").exists()
    check_writable(Path("/dev/null"))


CHECKS = """
import os, sys
from pathlib import Path
from boardenvs.utils.files import check_folder, check_writable
if os.geteuid() == 0:
    os.setuid(12345)  # nobody's number
folder = Path(sys.argv[1])
for check, name in (
    (check_folder, "new/folder"), (check_writable, "file"), (check_writable, "pipe")
):
    try:
        check(folder / name)
    except PermissionError as error:
        print(error.filename == str(folder / name))
"""


def test_what_belongs_to_others_is_not_to_be_written() -> None:
    """Though nothing would be found wrong until the work is done and written."""
    with tempfile.TemporaryDirectory() as parent:  # all folders above it are to be walked through
        folder = Path(parent) / "closed"
        folder.mkdir()
        os.mkfifo(folder / "pipe", 0o400)
        folder.chmod(0o555)
        Path(parent).chmod(0o755)
        command = [sys.executable, "-c", CHECKS, str(folder)]
        shown = subprocess.run(command, capture_output=True, text=True, check=True)
        folder.chmod(0o755)
    assert shown.stdout.split() == ["True"] * 3


# ---- writers that were killed --------------------------------------------------------------------


def test_what_a_killed_writer_left_is_removed_by_the_next(tmp_path: Path) -> None:
    path = tmp_path / "file[1]"
    code = (
        "import os, signal, sys; from pathlib import Path\n"
        "from boardenvs.utils.files import replacing\n"
        "with replacing(Path(sys.argv[1])) as file:\n"
        "    file.write(b'half'); file.flush(); os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    assert len(list(tmp_path.iterdir())) == 1  # what it left
    kept = tmp_path / "file[1].notes.old.tmp"
    kept.write_text("not ours")
    write_atomically(path, b"whole")
    assert {p.name for p in tmp_path.iterdir()} == {path.name, kept.name}


def test_what_another_writer_is_writing_stays(tmp_path: Path) -> None:
    path = tmp_path / "file"
    code = (
        "import sys; from pathlib import Path\n"
        "from boardenvs.utils.files import replacing\n"
        "with replacing(Path(sys.argv[1])) as file:\n"
        "    file.write(b'its own'); print('ready', flush=True); sys.stdin.readline()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        assert other.stdout.readline() == "ready\n"
        write_atomically(path, b"ours")
        assert path.read_bytes() == b"ours"
        other.communicate("go on\n")
    assert path.read_bytes() == b"its own"
