"""Matches between two agents: every opening twice, with roles swapped, many games side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import Any

import numpy as np

from boardenvs.agents.base import Agent, games_at_once, taking_turns
from boardenvs.agents.history import History
from boardenvs.agents.spec import agent_for, make_agent
from boardenvs.arena.executor import (
    FIRST,
    HERE,
    NOBODY,
    SECOND,
    Executor,
    note_running,
    seed_libraries,
)
from boardenvs.arena.match_result import MatchResult, forfeited
from boardenvs.arena.player import FORFEIT, Player, PlayerStats
from boardenvs.game.game import Game
from boardenvs.game.openings import Openings, distinct_openings
from boardenvs.game.position import stack
from boardenvs.game.rules import LOSS, WIN
from boardenvs.game.state import BoolArray, IntArray, State, concat, take
from boardenvs.games import make
from boardenvs.tablebase import Tablebase

# A match is played in parts, whose games are played side by side with random numbers of their own,
# so that any number of processes can share them: about this many, of this many openings each.
PARTS, SMALLEST, LARGEST = 8, 10, 50

DIED = "the process died, twice"  # why a player forfeits that ends processes


def same_winner(game: Game, state: State) -> BoolArray:
    """Return whether the side that wins from the start with perfect play still does, (B,) bool.

    A random ply of a sheep often gives the game away, and the rest then tells little about the
    players. All True for a game without a tablebase, in which this is not known.
    """
    if not Tablebase.covers(game):
        return np.ones(len(state.ply), np.bool_)
    table = Tablebase.load(game)
    start = stack([game.start()])
    (expected, _), (values, _) = table.lookup(start), table.lookup(state)
    return np.where(state.to_move == start.to_move, values, -values) == expected


def note_on_openings(game: Game) -> str:
    """Return a sentence for results if `same_winner` leaves openings out, else ""."""
    return "Only openings are played that do not change who wins." if Tablebase.covers(game) else ""


def play_match(
    game: Game | str,
    a: object,
    b: object,
    pairs: int,
    *,
    opening_plies: tuple[int, int] | None = None,
    seed: int = 0,
    executor: Executor = HERE,
    progress: Callable[[MatchInProgress], None] = lambda match: None,
) -> MatchResult:
    """Play 2 * `pairs` games between `a` and `b`: each opening twice, with roles swapped.

    `game` may be a text, and `a` and `b` anything that `boardenvs.agents.as_agent` takes: an agent,
    its text, or a function. Openings are random plies, low to high by `opening_plies` (the game's
    own by default), and distinct as far as the game has as many. In a game with a tablebase, as in
    Wolf and Sheep, only openings are played that do not change who wins. A game that its cap on
    plies ends counts by its position. An agent loses the games that it forfeits
    (`boardenvs.arena.player`). The same seed gives the same match, here and by `boardenvs match` in
    any number of processes, if the agents draw only from the generator that they are given. Many
    games are played side by side, or if an agent wants that (`games_at_once`), as language models
    and engines do, each for itself. With the workers of an `executor` each makes the agents once.
    `progress` is called after every ply, or with workers after every part.

    ValueError for an unknown game, an agent that cannot play it, fewer than one pair, or openings
    longer than any game. RuntimeError if a worker dies twice in no agent's code.

    ```python
    import boardenvs

    print(boardenvs.play_match("lines_of_action", "greedy", "random", pairs=50))
    ```
    """
    game = make(game)
    if pairs < 1:
        raise ValueError(f"pairs is {pairs}: it must be 1 or more")
    agents = [] if executor.parallel else [agent_for(game, player) for player in (a, b)]
    rng, plies = np.random.default_rng(seed).spawn(1)[0], opening_plies or game.opening_plies
    openings = distinct_openings(game, pairs, plies, rng, same_winner)
    match = MatchInProgress(game, openings)
    size = min(max(SMALLEST, -(-pairs // PARTS)), LARGEST)
    parts = [range(start, min(start + size, pairs)) for start in range(0, pairs, size)]
    if not executor.parallel:
        match.play(parts, agents, seed, progress)
        return match.result()
    state, actions = openings.state, openings.actions
    tasks = [
        _Part(game, (a, b), Openings(take(state, part), actions[part]), part.start, seed)
        for part in parts
    ]
    for number, result in executor.run(tasks):
        match.add(parts[number], result)
        progress(match)
    return match.result()


@dataclass(frozen=True)
class _Part:
    """Some openings of a match, which any process can play."""

    game: Game
    players: tuple[object, object]
    openings: Openings
    first: int  # the number of the first opening in the match
    seed: int

    def run(self) -> MatchResult:
        seed = hash((self.seed, self.first))  # no other part of the match has it
        seed_libraries(seed)
        agents = [self._agent(side) for side in (FIRST, SECOND)]
        seed_libraries(seed)  # torch too, if they have imported it
        match = MatchInProgress(self.game, self.openings, self.first)
        match.play([range(match.total // 2)], agents, self.seed)
        return match.result()

    def _agent(self, side: int) -> Agent:
        player = self.players[side - 1]
        note_running(side)
        agent = agent_for(self.game, _made(side, player) if isinstance(player, str) else player)
        note_running(NOBODY)
        return agent

    def lost(self, side: int) -> MatchResult:
        if side == NOBODY:
            raise RuntimeError("a part of the match could not be played: its process died, twice")
        return forfeited(len(self.openings.actions), side, DIED)


@lru_cache(maxsize=2)
def _made(side: int, player: str) -> Agent:
    """Return the agent of this text that plays on this side, made once in a process."""
    return make_agent(player)


class MatchInProgress:
    """The games of a match: all openings, then all again with roles swapped.

    first: the number of the first opening, if others of the match are played elsewhere.
    """

    def __init__(self, game: Game, openings: Openings, first: int = 0) -> None:
        pairs = len(openings.actions)
        self.total = 2 * pairs  # games
        self.plies = 0  # of the games that are being played side by side, since they began
        self._game, self._openings, self._first = game, openings, first
        self._role_of_a = np.repeat([0, 1], pairs)
        self._actions = np.concatenate([openings.actions] * 2)
        self._forfeits = np.zeros(2 * pairs, np.int8)
        self._scores = np.full(2 * pairs, np.nan)  # of a, once a game is over
        self._players: list[Player] = []  # who play here
        self._added: list[tuple[PlayerStats, ...]] = []  # of what was played elsewhere
        self._apart = False  # whether each game is played for itself
        self._stopped = False  # whether one of these cannot go on

    @property
    def over(self) -> int:
        """The number of games that are over."""
        return int(np.isfinite(self._scores).sum())

    def result(self) -> MatchResult:
        """Return the match so far; the scores of games that are not over are nan."""
        parts = self._added or [tuple(player.count() for player in self._players)]
        first, second = zip(*parts, strict=True)
        actions = self._actions.reshape(2, self.total // 2, -1)
        return MatchResult(
            scores=self._scores.reshape(2, -1).copy(),
            forfeits=self._forfeits.reshape(2, -1).copy(),
            mean_plies=float((actions >= 0).sum(axis=2).mean()),
            openings=self._openings.distinct,
            stats=(PlayerStats.sum(first), PlayerStats.sum(second)),
            actions=actions,
        )

    def add(self, part: range, match: MatchResult) -> None:
        """Add the result of some openings, if all are played elsewhere."""
        rows = np.concatenate([part, np.add(part, self.total // 2)])
        self._record(rows, match.actions.reshape(len(rows), -1))
        self._forfeits[rows] = match.forfeits.ravel()
        self._scores[rows] = match.scores.ravel()
        self._added.append(match.stats)

    def play(
        self,
        parts: Iterable[range],
        agents: Sequence[Agent],
        seed: int,
        progress: Callable[[MatchInProgress], None] = lambda match: None,
    ) -> None:
        """Play both games of these openings to their ends, those of a part side by side."""
        at_once = max(map(games_at_once, agents))
        self._apart = at_once > 0
        self._players = [
            Player(agent, side, self._apart) for side, agent in enumerate(agents, FIRST)
        ]
        games = []
        for part in parts:
            rows = np.concatenate([part, np.add(part, self.total // 2)])
            root = np.random.default_rng([seed, self._first + part.start])
            rngs = root.spawn(3)[1:]  # of the agents
            if self._apart:
                games += [(row, root.spawn(2)) for row in rows[:, None]]
            else:
                self.plies = 0
                self._play(rows, rngs, progress)
        if games:
            self._play_each(games, at_once, progress)

    def _play_each(
        self,
        games: Sequence[tuple[IntArray, Sequence[np.random.Generator]]],
        at_once: int,
        progress: Callable[[MatchInProgress], None],
    ) -> None:
        """Play each game for itself in one of several threads, with random numbers of its own."""
        lock, self._stopped = Lock(), False

        def play(row: IntArray, rngs: Sequence[np.random.Generator]) -> None:
            try:
                with taking_turns(lock):
                    self._play(row, rngs, progress)
            except BaseException:
                self._stopped = True
                raise

        with ThreadPoolExecutor(at_once) as threads:
            playing = [threads.submit(play, *game) for game in games]
            try:
                for game in playing:
                    game.result()
            finally:
                self._stopped = True

    def _play(
        self,
        rows: IntArray,
        rngs: Sequence[np.random.Generator],
        progress: Callable[[MatchInProgress], None],
    ) -> None:
        state = take(concat([self._openings.state] * 2), rows)
        memories = [{row: dict[str, Any]() for row in rows.tolist()} for _ in rngs]
        seats = [*zip(self._players, rngs, memories, strict=True)]
        while len(rows) and not self._stopped:
            side = np.where(state.to_move == self._role_of_a[rows], 0, 1)
            actions = self._ask(state, rows, side, seats)
            forfeit = actions == FORFEIT
            self._forfeits[rows[forfeit]] = 1 + side[forfeit]
            self._scores[rows[forfeit]] = side[forfeit]
            state, rows, actions = take(state, ~forfeit), rows[~forfeit], actions[~forfeit]
            self._record(rows, actions[:, None], state.ply)
            state = self._game.step(state, actions)
            over = self._game.is_over(state)
            goals = self._game.results(take(state, over))
            goal = goals[np.arange(len(goals)), self._role_of_a[rows[over]]]
            self._scores[rows[over]] = (goal - LOSS) / (WIN - LOSS)
            state, rows = take(state, ~over), rows[~over]
            self.plies += not self._apart
            progress(self)

    def _ask(
        self,
        state: State,
        rows: IntArray,
        side: IntArray,
        seats: Sequence[tuple[Player, np.random.Generator, dict[int, dict[str, Any]]]],
    ) -> IntArray:
        """Return the actions of the players whose turn it is, by row 0 for `a` or 1 for `b`."""
        actions = np.empty(len(rows), np.int64)
        for index, (player, rng, memory) in enumerate(seats):
            turn = side == index
            if turn.any():
                games = rows[turn]
                history = History(self._actions[games], [memory[row] for row in games.tolist()])
                actions[turn] = player.act(self._game, take(state, turn), rng, history)
        return actions

    def _record(self, rows: IntArray, actions: IntArray, ply: IntArray | int = 0) -> None:
        """Keep the actions (n, P) of some games, from this ply of each on."""
        places = np.add(ply, 0).reshape(-1, 1) + np.arange(actions.shape[1])
        missing = int(places.max(initial=-1)) + 1 - self._actions.shape[1]
        if missing > 0:
            self._actions = np.pad(self._actions, ((0, 0), (0, missing)), constant_values=-1)
        self._actions[rows[:, None], places] = actions
