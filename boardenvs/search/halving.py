"""Settings of Gumbel search, and the schedule of sequential halving at its roots."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from boardenvs.game.state import FloatArray, IntArray
from boardenvs.search.compiled.policies import Gumbel
from boardenvs.search.compiled.tree import NONE


class GumbelSettings(NamedTuple):
    """Parameters of a search, with the names of the paper."""

    simulations: int  # positions evaluated below a root
    considered: int = 16  # root actions tried, at most
    c_visit: float = 50.0  # values weigh (c_visit + most visits) * c_scale against logits
    c_scale: float = 0.3  # values are -1 to 1


def gumbel_policy(noise: FloatArray, settings: GumbelSettings, *, solves: bool = False) -> Gumbel:
    """Return the selection of edges in T trees, with this noise (T, A) of their roots' actions."""
    considered = max(1, min(settings.considered, noise.shape[1]))
    return Gumbel(
        c_visit=float(settings.c_visit),  # of one type, or machine code is made for each
        c_scale=float(settings.c_scale),
        scores=noise.flatten(),
        schedule=schedules(considered, settings.simulations).ravel(),
        considered=considered,
        winning=np.full(len(noise), NONE),
        simulations=settings.simulations,
        num_actions=noise.shape[1],
        weights=np.empty(noise.shape[1]),
        solves=int(solves),
    )


@lru_cache(maxsize=32)
def schedules(considered: int, simulations: int) -> IntArray:
    """Return `schedule` of 0 to `considered` actions, (considered + 1, simulations) int64."""
    rows = [schedule(count, simulations) for count in range(considered + 1)]
    return np.array(rows, np.int64)


def schedule(considered: int, simulations: int) -> list[int]:
    """Return the number of earlier visits of the action to try, for each simulation.

    This is sequential halving (Karnin et al. 2013): about log2(considered) phases share the
    simulations; after each phase the better half of the actions remains, two at least.
    """
    if considered <= 1:
        return list(range(simulations))
    phases = (considered - 1).bit_length()
    visits: list[int] = []
    tries, left = 0, considered
    while len(visits) < simulations:
        for _ in range(max(1, simulations // (phases * left))):
            visits += [tries] * left
            tries += 1
        left = max(2, left // 2)
    return visits[:simulations]
