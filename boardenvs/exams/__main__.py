"""Make the positions of the exams anew: `python -m boardenvs.exams`."""

from __future__ import annotations

import argparse
import datetime
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.progress import track

from boardenvs import games
from boardenvs.exams.endgames import endgames
from boardenvs.exams.questions import FOLDER, Question, write_questions
from boardenvs.exams.wins import wins_and_defences
from boardenvs.game.contract import Game
from boardenvs.games.files import file_name
from boardenvs.utils.checks import is_whole, unknown
from boardenvs.utils.ending import ending_in_a_line
from boardenvs.utils.files import check_writable, write_atomically

_MAKERS: dict[str, Callable[[Game, int], Iterator[Question]]] = {
    "othello": endgames,
    "othello_holes": endgames,
    "lines_of_action": wins_and_defences,
}


def main(words: list[str] | None = None) -> None:
    """Find positions, solve them, and write them into the package."""
    parser = argparse.ArgumentParser(prog="python -m boardenvs.exams", description=__doc__)
    parser.add_argument(
        "games", nargs="*", default=list(_MAKERS), metavar="GAME", help="which games; default: all"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the games")
    options = parser.parse_args(words)
    console = Console()
    with ending_in_a_line():
        if not is_whole(options.seed, 0):
            raise ValueError(f"--seed is {options.seed}: it must be 0 or more")
        for text in options.games:
            if text not in _MAKERS:
                raise ValueError(unknown("exam", text, _MAKERS))
        for text in options.games:
            game = games.make(text)
            path = FOLDER / f"{file_name(game)}.jsonl"
            check_writable(path)
            command = f"python -m boardenvs.exams {text} --seed {options.seed}"
            questions = _MAKERS[text](game, options.seed)
            found = list(track(questions, f"{text}: positions", console=console, transient=True))
            made = datetime.datetime.now(datetime.UTC).date().isoformat()
            write_atomically(path, write_questions(game, found, made, command))
            console.print(f"{len(found)} positions are in {path}", markup=False, soft_wrap=True)


if __name__ == "__main__":
    main()
