"""`boardenvs bench`: the benchmark."""

from __future__ import annotations

import typer


def bench(context: typer.Context) -> None:
    """Measure random play, through every interface and other libraries, and the speed of search.

    The options are those of `python -m boardenvs.bench`; `boardenvs bench --help` explains them.
    """
    from boardenvs.bench.__main__ import main

    main(context.args, prog="boardenvs bench")
