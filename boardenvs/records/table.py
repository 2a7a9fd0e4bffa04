"""A list of records that a notebook shows as a table."""

from __future__ import annotations

from typing import SupportsIndex, overload

from boardenvs.games import spec_of
from boardenvs.games.notation import MoveNotation
from boardenvs.records.record import Record
from boardenvs.utils.tables import html_table

_SHOWN = 50  # of a long list


class Records(list[Record]):
    """What `load`, `record_match` and the recorder of an environment give: a list, and a table in a
    notebook.
    """

    @overload
    def __getitem__(self, place: SupportsIndex) -> Record: ...
    @overload
    def __getitem__(self, place: slice) -> Records: ...
    def __getitem__(self, place: SupportsIndex | slice) -> Record | Records:
        found = super().__getitem__(place)
        return Records(found) if isinstance(found, list) else found

    def _repr_html_(self) -> str:
        """In a notebook: the games, the first of them where there are many."""
        texts = {spec_of(record.game) for record in self}
        said = f"{len(self):,} game{'s' * (len(self) != 1)}"
        said += f" of {next(iter(texts))}" if len(texts) == 1 else ""
        said += f", the first {_SHOWN} of them" if len(self) > _SHOWN else ""
        rows = [_row(number, record) for number, record in enumerate(self[:_SHOWN], start=1)]
        return html_table([row | {"game": None} for row in rows] if len(texts) == 1 else rows, said)


def _row(number: int, record: Record) -> dict[str, object]:
    sides, players = MoveNotation(record.game).sides, record.players or ("", "")
    result = None
    if record.goal is not None:
        first, second = record.goal
        result = "draw" if first == second else f"{sides[first < second]} won"
    return {
        "": number,
        "game": spec_of(record.game),
        "first player": players[0],
        "second player": players[1],
        "result": result,
        "plies": len(record.actions),
        "more": ", ".join(f"{key} {value}" for key, value in record.info.items()),
    }
