"""Files are written whole or not at all, and folders keep what others put there."""

from __future__ import annotations

import errno
import multiprocessing
import os
import resource
import signal
import stat
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path

import pytest
from test_policy import random_policy
from variants import make, random_record

from boardenvs import records
from boardenvs.agents.policy_file import save_policy
from boardenvs.arena import make_settings, run_tournament, tournament, write_results
from boardenvs.utils.files import (
    LOCK,
    append_lines,
    check_folder,
    check_replaceable,
    check_writable,
    is_unused,
    one_process_at_a_time,
    refuse_links,
    remove_left_over,
    remove_written,
    whole_lines,
    working_alone,
    write_atomically,
    written,
)

pytestmark = pytest.mark.filterwarnings("ignore:.*fork")
OTHELLO = make("othello")
ROOM = 64  # bytes that a full disk still takes
TOURNAMENT = make_settings(["random", "greedy"], ["reversi"], pairs=1)
FORK = multiprocessing.get_context("fork")

# ---- files ---------------------------------------------------------------------------------------


def save_some(path):
    records.save(path, [random_record(OTHELLO, seed) for seed in range(3)])


WRITERS: dict[str, Callable[[Path], object]] = {
    **dict.fromkeys(("games.jsonl.gz", "games.txt"), save_some),
    "policy.npz": partial(save_policy, random_policy(OTHELLO)),
}


def full_disk():
    resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, ROOM))


def power_that_goes():
    """Ends the process when everything is written, but not yet surely on the disk."""
    vars(os)["fsync"] = lambda number: os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize(
    ("fault", "error"), [(full_disk, OSError), (power_that_goes, BrokenProcessPool)]
)
def test_a_write_that_fails_leaves_the_old_content(tmp_path, name, fault, error):
    path, write = tmp_path / name, WRITERS[name]
    write(path)
    before = path.read_bytes()
    assert len(before) > ROOM
    with (
        ProcessPoolExecutor(1, mp_context=FORK, initializer=fault) as pool,
        pytest.raises(error) as caught,
    ):
        pool.submit(write, path).result()
    if error is OSError:
        assert "File too large" in str(caught.value)
        assert str(path) in str(caught.value)
        assert ".tmp" not in str(caught.value)
        assert list(tmp_path.iterdir()) == [path]
    assert path.read_bytes() == before


def count(folder):
    """Add to a number 50 times, in a way that loses some without a lock."""
    for _ in range(50):
        with one_process_at_a_time(folder / "lock"):
            number = folder / "number"
            write_atomically(number, str(int(number.read_text()) + 1).encode())


def test_one_process_at_a_time_has_a_lock(tmp_path):
    (tmp_path / "number").write_text("0")
    workers = [FORK.Process(target=count, args=(tmp_path,)) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert (tmp_path / "number").read_text() == "150"


def test_devices_links_and_modes_stay(tmp_path):
    write_atomically(Path("/dev/null"), b"gone")
    assert Path("/dev/null").is_char_device()
    check_replaceable(Path("/dev/null"), overwrite=False)  # there is nothing to lose in it
    file, link = tmp_path / "file", tmp_path / "link"
    link.symlink_to(file)
    for content in (b"new", b"newer"):  # also if the link leads to nothing yet
        write_atomically(link, content, mode=0o600)
        assert link.is_symlink()
        assert (file.read_bytes(), stat.S_IMODE(file.stat().st_mode)) == (content, 0o600)
    write_atomically(link, b"newest")  # keeps the mode, also if it is not the usual one
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_errors_name_the_path_that_was_asked_for(tmp_path):
    missing, file = tmp_path / "no" / "file", tmp_path / "file"
    for write in (check_writable, lambda path: write_atomically(path, b"")):
        with pytest.raises(FileNotFoundError, match=f"{missing}'$"):
            write(missing)
        with pytest.raises(IsADirectoryError):
            write(tmp_path)
    check_writable(file)
    check_folder(missing)
    check_replaceable(file, overwrite=False)
    assert list(tmp_path.iterdir()) == []
    file.touch()
    check_replaceable(file, overwrite=True)
    with pytest.raises(ValueError, match=f"{file} exists: give another file, or --overwrite"):
        check_replaceable(file, overwrite=False)


def test_lines_are_appended_whole(tmp_path):
    path = tmp_path / "lines"
    path.write_bytes(b"one\ntwo\nhal")  # of a killed writer
    assert list(whole_lines(path)) == [b"one", b"two"]
    with pytest.raises(OSError, match=f"a line has 3 bytes or more: '{path}'"):
        list(whole_lines(path, most=3))
    append_lines(path, [b"three"])
    assert path.read_bytes() == b"one\ntwo\nthree\n"
    path.write_bytes((lines := b"one\n" * 2000) + b"hal")
    append_lines(path, [b"two"])
    assert path.read_bytes() == lines + b"two\n"


def test_nobody_else_appends_meanwhile(tmp_path, monkeypatch):
    fcntl = pytest.importorskip("fcntl")
    path, waited = tmp_path / "lines", []

    def look(number):
        with path.open("rb") as other:
            try:
                fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                waited.append(True)

    monkeypatch.setattr(os, "fsync", look)
    append_lines(path, [b"one"])
    assert waited == [True]


# ---- folders -------------------------------------------------------------------------------------


def test_what_was_written_is_known_and_removed_and_nothing_behind_links(tmp_path):
    folder, elsewhere, names = tmp_path / "run", tmp_path / "elsewhere", ["report.md", "pool/*.npz"]
    looked = []
    with working_alone(folder, names, lambda: looked.append(folder.exists())):
        assert looked == [False, True]  # again with the lock
        left_overs = {put(folder / "report.md.1.2.tmp")}
        assert is_unused(folder, names)
        left_overs.add(put(folder / "pool" / "a.npz.1.2.tmp"))
        assert is_unused(folder / "nothing", names)
    elsewhere.mkdir()
    behind = put(elsewhere / "b.npz")
    ours = {put(folder / "report.md"), put(folder / "pool" / "a.npz")}
    theirs = put(folder / "pool" / "a.txt")
    assert {*written(folder, names)} == ours | left_overs
    remove_left_over(folder, names)
    assert {*written(folder, names)} == ours
    theirs.unlink()
    remove_written(folder, names)
    assert {path.name for path in folder.iterdir()} <= {LOCK}
    assert is_unused(folder, names)
    (folder / "pool").symlink_to(elsewhere)
    assert list(written(folder, names)) == []
    with pytest.raises(OSError, match="it is a link, and its target would be written to"):
        refuse_links(folder, names)
    remove_written(folder, names)
    assert behind.exists()
    assert not is_unused(folder, names)
    with pytest.raises(NotADirectoryError, match=r"b\.npz is a file, not a folder"):
        check_folder(behind / "more" / "deeper")


def play(path, overwrite=False):
    write_results(run_tournament(TOURNAMENT, path, overwrite=overwrite, workers=0), path)


def put(path, content="mine"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return path


@pytest.mark.usefixtures("undrawn")
def test_a_tournament_removes_what_it_wrote_and_nothing_else(tmp_path, monkeypatch):
    """A disk that is full at a new start is no dead end."""

    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "arena"
    play(path)
    ours = {p for p in path.rglob("*") if p.is_file()}
    assert ours <= set(written(path, [*tournament.WRITTEN, LOCK]))
    theirs = {put(path / name) for name in ("thesis.tex", "reversi/photo.png")}
    put(path / "report.md.123.456.tmp")  # of a killed writer
    with monkeypatch.context() as patch:
        patch.setattr(tournament, "write_atomically", full)
        with pytest.raises(OSError, match="No space left"):
            play(path, overwrite=True)
    assert not {path / "games.jsonl", path / "report.md"} & {*path.iterdir()}
    with pytest.raises(ValueError, match="--resume goes on with it, --overwrite replaces it"):
        play(path)
    play(path, overwrite=True)  # it is still known to be a tournament
    assert {p for p in path.rglob("*") if p.is_file()} == ours | theirs


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize(
    "name", ["tournament.json", "games.jsonl", "report.md", "reversi/cost.svg"]
)
def test_nothing_is_written_to_what_links_of_others_name(tmp_path, name):
    path, elsewhere = tmp_path / "arena", tmp_path / "elsewhere"
    play(path)
    (path / name).rename(elsewhere) if (path / name).exists() else elsewhere.touch()
    (path / name).symlink_to(elsewhere)
    before = elsewhere.stat().st_mtime_ns
    for change in ({"resume": True}, {"overwrite": True}):
        with pytest.raises(OSError, match=f"it is a link.*{name}"):
            run_tournament(TOURNAMENT, path, workers=0, **change)
    assert elsewhere.stat().st_mtime_ns == before


@pytest.mark.parametrize("content", ["my diary\n", "{}\n", "", '{"format": 1}\n', "\0"])
def test_the_files_of_others_are_not_replaced(tmp_path, content):
    kept = [put(tmp_path / "tournament.json", content), put(tmp_path / "results.json")]
    with pytest.raises(ValueError, match=r"is not replaced: .*tournament\.json(:| is of)"):
        play(tmp_path, overwrite=True)
    assert [path.read_text() for path in kept] == [content, "mine"]
    other = put(tmp_path / "other" / "notes.txt").parent
    with pytest.raises(ValueError, match=r"is not used: it has files but no tournament\.json"):
        play(other, overwrite=True)
