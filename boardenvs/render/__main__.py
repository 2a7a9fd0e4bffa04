"""`python -m boardenvs.render FOLDER` writes a picture of every game into the folder, those of the
README: one position of a random game of each, always the same.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from random import Random

from boardenvs import games
from boardenvs.render import to_svg

PLIES = 16
SEED = 0


def picture(game_id: str) -> str:
    """The picture of a game as SVG."""
    game = games.make(game_id)
    rng = Random(f"{game_id} {SEED}")
    position = before = game.start()
    action = None
    for _ in range(PLIES):
        if position.is_over():
            break
        before = position
        action = rng.choice(position.legal_actions())
        position = position.step(action)
    return to_svg(game, position, action, before=before, caption=False)


def write_pictures(folder: Path | str) -> None:
    """Write a picture of every game into the folder."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for game_id in games.importable():
        (folder / f"{game_id}.svg").write_text(picture(game_id), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m boardenvs.render", description=__doc__)
    parser.add_argument("folder", type=Path)
    write_pictures(parser.parse_args().folder)
