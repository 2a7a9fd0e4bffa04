"""Training by self-play: `python -m training.ppo CONFIG`; see README.md in this folder."""

import os
from importlib.util import find_spec

_NEEDED = ("matplotlib", "pydantic", "rich", "sb3_contrib", "tensorboard", "threadpoolctl", "yaml")
if _missing := [name for name in _NEEDED if find_spec(name) is None]:
    raise ModuleNotFoundError(
        f"training needs {', '.join(_missing)}: pip install 'boardenvs[train]'", name=_missing[0]
    )

# Threads of OpenMP that wait for each other in loops take the time of everything else on the
# machine, and of one another where there are too few cores. This is read when torch is imported.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
