"""The lowest versions that pyproject.toml promises, as constraints for pip.

`python .ci/lowest.py > lowest.txt`, and then `pip install --constraint lowest.txt '.[test]'`.
"""

import re
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).resolve().parents[1] / "pyproject.toml").read_text())[
    "project"
]
groups = [project["dependencies"], *project["optional-dependencies"].values()]
lowest = {
    found[1]: found[2]
    for group in groups
    for wanted in group
    if (found := re.match(r"([\w-]+)(?:\[.*\])?>=([\d.]+)", wanted))
}
print("\n".join(f"{name}=={version}" for name, version in sorted(lowest.items())))
