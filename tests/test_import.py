"""What `import boardenvs` loads, the backend it chooses, and what it says of missing packages."""

import importlib
import subprocess
import sys

import pytest
from variants import BACKENDS

from boardenvs.kernel import get_backend, set_backend

HEAVY = [
    "torch",
    "stable_baselines3",
    "matplotlib",
    "pygame",
    "pydantic",
    "rich",
    "yaml",
    "numba",
    "jax",
]


def test_import_is_light():
    """An environment loads no players and no search. Heavy libraries wait until they are used,
    which Numba is not by the other backend, and no rule is compiled on import.
    """
    code = (
        "import sys, boardenvs; env = boardenvs.othello_v0.env(); env.reset(); env.step(19); "
        "print(*{name.split('.')[1] for name in sys.modules if name.startswith('boardenvs.')}); "
        "import numpy as np, boardenvs.cli; "
        f"print([m for m in {HEAVY} if m in sys.modules]); "
        "g = boardenvs.games.make('othello'); print('kernels' in vars(g)); "
        "boardenvs.kernel.set_backend('numpy'); state = g.init(5); "
        "g.step(state, g.sample(state, np.random.default_rng(0))); g.start().step(20); "
        "print('numba' in sys.modules)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    loaded, *rest = result.stdout.splitlines()
    heavy = {"search", "engines", "tablebase", "arena", "text", "web", "cli", "records", "play"}
    assert not heavy & set(loaded.split())
    assert rest == ["[]", "False", "False"]


def test_what_is_loaded_later_is_completed():
    """Of every package that loads names when they are used; in a process that has used none."""
    code = (
        "import importlib, pkgutil, rlcompleter, boardenvs; later = [boardenvs] + ["
        "importlib.import_module(f'boardenvs.{m.name}') for m in pkgutil.iter_modules("
        "boardenvs.__path__) if m.ispkg and m.name not in ('engines', 'web')]; "
        "print([m.__name__ for m in later if hasattr(m, '__getattr__')]); "
        "print([n for m in later for n in getattr(m, '__all__', ()) if n not in dir(m)]); "
        "complete = rlcompleter.Completer({'boardenvs': boardenvs}).complete; "
        "print(complete('boardenvs.othello_v', 0), complete('boardenvs.play_m', 0)); "
        "[getattr(m, n) for m in later for n in dir(m)]"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    later, missing, completed = result.stdout.splitlines()
    assert "boardenvs.games" in later
    assert missing == "[]"
    assert completed == "boardenvs.othello_v0 boardenvs.play_match("


@pytest.mark.parametrize(
    ("module", "package", "name"),
    [
        ("envs.sb3", "stable_baselines3", "train"),
        ("envs.jax", "jax", "jax"),
        ("web", "starlette", "web"),
    ],
)
def test_a_missing_package_is_named_with_its_extra(monkeypatch, module, package, name):
    for loaded in [m for m in sys.modules if m.startswith((f"boardenvs.{module}", f"{package}."))]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ModuleNotFoundError, match=rf'{package}.*pip install "boardenvs\[{name}\]"'):
        importlib.import_module(f"boardenvs.{module}")


# ---- backends


@pytest.fixture
def default_backend():
    before = get_backend()
    set_backend(None)
    yield
    set_backend(before)


@pytest.mark.usefixtures("default_backend")
@pytest.mark.parametrize("name", BACKENDS)
def test_the_environment_variable_chooses(monkeypatch, name):
    monkeypatch.setenv("BOARDENVS_BACKEND", name)
    assert get_backend() == name


@pytest.mark.usefixtures("default_backend")
def test_unknown_backends_are_named(monkeypatch):
    with pytest.raises(ValueError, match=r"unknown backend 'numbra'\. Did you mean 'numba'"):
        set_backend("numbra")
    monkeypatch.setenv("BOARDENVS_BACKEND", "numpi")
    with pytest.raises(
        ValueError, match=r"unknown BOARDENVS_BACKEND 'numpi'\. Did you mean 'numpy'"
    ):
        get_backend()


@pytest.mark.usefixtures("default_backend")
def test_missing_numba_is_named(monkeypatch):
    monkeypatch.setattr("boardenvs.kernel.backend.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"boardenvs\[fast\]"):
        set_backend("numba")
    monkeypatch.delenv("BOARDENVS_BACKEND", raising=False)
    assert get_backend() == "numpy"
