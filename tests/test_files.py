"""Files that are whole or not there: every writer, whatever goes wrong while it writes."""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import resource
import select
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from test_policy import random_policy
from variants import make, random_line

from boardenvs import records
from boardenvs.agents.policy_file import save_policy
from boardenvs.arena import make_settings
from boardenvs.arena.journal import Journal
from boardenvs.play.session import GameSession
from boardenvs.play.store import GameStore
from boardenvs.records import make_record
from boardenvs.utils.files import check_writable, replacing, write_atomically

OTHELLO = make("othello")
ROOM = 64  # bytes that a full disk still takes


# ---- every writer --------------------------------------------------------------------------------


@functools.cache
def some_records() -> list[records.Record]:
    played = [make_record(OTHELLO, random_line(OTHELLO, seed, 200)[1]) for seed in range(9)]
    return [record for record in played if record.goal is not None]


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
    "games.jsonl": lambda path: records.save(path, some_records()),
    "games.jsonl.gz": lambda path: records.save(path, some_records()),
    "games.wtb": lambda path: records.save(path, some_records()),
    "games.txt": lambda path: records.save(path, some_records()),
    "play.jsonl": keep_a_game,
    "policy.npz": lambda path: save_policy(random_policy(OTHELLO), path),
    "journal.jsonl": lambda path: Journal.create(path, SETTINGS),
    "000000000007.ckpt": save_tree,
    "bytes": lambda path: write_atomically(path, bytes(999)),
}


def replace_sync(by: Callable[..., object]) -> None:
    vars(os)["fsync"] = by


def full_disk() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, ROOM))


def power_that_goes() -> None:
    """When everything has been written, and before it is known to be on the disk."""
    replace_sync(lambda number: os.kill(os.getpid(), signal.SIGKILL))


def no_permission() -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    replace_sync(refuse)


FAULTS = {
    full_disk: "File too large",
    no_permission: "Permission denied",
    power_that_goes: None,
}


def in_a_child(fault: Callable[[], None], write: Callable[[Path], object], path: Path) -> str:
    """What a process says whose writing goes wrong so; "" where it is killed."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        said = b"nothing was wrong"
        try:
            fault()
            write(path)
        except BaseException as error:
            said = f"{type(error).__name__}: {error}".encode()
        finally:
            os.write(writing, said)
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as said_there:
        found = said_there.read()
    os.waitpid(child, 0)
    return found


@pytest.mark.filterwarnings("ignore:.*fork")
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", WRITERS)
def test_a_write_that_goes_wrong_leaves_what_was_there(
    in_python: None, tmp_path: Path, name: str, fault: Callable[[], None]
) -> None:
    path, write = tmp_path / name, WRITERS[name]
    write(path)
    before = path.read_bytes()
    assert len(before) > ROOM
    said = in_a_child(fault, write, path)
    message = FAULTS[fault]
    if message is None:
        assert said == ""
    else:
        assert message in said
        assert str(path) in said
        assert ".tmp" not in said
        assert list(tmp_path.iterdir()) == [path]
    assert path.read_bytes() == before
    write(path)  # and removes what the killed one left
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_of_another_file_names_that(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="other") as caught, replacing(tmp_path / "file"):
        (tmp_path / "other").read_bytes()
    assert caught.value.filename == str(tmp_path / "other")


def test_a_record_that_cannot_be_written_leaves_the_file(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    path.write_text("before")

    def failing() -> Iterator[records.Record]:
        yield records.Record(OTHELLO, (20,))
        raise RuntimeError

    with pytest.raises(RuntimeError):
        records.jsonl.write_jsonl(path, failing())
    assert path.read_text() == "before"


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


def test_what_another_process_is_writing_stays(tmp_path: Path) -> None:
    path, notes = tmp_path / "file[1]", tmp_path / "file[1].notes.old.tmp"
    notes.write_text("not ours")
    code = (
        "import sys; from pathlib import Path\n"
        "from boardenvs.utils.files import replacing\n"
        "with replacing(Path(sys.argv[1])) as file:\n"
        "    file.write(b'its own'); print('ready', flush=True); sys.stdin.readline()"
    )
    command = [sys.executable, "-c", code, str(path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as other:  # type: ignore[call-overload]
        assert other.stdout.readline() == "ready\n"
        write_atomically(path, b"ours")
        assert path.read_bytes() == b"ours"
        other.communicate("go on\n")
    assert path.read_bytes() == b"its own"
    assert sorted(tmp_path.iterdir()) == [path, notes]


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

HOLDS = """
import sys
from pathlib import Path
from boardenvs.utils.files import one_process_at_a_time
print("asks", flush=True)
with one_process_at_a_time(Path(sys.argv[1])):
    print("has it", flush=True)
    sys.stdin.readline()
    with open(sys.argv[2], "a") as log:
        log.write(sys.argv[3])
"""


def test_processes_have_a_file_one_after_another(tmp_path: Path) -> None:
    """The second waits for the first; the third comes when the first has removed the file."""
    lock, log = tmp_path / "lock", tmp_path / "log"
    with contextlib.ExitStack() as started:

        def start(name: str) -> subprocess.Popen[bytes]:
            process = subprocess.Popen(
                [sys.executable, "-c", HOLDS, str(lock), str(log), name],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                bufsize=0,  # what is not read yet can be waited for
            )
            started.enter_context(process)
            started.callback(process.kill)
            assert says(process) == b"asks\n"
            return process

        def says(process: subprocess.Popen[bytes], seconds: float | None = None) -> bytes:
            """Its next line; nothing where there is none for so long."""
            assert process.stdout is not None
            ready, _, _ = select.select([process.stdout], [], [], seconds)
            return process.stdout.readline() if ready else b""

        first = start("1")
        assert says(first) == b"has it\n"
        second = start("2")
        assert says(second, 0.2) == b""
        first.communicate(b"\n")
        assert says(second) == b"has it\n"
        third = start("3")
        assert says(third, 0.2) == b""
        second.communicate(b"\n")
        assert says(third) == b"has it\n"
        third.communicate(b"\n")
    assert log.read_text() == "123"
    assert not lock.exists()


# ---- before there is something to write ----------------------------------------------------------


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
