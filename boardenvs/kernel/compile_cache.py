"""Numba's `njit` with a cache of machine code that is verified before it is run.

A file holds one compiled function for one signature, and the SHA-256 digest of its content. Its
name is a digest of everything that the machine code depends on: the whole source of the function,
its name, the types of its arguments, the processor, how far it is optimized (`NUMBA_OPT`), and the
versions of Python, Numba and of this format. A file is only read if no other user could have
written it (`utils.cache`). A damaged file is compiled again, with one warning; nothing is stored in
a folder that cannot be written to.

This uses two private classes of Numba, `_Cache` and `CompileResultCacheImpl`. Numba's public
`njit(cache=True)` would run whatever lies in its folder, identifies a file by its time only, does
not cache functions without a file, and lets processes that start together compile the same code.
"""

from __future__ import annotations

import hashlib
import logging
import os
import pickle
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import CompileResultCacheImpl, _Cache
from numba.core.compiler_lock import global_compiler_lock
from numba.core.serialize import dumps as _dumps

from boardenvs.utils.cache import VARIABLE, cache_folder, keep, read_kept
from boardenvs.utils.files import one_process_at_a_time

FORMAT = 1
SUFFIX = ".machine_code"
SOURCE_DIGEST = "SOURCE_DIGEST"  # a global of generated modules: the digest of their source

dumps: Callable[[object], bytes] = _dumps
_DIGEST = hashlib.sha256().digest_size
_log = logging.getLogger("boardenvs")
_announced = False
when_compiling: list[Callable[[], object]] = []  # called before each function that is compiled


def njit(*signatures: Any, cache: bool = False, **options: Any) -> Callable[..., Any]:
    """As `numba.njit`, for functions of modules that have a `SOURCE_DIGEST`."""

    def decorate(function: Callable[..., Any]) -> Any:
        dispatcher = numba.njit(**options)(function)
        if cache:
            dispatcher._cache = MachineCode(function)
            dispatcher.compile = _once_for_all_processes(dispatcher)
        for signature in signatures:
            with _interruptible():
                dispatcher.compile(signature)
        if signatures:
            dispatcher.disable_compile()
        return dispatcher

    return decorate


def _once_for_all_processes(dispatcher: Any) -> Callable[..., Any]:
    """Return the dispatcher's `compile`, which looks into the cache first; a process that finds
    nothing there while another one compiles the function waits for what that keeps.
    """
    compile_or_load = dispatcher.compile

    def compile_once(signature: Any) -> Any:
        dispatcher.targetctx.refresh()  # Numba's own start, which may go on beside others
        path = dispatcher._cache.path(signature, dispatcher.targetctx.codegen())
        if path.exists():
            return compile_or_load(signature)
        with one_process_at_a_time(path.with_suffix(".lock")), _interruptible():
            return compile_or_load(signature)

    return compile_once


@contextmanager
def _interruptible() -> Iterator[None]:
    """Have Ctrl-C end what compiles here. Most of the time is spent in LLVM, which calls back when
    it is done: what is raised there is only printed, and the machine code is missing.
    """
    with global_compiler_lock:  # of all threads, which share the hook
        print_it, interrupted = sys.unraisablehook, False

        def hear(ignored: Any) -> None:
            nonlocal interrupted
            if issubclass(ignored.exc_type, KeyboardInterrupt):
                interrupted = True
            else:
                print_it(ignored)

        sys.unraisablehook = hear
        try:
            yield
        finally:
            sys.unraisablehook = print_it
            if interrupted:
                raise KeyboardInterrupt


class _Parts(CompileResultCacheImpl):
    """How Numba takes a compiled function apart and puts it together; it opens no files."""

    def __init__(self) -> None:
        pass


class MachineCode(_Cache):
    """The cache of one function, as Numba's dispatcher asks for it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._parts: Any = _Parts()

    @property
    def cache_path(self) -> str:
        return str(cache_folder())

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the function compiled for these types; None if it is not stored or cannot be
        trusted.
        """
        target_context.refresh()
        path = self.path(sig, target_context.codegen())
        content = _read(path)
        if content is not None:
            try:
                return self._parts.rebuild(target_context, pickle.loads(content))
            except Exception as error:  # whole, and yet of something else
                _warn_of(path, f"{type(error).__name__}: {error}")
        for tell in when_compiling:
            tell()
        _announce()
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled, where that can be."""
        if data.library.has_dynamic_globals:  # addresses of this process, as with NUMBA_OPT=0
            return
        content = dumps(self._parts.reduce(data))
        path = self.path(sig, data.codegen)
        try:
            keep(path, hashlib.sha256(content).digest() + content)
        except OSError as error:
            _log.info("machine code is not kept: %s", error)

    def enable(self) -> None:
        """Nothing: the cache is always on."""

    def disable(self) -> None:
        """Nothing: the cache is always on."""

    def flush(self) -> None:
        """Nothing: files are named by all that they depend on."""

    def path(self, sig: Any, codegen: Any) -> Path:
        """Return where what is compiled for these types is kept."""
        depends_on = (
            FORMAT,
            numba.__version__,
            vars(numba.config)["OPT"],
            sys.version_info,
            self._function.__globals__[SOURCE_DIGEST],
            self._function.__name__,
            [_described(kind) for kind in (sig if isinstance(sig, tuple) else (sig,))],
            codegen.magic_tuple(),
        )
        digest = hashlib.sha256(repr(depends_on).encode()).hexdigest()[:32]
        return cache_folder() / f"{digest}{SUFFIX}"


def _described(kind: Any) -> Any:
    """Return a Numba type as text, with the fields of a named tuple, which Numba leaves out."""
    fields = getattr(kind, "fields", None)
    parts = [_described(part) for part in getattr(kind, "types", ())]
    return (str(kind), fields, parts) if fields else str(kind)


def _read(path: Path) -> bytes | None:
    """Return the content of a file that is complete and that no other user could have written."""
    try:
        content = read_kept(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        _warn_of(path, str(error.strerror))
        return None
    if hashlib.sha256(content[_DIGEST:]).digest() != content[:_DIGEST]:
        _warn_of(path, "it is damaged")
        return None
    return content[_DIGEST:]


def _warn_of(path: Path, why: str) -> None:
    warnings.warn(
        f"machine code in {path} is not used ({why}): it is compiled anew",
        RuntimeWarning,
        stacklevel=3,
    )


def _announce() -> None:
    """Say once why nothing happens for a while."""
    global _announced
    if _announced:
        return
    _announced = True
    folder = cache_folder()
    kept = f"and kept in {folder}" if os.access(folder, os.W_OK) else f"not kept: set {VARIABLE}"
    message = (
        "boardenvs: compiling with Numba, once for each game: some 10 seconds each, a minute or "
        f"more for chess and Go ({kept})"
    )
    if sys.stderr is not None and sys.stderr.isatty():
        print(message, file=sys.stderr)
    else:
        _log.info(message)
