"""Makes test positions for exams: `python -m boardenvs.exams`.

They come out of games of players of several strengths against themselves, one of a game, and no two
are images of one another. Of games that fill up and in which points count, as in the Othello
family, they are endgames whose every move is solved to the last disc; of all others, as of Lines of
Action, forced wins and only defences, proven by search.
"""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.progress import track

from boardenvs import games
from boardenvs.arena.match import play_match
from boardenvs.arena.pools import PLAYOUTS
from boardenvs.exams.positions import FOLDER, ExamPosition, write_positions
from boardenvs.game.contract import Game, Position
from boardenvs.game.rules import WIN
from boardenvs.games.files import new_file
from boardenvs.search import Limits, search_position
from boardenvs.tablebase import Tablebase
from boardenvs.utils.ending import ending_in_a_line
from boardenvs.utils.files import write_atomically

# Who plays against itself, where the game has a heuristic.
PLAYERS = ("random", "positional", "alphabeta:depth=2", "alphabeta:depth=4")

EMPTIES = (8, 10, 12, 14)
_ENDGAMES = 30  # of each number of empty squares and player

_WINS = (1, 3, 5)  # plies
_EACH = 80  # wins in so many plies, and defences
_NOISE = 0.1  # share of random plies, lest all games end alike
_MOST = 0.25  # of the moves may be right


# ---- games ---------------------------------------------------------------------------------------


def play_games(game: Game, player: str, pairs: int, noise: float, seed: int) -> list[list[int]]:
    """The actions of 2 * `pairs` games of a player against itself, that share of them random."""
    match = play_match(game, player, player, pairs, keep=None, noise=noise, seed=seed)
    assert match.actions is not None
    lines = match.actions.reshape(match.games, -1)
    return [line[line >= 0].tolist() for line in lines]


def players_of(game: Game) -> tuple[str, ...]:
    """Who plays the game against itself."""
    return PLAYERS if game.has_heuristic else ("random", *PLAYOUTS)


def positions_of(game: Game, line: Sequence[int]) -> list[Position]:
    """The positions of a game, from the start to the last before its end."""
    positions = [game.start()]
    for action in line[:-1]:
        positions.append(positions[-1].step(action))
    if not game.history:
        return positions
    # As texts have them, and files of exams.
    return [game.position(one.by_role(), one.to_move, one.ply) for one in positions]


class Distinct:
    """Tells positions that are new under the game's symmetries."""

    def __init__(self) -> None:
        self._seen: set[tuple[int, ...]] = set()

    def is_new(self, position: Position) -> bool:
        """Whether neither this position nor an image of it was asked for before."""
        game, words, to_move = position.game, position.words, position.to_move
        images = {(*game.image(s, words), to_move) for s in game.symmetries}
        is_new = not images & self._seen
        self._seen |= images
        return is_new


# ---- solved endgames ----------------------------------------------------------------------------


def endgames(game: Game, seed: int, pairs: int = 400) -> Iterator[ExamPosition]:
    """Positions in which some moves give the win or the draw away and others do not, one a game."""
    distinct = Distinct()
    for player in players_of(game):
        lines = iter(play_games(game, player, pairs, 0.0, seed))
        for empties in EMPTIES:
            found = (_endgame(positions_of(game, line), empties) for line in lines)
            new = (one for one in found if one is not None and distinct.is_new(one.position))
            yield from itertools.islice(new, _ENDGAMES)


def _endgame(positions: list[Position], empties: int) -> ExamPosition | None:
    game = positions[0].game
    for position in positions:
        squares = position.own | position.opp | game.holes
        if game.board.size - squares.bit_count() == empties and len(position.legal_actions()) > 1:
            break
    else:
        return None
    found = search_position(position, Limits(endgame=empties))
    values = {move.action: int(move.value or 0) for move in found.moves}
    assert all(move.outcome for move in found.moves), "no limit but the end"
    signs = np.sign(list(values.values()))
    if signs.max() == signs.min():
        return None
    return ExamPosition(f"{empties} empty squares", position, values)


# ---- forced wins, only defences ------------------------------------------------------------------

Finder = Callable[[list[Position]], tuple[Position, list[int]] | None]


def wins_and_defences(game: Game, seed: int, pairs: int = 150) -> Iterator[ExamPosition]:
    """Positions with a win in so many plies, and such with one move that does not lose at once."""
    lines = [
        line
        for player in players_of(game)
        for line in play_games(game, player, pairs, _NOISE, seed)
    ]
    finders: dict[str, Finder] = {
        f"win in {plies} {'ply' if plies == 1 else 'plies'}": partial(_win, plies=plies)
        for plies in _WINS
    }
    finders["only defence"] = _only_defence
    distinct = Distinct()
    for number, (kind, find) in enumerate(finders.items()):
        order = np.random.default_rng(seed + number).permutation(len(lines))
        found = (find(positions_of(game, lines[place])) for place in order)
        new = (one for one in found if one is not None and distinct.is_new(one[0]))
        for position, right in itertools.islice(new, _EACH):
            values = {action: int(action in right) for action in position.legal_actions()}
            yield ExamPosition(kind, position, values)


def _win(positions: list[Position], plies: int) -> tuple[Position, list[int]] | None:
    """The position so many plies before the end, if these are what the fastest win takes, and the
    moves with which it takes no more.
    """
    if len(positions) <= plies:
        return None
    position = positions[-plies]
    found = search_position(position, Limits(depth=plies))
    if found.outcome != "win" or found.plies != plies:
        return None
    right = [m.action for m in found.moves if m.outcome == "win" and m.plies == plies]
    return (position, right) if len(right) <= _MOST * len(found.moves) else None


def _only_defence(positions: list[Position]) -> tuple[Position, list[int]] | None:
    """The last position in which one move alone does not lose, at once or by the next ply, and
    in which none wins at once.
    """
    for position in reversed(positions):
        mover = position.to_move
        after = {action: position.step(action) for action in position.legal_actions()}
        if len(after) == 1 or any(_is_won(one, mover) for one in after.values()):
            continue
        safe = [action for action, one in after.items() if not _is_lost(one, mover)]
        if len(safe) == 1:
            return position, safe
    return None


def _is_lost(position: Position, role: int) -> bool:
    """Whether the role has lost, or loses by the other's next ply."""
    if position.is_over() or position.to_move == role:
        return _is_won(position, 1 - role)
    return any(_is_won(position.step(a), 1 - role) for a in position.legal_actions())


def _is_won(position: Position, role: int) -> bool:
    """Whether the game is over and won by that role."""
    return position.is_over() and position.result()[role] == WIN


# ---- the command ---------------------------------------------------------------------------------

GAMES = ("othello", "othello_holes", "lines_of_action")


def main(
    which: Annotated[
        list[str] | None, typer.Argument(metavar="GAME", help="Which games. Default: all.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the games.", min=0)] = 0,
    pairs: Annotated[
        int | None,
        typer.Option(help="Pairs of games of each player. Default: enough for ours.", min=1),
    ] = None,
) -> None:
    """Find test positions, solve them, and write them into the package, or into the folder that the
    game's class names as `files`.
    """
    console = Console()
    with ending_in_a_line():
        made = {text: games.parse(text) for text in which or GAMES}
        for text, game in made.items():
            if Tablebase.covers(game):
                raise ValueError(f"{text} needs no file: its exam is of its exact solution")
        paths = [new_file(FOLDER, game, ".jsonl") for game in made.values()]
        for path, (text, game) in zip(paths, made.items(), strict=True):
            find = endgames if game.fills_up and game.margin_counts else wins_and_defences
            more = () if pairs is None else (pairs,)
            command = f"python -m boardenvs.exams {text} --seed {seed}"
            command += "".join(f" --pairs {number}" for number in more)
            positions = find(game, seed, *more)
            found = list(track(positions, f"{text}: positions", console=console, transient=True))
            today = datetime.datetime.now(datetime.UTC).date().isoformat()
            write_atomically(path, write_positions(game, found, today, command))
            console.print(f"{len(found)} positions are in {path}", markup=False, soft_wrap=True)


if __name__ == "__main__":
    typer.run(main)
