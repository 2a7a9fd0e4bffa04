"""The command line within this process: what a command prints and ends with."""

from __future__ import annotations

from collections.abc import Sequence

from typer.testing import CliRunner, Result

from boardenvs.cli import app

# Words after `boardenvs exam` or `boardenvs rate`, and what is said of them.
WRONG_PLAYERS = [
    (["gredy"], "Did you mean 'greedy'"),
    (["greedy", "--game", "otello"], "Did you mean 'othello'"),
    (["perfect", "--game", "othello"], "cannot play othello"),
]


def invoke(*words: object, lines: Sequence[str] = ()) -> Result:
    """Run `boardenvs` with these words, and these lines to read; its own faults are raised."""
    given = "".join(f"{line}\n" for line in lines)
    result = CliRunner().invoke(app, [str(word) for word in words], input=given)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def run(*words: object, code: int = 0, lines: Sequence[str] = ()) -> str:
    """What it prints, errors too, where it ends with this exit code."""
    result = invoke(*words, lines=lines)
    assert result.exit_code == code, result.output
    return result.stdout if "--json" in words else result.output


def rows(text: str) -> list[list[str]]:
    """The cells of the tables in a text, a list for each line below the columns' names."""
    lines = [line for line in text.splitlines() if line.startswith("│")]
    return [[cell.strip() for cell in line.strip("│").split("│")] for line in lines]
