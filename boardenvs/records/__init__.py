"""Records of games: checked by the rules, read and written in the common formats.

    for record in load(Path("games.jsonl")):
        print(record.players, record.goal, replay(record)[-1])

`record` holds one game, `batch` replays thousands at once; `jsonl`, `moves` and `wthor` are the
formats, which `formats` tells apart. `boardenvs.arena.record_match` makes records of matches.
"""

from boardenvs.records.batch import Verdict, check
from boardenvs.records.formats import FORMATS, format_of, load, save
from boardenvs.records.record import Record, make_record, replay

__all__ = [
    "FORMATS",
    "Record",
    "Verdict",
    "check",
    "format_of",
    "load",
    "make_record",
    "replay",
    "save",
]
