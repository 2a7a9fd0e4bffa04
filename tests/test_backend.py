"""Which backend is chosen."""

import pytest

from boardenvs.kernel import get_backend, set_backend

pytest.importorskip("numba", reason="the extra fast is not installed")


@pytest.fixture(autouse=True)
def _restore_backend():
    before = get_backend()
    set_backend(None)
    yield
    set_backend(before)


@pytest.mark.parametrize("name", ["numpy", "numba"])
def test_the_environment_variable_chooses(monkeypatch, name):
    monkeypatch.setenv("BOARDENVS_BACKEND", name)
    assert get_backend() == name


def test_unknown_backends_are_named(monkeypatch):
    with pytest.raises(ValueError, match=r"unknown backend 'numbra'\. Did you mean 'numba'"):
        set_backend("numbra")
    monkeypatch.setenv("BOARDENVS_BACKEND", "numpi")
    with pytest.raises(
        ValueError, match=r"unknown BOARDENVS_BACKEND 'numpi'\. Did you mean 'numpy'"
    ):
        get_backend()


def test_missing_numba_is_named(monkeypatch):
    monkeypatch.setattr("boardenvs.kernel.backend.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"boardenvs\[fast\]"):
        set_backend("numba")
    monkeypatch.delenv("BOARDENVS_BACKEND", raising=False)
    assert get_backend() == "numpy"
