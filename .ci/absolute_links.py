"""Makes a guide's relative links absolute, for where its neighbours are not: a package index.

`python .ci/absolute_links.py README.md OWNER/NAME TAG` rewrites the file in place; links to files
lead to the repository's pages, pictures to the files themselves.
"""

import re
import sys
from pathlib import Path

_LINK = re.compile(r'(?P<before>\]\(|<img src=")(?!https?:|#|mailto:)(?P<path>[^)"\s]+)')


def with_absolute_links(text: str, repository: str, tag: str) -> str:
    """The Markdown with every relative link leading to a file of the repository at this tag."""

    def absolute(link: re.Match[str]) -> str:
        is_picture = link["path"].endswith((".svg", ".png", ".gif"))
        kind = "raw" if is_picture else "blob"
        return f"{link['before']}https://github.com/{repository}/{kind}/{tag}/{link['path']}"

    return _LINK.sub(absolute, text)


if __name__ == "__main__":
    path = Path(sys.argv[1])
    text = with_absolute_links(path.read_text(encoding="utf-8"), *sys.argv[2:])
    path.write_text(text, encoding="utf-8")
