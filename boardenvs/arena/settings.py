"""What a tournament is: who plays what, how often and from where."""

from __future__ import annotations

import hashlib
import itertools
import pickle
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from boardenvs import games
from boardenvs.agents import as_agent, check_game
from boardenvs.agents.spec import imports_code as agent_imports_code
from boardenvs.arena.openings import same_winner
from boardenvs.arena.pairing import Entrant, Pairing
from boardenvs.game.contract import Game
from boardenvs.game.openings import check_plies, distinct_openings
from boardenvs.utils.checks import cut, field_of, is_text, is_whole, quote, unknown
from boardenvs.utils.imports import describe
from boardenvs.utils.version import __version__

FORMAT = 2  # of the journal and of results.json

PAIRS = 50
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
_DEFAULT_ANCHOR = "random"


@dataclass(frozen=True)
class Settings:
    """The settings of a tournament; `make_settings` checks them."""

    entrants: tuple[Entrant, ...]
    opening_plies: Mapping[str, tuple[int, int]]  # by game: (low, high)
    pairs: int
    seed: int
    anchor: str | None  # who is rated 0; None, or where it does not play: the weakest

    def to_json(self) -> dict[str, Any]:
        """What the journal keeps."""
        return {
            "format": FORMAT,
            "boardenvs": __version__,
            "entrants": [entrant.label for entrant in self.entrants],
            "opening_plies": {game: list(plies) for game, plies in self.opening_plies.items()},
            "pairs": self.pairs,
            "seed": self.seed,
            "anchor": self.anchor,
        }


@dataclass(frozen=True)
class Plan:
    """Who plays each game, who cannot and why, and the pairings that this makes."""

    games: Mapping[str, Game]  # by text
    players: Mapping[str, tuple[str, ...]]  # labels by game
    left_out: Mapping[str, Mapping[str, str]]  # reasons by game and label
    pairings: tuple[Pairing, ...]


def make_settings(
    entrants: Mapping[str, object] | Iterable[str] = BUILT_IN,
    games_played: Iterable[str] | None = None,
    *,
    pairs: int = PAIRS,
    opening_plies: tuple[int, int] | None = None,
    seed: int = 0,
    anchor: str | None = None,
) -> Settings:
    """The settings of a tournament.

    Entrants are texts ("alphabeta:depth=4"), or a mapping of labels to anything that
    `boardenvs.agents.as_agent` takes. Games are texts as `boardenvs.games.parse` reads them, by
    default all of `boardenvs.games.GAMES`. Each pairing plays `pairs` openings, twice each, of as
    many random plies as the game says, or as `opening_plies` (low, high) says for every game. The
    anchor is "random" where it takes part and no other is given. ValueError where there is no
    tournament in this, or the anchor takes no part.
    """
    sources = entrants if isinstance(entrants, Mapping) else {}
    labels = list(entrants)
    for label in labels:
        if labels.count(label) > 1:
            raise ValueError(f"{label!r} takes part twice: entrants need labels of their own")
    if len(labels) < 2:
        raise ValueError(f"entrants are {quote(labels)}: a tournament needs two or more")
    if pairs < 1:
        raise ValueError(f"pairs is {pairs}: it must be 1 or more")
    if not is_whole(seed, 0, _MAX_SEED):
        raise ValueError(f"seed is {seed!r}: it must be a whole number from 0 to 2**64 - 1")
    if opening_plies is not None:
        check_plies(opening_plies)
    if anchor is None and _DEFAULT_ANCHOR in labels:
        anchor = _DEFAULT_ANCHOR
    if anchor is not None and anchor not in labels:
        raise ValueError(unknown("anchor", anchor, labels))
    made = [
        games.parse(text) for text in (games.importable() if games_played is None else games_played)
    ]
    if not made:
        raise ValueError("no game is given: there must be one or more")
    return Settings(
        entrants=tuple(Entrant(label, sources.get(label, label)) for label in labels),
        opening_plies={games.spec_of(g): opening_plies or g.opening_plies for g in made},
        pairs=pairs,
        seed=seed,
        anchor=anchor,
    )


def check_kept(values: Mapping[str, Any]) -> None:
    """ValueError where these are no settings as `Settings.to_json` writes them, or those of another
    version of the program.
    """
    found = field_of(values, "format", lambda x: is_whole(x, 0), "a whole number")
    if found != FORMAT:
        raise ValueError(
            f"the tournament was begun by another version: its format is {cut(repr(found))}, this "
            f"version's {FORMAT}"
        )
    for key, (is_right, wanted) in _KEPT.items():
        field_of(values, key, is_right, wanted)


def _are_texts(values: Any) -> bool:
    return isinstance(values, list) and all(map(is_text, values))


def _are_openings(values: Any) -> bool:
    return isinstance(values, dict) and all(
        isinstance(plies, list)
        and len(plies) == 2
        and all(is_whole(n, 0) for n in plies)
        and plies[0] <= plies[1]
        for plies in values.values()
    )


_KEPT: dict[str, tuple[Callable[[Any], bool], str]] = {
    "boardenvs": (is_text, "a text"),
    "entrants": (_are_texts, "a list of texts"),
    "opening_plies": (_are_openings, "a range [low, high] for each game"),
    "pairs": (lambda x: is_whole(x, 1), "a whole number from 1"),
    "seed": (lambda x: is_whole(x, 0, _MAX_SEED), "a whole number from 0 to 2**64 - 1"),
    "anchor": (lambda x: x is None or is_text(x), "a text or null"),
}


def resumed_settings(
    before: Mapping[str, Any], given: Mapping[str, Any], *, trust: bool = False
) -> Settings:
    """A journal's settings, with what is `given` of them instead.

    ValueError as in `check_kept` and, without `trust`, where players or games of the journal would
    have code imported: whoever wrote the journal chose it.
    """
    check_kept(before)
    if not trust:
        _check_code(before, given)
    kept = {name: before[name] for name in ("entrants", "pairs", "seed", "anchor")}
    if kept["anchor"] not in given.get("entrants", before["entrants"]):
        kept["anchor"] = None
    drawn = before["opening_plies"]
    settings = make_settings(**{"games_played": drawn, **kept, **given})
    if "opening_plies" in given:
        return settings
    plies = {game: tuple(drawn.get(game, p)) for game, p in settings.opening_plies.items()}
    return replace(settings, opening_plies=plies)


def code_named(entrants: Iterable[str], games_played: Iterable[str]) -> list[str]:
    """The texts among these that have code imported: "python:..." and "MODULE:NAME"."""
    players = [text for text in entrants if agent_imports_code(text)]
    return players + [text for text in games_played if games.imports_code(text)]


def _check_code(before: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    entrants = [] if "entrants" in given else before["entrants"]
    games_played = [] if "games_played" in given else before["opening_plies"]
    named = code_named(entrants, games_played)
    if named:
        raise ValueError(
            f"the journal names code, which has not been imported: {cut(', '.join(named), 200)}. "
            "Where you trust whoever wrote it, --trust goes on with it; or give players and games "
            "of your own"
        )


def make_plan(settings: Settings) -> Plan:
    """Every pairing once in each game; the labels' order decides who is first in a pairing.

    ValueError where an entrant cannot be made, where an entrant or a game cannot be sent to another
    process, where no game lasts as long as an opening, or where nobody can meet.
    """
    made = {text: games.parse(text) for text in settings.opening_plies}
    for text, game in made.items():
        _check_sendable(f"game {text!r}", game)
        if type(game).__module__ == "__main__":
            raise ValueError(
                f"game {text!r} cannot be sent to another process: its class is in the script that "
                "was started; define it in a module of its own, and import it"
            )
    agents = {entrant.label: _make(entrant) for entrant in settings.entrants}
    players: dict[str, tuple[str, ...]] = {}
    left_out: dict[str, dict[str, str]] = {}
    pairings = []
    for text, plies in settings.opening_plies.items():
        _try_openings(made[text], plies)
        left_out[text] = {}
        for label, agent in agents.items():
            try:
                check_game(agent, made[text])
            except ValueError as error:
                left_out[text][label] = str(error)
        playing = [e for e in settings.entrants if e.label not in left_out[text]]
        players[text] = tuple(entrant.label for entrant in playing)
        ordered = sorted(playing, key=lambda entrant: entrant.label)
        pairings += [
            Pairing(text, made[text], first, second, settings.pairs, plies, seed)
            for first, second in itertools.combinations(ordered, 2)
            for seed in [_seed_of(settings.seed, text, first.label, second.label)]
        ]
    if not pairings:
        reasons = "; ".join(
            f"{label}: {why}" for o in left_out.values() for label, why in o.items()
        )
        raise ValueError(f"no two entrants can play one of the games: {reasons or 'no games'}")
    return Plan(made, players, left_out, tuple(pairings))


def _seed_of(seed: int, *key: str) -> int:
    """A pairing's seed: by the tournament's, and by nothing else that is played."""
    text = "\n".join((str(seed), *key))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")


def _try_openings(game: Game, plies: tuple[int, int]) -> None:
    """Draw some, so that wrong plies are found now, and solved games are solved once for all."""
    distinct_openings(game, 1, plies, np.random.default_rng(0), same_winner)


def _make(entrant: Entrant) -> object:
    try:
        agent = as_agent(entrant.source)
    except Exception as error:
        known = isinstance(error, ValueError | TypeError | OSError | ImportError)
        reason = str(error) if known else describe(error)
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
