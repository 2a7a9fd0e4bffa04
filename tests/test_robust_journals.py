"""Damaged files of tournaments, and files that are of none."""

from __future__ import annotations

import json

import pytest

from boardenvs.arena import Entrant, Pairing, Played, make_settings, open_settings, run_tournament
from boardenvs.games import make
from boardenvs.records.jsonl import write_record

SETTINGS = make_settings(["random", "greedy", "positional"], ["reversi"], pairs=2)
WRITTEN = SETTINGS.to_json()


def games(first, second, game="reversi", pairs=2):
    """The lines of a pairing that its first player forfeited."""
    players = Entrant(first, ""), Entrant(second, "")
    pairing = Pairing(game, make(game), *players, pairs, (6, 10), 0)
    records = Played(pairing, pairing.lost(1)).records
    return [json.loads(write_record(record)) for record in records]


GAMES = games("greedy", "positional")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "tournament.json").write_text(json.dumps(WRITTEN))
    return tmp_path


def resume(folder, *lines):
    """Go on with these games; return the number of pairings that were played before."""
    (folder / "games.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    counts = []
    run_tournament(
        SETTINGS, folder, resume=True, workers=0, watcher=lambda _, done, total: counts.append(done)
    )
    return counts[0]


def test_whole_pairings_are_read(folder):
    assert resume(folder, *GAMES, *games("positional", "random")[:3]) == 1
    text = (folder / "games.jsonl").read_text().splitlines()
    assert list(map(json.loads, text[:4])) == GAMES
    assert len(text) == 12


def wrong(values):
    """Yield each key, and the values with one of another type there."""
    for key, value in values.items():
        yield key, {**values, key: None if value is True else True}


def test_wrong_settings_are_named(folder):
    for key, settings in wrong(WRITTEN):
        (folder / "tournament.json").write_text(json.dumps(settings))
        with pytest.raises(ValueError, match=rf"tournament\.json: .*{key}"):
            open_settings(folder)


@pytest.mark.parametrize("content", [b"[", b"\xff\xfe", b"1"])
def test_files_that_are_of_no_tournament_are_named(folder, content):
    (folder / "games.jsonl").write_bytes((content + b"\n") * 4)
    with pytest.raises(ValueError, match=r"games\.jsonl, line 1: ") as caught:
        run_tournament(SETTINGS, folder, resume=True, workers=0)
    assert len(str(caught.value)) < 400 + len(str(folder))
    (folder / "tournament.json").write_bytes(content)
    with pytest.raises(
        ValueError, match=r"tournament\.json(: this is not JSON| is of no|: 'utf-8')"
    ):
        open_settings(folder)


NO_PAIRING, NO_FIT = "lines 5 to 8: they are of no pairing", "lines 5 to 8: the openings, players"
OTHER = games("positional", "random")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (GAMES, NO_PAIRING),
        (games("greedy", "random", pairs=1) + OTHER, "lines 5 to 8: openings is None"),
        ([*OTHER[:2], *games("greedy", "random")[2:]], NO_FIT),
        ([*OTHER[:2], {**OTHER[2], "goal": None}, OTHER[3]], NO_FIT),
        ([*OTHER[:2], *({**line, "game": "othello"} for line in OTHER[2:])], NO_FIT),
    ],
)
def test_games_that_contradict_the_tournament_are_named(folder, more, message):
    with pytest.raises(ValueError, match=rf"games\.jsonl, {message}"):
        resume(folder, *GAMES, *more)
