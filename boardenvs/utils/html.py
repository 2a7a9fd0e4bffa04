"""A report in Markdown as one HTML file with its pictures in it, to send around."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Sequence
from pathlib import Path

_STYLE = """
:root { color-scheme: light dark; --ink: #1f2933; --rule: #d5dbe1; --ground: #fbfaf8; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8ebee; --rule: #3a424b; --ground: #16191d; }
}
body { margin: 0 auto; padding: 1rem; max-width: 60rem; color: var(--ink);
  background: var(--ground); font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
.wide { display: block; overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums;
  overflow-wrap: normal; }
th, td { padding: .25rem .6rem; border-bottom: 1px solid var(--rule); text-align: left; }
th { vertical-align: bottom; }
td { white-space: nowrap; }
img { display: block; }
pre { overflow-x: auto; padding: .75rem 1rem; border: 1px solid var(--rule); border-radius: .4rem;
  font-size: .85rem; }
"""
_WIDE = '<span class="wide" tabindex="0"><img src="{}"{}></span>'
_PICTURE = re.compile(r'<img src="([^"]+\.svg)"([^>]*)>')


def report_page(markdown: str, folder: Path, extra: Sequence[str] = ()) -> str:
    """The report as HTML. Its title is the first heading; pictures are SVG files in the folder.

    HTML in the text is shown as text; `extra` is HTML for the end of the page.
    """
    from markdown_it import MarkdownIt  # processes that only play need no reports

    body = MarkdownIt("commonmark", {"html": False}).enable("table").render(markdown)
    body = body.replace("<table>", '<div class="wide" tabindex="0"><table>')
    body = body.replace("</table>", "</table></div>")
    body = _PICTURE.sub(lambda found: _WIDE.format(_inline(folder, found[1]), found[2]), body)
    title = re.search(r"^# (.+)$", markdown, re.MULTILINE)
    name = html.escape(title[1].strip() if title else "Report")
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{name}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>",
            body,
            *extra,
            "</main>\n</body>\n</html>\n",
        ]
    )


def _inline(folder: Path, source: str) -> str:
    """The picture as a data URI; a name that leads out of the folder or nowhere stays as it is."""
    path = (folder / source).resolve()
    if not path.is_relative_to(folder.resolve()) or not path.is_file():
        return source
    return f"data:image/svg+xml;base64,{base64.b64encode(path.read_bytes()).decode()}"
