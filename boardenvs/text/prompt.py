"""Prompts: the rules, the game so far, the position, and how to answer."""

from __future__ import annotations

from boardenvs.game.game import Game
from boardenvs.game.session import GameSession
from boardenvs.games.notation import legal_names
from boardenvs.render.plain import write_plain
from boardenvs.text.reader import Reading

_FORM = '{"move": "<your move>"}'


def write_prompt(
    session: GameSession,
    *,
    legal_moves: bool = False,
    reading: Reading | None = None,
) -> str:
    """Return the prompt for the side to move in a game.

    Each prompt stands alone. legal_moves: whether they are listed. reading: of the last reply, if
    it was no legal move.
    """
    position, game = session.position, session.game
    own = game.sides[position.to_move]
    parts = [
        f"You play {game.title}. You are {own}, and {game.sides[1 - position.to_move]} is your "
        "opponent.",
        f"# Rules\n\n{game.rules_text}",
        f"# The game so far\n\n{_history(session)}",
        f"# The position\n\n{write_plain(position)}\n\nIt is your turn: {own} is to move.",
    ]
    if legal_moves:
        parts.append(f"Your legal moves are: {', '.join(legal_names(position))}.")
    parts.append(f"# Your answer\n\n{_form(game)}")
    if reading:
        parts.append(f"# Your last reply\n\n{_complaint(reading)}")
    return "\n\n".join(parts) + "\n"


def _form(game: Game) -> str:
    start = game.start()
    form = game.notation.form(game, start.legal_actions()[0], start)
    return (
        f"A move is written {form}. Think as long "
        f"as you like, and then end your reply with your move as JSON, in this form:\n\n{_FORM}"
    )


def _complaint(reading: Reading) -> str:
    wrong = f"No move could be read from your last reply: {reading.text}."
    if reading.kind == "illegal":
        wrong = f"You chose {reading.text}, which is not a legal move."
    return f"{wrong} Choose a legal move, and end your reply with it, in the form {_FORM}"


def _history(session: GameSession) -> str:
    game = session.game
    lines = [] if session.start == game.start() else ["The game began at a position of its own."]
    for number, (before, name) in enumerate(session.plies, 1):
        lines.append(f"{number}. {game.sides[before.to_move]}: {name}")
    return "\n".join(lines) if session.actions else " ".join([*lines, "Nobody has moved yet."])
