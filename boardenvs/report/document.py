"""A report as Markdown and as one HTML file with its pictures in it."""

from __future__ import annotations

import base64
import html
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path

from boardenvs.report.table import ReportTable
from boardenvs.utils.files import write_atomically

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
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""
_IMAGE = '<span class="wide" tabindex="0"><img src="data:image/svg+xml;base64,{}" alt="{}"></span>'


class Document:
    """A report, composed part by part, that `write` puts into a folder.

    Text is Markdown. HTML and images in it are shown as text, since names of players and notes may
    come from others.

    ```python
    from boardenvs.report import Document, ReportTable

    document = Document("Two games")
    document.text("Both were won by *black*.")
    document.table(ReportTable([{"game": 1, "plies": 60}, {"game": 2, "plies": 58}]))
    print(document.markdown())
    ```
    """

    def __init__(self, title: str) -> None:
        self.missing: list[str] = []  # what could not be made, and why
        self._title = title
        self._parts: list[tuple[str, str | None]] = []  # Markdown, and HTML if not made of it
        self._pictures: dict[str, bytes] = {}
        self.text(f"# {title}")

    def heading(self, text: str) -> None:
        """Begin a section."""
        self.text(f"## {text}")

    def text(self, markdown: str) -> None:
        """Add a paragraph, or any other block of Markdown."""
        if markdown:
            self._parts.append((markdown, None))

    def bullets(self, texts: Iterable[str]) -> None:
        """Add a list."""
        self.text("\n".join(f"- {text}" for text in texts))

    def table(self, table: ReportTable) -> None:
        """Add a table, without its title and caption."""
        self.text(table.markdown())

    def picture(self, path: str, alt: str, draw: Callable[[], bytes]) -> None:
        """Add an SVG that `draw` returns, to be written to `path` in the report's folder.

        Without matplotlib it is left out, and `missing` says so.
        """
        if find_spec("matplotlib") is None:
            self.missing = [
                'no pictures, since matplotlib is missing: pip install "boardenvs[arena]"'
            ]
            return
        svg = self._pictures[path] = draw()
        image = _IMAGE.format(base64.b64encode(svg).decode(), html.escape(alt))
        self._parts.append((f"![{alt}]({path})", f"<p>{image}</p>\n"))

    def html(self, markup: str) -> None:
        """Add HTML to report.html alone."""
        self._parts.append(("", markup))

    def markdown(self) -> str:
        """Return the report as Markdown."""
        return "\n\n".join(markdown for markdown, _ in self._parts if markdown) + "\n"

    def page(self) -> str:
        """Return the report as an HTML page that needs no other file."""
        from markdown_it import MarkdownIt  # only reports need it

        parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
        body = []
        for markdown, markup in self._parts:
            if markup is None:
                markup = parser.render(markdown)
                markup = markup.replace("<table>", '<div class="wide" tabindex="0"><table>')
                markup = markup.replace("</table>", "</table></div>")
            body.append(markup)
        return _PAGE.format(title=html.escape(self._title), style=_STYLE, body="".join(body))

    def write(self, folder: Path) -> None:
        """Write the pictures, report.md and report.html."""
        for path, svg in self._pictures.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            write_atomically(folder / path, svg)
        write_atomically(folder / "report.md", self.markdown().encode())
        write_atomically(folder / "report.html", self.page().encode())
