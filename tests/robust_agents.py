"""An agent of a tournament whose worker process dies."""

from __future__ import annotations

import os
from typing import Any

import numpy as np


def dying_once(game: Any, state: Any, rng: np.random.Generator) -> Any:
    """Says which process it is in, what it plays and with how many threads; the first one dies."""
    with open(os.environ["ROBUST_LOG"], "a") as file:
        file.write(f"{os.getpid()} {game.id} {os.environ.get('OMP_NUM_THREADS')}\n")
    flag = os.environ["ROBUST_FLAG"]
    if os.path.exists(flag):
        os.remove(flag)
        os._exit(1)
    return game.sample(state, rng)
