"""Write the README's picture of every game into a folder: `python .ci/pictures.py .images`.

A picture shows a position of a random game that is always the same.
"""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

from boardenvs import games
from boardenvs.render import to_svg

PLIES = 16  # or fewer, if the game ends


def picture(game_id: str) -> str:
    """Return the picture of a game as SVG."""
    game = games.make(game_id)
    rng = Random(f"{game_id} 0")
    position = before = game.start()
    action = None
    for _ in range(PLIES):
        if position.is_over():
            break
        before = position
        action = rng.choice(position.legal_actions())
        position = position.step(action)
    return to_svg(game, position, action, before=before, caption=False)


if __name__ == "__main__":
    for game_id in games.BUILT_IN:
        path = Path(sys.argv[1]) / f"{game_id}.svg"
        path.write_text(picture(game_id), encoding="utf-8", newline="\n")
