"""The policies of a run's evaluations, a file for each: players of a tournament within the run."""

from __future__ import annotations

from pathlib import Path

from boardenvs.agents.policy import Policy
from boardenvs.agents.policy_file import save_policy

POLICIES = "policies"  # the folder within a run's


def keep_policy(folder: Path, policy: Policy, steps: int) -> None:
    """Write the policy that a run evaluates after this many steps."""
    path = folder / POLICIES / f"{steps:012d}.npz"
    path.parent.mkdir(parents=True, exist_ok=True)
    save_policy(policy, path)


def drop_policies(folder: Path, steps: int) -> None:
    """Remove the policies of more steps: a resumed run has lost the part that they are from."""
    for path in (folder / POLICIES).glob("*.npz"):
        if path.stem.isdecimal() and int(path.stem) > steps:
            path.unlink()
