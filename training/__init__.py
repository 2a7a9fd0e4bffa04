"""Training by self-play: `python -m training.ppo CONFIG`; see README.md in this folder."""

import os

from boardenvs.utils.imports import extra

# Threads of OpenMP that spin while they wait slow down everything else on the machine. Torch reads
# this when it is imported.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

with extra("train"):
    import sb3_contrib  # noqa: F401
