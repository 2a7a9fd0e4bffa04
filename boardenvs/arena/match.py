"""Matches between two agents: every opening twice, with roles swapped, many games side by side.

A match is played in blocks of openings, so that a long one has results before its end: `BLOCK` of
them first, then always three times as many as before, so that players of batches lose no speed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from boardenvs.agents import as_agent
from boardenvs.arena.player import FORFEIT, Faults, Player
from boardenvs.arena.ratings import score_interval
from boardenvs.game.contract import Game
from boardenvs.game.openings import Keep, Openings, distinct_openings
from boardenvs.game.position import stack
from boardenvs.game.rules import LOSS, WIN
from boardenvs.game.state import BoolArray, FloatArray, IntArray, State, concat, put, take
from boardenvs.games import make
from boardenvs.report import ReportTable
from boardenvs.tablebase import Tablebase
from boardenvs.utils.checks import is_number, quote

BLOCK = 50  # openings


@dataclass(frozen=True)
class MatchResult:
    """How a match went for the first agent; a win scores 1, a draw 1/2, a loss 0.

    Arrays (2, pairs) hold the games where it had the first role in row 0 and those where it had
    the second in row 1; column i is opening i. A forfeit is a loss.

    ```python
    import boardenvs

    result = boardenvs.play_match(boardenvs.games.make("othello"), "greedy", "random", pairs=50)
    print(result.score, result.interval, result.wins, result.by_role)
    ```
    """

    scores: FloatArray  # (2, pairs) float64; nan for games that are not over, see `Ongoing`
    forfeits: IntArray  # (2, pairs) int8: 1 and 2 where the first and the second agent forfeited
    mean_plies: float  # the length of a game, its opening included
    openings: int  # how many of them are distinct
    faults: tuple[Faults, Faults]  # of the first and of the second agent
    # (2, pairs, P) int16, openings included, -1 after the end; None of a result that was read from
    # a journal, and where nothing was played
    actions: IntArray | None = None
    note: str = ""  # which openings were left out, as a sentence; empty where none

    @classmethod
    def joined(cls, parts: Sequence[MatchResult]) -> MatchResult:
        """The match that these are the parts of, in their order."""
        actions = [part.actions for part in parts if part.actions is not None]
        longest = max((x.shape[2] for x in actions), default=0)
        padded = [
            np.pad(x, ((0, 0), (0, 0), (0, longest - x.shape[2])), constant_values=-1)
            for x in actions
        ]
        return cls(
            scores=np.concatenate([part.scores for part in parts], axis=1),
            forfeits=np.concatenate([part.forfeits for part in parts], axis=1),
            mean_plies=float(
                np.average([p.mean_plies for p in parts], weights=[p.games for p in parts])
            ),
            openings=parts[0].openings,
            faults=(
                Faults.sum(part.faults[0] for part in parts),
                Faults.sum(part.faults[1] for part in parts),
            ),
            actions=np.concatenate(padded, axis=1) if len(actions) == len(parts) else None,
            note=parts[0].note,
        )

    @property
    def games(self) -> int:
        return self.scores.size

    @property
    def wins(self) -> int:
        return int((self.scores == 1).sum())

    @property
    def draws(self) -> int:
        return int((self.scores == 0.5).sum())

    @property
    def losses(self) -> int:
        return int((self.scores == 0).sum())

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

    @property
    def by_role(self) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
        """Wins, draws and losses of the first agent in the first and in the second role."""
        first, second = (
            tuple(int((row == value).sum()) for value in (1, 0.5, 0)) for row in self.scores
        )
        return first, second  # type: ignore[return-value]  # they are three each

    def __str__(self) -> str:
        low, high = self.interval
        return (
            f"{self.score:.3f} [{low:.3f}, {high:.3f}] (+{self.wins} ={self.draws} -{self.losses})"
        )

    def rows(self, sides: tuple[str, str]) -> list[dict[str, object]]:
        """The first agent's games in all and by role, for a table: numbers, and in brackets the
        95 % intervals of their shares.
        """
        found = []
        for name, scores in (
            ("all", self.scores),
            *((f"as {side}", self.scores[[i]]) for i, side in enumerate(sides)),
        ):
            row: dict[str, object] = {"": name, "games": str(scores.size)}
            for outcome, value in (("won", 1), ("drawn", 0.5), ("lost", 0)):
                marked = scores == value
                row[outcome] = _with_interval(marked, str(marked.sum()))
            found.append(row | {"score": _with_interval(scores, f"{scores.mean():.3f}")})
        return found

    def _repr_html_(self) -> str:
        """In a notebook: the first agent's games in all and by role."""
        said = "the first agent's games, with 95 % intervals over openings"
        return ReportTable(self.rows(("the first role", "the second role")), said).html()


def _with_interval(games: FloatArray | BoolArray, number: str) -> str:
    low, high = score_interval(games.mean(axis=0))
    return f"{number} [{low:.3f}, {high:.3f}]"


def same_winner(game: Game, state: State) -> BoolArray:
    """Whether the side that wins from the start with perfect play still does, (B,) bool.

    A random ply of a sheep often gives the game away, and what follows then tells little about the
    players. All True for a game without a tablebase, where this is not known.
    """
    if not Tablebase.covers(game):
        return np.ones(len(state.ply), np.bool_)
    table = Tablebase.load(game)
    start = stack([game.start()])
    (expected, _), (values, _) = table.lookup(start), table.lookup(state)
    same: BoolArray = np.where(state.to_move == start.to_move, values, -values) == expected
    return same


def note_on_openings(game: Game) -> str:
    """What is said beside results of matches whose openings `same_winner` chose: a sentence, empty
    where it leaves none out.
    """
    return "Only openings are played that do not change who wins." if Tablebase.covers(game) else ""


def play_match(
    game: Game | str,
    a: object,
    b: object,
    pairs: int,
    *,
    opening_plies: tuple[int, int] | None = None,
    keep: Keep | None = same_winner,
    noise: float = 0.0,
    seed: int = 0,
    part: tuple[int, int] | None = None,
    progress: Callable[[Ongoing], None] | None = None,
) -> MatchResult:
    """Play 2 * `pairs` games between `a` and `b`: each opening twice, with roles swapped.

    The game may be given by its text, and what `boardenvs.agents.as_agent` takes can play: an
    agent, the text of one, or a function. Openings are random plies, as many as `opening_plies`
    (low, high) says, by default the game's own, distinct as far as the game has that many. Only
    those are played that `keep` marks: by default those in which the side that wins from the start
    with perfect play still wins, where that is known, as in Wolf and Sheep; None plays all. Of the
    plies after them a share of `noise`, 0 to 1, are drawn from all legal moves, whatever the
    players choose. A game that its cap on plies ends counts by its position. An agent loses the
    games that it forfeits (`boardenvs.arena.player`). With `part` (from, to) only these of the
    openings are played, and the players' random numbers are the part's own. `progress` is called
    after every ply of the games that go on. The same seed gives the same match if the agents draw
    only from the generator that they get.

    ValueError for a game that there is not, for fewer than one pair, for a share that is none, or
    for openings that no game is long enough for.

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
    openings_rng, *rngs, noise_rng = np.random.default_rng(seed).spawn(4)
    if part is not None:
        _, *rngs, noise_rng = np.random.default_rng([seed, part[0]]).spawn(4)
    players = [Player(as_agent(x), rng) for x, rng in zip((a, b), rngs, strict=True)]
    plies = game.opening_plies if opening_plies is None else opening_plies
    openings = distinct_openings(game, pairs, plies, openings_rng, keep)
    note = note_on_openings(game) if keep is same_winner else ""
    distinct = openings.distinct
    if part is not None:
        chosen = slice(*part)
        openings = Openings(take(openings.state, chosen), openings.actions[chosen])
    games = Ongoing(game, openings, players, noise, noise_rng, note)
    for block in _blocks(len(openings.actions)):
        games.play(block, progress)
    return replace(games.result(), openings=distinct)


def _blocks(pairs: int) -> Iterator[range]:
    """The openings of each block."""
    start = 0
    while start < pairs:
        end = min(start + max(BLOCK, 3 * start), pairs)
        yield range(start, end)
        start = end


@dataclass
class Ongoing:
    """The games of a match: all openings, then all again, roles swapped."""

    _game: Game
    _openings: Openings
    _players: Sequence[Player]  # a and b
    _noise: float  # the share of plies that are drawn from all legal moves
    _noise_rng: np.random.Generator
    _note: str

    def __post_init__(self) -> None:
        openings, pairs = self._openings, len(self._openings.actions)
        self._role_of_a = np.repeat([0, 1], pairs)
        self._actions = np.concatenate([openings.actions] * 2)
        # A game's opening until its last position is known.
        self._final = concat([openings.state, openings.state])
        self._forfeits = np.zeros(2 * pairs, np.int8)
        self._over: BoolArray = np.zeros(2 * pairs, np.bool_)
        self.plies = 0  # that the games that go on have lasted since their openings

    @property
    def total(self) -> int:
        """How many games there are."""
        return len(self._over)

    @property
    def over(self) -> int:
        """How many games are over."""
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
            note=self._note,
        )

    def play(self, pairs: Sequence[int], progress: Callable[[Ongoing], None] | None = None) -> None:
        """Play both games of these openings, side by side, to their ends."""
        rows = np.concatenate([pairs, np.add(pairs, self.total // 2)])
        state = take(self._final, rows)
        self.plies = 0
        while len(rows):
            actions = np.empty(len(rows), np.int64)
            side = np.where(state.to_move == self._role_of_a[rows], 0, 1)
            for index, player in enumerate(self._players):
                turn = side == index
                if turn.any():
                    played = self._actions[rows[turn]]
                    actions[turn] = player.act(self._game, take(state, turn), played)
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

    def _end(self, rows: IntArray, final: State) -> None:
        put(self._final, rows, final)
        self._over[rows] = True  # after all else: the result may be asked for at any moment

    def _record(self, rows: IntArray, state: State, actions: IntArray) -> None:
        if not len(rows):
            return
        missing = int(state.ply.max()) + 1 - self._actions.shape[1]
        if missing > 0:
            self._actions = np.pad(self._actions, ((0, 0), (0, missing)), constant_values=-1)
        self._actions[rows, state.ply] = actions
