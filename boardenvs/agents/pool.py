"""Earlier snapshots of a policy as opponents, each a policy file in one folder.

A policy that meets only itself can forget how to beat what it no longer plays.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
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
        self._kept: dict[str, tuple[str, Policy]] = {}  # by file, oldest first: digest and content

    def __len__(self) -> int:
        return len(self._kept)

    def add(self, policy: Policy, steps: int) -> None:
        """Add a snapshot, and write it to its file."""
        path = self._folder / f"{steps:012d}.npz"
        path.parent.mkdir(parents=True, exist_ok=True)
        save_policy(policy, path)
        self._kept[path.name] = _digest(path), load_policy(path)
        for old in list(self._kept)[: -self._size]:
            del self._kept[old]

    def draw(self, count: int) -> list[PolicyAgent]:
        """Draw opponents uniformly, distinct if there are enough; they sample their actions."""
        policies = [policy for _, policy in self._kept.values()]
        chosen = self._rng.choice(len(policies), count, replace=count > len(policies))
        return [PolicyAgent(policies[i], sample=True) for i in chosen]

    def snapshot(self) -> dict[str, Any]:
        """Return what later draws depend on: the files' names and digests, and the generator."""
        digests = {name: digest for name, (digest, _) in self._kept.items()}
        return {"digests": digests, "rng": deepcopy(self._rng.bit_generator.state)}

    def restore(self, snapshot: dict[str, Any]) -> list[str]:
        """Go on from a `snapshot`; returns what is wrong with files that are missing or changed."""
        self._rng.bit_generator.state = deepcopy(snapshot["rng"])
        return self._take_in(snapshot["digests"])

    def read(self, steps: int) -> list[str]:
        """Keep only the last files of the folder with at most this many steps, since later ones are
        from a lost part of a run; returns what is wrong with some.
        """
        names = sorted(p.name for p in self._folder.glob("*.npz") if p.stem.isdecimal())
        last = [name for name in names if int(name[:-4]) <= steps][-self._size :]
        return self._take_in(dict.fromkeys(last))

    def _take_in(self, files: Mapping[str, str | None]) -> list[str]:
        """Keep only these files, with the digest that is given; returns what is wrong with some."""
        self._kept.clear()
        problems = []
        for name, expected in files.items():
            path = self._folder / name
            try:
                digest = _digest(path)
                if expected not in (None, digest):
                    raise ValueError(f"{path} has changed since the checkpoint")
                self._kept[name] = digest, load_policy(path)
            except (OSError, ValueError) as error:
                problems.append(f"opponent {name} is left out of the pool: {error}")
        return problems


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
