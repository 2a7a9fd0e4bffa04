"""The tables and sentences that `boardenvs analyse` prints."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from boardenvs.games import spec_of
from boardenvs.play.review import Review, ReviewedPly
from boardenvs.render import to_ansi
from boardenvs.report import ReportTable
from boardenvs.search.analysis import UNITS, Analysis, Unit, values_for, written_value

_MARKED = 5  # of the largest losses


def show_analysis(console: Console, analysis: Analysis, count: int | None) -> None:
    """Print the board, the verdict, the first moves (0: all, None: none), and the line."""
    console.print(Text.from_ansi(to_ansi(analysis.game, analysis.position, legal=True)))
    console.print(f"\n{_verdict(analysis)}\n", style="bold")
    if not analysis.moves:
        return
    if count is not None:
        console.print(moves_table(analysis, count))
    name = "Best play" if analysis.proven else "The best line found"
    console.print(f"{name}: {' '.join(analysis.names(analysis.line, usual=True))}\n")
    speed = analysis.nodes / max(analysis.seconds, 1e-6)
    console.print(
        f"{analysis.nodes:,} positions in {analysis.seconds:.2f} s, {speed:,.0f} a second"
    )


def moves_table(analysis: Analysis, count: int) -> ReportTable:
    """Return the first moves, best first; 0: all."""
    rows = analysis.rows(count or None)
    caption = values_for(analysis.game.sides[analysis.position.to_move], analysis.unit)
    if any(row["mistakes"] for row in rows):
        caption += "; mistakes: the share of replies that give the result away"
    more = len(analysis.moves) - len(rows)
    return ReportTable(rows, "Moves", caption + (f"; {more} more moves" if more else ""))


def _summary(analysis: Analysis) -> str:
    """Return the proven result with best play, in a few words."""
    if analysis.outcome == "draw":
        return "a draw"
    mover = analysis.position.to_move
    winner = analysis.game.sides[mover if analysis.outcome == "win" else 1 - mover]
    if analysis.margin is not None:
        return f"{winner} wins by {abs(analysis.margin)}"
    if not analysis.plies:
        return f"{winner} wins"
    return f"{winner} wins in {_plies(analysis.plies)}"


def _verdict(analysis: Analysis) -> str:
    """Return the best move and its value, in a sentence or two."""
    if not analysis.moves:
        return f"The game is over: {_summary(analysis)}."
    game, position = analysis.game, analysis.position
    best, choice = analysis.moves[0].action, analysis.choice
    said = f"{game.sides[position.to_move]} to move: {game.usual_name(best, position)}"
    if choice is not None and choice != best:
        said += f" (the analyst itself plays {game.usual_name(choice, position)})"
    if analysis.proven:
        text = _summary(analysis)
        return f"{said}. {text[0].upper()}{text[1:]} with best play."
    if analysis.value is None:
        return f"{said}."
    ahead = f" {_plies(analysis.depth)} ahead" if analysis.depth else ""
    value = written_value(analysis.value, None, analysis.unit)
    return f"{said}, {value}{ahead} ({UNITS[analysis.unit]}). Not proven."


def show_review(console: Console, review: Review) -> None:
    """Print the game ply by ply, and both sides."""
    units = list(dict.fromkeys(ply.analysis.unit for ply in review.plies))
    rows = [
        {
            "ply": ply.number,
            "role": review.record.game.sides[ply.role],
            "move": ply.analysis.names([ply.action], usual=True)[0],
            "value before": written_value(ply.before, ply.analysis.outcome, ply.analysis.unit),
            "lost": _loss(ply),
            "better": _better(ply, usual=True),
            "unit": ply.analysis.unit + (", proven" if ply.analysis.proven else ""),
        }
        for ply in review.plies
    ]
    caption = "; ".join(f"{unit}: {UNITS[unit]}" for unit in units)
    console.print(
        ReportTable(
            rows,
            spec_of(review.record.game),
            f"values are for the side that moves: {caption}",
            [ply.number - 1 for ply in review.largest_losses(_MARKED)],
        )
    )
    console.print(_sides(review))


def _sides(review: Review) -> ReportTable:
    players = review.record.players or ("", "")
    rows = [
        {
            "role": name,
            "player": player,
            "choices": side.choices,
            "agreed": side.agreed,
            "lost in all": ", ".join(f"{_amount(x, unit)} {unit}" for unit, x in side.lost.items()),
        }
        for name, side, player in zip(
            review.record.game.sides, review.summaries, players, strict=True
        )
    ]
    return ReportTable(rows, "Both sides", "agreed: moves that the analyst would have played")


def review_json(review: Review) -> dict[str, Any]:
    """Return a review for JSON."""
    game = review.record.game
    plies = [
        {
            "ply": ply.number,
            "side": game.sides[ply.role],
            "move": ply.name,
            "value_before": ply.before,
            "value_after": ply.after,
            "lost": ply.lost,
            "better": _better(ply),
            "analysis": ply.analysis.to_json(),
        }
        for ply in review.plies
    ]
    return {"game": spec_of(game), "plies": plies, "summaries": list(map(vars, review.summaries))}


def _better(ply: ReviewedPly, *, usual: bool = False) -> str | None:
    """Return the best move, unless the one played was as good."""
    return None if ply.lost == 0 else ply.analysis.names([ply.best.action], usual=usual)[0]


def _loss(ply: ReviewedPly) -> str:
    if not ply.lost:
        return ""
    return "the game" if ply.decides else _amount(ply.lost, ply.analysis.unit)


def _amount(value: float, unit: Unit) -> str:
    return f"{value:,.0f}" if unit == "heuristic" or value.is_integer() else f"{value:,.2f}"


def _plies(number: int) -> str:
    return "1 ply" if number == 1 else f"{number} plies"
