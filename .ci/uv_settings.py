"""Prints a `uv.toml` with which uv looks for packages where this Python's pip does."""

import ast
import json
import subprocess
import sys

# As pip it takes the best of what all places have, and trusts whom the system trusts.
print('index-strategy = "unsafe-best-match"\nsystem-certs = true')
shown = subprocess.run(
    [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True
)
values = {}  # the environment's come last and count
for line in shown.stdout.splitlines():
    name, _, value = line.partition("=")
    values[name.rpartition(".")[2]] = ast.literal_eval(value).split()
if "index-url" in values:
    print("index-url =", json.dumps(values["index-url"][0]))
for name in ("extra-index-url", "find-links"):
    if name in values:
        print(name, "=", json.dumps(values[name]))
