"""Training by self-play: `python -m training.ppo CONFIG`; see README.md in this folder."""

import os

# Threads of OpenMP that wait for each other in loops take the time of everything else on the
# machine, and of one another where there are too few cores. This is read when torch is imported.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
