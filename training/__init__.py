"""Training by self-play: `python -m training.ppo CONFIG`; see README.md in this folder."""

import os
from importlib.util import find_spec

_NEEDED = ("pydantic", "rich", "sb3_contrib", "tensorboard", "threadpoolctl", "yaml")
for _name in _NEEDED:
    if find_spec(_name) is None:
        message = f"training needs {_name}: pip install 'boardenvs[train]'"
        raise ModuleNotFoundError(message, name=_name)

# Threads of OpenMP that spin while they wait slow down everything else on the machine. Torch reads
# this when it is imported.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
