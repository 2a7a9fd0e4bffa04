"""Run a notebook as Jupyter would, without it: `python .ci/notebook.py FILE [OUT]`.

The cells run in one session, and what they print and their last values become their outputs, in the
file itself or in OUT. Lines for installing are left out.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re
import sys
from pathlib import Path
from typing import Any

_SHOWN = {"_repr_html_": "text/html", "_repr_svg_": "image/svg+xml", "__repr__": "text/plain"}


def run(cells: list[dict[str, Any]]) -> None:
    """Run the cells, and give those of code their outputs and numbers."""
    session: dict[str, Any] = {"__name__": "__main__"}
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    for number, cell in enumerate(code, start=1):
        parsed = ast.parse(re.sub(r"(?m)^( *)%.*", r"\1pass", "".join(cell["source"])))
        last = parsed.body[-1]
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            if isinstance(last, ast.Expr):
                parsed.body.pop()
            exec(compile(parsed, f"<cell {number}>", "exec"), session)
            value = None
            if isinstance(last, ast.Expr):
                value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), session)
        cell |= {"execution_count": number, "outputs": list(_outputs(printed.getvalue(), value))}
        if value is not None:
            cell["outputs"][-1]["execution_count"] = number


def _outputs(printed: str, value: object) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    if printed:
        text = printed.splitlines(keepends=True)
        found.append({"output_type": "stream", "name": "stdout", "text": text})
    if value is not None:
        ways = {
            kind: getattr(value, name)() for name, kind in _SHOWN.items() if hasattr(value, name)
        }
        data = {kind: text.splitlines(keepends=True) for kind, text in ways.items() if text}
        found.append({"output_type": "execute_result", "metadata": {}, "data": data})
    return found


if __name__ == "__main__":
    notebook = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    run(notebook["cells"])
    Path(sys.argv[-1]).write_text(
        json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", "utf-8"
    )
