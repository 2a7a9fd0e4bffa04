"""`python -m boardenvs` is the command line `boardenvs`."""

from boardenvs.cli import main

if __name__ == "__main__":
    main()
