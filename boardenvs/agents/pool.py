"""Earlier snapshots of a policy as opponents, each a policy file in one folder.

A policy that meets only itself can forget how to beat what it no longer plays.
"""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np

from boardenvs.agents.policy import Policy, PolicyAgent
from boardenvs.agents.policy_file import load_policy, save_policy


class OpponentPool:
    """The last `size` snapshots of a run; older files stay in the folder, but are not drawn."""

    def __init__(self, folder: Path | str, size: int, seed: int) -> None:
        self._folder = Path(folder)
        self._size = size
        self._rng = np.random.default_rng([seed, size])
        self._kept: dict[str, Policy] = {}  # by file, oldest first

    def __len__(self) -> int:
        return len(self._kept)

    def add(self, policy: Policy, steps: int) -> None:
        """Add a snapshot, and write it to its file."""
        path = self._folder / f"{steps:012d}.npz"
        path.parent.mkdir(parents=True, exist_ok=True)
        save_policy(policy, path)
        self._kept[path.name] = load_policy(path)
        for old in list(self._kept)[: -self._size]:
            del self._kept[old]

    def draw(self, count: int) -> list[PolicyAgent]:
        """Draw opponents uniformly, distinct if there are enough; they sample their actions."""
        policies = list(self._kept.values())
        chosen = self._rng.choice(len(policies), count, replace=count > len(policies))
        return [PolicyAgent(policies[i], sample=True) for i in chosen]

    def snapshot(self) -> dict[str, Any]:
        """Return what later draws depend on: the files' names and the generator."""
        return {"files": list(self._kept), "rng": deepcopy(self._rng.bit_generator.state)}

    def restore(self, snapshot: dict[str, Any]) -> list[str]:
        """Go on from a `snapshot`; return what is wrong with files that cannot be read."""
        self._rng.bit_generator.state = deepcopy(snapshot["rng"])
        self._kept.clear()
        problems = []
        for name in snapshot["files"]:
            try:
                self._kept[name] = load_policy(self._folder / Path(name).name)
            except (OSError, ValueError) as error:
                problems.append(f"opponent {name} is left out of the pool: {error}")
        return problems
