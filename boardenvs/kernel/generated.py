"""Generated source as functions: in memory, or as files that Numba can cache machine code for.

Either way a traceback through it shows its lines.
"""

from __future__ import annotations

import atexit
import hashlib
import importlib.util
import linecache
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from boardenvs.utils.cache import cache_folder
from boardenvs.utils.files import write_atomically


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
    """Import source from a file in the cache folder, named by its digest.

    Numba keeps its machine code beside it, so that a program is compiled once for all processes.
    """
    digest = hashlib.sha256(source.encode()).hexdigest()[:16]
    path = cache_folder() / f"kernel_{digest}.py"
    try:
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, source.encode())
    except OSError:  # a home that cannot be written to: compile anew in each process
        folder = tempfile.mkdtemp(prefix="boardenvs_")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        path = Path(folder) / path.name
        write_atomically(path, source.encode())
    spec = importlib.util.spec_from_file_location(f"boardenvs_kernel_{digest}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # Numba's cache imports it by its name
    spec.loader.exec_module(module)
    return module
