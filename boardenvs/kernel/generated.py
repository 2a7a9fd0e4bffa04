"""Generated source as functions, and tracebacks through them that show its lines."""

from __future__ import annotations

import hashlib
import linecache
import sys
from types import ModuleType
from typing import Any


def run_source(source: str, title: str, names: dict[str, Any]) -> None:
    """Run source in the namespace `names`, to which it adds what it defines.

    In tracebacks its file is `<boardenvs TITLE>`, with a number where another source has that name.
    """
    lines = source.splitlines(keepends=True)
    number, filename = 1, f"<boardenvs {title}>"
    # With None as its time, `linecache` does not look for a file.
    entry = (len(source), None, lines, filename)
    while linecache.cache.setdefault(filename, entry) != entry:
        number += 1
        filename = f"<boardenvs {title} {number}>"
        entry = (len(source), None, lines, filename)
    exec(compile(source, filename, "exec"), names)


def load_source(source: str) -> Any:
    """Generated source for Numba as a module.

    It needs no file: `compile_cache` keeps what Numba makes of it, under a digest of the source.
    """
    digest = hashlib.sha256(source.encode()).hexdigest()
    module = ModuleType(f"boardenvs_generated_{digest[:16]}")
    sys.modules[module.__name__] = module  # Numba's machine code imports it by its name
    vars(module)["SOURCE_DIGEST"] = digest
    run_source(source, f"numba {digest[:8]}", vars(module))
    return module
