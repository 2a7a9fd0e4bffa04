"""`python -m boardenvs.bench` is the command `boardenvs bench`."""

import sys

from boardenvs.cli import app

if __name__ == "__main__":
    app(["bench", *sys.argv[1:]], prog_name="boardenvs")
