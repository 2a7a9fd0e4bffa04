"""Makes the test positions of an exam, out of games of players against themselves.

A game gives one position, and no two positions are images of one another. In games that fill up and
count points, as the Othello family, they are endgames solved to the last disc; in all others, as
Lines of Action, forced wins and only defences, proven by search. With the code of today other
positions come out than the published ones, which stay, since results refer to them.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from pool import PLAYOUTS

from boardenvs import games
from boardenvs.agents import make_agent
from boardenvs.agents.levels import Mixture
from boardenvs.arena.match import play_match
from boardenvs.game.game import Game
from boardenvs.game.position import Position, stack
from boardenvs.search import Limits, alphabeta_for, search_position
from boardenvs.search.compiled.nodes import DECIDED

PLAYERS = ("random", "positional", "alphabeta:depth=2", "alphabeta:depth=4")
_EMPTIES = (8, 10, 12, 14)
_ENDGAMES = 30  # of each number of empty squares and player
_WINS = (1, 3, 5)  # plies
_EACH = 80  # wins of each length, and defences
_NODES = 30_000  # of each search; where they do not suffice there is no question
_NOISE = 0.1  # the share of random plies, so that games differ
_MOST = 0.25  # of the moves may be right


class ExamPosition(NamedTuple):
    """A position, and the value of each legal action; see `exams.positions.ExamPositions`."""

    kind: str
    position: Position
    values: Mapping[int, int]  # by action


Finder = Callable[[list[Position]], ExamPosition | None]


def find_positions(game: Game, seed: int, pairs: int) -> Iterator[ExamPosition]:
    """The positions of an exam, out of so many pairs of games of each player."""
    find = _endgames if game.fills_up and game.margin_counts else _wins_and_defences
    return find(game, seed, pairs)


def _endgames(game: Game, seed: int, pairs: int) -> Iterator[ExamPosition]:
    """Positions in which some moves give the win or the draw away and others do not."""
    seen: set[tuple[int, ...]] = set()
    for lines in _games(game, 0.0, seed, pairs):
        games = (_positions(game, line) for line in lines)
        for empties in _EMPTIES:
            yield from _distinct(games, partial(_endgame, empties=empties), seen, _ENDGAMES)


def _wins_and_defences(game: Game, seed: int, pairs: int) -> Iterator[ExamPosition]:
    """Positions with a forced win, and positions with one move that does not lose at once."""
    lines = [line for lines in _games(game, _NOISE, seed, pairs) for line in lines]
    finders: list[Finder] = [*(partial(_win, plies=plies) for plies in _WINS), _only_defence]
    seen: set[tuple[int, ...]] = set()
    for number, find in enumerate(finders):
        order = np.random.default_rng(seed + number).permutation(len(lines))
        games = (_positions(game, lines[place]) for place in order)
        yield from _distinct(games, find, seen, _EACH)


def _games(game: Game, noise: float, seed: int, pairs: int) -> Iterator[list[list[int]]]:
    """The actions of games of each player against itself."""
    for player in PLAYERS if game.has_heuristic else ("random", *PLAYOUTS):
        often_random = Mixture(make_agent("random"), make_agent(player), 1 - noise)
        match = play_match(game, often_random, often_random, pairs, seed=seed)
        assert match.actions is not None
        lines = match.actions.reshape(match.games, -1)
        yield [line[line >= 0].tolist() for line in lines]


def _positions(game: Game, line: list[int]) -> list[Position]:
    """The positions of a game, from the start to the last before the end."""
    positions = [game.start()]
    for action in line[:-1]:
        positions.append(positions[-1].step(action))
    if not game.history:
        return positions
    # Without history, as texts and files of exams have them.
    return [game.position(one.by_role(), one.to_move, one.ply) for one in positions]


def _distinct(
    games: Iterator[list[Position]], find: Finder, seen: set[tuple[int, ...]], count: int
) -> Iterator[ExamPosition]:
    """At most `count` positions found in the games, without images of positions `seen` before."""
    found = (one for one in map(find, games) if one is not None and is_new(one.position, seen))
    yield from itertools.islice(found, count)


def is_new(position: Position, seen: set[tuple[int, ...]]) -> bool:
    """Whether neither the position nor an image of it was seen before; now it is."""
    game, words, to_move = position.game, position.words, position.to_move
    images = {(*game.image(s, words), to_move) for s in game.symmetries}
    is_new = not images & seen
    seen |= images
    return is_new


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
    assert all(move.outcome for move in found.moves), "the search ends at the end alone"
    signs = np.sign(list(values.values()))
    if signs.max() == signs.min():
        return None
    return ExamPosition(f"{empties} empty squares", position, values)


def _win(positions: list[Position], plies: int) -> ExamPosition | None:
    """The position `plies` before the end, if the fastest win takes as many; right are the moves
    of such wins.
    """
    if len(positions) <= plies:
        return None
    position = positions[-plies]
    found = search_position(position, Limits(depth=plies, nodes=_NODES), moves=0)
    if found.outcome != "win" or found.plies != plies:
        return None
    outcomes = _outcomes(position, plies)
    right = [action for action, outcome in outcomes.items() if outcome == 1]
    if None in outcomes.values() or len(right) > _MOST * len(outcomes):
        return None
    return _of_moves(f"win in {plies} {'ply' if plies == 1 else 'plies'}", position, right)


def _only_defence(positions: list[Position]) -> ExamPosition | None:
    """The last position in which no move wins at once and all but one lose by the next ply."""
    for position in reversed(positions):
        outcomes = _outcomes(position, 2)
        right = [action for action, outcome in outcomes.items() if outcome != -1]
        if len(right) == 1 < len(outcomes) and 1 not in outcomes.values():
            return _of_moves("only defence", position, right)
    return None


def _outcomes(position: Position, plies: int) -> dict[int, int | None]:
    """What each move leads to within so many plies, itself included: 1 a win, -1 a loss, 0
    neither; None where the nodes do not suffice. All moves are searched in one call.
    """
    afters = {action: position.step(action) for action in position.legal_actions()}
    found: dict[int, int | None] = dict.fromkeys(afters, 0)
    for action, after in afters.items():
        if after.is_over():
            found[action] = int(np.sign(after.result()[position.to_move] - 50))
    going_on = [action for action, after in afters.items() if not after.is_over()]
    if plies == 1 or not going_on:
        return found
    state, limits = stack([afters[action] for action in going_on]), Limits(plies - 1, _NODES)
    seeds = np.zeros(len(going_on), np.uint64)
    searched = alphabeta_for(position.game, None).search(state, seeds, limits, forced=True)
    for row, action in enumerate(going_on):
        if abs(searched.value[row]) > DECIDED:
            sign = 1 if afters[action].to_move == position.to_move else -1
            found[action] = sign * int(np.sign(searched.value[row]))
        elif searched.nodes[row] >= _NODES:
            found[action] = None
    return found


def _of_moves(kind: str, position: Position, right: list[int]) -> ExamPosition:
    return ExamPosition(kind, position, {a: int(a in right) for a in position.legal_actions()})


def write_positions(game: Game, positions: Iterable[ExamPosition], made: str) -> bytes:
    """The file of an exam: a line on its making, and one for each position."""
    lines: list[dict[str, Any]] = [{"game": games.spec_of(game), "made": made}]
    for one in positions:
        named = {
            game.action_name(action, one.position): value
            for action, value in one.values.items()
            if value or game.margin_counts  # without points, only right moves
        }
        lines.append({"kind": one.kind, "position": one.position.fen(), "moves": named})
    return "".join(f"{json.dumps(line)}\n" for line in lines).encode()
