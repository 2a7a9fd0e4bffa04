"""What `boardenvs analyse` prints."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from boardenvs.agents.explain import Explanation, MoveExplanation, Unit
from boardenvs.game.contract import Position
from boardenvs.games import spec_of
from boardenvs.play.notation import MoveNotation
from boardenvs.play.review import Review, ReviewedPly
from boardenvs.records.record import replay
from boardenvs.render import to_ansi

_MARKED = 3  # of each unit, the largest losses
_LINE = 8  # moves of a line that a table has room for
_UNITS: dict[Unit, str] = {
    "score": "expected result, -1 to 1",
    "margin": "points ahead",
    "heuristic": "the game's heuristic",
}


def show_explanation(
    console: Console, notation: MoveNotation, position: Position, found: Explanation, count: int
) -> None:
    """The board, the verdict and the moves."""
    console.print(Text.from_ansi(to_ansi(notation.game, position, legal=True)))
    console.print(f"\n{_verdict(notation, position, found)}\n", style="bold")
    console.print(explanation_table(notation, position, found, count))


def explanation_table(
    notation: MoveNotation, position: Position, found: Explanation, count: int
) -> Table:
    """The moves, best first, at most `count` of them; 0: all."""
    shown = found.moves[: count or None]
    caption = f"values: {_UNITS[found.unit]}, for {notation.game.roles[position.to_move]}; "
    caption += f"{found.positions:,} positions in {found.seconds:.2f} s"
    if len(shown) < len(found.moves):
        caption += f"; {len(found.moves) - len(shown)} more moves"
    columns = {
        "value": [_value(move.value, found.unit) for move in shown],
        "visits": ["" if move.visits is None else f"{move.visits:,}" for move in shown],
        "probability": [
            "" if move.probability is None else f"{move.probability:.1%}" for move in shown
        ],
        "plies": ["" if move.plies is None else str(move.plies) for move in shown],
    }
    table = Table(title="Moves", caption=caption)
    table.add_column("move")
    used = {name: cells for name, cells in columns.items() if any(cells)}
    for name in used:
        table.add_column(name, justify="right")
    table.add_column("line", overflow="ellipsis", no_wrap=True)
    for place, move in enumerate(shown):
        line = " ".join(_names(notation, position, move.line[:_LINE]))
        name = notation.write(move.action, position)
        table.add_row(name, *(cells[place] for cells in used.values()), line)
    return table


def _verdict(notation: MoveNotation, position: Position, found: Explanation) -> str:
    """The best move and what it is worth, in a sentence."""
    role = notation.game.roles[position.to_move]
    said = f"{role} to move: {notation.write(found.moves[0].action, position)}"
    if found.outcome is not None:
        ending = {"win": "wins", "loss": "loses", "draw": "draws"}[found.outcome]
        by = f" by {abs(found.value or 0):g}" if found.unit == "margin" and found.value else ""
        plies = f" in {found.plies} plies" if found.plies else ""
        return f"{said}; {role} {ending}{by}{plies} with best play"
    if found.value is None:
        return said
    return f"{said}, {_value(found.value, found.unit)} ({_UNITS[found.unit]})"


def show_review(console: Console, notation: MoveNotation, found: Review) -> None:
    """The game ply by ply, and both sides."""
    units = dict.fromkeys(ply.explanation.unit for ply in found.plies)
    table = Table(
        title=spec_of(found.record.game),
        caption="values are for the side that moves: "
        + "; ".join(f"{unit}: {_UNITS[unit]}" for unit in units),
    )
    table.add_column("ply", justify="right")
    for name in ("role", "move"):
        table.add_column(name)
    for name in ("value before", "after", "lost"):
        table.add_column(name, justify="right")
    for name in ("better", "unit"):
        table.add_column(name)
    positions = replay(found.record)
    worst = {id(ply) for unit in units for ply in found.largest_losses(_MARKED, unit=unit)}
    for ply, position in zip(found.plies, positions, strict=False):
        unit = ply.explanation.unit
        table.add_row(
            str(ply.number),
            found.record.game.roles[ply.role],
            notation.write(ply.action, position),
            _value(ply.before, unit),
            _value(ply.after, unit),
            _loss(ply),
            _better(notation, position, ply) or "",
            f"{unit}{', proven' if ply.explanation.exact else ''}",
            style="bold red" if id(ply) in worst else None,
        )
    console.print(table)
    console.print(_summary(notation, found, positions))


def _summary(notation: MoveNotation, found: Review, positions: Sequence[Position]) -> Table:
    table = Table(title="Both sides", caption="agreed: moves that the agent would have played")
    for name in ("role", "player"):
        table.add_column(name)
    for name in ("choices", "agreed"):
        table.add_column(name, justify="right")
    for name in ("lost in all", "largest loss"):
        table.add_column(name)
    players = found.record.players or ("", "")
    for summary, player in zip(found.summaries, players, strict=True):
        share = f" ({summary.agreed / summary.choices:.0%})" if summary.choices else ""
        lost = ", ".join(f"{_amount(total, unit)} {unit}" for unit, total in summary.lost.items())
        worst = ""
        if summary.worst is not None:
            ply = summary.worst
            before = positions[ply.number - 1]
            worst = f"{_loss(ply)} by {ply.number}. {notation.write(ply.action, before)}"
        table.add_row(
            summary.role, player, str(summary.choices), f"{summary.agreed}{share}", lost, worst
        )
    return table


def explanation_json(notation: MoveNotation, position: Position, found: Explanation) -> str:
    """An explanation with names for actions."""
    game = notation.game
    head = {"game": spec_of(game), "position": position.fen()}
    return json.dumps(head | _explained(notation, position, found), indent=1)


def review_json(notation: MoveNotation, found: Review) -> str:
    """A review with names for actions."""
    game, positions = found.record.game, replay(found.record)
    plies = [
        {
            "ply": ply.number,
            "role": game.roles[ply.role],
            "move": notation.write(ply.action, position),
            "value_before": ply.before,
            "value_after": ply.after,
            "lost": ply.lost,
            "better": _better(notation, position, ply),
            "explanation": _explained(notation, position, ply.explanation),
        }
        for ply, position in zip(found.plies, positions, strict=False)
    ]
    summaries = [
        {
            "role": summary.role,
            "choices": summary.choices,
            "agreed": summary.agreed,
            "lost": summary.lost,
            "worst_ply": None if summary.worst is None else summary.worst.number,
        }
        for summary in found.summaries
    ]
    return json.dumps({"game": spec_of(game), "plies": plies, "summaries": summaries}, indent=1)


def _better(notation: MoveNotation, position: Position, ply: ReviewedPly) -> str | None:
    """The move that the agent would have played, unless the one played was as good."""
    return None if ply.lost == 0 else notation.write(ply.best.action, position)


def _explained(notation: MoveNotation, position: Position, found: Explanation) -> dict[str, Any]:
    content = asdict(found)
    content["line"] = _names(notation, position, found.line)
    content["moves"] = [_move(notation, position, move) for move in found.moves]
    return content


def _move(notation: MoveNotation, position: Position, move: MoveExplanation) -> dict[str, Any]:
    name = notation.write(move.action, position)
    return asdict(move) | {"name": name, "line": _names(notation, position, move.line)}


def _names(notation: MoveNotation, position: Position, line: Sequence[int]) -> list[str]:
    names = []
    for action in line:
        names.append(notation.write(action, position))
        position = position.step(action)
    return names


def _value(value: float | None, unit: Unit) -> str:
    if value is None:
        return ""
    return f"{value:+.2f}" if unit == "score" else f"{value:+.0f}"


def _loss(ply: ReviewedPly) -> str:
    return _amount(ply.lost, ply.explanation.unit) if ply.lost else ""


def _amount(value: float, unit: Unit) -> str:
    return f"{value:.2f}" if unit == "score" else f"{value:,.0f}"
