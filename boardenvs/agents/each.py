"""Players that are asked about one board at a time, such as programs and language models."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from boardenvs.agents.base import waiting
from boardenvs.agents.history import History
from boardenvs.game.errors import ForfeitError, NoMoveError
from boardenvs.game.game import Game
from boardenvs.game.session import GameSession
from boardenvs.game.state import IntArray, State


def act_each(
    game: Game,
    state: State,
    history: History | None,
    ask: Callable[[GameSession, int], int],
    rng: np.random.Generator | None = None,
    threads: int = 1,
) -> IntArray:
    """Return an action for each board, (B,) int64, by asking about each alone, `threads`
    of them at once.

    ask: called with the game so far, as far as it is known, and a random number. A move without a
    choice is not asked for. ForfeitError if `ask` raises NoMoveError for some boards.
    """
    chosen = np.full(len(state.ply), game.noop, np.int64)
    asked = dict[int, tuple[GameSession, int]]()
    for row, position in enumerate(game.positions(state)):
        legal = [] if position.is_over() else position.legal_actions()
        if len(legal) == 1:
            chosen[row] = legal[0]
        elif legal:
            session = GameSession.reaching(position, history.plies(row) if history else ())
            asked[row] = session, 0 if rng is None else int(rng.integers(1 << 62))
    lost = dict[int, str]()

    def answer(row: int) -> None:
        try:
            chosen[row] = ask(*asked[row])
        except NoMoveError as error:
            lost[row] = str(error)

    with waiting(), ThreadPoolExecutor(threads) as pool:
        for _ in (map if threads == 1 else pool.map)(answer, asked):  # an error cancels the others
            pass
    if lost:
        raise ForfeitError(chosen, dict(sorted(lost.items())))
    return chosen
