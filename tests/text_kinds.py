"""Replies of the kinds that models write, made for positions of games: `replies.txt` with moves."""

import functools
import random
import re
from typing import NamedTuple

from variants import HERE, make, random_position

from boardenvs.game.position import Position


class Kind(NamedTuple):
    means: str  # move, illegal, unparsable, ambiguous
    games: str  # "", "moving" or "placing"
    reply: str


@functools.cache
def kinds() -> list[Kind]:
    _, *parts = (HERE / "replies.txt").read_text(encoding="utf-8").split("\n=== ")
    found = []
    for part in parts:
        head, _, replies = part.partition("\n")
        means, _, games = head.partition(" ")
        found += [Kind(means, games, r) for r in re.split(r"^%%\n", replies, flags=re.MULTILINE)]
    return found


def fill(kind: Kind, position: Position, rng: random.Random) -> tuple[str, int | None] | None:
    """The reply for a position, and the action that is meant; None where it does not fit."""
    game, legal = position.game, legal_names(position)
    moving = any("-" in name for name in legal)
    if len(legal) < 3 or kind.games not in ("", "moving" if moving else "placing"):
        return None
    meant, other, third = rng.sample(sorted(legal), 3)
    squares = [f + r for f in "abcdefgh" for r in "12345678"]
    illegal = rng.choice(squares)
    if moving:
        source = rng.choice(sorted(legal))[:2]  # of a piece, to where it cannot go
        illegal = f"{source}-{rng.choice([s for s in squares if s != source])}"
    if illegal in legal:
        return fill(kind, position, rng)
    replies = [n for n in legal_names(position.step(legal[meant])) if n not in legal]
    if not replies:
        return None
    own, other_role = game.roles[position.to_move], game.roles[1 - position.to_move]
    given = {"m": meant, "o": other, "p": third, "i": illegal, "r": rng.choice(replies)}
    given |= {"M": meant.upper(), "A": meant[:2], "B": meant[-2:], "me": own, "opp": other_role}
    reply = re.sub(r"@(me|opp|[mopir](?![a-z])|[MAB])", lambda found: given[found[1]], kind.reply)
    return reply, legal[meant] if kind.means == "move" else None


@functools.cache
def legal_names(position: Position) -> dict[str, int]:
    """The legal moves by name, without the pass."""
    game = position.game
    actions = [] if position.is_over() else position.legal_actions()
    return {game.action_name(a, position): a for a in actions if a != game.noop}


def positions(seed: int) -> list[Position]:
    """Of each game, with something to choose from."""
    games = ("othello", "othello_holes", "lines_of_action", "lines_of_action_described",
             "wolf_and_sheep_described")  # fmt: skip
    return [random_position(make(name), seed + place, 6) for place, name in enumerate(games)]


def first_by_name(prompt):
    """A model: the first of the legal moves by name, in a sentence."""
    legal = re.search(r"Your legal moves are: (.*)\.", prompt)
    return f"I play {min(legal[1].split(', '))}." if legal else "I pass."
