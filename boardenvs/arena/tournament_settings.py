"""The settings of a tournament: entrants, games, openings and seed; and its pairings."""

from __future__ import annotations

import hashlib
import itertools
import pickle
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from boardenvs import games
from boardenvs.agents import as_agent, check_game
from boardenvs.agents.spec import runs_code
from boardenvs.arena.match import same_winner
from boardenvs.arena.pairing import Entrant, Pairing
from boardenvs.game.game import Game
from boardenvs.game.openings import check_plies, distinct_openings
from boardenvs.utils.checks import check_whole, cut, is_whole, quote
from boardenvs.utils.decoding import decode
from boardenvs.utils.imports import describe
from boardenvs.utils.version import __version__

FORMAT = 5  # of the settings and games of a tournament, and of results.json

PAIRS = 50
MOST_PAIRS, MOST_ENTRANTS = 1_000_000, 500
_MAX_SEED = (1 << 64) - 1
BUILT_IN = (
    "random",
    "greedy",
    "positional",
    "alphabeta:depth=1",
    "alphabeta:depth=2",
    "alphabeta:depth=4",
    "alphabeta:depth=6",
    "alphabeta:depth=4,evaluation=trained",
    "mcts:rollouts=50",
    "mcts:rollouts=200",
    "mcts:rollouts=800",
    "trained",
    "trained:shield=true",
    "mcts:rollouts=50,policy=trained",
    "mcts:rollouts=200,policy=trained",
    "perfect",
)


@dataclass(frozen=True)
class TournamentSettings:
    """The settings of a tournament; `make_settings` checks them."""

    entrants: tuple[Entrant, ...]
    opening_plies: Mapping[str, tuple[int, int]]  # by game: (low, high)
    pairs: int
    seed: int

    def to_json(self) -> dict[str, Any]:
        """Return the settings as JSON values, which `read_settings` reads."""
        return {
            "format": FORMAT,
            "boardenvs": __version__,
            "entrants": [entrant.label for entrant in self.entrants],
            "opening_plies": {game: list(plies) for game, plies in self.opening_plies.items()},
            "pairs": self.pairs,
            "seed": self.seed,
        }


@dataclass(frozen=True)
class Plan:
    """The games, the entrants that cannot play them and why, and all pairings."""

    games: Mapping[str, Game]  # by text
    left_out: Mapping[str, Mapping[str, str]]  # reasons, by game and label
    pairings: tuple[Pairing, ...]


def make_settings(
    entrants: Mapping[str, object] | Iterable[str] = BUILT_IN,
    games_played: Iterable[str] | None = None,
    *,
    pairs: int = PAIRS,
    opening_plies: tuple[int, int] | None = None,
    seed: int = 0,
) -> TournamentSettings:
    """Return the settings of a tournament.

    `entrants` are texts ("alphabeta:depth=4"), or a mapping of labels to anything that
    `boardenvs.agents.as_agent` takes; `games_played` are texts for `boardenvs.games.parse`, by
    default all games. Each pairing plays `pairs` openings, twice each, of `opening_plies` (low,
    high) random plies, by default the game's own. ValueError for fewer than two entrants, or a
    wrong value.
    """
    sources = entrants if isinstance(entrants, Mapping) else {}
    labels = list(entrants)
    if len(labels) > MOST_ENTRANTS:
        raise ValueError(f"there are {len(labels)} entrants: {MOST_ENTRANTS} may take part")
    for label in labels:
        if labels.count(label) > 1:
            raise ValueError(f"{label!r} takes part twice: entrants need labels of their own")
    if len(labels) < 2:
        raise ValueError(f"entrants are {quote(labels)}: a tournament needs two or more")
    check_whole("pairs", pairs, 1, MOST_PAIRS)
    if not is_whole(seed, 0, _MAX_SEED):
        raise ValueError(f"seed is {seed!r}: it must be a whole number from 0 to 2**64 - 1")
    if opening_plies is not None:
        check_plies(opening_plies)
    made = [
        games.parse(text) for text in (games.importable() if games_played is None else games_played)
    ]
    if not made:
        raise ValueError("no game is given: there must be one or more")
    return TournamentSettings(
        entrants=tuple(Entrant(label, sources.get(label, label)) for label in labels),
        opening_plies={games.spec_for_file(g): opening_plies or g.opening_plies for g in made},
        pairs=pairs,
        seed=seed,
    )


class _Written(BaseModel):
    """The settings in a file."""

    model_config = ConfigDict(strict=True, extra="forbid")

    format: Literal[5]  # FORMAT
    boardenvs: str
    entrants: list[str]
    opening_plies: dict[str, Annotated[tuple[int, int], Field(strict=False)]]
    pairs: int
    seed: int


def read_settings(values: Mapping[str, Any], *, trust: bool = False) -> TournamentSettings:
    """Return the settings that `TournamentSettings.to_json` wrote.

    ValueError if it did not and, without `trust`, if players or games would import code, which the
    writer has chosen.
    """
    written = decode(_Written, values, "the settings")
    for game, plies in written.opening_plies.items():
        check_plies(plies, f"opening_plies of {game}")
    code = code_named(written.entrants, written.opening_plies)
    if code and not trust:
        raise ValueError(
            f"they name code, which has not been imported: {cut(', '.join(code), 200)}. "
            "Where you trust whoever wrote it, --trust goes on with it"
        )
    settings = make_settings(
        written.entrants, written.opening_plies, pairs=written.pairs, seed=written.seed
    )
    return replace(settings, opening_plies=written.opening_plies)


def code_named(entrants: Iterable[str], games_played: Iterable[str]) -> list[str]:
    """Return the texts that import code: "python:..." and "MODULE:NAME"."""
    players = [text for text in entrants if runs_code(text)]
    return players + [text for text in games_played if games.imports_code(text)]


def make_plan(settings: TournamentSettings) -> Plan:
    """Return every pairing once in each game, with labels in alphabetical order.

    ValueError for an entrant that cannot be made, an entrant or a game that cannot be sent to
    another process, openings longer than any game, or no two entrants that can meet.
    """
    made = {text: games.parse(text) for text in settings.opening_plies}
    for text, game in made.items():
        _check_sendable(f"game {text!r}", game)
        if game.source.__module__ == "__main__":
            raise ValueError(
                f"game {text!r} cannot be sent to another process: its class is in the script that "
                "was started; define it in a module of its own, and import it"
            )
    agents = {entrant.label: _make(entrant) for entrant in settings.entrants}
    left_out: dict[str, dict[str, str]] = {text: {} for text in made}
    pairings = []
    for text, game in made.items():
        plies = settings.opening_plies[text]
        # Find wrong plies now, and solve solved games once for all processes.
        distinct_openings(game, 1, plies, np.random.default_rng(0), same_winner)
        for label, agent in agents.items():
            try:
                check_game(agent, game)
            except ValueError as error:
                left_out[text][label] = str(error)
        playing = [e for e in settings.entrants if e.label not in left_out[text]]
        playing.sort(key=lambda entrant: entrant.label)
        for first, second in itertools.combinations(playing, 2):
            seed = _seed_of(settings.seed, text, first.label, second.label)
            pairings.append(Pairing(text, game, first, second, settings.pairs, plies, seed))
    if not pairings:
        reasons = "; ".join(
            f"{label}: {why}" for o in left_out.values() for label, why in o.items()
        )
        raise ValueError(f"no two entrants can play one of the games: {reasons or 'no games'}")
    return Plan(made, left_out, tuple(pairings))


def _seed_of(seed: int, *key: str) -> int:
    """Return a pairing's seed, from the tournament's seed and the pairing alone."""
    text = "\n".join((str(seed), *key))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")


def _make(entrant: Entrant) -> object:
    try:
        agent = as_agent(entrant.source)
    except Exception as error:
        is_plain = isinstance(error, ValueError | TypeError | OSError | ImportError)
        reason = str(error) if is_plain else describe(error)
        raise ValueError(f"entrant {entrant.label!r}: {reason}") from error
    _check_sendable(f"entrant {entrant.label!r}", entrant.source)
    return agent


def _check_sendable(what: str, thing: object) -> None:
    try:
        pickle.dumps(thing)
    except Exception as error:
        raise ValueError(
            f"{what} cannot be sent to another process ({error}): define it at the top of a module"
        ) from error
