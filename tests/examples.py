"""The examples of README, guides and docstrings, the prose that they stand in, and how they run."""

import ast
import functools
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

from boardenvs import games
from boardenvs.envs.page import page_of

ROOT = Path(__file__).resolve().parents[1]

TUTORIALS = ROOT / "training" / "tutorials"

_FENCED = re.compile(r"^( *)```(\w*)\n(.*?)^\1```", re.MULTILINE | re.DOTALL)


class Example(NamedTuple):
    """A fenced block: where it stands, its language and its text."""

    place: str
    language: str
    text: str


def guides() -> list[Path]:
    """README.md and all other pages in Markdown that people read."""
    pages = [ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", ROOT / "SECURITY.md"]
    inner = [
        p for folder in (".ci", "boardenvs", "training") for p in (ROOT / folder).rglob("*.md")
    ]
    found = [page for page in sorted(inner) if page.name != "report.md"]
    return [page for page in [ROOT / "README.md", *pages, *found] if page.exists()]


def tutorials() -> list[Path]:
    """The pages that go step by step, which `follow` follows."""
    return sorted(set(TUTORIALS.glob("*.md")) - {TUTORIALS / "README.md"})


def docstrings() -> Iterator[tuple[str, str]]:
    """Every docstring of the code and where it stands."""
    for folder in ("boardenvs", "training"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
                    text = ast.get_docstring(node)
                    if text:
                        name = getattr(node, "name", "")
                        yield f"{path.relative_to(ROOT)}:{name}".rstrip(":"), text


def readme_examples() -> list[Example]:
    """The examples in Python on the first page."""
    return [e for e in examples("python") if e.place.startswith("README.md")]


def runs_jax(example: Example) -> bool:
    """Whether an example has something compiled by JAX: `make jax` runs it."""
    return re.search("import jax|import pgx|envs.jax", example.text) is not None


def trains(example: Example) -> bool:
    """Whether an example trains a policy: `make learning` runs it, or `make rllib`."""
    return re.search("sb3|training|rllib", example.text) is not None


def run_example(example: Example, folder: Path, *, readme: bool = False) -> str:
    """Return what an example prints, alone in a file in a folder, as a user who copies it runs it.

    It can import what is in this repository, and modules beside the tests, which guides name; in
    README it cannot.
    """
    file = folder / "example.py"
    file.write_text(example.text, encoding="utf-8")
    path = os.pathsep.join([str(ROOT), *([] if readme else [str(ROOT / "tests")])])
    return _run(file, {"PYTHONPATH": path})


def _run(file: Path, environment: dict[str, str]) -> str:
    """Run a file in its folder, and return what it prints."""
    shown = subprocess.run(
        [sys.executable, str(file)],
        cwd=file.parent,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert shown.returncode == 0, shown.stderr
    return shown.stdout


def half_as_long(text: str) -> str:
    """With trainings of half as many steps."""
    steps = r"(?<=learn\()[\d_]+|(?<=timesteps )\d+"
    return re.sub(steps, lambda found: str(int(found[0]) // 2), text)


def follow(tutorial: Path, folder: Path) -> str:
    """Return what all blocks of a tutorial print, in order, as one who follows it in a checkout in
    this folder would run them, but for trainings half as long.

    Python goes on in one session, what begins with the name of a file is written there, and
    commands are run by the shell; what a console shows is the end of what they print.
    """
    script = ["import subprocess", "from pathlib import Path"]
    for _, language, text in _FENCED.findall(half_as_long(tutorial.read_text(encoding="utf-8"))):
        file = re.match(r"# ([\w.]+\.(?:py|yaml))\n", text)
        if file:
            script.append(f"Path({file[1]!r}).write_text({text!r})")
        elif language == "python":
            script.append(text)
        elif language == "sh":
            script.append(f"subprocess.run(['bash', '-euc', {text!r}], check=True)")
        elif language == "console":
            for command, shown in re.findall(r"^\$ (.*)\n((?:[^$].*\n)*)", text, re.MULTILINE):
                run = f"subprocess.check_output(['bash', '-euc', {command!r}], text=True)"
                script.append(f"shown = {run}\nassert shown.endswith({shown!r}), shown")
    (folder / "training").symlink_to(ROOT / "training")
    (folder / "tutorial.py").write_text("\n".join(script), encoding="utf-8")
    programs = Path(sys.executable).parent  # `python` and `boardenvs`
    path = {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    return _run(folder / "tutorial.py", path)


def texts() -> Iterator[tuple[str, str]]:
    """All prose with examples: guides, docstrings, the pages of the games."""
    for guide in sorted(set(guides()) - set(tutorials())):
        yield str(guide.relative_to(ROOT)), guide.read_text(encoding="utf-8")
    yield from docstrings()
    for game_id in games.BUILT_IN:
        yield f"page of {game_id}", page_of(games.make(game_id))


@functools.cache
def examples(language: str) -> list[Example]:
    """All fenced blocks in this language."""
    return [
        Example(f"{place} #{number}", language, dedent(found[3]))
        for place, text in texts()
        for number, found in enumerate(_FENCED.finditer(text), start=1)
        if found[2] == language
    ]
