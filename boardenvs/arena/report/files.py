"""The results of a tournament as files: results.json, pictures, report.md, and report.html with all
in it.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Sequence
from pathlib import Path

from boardenvs.arena.report.document import document
from boardenvs.arena.report.markdown import markdown, picture_path
from boardenvs.arena.tournament.results import Results
from boardenvs.utils.files import write_atomically
from boardenvs.utils.html import report_page


def write_results(results: Results, folder: Path | str, extra: Sequence[str] = ()) -> list[str]:
    """Write everything; returns what could not be written and why.

    `extra` is HTML for the end of report.html.
    """
    folder = Path(folder)
    write_atomically(folder / "results.json", json.dumps(document(results), indent=1).encode())
    has_pictures = importlib.util.find_spec("matplotlib") is not None
    report = markdown(results, has_pictures)
    write_atomically(folder / "report.md", report.encode())
    if has_pictures:
        _write_pictures(results, folder)
    write_atomically(folder / "report.html", report_page(report, folder, extra).encode())
    if not has_pictures:
        return ['no pictures, since matplotlib is missing: pip install "boardenvs[arena]"']
    return []


def _write_pictures(results: Results, folder: Path) -> None:
    from boardenvs.arena.report import plots

    kinds = {"ratings": plots.ratings, "crosstable": plots.crosstable, "heatmap": plots.heatmap}
    for table in results.tables:
        for kind, draw in kinds.items():
            path = folder / picture_path(table, kind)
            path.parent.mkdir(exist_ok=True)
            write_atomically(path, draw(table))
