"""Matches between two agents: every opening twice, with roles swapped, many games side by side.

A match is played in blocks of openings, so that a long one has results before its end: the first
has `BLOCK` openings, each other three times as many as there were before, for speed in batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from boardenvs.agents.spec import as_agent
from boardenvs.arena.player import FORFEIT, Faults, Player
from boardenvs.arena.ratings import score_interval
from boardenvs.game.contract import Game
from boardenvs.game.openings import Openings, distinct_openings
from boardenvs.game.position import stack
from boardenvs.game.rules import LOSS, WIN
from boardenvs.game.state import BoolArray, FloatArray, IntArray, State, concat, put, take
from boardenvs.games import make
from boardenvs.report import ReportTable
from boardenvs.tablebase import Tablebase
from boardenvs.utils.checks import is_number, quote

BLOCK = 50  # openings

Counts = tuple[int, int, int]  # wins, draws and losses


@dataclass(frozen=True)
class MatchResult:
    """The games of a match; a win of the first agent scores 1, a draw 1/2, a loss 0.

    Arrays (2, pairs) hold the games in which the first agent has the first role in row 0 and the
    others in row 1; column i is opening i. A forfeit is a loss.

    ```python
    import boardenvs

    result = boardenvs.play_match(boardenvs.games.make("othello"), "greedy", "random", pairs=50)
    print(result.score, result.interval, result.wins, result.by_role)
    ```
    """

    scores: FloatArray  # (2, pairs) float64; nan for games that are not over, see `Ongoing`
    forfeits: IntArray  # (2, pairs) int8: 1 if the first agent forfeited, 2 if the second did
    mean_plies: float  # of a game, its opening included
    openings: int  # the number of distinct ones
    faults: tuple[Faults, Faults]  # of the first and of the second agent
    # (2, pairs, P) int16, openings included, -1 after the end; None if read from a journal
    actions: IntArray | None = None

    @classmethod
    def joined(cls, parts: Sequence[MatchResult]) -> MatchResult:
        """One match of these parts, in their order."""
        actions = [part.actions for part in parts if part.actions is not None]
        longest = max((x.shape[2] for x in actions), default=0)
        padded = [
            np.pad(x, ((0, 0), (0, 0), (0, longest - x.shape[2])), constant_values=-1)
            for x in actions
        ]
        lengths, games = [part.mean_plies for part in parts], [part.games for part in parts]
        first, second = zip(*(part.faults for part in parts), strict=True)
        return cls(
            scores=np.concatenate([part.scores for part in parts], axis=1),
            forfeits=np.concatenate([part.forfeits for part in parts], axis=1),
            mean_plies=float(np.average(lengths, weights=games)),
            openings=parts[0].openings,
            faults=(Faults.sum(first), Faults.sum(second)),
            actions=np.concatenate(padded, axis=1) if len(actions) == len(parts) else None,
        )

    @property
    def games(self) -> int:
        return self.scores.size

    @property
    def counts(self) -> Counts:
        """Wins, draws and losses of the first agent."""
        return _counts(self.scores)

    @property
    def wins(self) -> int:
        return self.counts[0]

    @property
    def draws(self) -> int:
        return self.counts[1]

    @property
    def losses(self) -> int:
        return self.counts[2]

    @property
    def by_role(self) -> tuple[Counts, Counts]:
        """The first agent's wins, draws and losses in the first and in the second role."""
        return _counts(self.scores[0]), _counts(self.scores[1])

    @property
    def pair_scores(self) -> FloatArray:
        """The mean score of each opening's two games, (pairs,) float64."""
        scores: FloatArray = self.scores.mean(axis=0)
        return scores

    @property
    def score(self) -> float:
        """The mean score."""
        return float(self.scores.mean())

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the score, over openings; see `score_interval`."""
        return score_interval(self.pair_scores)

    @property
    def share_intervals(self) -> tuple[tuple[float, float], ...]:
        """The 95 % confidence intervals of the shares of wins, draws and losses."""
        marked = (self.scores == value for value in (1, 0.5, 0))
        return tuple(score_interval(games.mean(axis=0)) for games in marked)

    def __str__(self) -> str:
        (low, high), (won, drawn, lost) = self.interval, self.counts
        return f"{self.score:.3f} [{low:.3f}, {high:.3f}] (+{won} ={drawn} -{lost})"

    def rows(self, sides: tuple[str, str]) -> list[dict[str, object]]:
        """Rows of a table: the first agent's games in all and by role, with the 95 % intervals of
        their shares in brackets.
        """
        parts = {"all": self.scores}
        parts |= {f"as {side}": self.scores[[i]] for i, side in enumerate(sides)}
        return [
            {
                "": name,
                "games": str(scores.size),
                "won": _with_interval(scores == 1),
                "drawn": _with_interval(scores == 0.5),
                "lost": _with_interval(scores == 0),
                "score": _with_interval(scores),
            }
            for name, scores in parts.items()
        ]

    def _repr_html_(self) -> str:
        """The first agent's games in all and by role, in a notebook."""
        title = "the first agent's games, with 95 % intervals over openings"
        return ReportTable(self.rows(("the first role", "the second role")), title).html()


def _counts(scores: FloatArray) -> Counts:
    return int((scores == 1).sum()), int((scores == 0.5).sum()), int((scores == 0).sum())


def _with_interval(games: FloatArray | BoolArray) -> str:
    """The number of marked games, or the mean of scores, with its interval."""
    low, high = score_interval(games.mean(axis=0))
    number = str(games.sum()) if games.dtype == np.bool_ else f"{games.mean():.3f}"
    return f"{number} [{low:.3f}, {high:.3f}]"


def same_winner(game: Game, state: State) -> BoolArray:
    """Whether the side that wins from the start with perfect play still does, (B,) bool.

    A random ply of a sheep often gives the game away, and the rest then tells little about the
    players. All True for a game without a tablebase, in which this is not known.
    """
    if not Tablebase.covers(game):
        return np.ones(len(state.ply), np.bool_)
    table = Tablebase.load(game)
    start = stack([game.start()])
    (expected, _), (values, _) = table.lookup(start), table.lookup(state)
    same: BoolArray = np.where(state.to_move == start.to_move, values, -values) == expected
    return same


def note_on_openings(game: Game) -> str:
    """A sentence for results of matches in which `same_winner` leaves openings out, else ""."""
    return "Only openings are played that do not change who wins." if Tablebase.covers(game) else ""


def play_match(
    game: Game | str,
    a: object,
    b: object,
    pairs: int,
    *,
    opening_plies: tuple[int, int] | None = None,
    noise: float = 0.0,
    seed: int = 0,
    progress: Callable[[Ongoing], None] | None = None,
) -> MatchResult:
    """Play 2 * `pairs` games between `a` and `b`: each opening twice, with roles swapped.

    `game` may be a text, and `a` and `b` anything that `boardenvs.agents.as_agent` takes: an agent,
    its text, or a function. Openings are random plies, low to high by `opening_plies` (the game's
    own by default), and distinct as far as the game has as many. In a game with a tablebase, as in
    Wolf and Sheep, only openings are played that do not change who wins. After the opening a share
    of `noise`, 0 to 1, of the plies is drawn from all legal moves. A game that its cap on plies
    ends counts by its position. An agent loses the games that it forfeits
    (`boardenvs.arena.player`). `progress` is called after every ply. The same seed gives the same
    match if the agents draw only from the generator that they are given.

    ValueError for an unknown game, fewer than one pair, a share outside of 0 to 1, or openings
    longer than any game.

    ```python
    import boardenvs

    print(boardenvs.play_match("lines_of_action", "greedy", "random", pairs=50))
    ```
    """
    game = make(game)
    if pairs < 1:
        raise ValueError(f"pairs is {pairs}: it must be 1 or more")
    if not is_number(noise, 0, 1):
        raise ValueError(f"noise is {quote(noise)}: it must be 0 to 1, a share of the plies")
    openings, rng = draw_openings(game, pairs, opening_plies, seed)
    return play_openings(game, (a, b), openings, rng, noise, progress)


def draw_openings(
    game: Game, pairs: int, plies: tuple[int, int] | None, seed: int
) -> tuple[Openings, np.random.Generator]:
    """The openings of a match, and the generator for the rest of it."""
    rng = np.random.default_rng(seed)
    plies = game.opening_plies if plies is None else plies
    return distinct_openings(game, pairs, plies, rng.spawn(1)[0], same_winner), rng


def play_openings(
    game: Game,
    agents: Sequence[object],
    openings: Openings,
    rng: np.random.Generator,
    noise: float = 0.0,
    progress: Callable[[Ongoing], None] | None = None,
) -> MatchResult:
    """Play each opening twice, with roles swapped; see `play_match`."""
    *rngs, noise_rng = rng.spawn(3)
    players = [Player(as_agent(x), chance) for x, chance in zip(agents, rngs, strict=True)]
    games = Ongoing(game, openings, players, noise, noise_rng)
    for block in _blocks(len(openings.actions)):
        games.play(block, progress)
    return games.result()


def play_part(
    game: Game,
    agents: Sequence[object],
    openings: Openings,
    part: tuple[int, int],
    seed: int,
    noise: float,
) -> MatchResult:
    """Play some of the openings, from and to, with random numbers of their own."""
    some, rng = slice(*part), np.random.default_rng([seed, part[0]])
    rng.spawn(1)  # a whole match draws its openings by the first
    chosen = Openings(take(openings.state, some), openings.actions[some])
    found = play_openings(game, agents, chosen, rng, noise)
    return replace(found, openings=openings.distinct)


def _blocks(pairs: int) -> Iterator[range]:
    """The openings of each block."""
    start = 0
    while start < pairs:
        end = min(start + max(BLOCK, 3 * start), pairs)
        yield range(start, end)
        start = end


@dataclass
class Ongoing:
    """The games of a match: all openings, then all again with roles swapped."""

    _game: Game
    _openings: Openings
    _players: Sequence[Player]  # a and b
    _noise: float  # the share of plies that are drawn from all legal moves
    _noise_rng: np.random.Generator

    def __post_init__(self) -> None:
        openings, pairs = self._openings, len(self._openings.actions)
        self.total = 2 * pairs  # games
        self.plies = 0  # of the block that is being played, since its openings
        self._role_of_a = np.repeat([0, 1], pairs)
        self._actions = np.concatenate([openings.actions] * 2)
        # The last positions; until these are known, the openings.
        self._final = concat([openings.state, openings.state])
        self._forfeits = np.zeros(2 * pairs, np.int8)
        self._over: BoolArray = np.zeros(2 * pairs, np.bool_)

    @property
    def over(self) -> int:
        """The number of games that are over."""
        return int(self._over.sum())

    def result(self) -> MatchResult:
        """The match so far; the scores of games that are not over are nan."""
        goals = self._game.results(self._final)[np.arange(self.total), self._role_of_a]
        scores = (goals - LOSS) / (WIN - LOSS)
        scores[self._forfeits == 1] = 0.0
        scores[self._forfeits == 2] = 1.0
        scores[~self._over] = np.nan
        first, second = (player.count() for player in self._players)
        return MatchResult(
            scores=scores.reshape(2, -1),
            forfeits=self._forfeits.reshape(2, -1),
            mean_plies=float(self._final.ply.mean()),
            openings=self._openings.distinct,
            faults=(first, second),
            actions=self._actions.reshape(2, self.total // 2, -1),
        )

    def play(self, pairs: Sequence[int], progress: Callable[[Ongoing], None] | None = None) -> None:
        """Play both games of these openings, side by side, to their ends."""
        rows = np.concatenate([pairs, np.add(pairs, self.total // 2)])
        state = take(self._final, rows)
        self.plies = 0
        while len(rows):
            side = np.where(state.to_move == self._role_of_a[rows], 0, 1)
            actions = self._ask(state, rows, side)
            forfeit = actions == FORFEIT
            self._forfeits[rows[forfeit]] = 1 + side[forfeit]
            self._end(rows[forfeit], take(state, forfeit))
            state, rows, actions = take(state, ~forfeit), rows[~forfeit], actions[~forfeit]
            if self._noise:
                random = self._noise_rng.random(len(actions)) < self._noise
                actions[random] = self._game.sample(take(state, random), self._noise_rng)
            self._record(rows, state, actions)
            state = self._game.step(state, actions)
            over = self._game.is_over(state)
            self._end(rows[over], take(state, over))
            state, rows = take(state, ~over), rows[~over]
            self.plies += 1
            if progress:
                progress(self)

    def _ask(self, state: State, rows: IntArray, side: IntArray) -> IntArray:
        """The actions of the players whose turn it is, by row 0 for `a` or 1 for `b`."""
        actions = np.empty(len(rows), np.int64)
        for index, player in enumerate(self._players):
            turn = side == index
            if turn.any():
                played = self._actions[rows[turn]]
                actions[turn] = player.act(self._game, take(state, turn), played)
        return actions

    def _end(self, rows: IntArray, final: State) -> None:
        put(self._final, rows, final)
        self._over[rows] = True  # last: `result` may be called at any moment

    def _record(self, rows: IntArray, state: State, actions: IntArray) -> None:
        if not len(rows):
            return
        missing = int(state.ply.max()) + 1 - self._actions.shape[1]
        if missing > 0:
            self._actions = np.pad(self._actions, ((0, 0), (0, missing)), constant_values=-1)
        self._actions[rows, state.ply] = actions
