"""Solves Wolf and Sheep, once for each of its rules, and tic-tac-toe; later processes read the
result.

On disk a solved game is a digest, of its rules too, and then the numbers themselves.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from boardenvs.game.game import Game
from boardenvs.game.state import Int8Array, IntArray, take
from boardenvs.games.tictactoe import TicTacToe
from boardenvs.games.wolf_and_sheep import WolfAndSheep
from boardenvs.tablebase import numbering, tictactoe
from boardenvs.utils.cache import cache_folder, keep, read_kept
from boardenvs.utils.files import one_process_at_a_time

# Raise it whenever the same rules would give another table.
FORMAT = 1

_DTYPE = np.dtype("<i2")
_DIGEST = 32  # bytes

# How the positions of each solved game are numbered.
NUMBERINGS: dict[type[Game], Any] = {WolfAndSheep: numbering, TicTacToe: tictactoe}


def read_or_solve(game: Game) -> IntArray:
    """Return the codes (see `solve`) of all positions by number, (N,) int16.

    They are read from the cache folder, or else made in seconds and stored there; other processes
    that need them meanwhile wait.
    """
    module = sys.modules[type(game).__module__]
    rules = [
        module.__name__.rpartition(".")[2],
        *([game.rules] if isinstance(game, WolfAndSheep) else []),
    ]
    path = cache_folder() / f"{'_'.join(rules)}.tablebase"
    # A stored table must be for these rules: by name, and by their source.
    key = f"{FORMAT} {rules} {inspect.getsource(module)}"
    count = NUMBERINGS[type(game)].COUNT
    codes = read(path, key, count)
    if codes is not None:
        return codes
    with one_process_at_a_time(path.with_suffix(".lock")):
        codes = read(path, key, count)  # another process may have kept them meanwhile
        if codes is None:
            codes = solve_all(game)
            try:
                write(path, key, codes)
            except OSError as error:
                warnings.warn(
                    f"the tablebase could not be kept ({error}): each process solves it again; set "
                    "BOARDENVS_CACHE to a folder that can be written to",
                    stacklevel=2,
                )
    return codes


def solve_all(game: Game) -> IntArray:
    """Solve the game; it takes less than 1 GB of memory."""
    numbered = NUMBERINGS[type(game)]
    ends = np.zeros(numbered.COUNT, np.int8)
    moves: list[tuple[IntArray, IntArray]] = []
    for chunk in numbered.CHUNKS:
        ids, state = numbered.positions(game, *chunk)
        ends[ids] = np.where(state.terminated, np.sign(game.score_margin(state)), 0)
        rows, actions = np.divmod(np.flatnonzero(game.legal(state)), game.num_actions)
        *inputs, _ = take(state, rows).inputs
        after = game.empty(len(rows))  # only its words and turns are filled in
        game.kernels.words_after.batch(
            [*inputs, actions.view(np.uint64)], [*after.words, after.to_move]
        )
        targets = numbered.numbers(game, after)
        moves.append((ids[rows].astype(np.int32), targets.astype(np.int32)))
    return solve(ends, moves)


def read(path: Path, key: str, count: int) -> IntArray | None:
    """Return the codes that `write` stored with this key, (count,) int16, read-only.

    None if there is no such file, or it is incomplete, or of another format, game or user.
    """
    size = _DIGEST + count * _DTYPE.itemsize
    try:
        content = read_kept(path, size)
    except OSError:
        return None
    fits = len(content) == size and content == _sealed(key, content[_DIGEST:])
    return np.frombuffer(content, _DTYPE, offset=_DIGEST) if fits else None


def write(path: Path, key: str, codes: IntArray) -> None:
    """Store the codes; OSError where the folder cannot be written to."""
    keep(path, _sealed(key, codes.astype(_DTYPE).tobytes()))


def _sealed(key: str, body: bytes) -> bytes:
    """Return the body behind a digest of the key and itself."""
    return hashlib.sha256(key.encode() + body).digest() + body


# ---- retrograde analysis -------------------------------------------------------------------------
#
# From the ends of a game back to all its positions. The idea is Ströhlein's (1970) and Thompson's,
# https://www.chessprogramming.org/Retrograde_Analysis; this form looks forward instead of un-making
# moves. Ply by ply away from the ends it decides the positions all of whose moves, or one winning
# move, are known, and forgets the moves that are.


def solve(ends: Int8Array, moves: list[tuple[IntArray, IntArray]]) -> IntArray:
    """Return the winner of each of N positions with perfect play, and the plies to the end,
    (N,) int16.

    Each part of `moves` is a pair of (E,): its moves lead from `sources[i]` to `targets[i]` and
    pass the turn. It has all moves of its positions, and is overwritten. `ends`, (N,), is 1 if the
    game is over and the side to move has won, -1 if it has lost, else 0; no move leaves a finished
    game. The result is d + 1 if the side to move wins in at most d plies, -(d + 1) if it loses in d
    plies at the earliest, and 0 if neither side can force an end. Winners hurry and losers delay.
    """
    codes, decided, plies = ends.astype(np.int16), ends != 0, 0
    while decided.any():
        plies += 1
        won, stuck = [np.empty(0, np.int32)], np.zeros(len(codes), np.bool_)
        for part, (sources, targets) in enumerate(moves):
            # A part none of whose targets was decided a ply ago is as it was.
            if not targets.size or not decided[targets.min() : targets.max() + 1].any():
                continue
            after = codes[targets]
            won.append(sources[after < 0])
            stuck[sources] = True
            # Others lead to positions that are won there, which does not help.
            moves[part] = sources, targets = sources[after == 0], targets[after == 0]
            stuck[sources] = False
        # Who has won before needs no other win, and is not stuck either.
        first = np.concatenate(won)
        codes[first[codes[first] == 0]] = plies + 1
        codes[stuck & (codes == 0)] = -(plies + 1)
        decided = np.abs(codes) == plies + 1
    return codes
