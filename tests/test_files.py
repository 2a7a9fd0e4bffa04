"""Files that are whole or not there: every writer, whatever goes wrong while it writes."""

from __future__ import annotations

import errno
import multiprocessing
import os
import resource
import signal
import stat
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from test_policy import random_policy
from variants import make, random_line

from boardenvs import records
from boardenvs.agents.policy_file import save_policy
from boardenvs.arena import make_settings
from boardenvs.arena.tournament import Journal
from boardenvs.game.session import GameSession
from boardenvs.play import GameStore
from boardenvs.records import make_record
from boardenvs.utils.files import (
    check_folder,
    check_writable,
    one_process_at_a_time,
    replacing,
    write_atomically,
)

pytestmark = pytest.mark.filterwarnings("ignore:.*fork")
OTHELLO = make("othello")
ROOM = 64  # bytes that a full disk still takes


# ---- every writer --------------------------------------------------------------------------------


def save_some(path: Path) -> None:
    """Records of whole games, as every format can hold them."""
    played = [make_record(OTHELLO, random_line(OTHELLO, seed, 200)[1]) for seed in range(3)]
    records.save(path, played)


def keep_a_game(path: Path) -> None:
    session = GameSession(OTHELLO)
    for action in random_line(OTHELLO, 3, 30)[1]:
        session.play(action)
    GameStore(path).keep(session)


def save_tree(path: Path) -> None:
    th = pytest.importorskip("torch")
    from training.checkpoint import save_checkpoint

    save_checkpoint(path.parent, 7, {"weights": th.ones(999)})


SETTINGS = make_settings(["random", "greedy"], ["reversi"], pairs=1).to_json()
WRITERS: dict[str, Callable[[Path], object]] = {
    **dict.fromkeys(("games.jsonl", "games.jsonl.gz", "games.wtb", "games.txt"), save_some),
    "play.jsonl": keep_a_game,
    "policy.npz": partial(save_policy, random_policy(OTHELLO)),
    "journal.jsonl": partial(Journal.create, settings=SETTINGS),
    "000000000007.ckpt": save_tree,
    "bytes": partial(write_atomically, content=bytes(999)),
}


def full_disk() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, ROOM))


def replace_sync(by: Callable[[int], object]) -> None:
    vars(os)["fsync"] = by


def power_that_goes() -> None:
    """When everything has been written, and before it is known to be on the disk."""
    replace_sync(lambda number: os.kill(os.getpid(), signal.SIGKILL))


def no_permission() -> None:
    def refuse(number: int) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    replace_sync(refuse)


def in_a_child(fault: Callable[[], None], write: Callable[[Path], object], path: Path) -> None:
    """Write in a process where it goes wrong so; raises what that raises."""
    fork = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(1, mp_context=fork, initializer=fault) as pool:
        pool.submit(write, path).result()


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize(
    ("fault", "error", "message"),
    [
        (full_disk, OSError, "File too large"),
        (no_permission, PermissionError, "Permission denied"),
        (power_that_goes, BrokenProcessPool, ""),
    ],
)
def test_a_write_that_goes_wrong_leaves_what_was_there(
    in_python: None,
    tmp_path: Path,
    name: str,
    fault: Callable[[], None],
    error: type[Exception],
    message: str,
) -> None:
    path, write = tmp_path / name, WRITERS[name]
    write(path)
    before = path.read_bytes()
    assert len(before) > ROOM
    with pytest.raises(error) as caught:
        in_a_child(fault, write, path)
    if message:
        assert message in str(caught.value)
        assert str(path) in str(caught.value)
        assert ".tmp" not in str(caught.value)
        assert list(tmp_path.iterdir()) == [path]
    assert path.read_bytes() == before
    write(path)  # and removes what the killed one left
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_of_another_file_names_that(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="other") as caught, replacing(tmp_path / "file"):
        (tmp_path / "other").read_bytes()
    assert caught.value.filename == str(tmp_path / "other")


# ---- several writers -----------------------------------------------------------------------------


def test_threads_may_write_the_same_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with ThreadPoolExecutor(1) as other, replacing(path) as file:
        file.write(b"begun first, ")
        other.submit(write_atomically, path, b"whole").result()
        assert path.read_bytes() == b"whole"
        file.write(b"ended last")
    assert path.read_bytes() == b"begun first, ended last"
    assert list(tmp_path.iterdir()) == [path]


class Holder:
    """Another process that has something until it is told to end, and then does a last thing."""

    def __init__(
        self, has: Callable[[], AbstractContextManager[Any]], then: Callable[[Any], object]
    ) -> None:
        fork = multiprocessing.get_context("fork")
        has_it, may_end = fork.Event(), fork.Event()

        def work() -> None:
            with has() as thing:
                has_it.set()
                may_end.wait()
                then(thing)

        self.has_it, self.may_end = has_it, may_end
        self.process = fork.Process(target=work, daemon=True)
        self.process.start()

    def end(self) -> None:
        assert self.has_it.wait(60)
        self.may_end.set()
        self.process.join()


def test_what_another_process_is_writing_stays(tmp_path: Path) -> None:
    path, notes = tmp_path / "file[1]", tmp_path / "file[1].notes.old.tmp"
    notes.write_text("not ours")
    other = Holder(lambda: replacing(path), lambda file: file.write(b"its own"))
    assert other.has_it.wait(60)
    write_atomically(path, b"ours")
    assert path.read_bytes() == b"ours"
    other.end()
    assert path.read_bytes() == b"its own"
    assert sorted(tmp_path.iterdir()) == [path, notes]


def test_processes_have_a_file_one_after_another(tmp_path: Path) -> None:
    """The second waits for the first; the third comes when the first has removed the file."""
    lock, log = tmp_path / "lock", tmp_path / "log"

    def start(name: str) -> Holder:
        def note(_: object) -> None:
            with log.open("a") as file:
                file.write(name)

        return Holder(lambda: one_process_at_a_time(lock), note)

    first = start("1")
    assert first.has_it.wait(60)
    second = start("2")
    assert not second.has_it.wait(0.2)
    first.end()
    assert second.has_it.wait(60)
    third = start("3")
    assert not third.has_it.wait(0.2)
    second.end()
    third.end()
    assert log.read_text() == "123"
    assert not lock.exists()


# ---- what is no plain file -----------------------------------------------------------------------


def test_devices_pipes_links_and_modes_stay(tmp_path: Path) -> None:
    before = os.stat("/dev/null")
    write_atomically(Path("/dev/null"), b"gone")
    assert os.stat("/dev/null").st_ino == before.st_ino
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as reader:
        read = reader.submit(pipe.read_bytes)
        write_atomically(pipe, b"through")
        assert read.result() == b"through"
    (tmp_path / "folder").mkdir()
    file, link = tmp_path / "folder" / "file", tmp_path / "link"
    link.symlink_to(file)
    for content in (b"new", b"newer"):  # also where it leads to nothing yet
        write_atomically(link, content, mode=0o600)
        assert link.is_symlink()
        assert file.read_bytes() == content
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


# ---- one after another ---------------------------------------------------------------------------

# ---- before there is something to write ----------------------------------------------------------


def test_errors_name_the_path_that_was_asked_for(tmp_path: Path) -> None:
    missing, file = tmp_path / "no" / "file", tmp_path / "file"
    for write in (check_writable, lambda path: write_atomically(path, b"")):
        with pytest.raises(FileNotFoundError) as caught:
            write(missing)
        assert str(missing) in str(caught.value)
        assert ".tmp" not in str(caught.value)
        with pytest.raises(IsADirectoryError):
            write(tmp_path)
    check_writable(file)
    check_writable(Path("/dev/null"))
    check_folder(missing)
    assert list(tmp_path.iterdir()) == []
    file.touch()
    with pytest.raises(NotADirectoryError, match=str(file / "a")):
        check_folder(file / "a")


def as_nobody() -> None:
    if os.geteuid() == 0:
        os.setuid(12345)


def test_what_belongs_to_others_is_not_to_be_written() -> None:
    """Though nothing would be found wrong until the work is done and written."""
    with tempfile.TemporaryDirectory() as parent:  # all folders above it are to be walked through
        folder = Path(parent) / "closed"
        folder.mkdir()
        os.mkfifo(folder / "pipe", 0o400)
        folder.chmod(0o555)
        Path(parent).chmod(0o755)
        checks = {"new/folder": check_folder, "file": check_writable, "pipe": check_writable}
        for name, check in checks.items():
            with pytest.raises(PermissionError, match=str(folder / name)):
                in_a_child(as_nobody, check, folder / name)
        folder.chmod(0o755)
