"""The pages of the site, made of what stands elsewhere: guides beside the code, games, docstrings.

`python .ci/site/pages.py FOLDER` writes them as Markdown, of which MkDocs makes a site. Nothing is
said twice: a guide is the README.md of a folder, a game's page is `boardenvs.envs.page.page_of`,
and the reference lists what a package has in its `__all__`.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import boardenvs
from boardenvs.envs.page import page_of

ROOT = Path(__file__).resolve().parents[2]

TUTORIALS = [f"tutorial_{name}" for name in ("sb3", "single_file", "rllib", "jax", "engine")]

# Each page and the file that it shows.
GUIDES = {
    "index.md": "README.md",
    "howto.md": "boardenvs/HOWTO.md",
    "games.md": "boardenvs/games/README.md",
    "environments.md": "boardenvs/envs/README.md",
    "jax.md": "boardenvs/envs/jax/README.md",
    "players.md": "boardenvs/agents/README.md",
    "arena.md": "boardenvs/arena/README.md",
    "exams.md": "boardenvs/exams/README.md",
    "command_line.md": "boardenvs/cli/README.md",
    "records.md": "boardenvs/records/README.md",
    "text.md": "boardenvs/text/README.md",
    "web.md": "boardenvs/web/README.md",
    "benchmark.md": ".ci/bench/README.md",
    "comparison.md": ".ci/bench/comparison.md",
    "tutorials.md": "training/tutorials/README.md",
    **{f"{name}.md": f"training/tutorials/{name[9:]}.md" for name in TUTORIALS},
    "architecture.md": "boardenvs/README.md",
    "training.md": "training/README.md",
    "training_reference.md": "training/reference.md",
    "results.md": "training/results/README.md",
    "examples.md": "training/examples/README.md",
    "engines.md": "boardenvs/engines/README.md",
    "changes.md": "CHANGELOG.md",
    "contributing.md": "CONTRIBUTING.md",
    "security.md": "SECURITY.md",
}

# Each page of the reference: its title and the modules whose public names it explains.
REFERENCE = {
    "games": (
        "Games and their rules",
        ["games", "game", "game.openings", "game.fen", "game.notation"],
    ),
    "envs": (
        "Environments",
        [
            *("envs.core", "envs.aec", "envs.parallel", "envs.vector", "envs.single"),
            *("envs.sb3:BoardVecEnv", "envs.sb3_ppo:SelfPlayPPO", "envs.batch", "envs.page"),
            "envs.jax:make, JaxEnv, JaxState",
        ],
    ),
    "agents": (
        "Players",
        ["agents", "agents.analyse", "agents.policy", "agents.shield", "engines"],
    ),
    "arena": ("Matches and the arena", ["arena"]),
    "exams": ("Exams", ["exams"]),
    "search": ("Search", ["search"]),
    "records": ("Records", ["records"]),
    "render": ("Pictures", ["render"]),
    "text": ("Text", ["text", "text.rewards"]),
    "tablebase": ("Exact solutions", ["tablebase"]),
}

_LINK = re.compile(r'(\]\(|<img src=")(?!https?:|#|mailto:)([^)#"\s]*)(#[^)"\s]*)?')
# A game's picture in README, which on the site leads to the game's page.
_PICTURE = re.compile(rf'<img src="[^"]*/({"|".join(boardenvs.games.BUILT_IN)})\.svg"[^>]*>')


def main() -> None:
    """Write all pages, and the files that they show, into the folder that was named."""
    site = Site(Path(sys.argv[1]))
    shutil.rmtree(site.folder, ignore_errors=True)
    shutil.copytree(Path(__file__).parent / "assets", site.folder)
    shutil.copy(ROOT / ".images" / "othello.svg", site.folder / "logo.svg")
    for report in sorted((ROOT / "training" / "results").glob("*/report.md")):
        site.sources[report] = f"results/{report.parent.name}.md"
    for source, page in list(site.sources.items()):
        site.add_guide(page, source)
    for game_id in boardenvs.games.BUILT_IN:
        site.add_page(f"{game_id}.md", game_page(game_id))
    site.add_page("api/boardenvs.md", public_page())
    for name, (title, modules) in REFERENCE.items():
        site.add_page(f"api/{name}.md", reference_page(title, modules))


class Site:
    """The folder of pages, and how links between files become links between pages."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.sources = {ROOT / source: page for page, source in GUIDES.items()}

    def add_page(self, page: str, text: str) -> None:
        """Add a page of this text."""
        path = self.folder / page
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def add_guide(self, page: str, source: Path) -> None:
        """Add a page that shows a file in Markdown."""

        def link(found: re.Match[str]) -> str:
            before, target, anchor = found[1], found[2], found[3] or ""
            if not target:
                return found[0]
            path = Path(os.path.normpath(source.parent / target))
            return before + os.path.relpath(self.place_of(path), Path(page).parent) + anchor

        text = _LINK.sub(link, source.read_text(encoding="utf-8"))
        first = "---\nsearch: { boost: 3 }\n---\n" if page == "howto.md" else ""
        self.add_page(page, first + _PICTURE.sub(r"[\g<0>](\1.md)", text))

    def place_of(self, path: Path) -> str:
        """Where the site has a file or folder of the project; it is copied where it is no page."""
        if path.is_dir():
            path = path / "README.md"
        if path in self.sources:
            return self.sources[path]
        name = f"files/{path.relative_to(ROOT)}".replace("/.", "/")
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, self.folder / name)
        return name


def game_page(game_id: str) -> str:
    """A game's page, with its picture under the title."""
    game = boardenvs.games.make(game_id)
    title, text = page_of(game).split("\n", 1)
    picture = f"files/images/{game_id}.svg"
    return f"{title}\n\n![{game.title}]({picture}){{ .board }}\n{text}"


def public_page() -> str:
    """The reference of what `import boardenvs` gives."""
    modules, others = [], []
    for name in boardenvs.__all__:
        (modules if isinstance(getattr(boardenvs, name), ModuleType) else others).append(name)
    pages = {name: name.removesuffix("_v0") for name in modules}
    lines = ["# boardenvs", "::: boardenvs\n    options: { members: [], show_root_heading: false }"]
    listed = [f"- [`boardenvs.{name}`]({'../' if name != 'games' else ''}{page}.md)"
              for name, page in pages.items()]  # fmt: skip
    lines += ["## Modules", "\n".join(listed)]
    lines += [f"::: boardenvs.{name}" for name in sorted(others, key=str.lower)]
    return "\n\n".join(lines) + "\n"


def reference_page(title: str, modules: list[str]) -> str:
    """The reference of the modules' public names, or of those given: "envs.sb3:BoardVecEnv"."""
    lines = [f"# {title}"]
    for module in modules:
        name, _, given = module.partition(":")  # given: no import of what needs other libraries
        members = given or ", ".join(public_names(import_module(f"boardenvs.{name}")))
        lines.append(f"::: boardenvs.{name}\n    options: {{ members: [{members}] }}")
    return "\n\n".join(lines) + "\n"


def public_names(module: Any) -> list[str]:
    """What a module offers: its `__all__`, or else what it defines without an underscore."""
    if hasattr(module, "__all__"):
        return list(module.__all__)
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
    ]


if __name__ == "__main__":
    main()
