"""Fixtures over all games and compilers, and a Hypothesis profile that repeats itself exactly."""

import gc
import os
import shutil
import signal
import sys
from importlib.util import find_spec

import pytest
from hypothesis import HealthCheck, settings
from variants import BACKENDS, PACKAGE, VARIANTS, make

from boardenvs.kernel import set_backend

# Rules in NumPy and searches in Python, in other processes too: where little is played, machine
# code takes longer to make than it saves. Tests of it take `in_machine_code` or `backend`.
os.environ.setdefault("BOARDENVS_BACKEND", "numpy")

settings.register_profile(
    "boardenvs",
    deadline=None,
    derandomize=True,
    max_examples=50,
    # The fixtures below hold nothing that an example could spoil for the next one.
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.load_profile("boardenvs")


# What started the tests may have had them ignore Ctrl-C and the end of a terminal, as `nohup make
# test &` does. Processes inherit that, and those of the tests are to end by these signals. They
# inherit no handler: they get the default, while `nohup` still keeps the tests themselves.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda number, frame: None)


gc.disable()


def pytest_collection_finish():
    """What is imported by now stays, and tests leave little garbage: looking for it as often as
    Python does takes a twentieth of the time.
    """
    gc.freeze()
    gc.set_threshold(50_000)
    gc.enable()


# Where it is not installed; where it is, that one comes first.
sys.path.append(str(PACKAGE))


@pytest.fixture(params=VARIANTS)
def name(request):
    """The name of a game under one of its rules."""
    return request.param


@pytest.fixture
def game(name):
    return make(name)


@pytest.fixture(params=BACKENDS)
def backend(request):
    """Each compiler of the rules in turn."""
    if request.param == "numba":
        pytest.importorskip("numba")
    set_backend(request.param)
    yield request.param
    set_backend(None)


@pytest.fixture
def in_machine_code():
    """Rules and searches as Numba compiles them."""
    pytest.importorskip("numba")
    set_backend("numba")
    yield
    set_backend(None)


@pytest.fixture
def as_written(monkeypatch):
    """Rules in machine code as they are written: most of compiling is LLVM's optimizations, which
    add nothing that rules could get wrong. `make compiled` has the compiler's own tests with them
    (NUMBA_OPT=3).
    """
    if find_spec("numba") and "NUMBA_OPT" not in os.environ:
        from numba import config

        monkeypatch.setattr(config, "OPT", type(config.OPT)(0))


@pytest.fixture
def undrawn(monkeypatch):
    """Tournaments without pictures, which take longer to draw than most games to play."""
    pictures = pytest.importorskip("boardenvs.arena.pictures")
    for name in ("ratings", "cost"):
        monkeypatch.setattr(pictures, name, lambda table: b"<svg/>")


# ---- the page in the browser ---------------------------------------------------------------------


@pytest.fixture(scope="session")
def runs(tmp_path_factory):
    """What the page's server lists; `folder` empties it."""
    return tmp_path_factory.mktemp("runs")


@pytest.fixture
def folder(runs):
    """What the page's server lists, empty."""
    shutil.rmtree(runs)
    runs.mkdir()
    return runs


@pytest.fixture(scope="session")
def server(runs):
    """A server of the page."""
    from web_server import served

    with served("--folder", str(runs)) as server:
        yield server


@pytest.fixture
def page(server):
    """A page that is connected, without a browser."""
    with server.page() as page:
        yield page


@pytest.fixture(scope="session")
def browser():
    """Headless Chromium."""
    from web_browser import chromium

    with chromium() as browser:
        yield browser
