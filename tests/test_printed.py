"""What commands and reports print, whole, as `printed/` has it: numbers, sides, units and words.

`python tests/test_printed.py` writes the files again, in an empty folder; read what then differs.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import replace
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import invoke
from rich.console import Console
from test_records import FILES
from variants import HERE, random_line

from boardenvs.agents import make_agent
from boardenvs.agents.analyse import analyse
from boardenvs.agents.shield import Shield
from boardenvs.arena import Estimate, RatingPool, make_settings
from boardenvs.arena.estimate import AnchorGames
from boardenvs.arena.executor import FIRST, SECOND
from boardenvs.arena.match_result import MatchResult, forfeited
from boardenvs.arena.pairing import Pairing, Played
from boardenvs.arena.player import PlayerStats
from boardenvs.arena.pools import Anchor
from boardenvs.arena.report import compose, document
from boardenvs.arena.results import Results, summarise
from boardenvs.arena.tournament_settings import make_plan
from boardenvs.cli import rate
from boardenvs.cli.arena import _line as line_of, _ratings as ratings_of
from boardenvs.cli.rate import RateCommand
from boardenvs.cli.tables import show_analysis, show_review
from boardenvs.games import parse, spec_of
from boardenvs.kernel import set_backend
from boardenvs.play.review import Review, ReviewedPly
from boardenvs.records import Record, load, make_record, replay, save
from boardenvs.records.page import show, write_page
from boardenvs.records.record import names
from boardenvs.search.analysis import Analysis, MoveAnalysis, Outcome, Unit

PRINTED = HERE / "printed"
COMMANDS = PRINTED / "commands.txt"
LINES = re.compile(r"[┏┡└┓┩┘━┳╇┴─┛┗╋┻├┤]+")
RED, CODES = "\x1b[1;31m", re.compile(r"\x1b\[[\d;]*m")
SPEED = re.compile(r"\d+\.\d\d s, [\d,]+ a second")


def game(spec: str, moves: str, event: str = "") -> Record:
    rules = parse(spec)
    actions = [rules.parse_action(name) for name in moves.split()]
    info = {"event": event} if event else {}
    return make_record(rules, actions, players=("Ann", "Bob"), info=info)


def without_lines(text: str) -> str:
    """A text without the lines of tables and without spaces for looks; red lines begin with it."""
    lines = []
    for line in LINES.sub("", text.replace("│", "|").replace("┃", "|")).splitlines():
        words = CODES.sub("", line).split()
        lines += [" ".join(["red", *words] if RED in line else words)] if words else []
    return "\n".join(lines)


def commands(expected: str) -> str:
    """What the commands of this text print in an empty folder, tables without their lines."""
    won = game("tictactoe", "a1 a2 b1 b2 c1", "a cup")
    short = game("wolf_and_sheep:max_plies=2", "d8-e7 a1-b2")
    games = [
        game("tictactoe", "a1 b2 c3 b3 b1 c1 a3 a2"),
        won,
        game("tictactoe", "a1 a2 b1"),
        replace(won, goal=(0, 100)),
        *[replace(won, actions=(0, 0))] * 5,
        short,
        replace(short, actions=(*short.actions, short.game.parse_action("e7-d6"))),
    ]
    save("games.jsonl", games)
    save("five.jsonl", games[:2] + games[4:-1])
    printed = []
    for words in re.findall(r"^\$ boardenvs (.*)$", expected, re.MULTILINE):
        result = invoke(*shlex.split(words))
        shown = SPEED.sub("N s, N a second", without_lines(result.output))
        ended = f"exit code {result.exit_code}\n" if result.exit_code else ""
        printed.append(f"$ boardenvs {words}\n{shown}\n{ended}")
    return "\n".join(printed)


def test_commands_print_what_they_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    expected = COMMANDS.read_text(encoding="utf-8")
    assert commands(expected) == expected
    pages = {name: Path(name).read_text(encoding="utf-8") for name in ("one.html", "all.html")}
    assert [page.count('"title":') for page in pages.values()] == [1, 11]  # games


def analyses() -> Iterator[Analysis]:
    """Of one position, as analysts of all kinds might see it, and of one after the end."""
    at, (one, two) = parse("tictactoe").start(), (0, 4)
    moves = (
        MoveAnalysis(action=one, line=(one, two), value=3.5, visits=1200, probability=0.625),
        MoveAnalysis(action=two, line=(two,), value=-4.0, outcome="loss", plies=3, mistakes=0.25),
    )
    seen = Analysis(position=at, value=3.5, moves=moves, choice=one, nodes=1500, seconds=2.0)
    yield replace(seen, unit="margin", depth=1)
    yield replace(seen, unit="heuristic", depth=2, choice=two, value=-1234.5, seconds=0.0)
    yield replace(seen, unit="margin", outcome="win", margin=4)
    yield replace(seen, unit="margin", outcome="loss", margin=-4)
    yield replace(seen, outcome="win", plies=1)
    yield replace(seen, outcome="loss", plies=2)
    yield replace(seen, outcome="draw", plies=2, value=None)
    yield replace(seen, value=None)


def reviewed() -> Review:
    """Plies with losses of all kinds, of more than are marked."""
    record = game("tictactoe", "a1 a2 b1 b2 c1")
    losses: list[tuple[Unit, Outcome | None, float | None, float | None, float | None]] = [
        *(("heuristic", None, 2500.4, 1000.0, 1500.4), ("score", "win", 1.0, 0.0, 1.0)),
        *(("margin", None, 3.5, 1.0, 2.5), ("score", None, None, None, None)),
        ("heuristic", None, 100_000.0, -3.0, 100_003.0),
    ]
    plies = []
    for number, (unit, outcome, before, after, lost) in enumerate(losses, 1):
        position = replay(record)[number - 1]
        moves = tuple(
            MoveAnalysis(action=action, line=(action,), value=before)
            for action in position.legal_actions()[::-1]
        )
        analysis = Analysis(
            position=position, unit=unit, outcome=outcome, value=before, moves=moves, choice=8
        )
        plies.append(ReviewedPly(number, record.actions[number - 1], analysis, after, lost))
    return Review(record, tuple(plies))


def estimates() -> Iterator[Estimate]:
    """Of players within the pool, above it and below it."""
    against = (AnchorGames("greedy", 43.2, 6, 0.25, 0.4), AnchorGames("random", 0.0, 4, 1.0, 0.6))
    within = Estimate(123.4, 80.5, 170.6, "on", 10, 1.5, against, PlayerStats())
    yield within
    yield replace(within, low=900.2, high=None, where="above")
    yield replace(within, low=None, high=-60.4, where="below", stats=PlayerStats(forfeits=10))
    yield replace(within, low=900.2, high=990.4, where="above")


def tables() -> str:
    """What is printed of analyses, reviews and ratings that are made up."""
    out, anchors = StringIO(), (Anchor("random", 0.0, 0.0), Anchor("greedy", 43.2, 9.0))
    pool = RatingPool("othello", "2026-01-02", "0.9", 0, 1, {}, anchors)
    console = Console(file=out, width=120, force_terminal=True, color_system="standard")
    for number, analysis in enumerate(analyses()):
        show_analysis(console, analysis, number)
    show_review(console, reviewed())
    largest = [ply.number for ply in reviewed().largest_losses(3)]
    out.write(f"largest losses, proven first: {largest}\n")
    command = RateCommand("somebody")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rate, "make_console", lambda: console)
        for estimate in estimates():
            command._print(pool, estimate, "A note.")
            out.write(f"{json.dumps(command._to_json(pool, estimate, 'A note.'))}\n")
    return without_lines(out.getvalue()) + "\n"


def test_tables_say_what_they_said() -> None:
    assert tables() == (PRINTED / "tables.txt").read_text(encoding="utf-8")


MORE = {
    "PGN": '[Result "0-1"]\n\n1. e4 e5 1/2-1/2\n\n[White "Ann"]\n\n1. d4 *\n',
    "PDN": '[White "Ann"]\n[GameType "21"]\n\n1. 9-14 22-18 0-1\n',
    "SGF": "(;GM[1];B[aa])(;GM[1]SZ[9]PB[a]PB[b];B[aa])(;GM[11]PW[c]RE[W+];B[a1])"
    "(;GM[1]SZ[9]KM[0];B[ab];AB[bb])"
    "(;GM[1]SZ[5]KM[7];B[];W[];B[])(;GM[11]SZ[5]RE[B+];W[b4];B[swap-pieces];W[a1])",
    "OBF": f"{'-' * 27}OX------XO{'-' * 27} O; F5:+2; %\n",
    "moves": "# none\nf5 d6 {a title}\n",
}


def files() -> str:
    """What is read of files of players, and of what they show in pages."""
    lines, path, loaded = [], Path("file"), list[Record]()
    for texts in ({name: text for name, (text, game, _) in FILES.items() if not game}, MORE):
        for name, text in texts.items():
            path.write_text(text, encoding="utf-8")
            lines.append(f"# {name}")
            for record in load(path):
                start, info = record.start and record.start.fen(), json.dumps(dict(record.info))
                lines.append(f"{spec_of(record.game)}: {' '.join(names(record))}")
                lines.append(f"    {record.players} {record.goal} {start} {info}")
                loaded.append(record)
    for record in loaded[:5]:
        title, details = show(record)[3:5]
        lines += [title, *(f"    {name}: {text}" for name, text in details)]
    for some in (loaded[:2], loaded[-3:]):
        lines.append("; ".join(re.findall(r'"title": ?"([^"]*)"', write_page(some))))
    return "".join(f"{line}\n" for line in lines)


def test_files_are_read_as_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert files() == (PRINTED / "files.txt").read_text(encoding="utf-8")


# Players, and positions after random plies in which they say what moves are worth.
ASKED = (
    ("greedy", "reversi", 52), ("greedy", "tictactoe", 4), ("positional", "lines_of_action", 12),
    ("alphabeta:depth=2", "checkers", 30), ("alphabeta:depth=3", "nine_mens_morris", 21),
    ("alphabeta:nodes=400,evaluation=trained", "othello", 20),
    ("alphabeta:nodes=400,evaluation=trained", "othello", 50),
    ("alphabeta:nodes=400,evaluation=trained", "lines_of_action", 20),
    ("alphabeta:depth=1,evaluation=trained", "othello", 20),
    ("mcts:rollouts=40", "hex:size=4", 6), ("mcts:rollouts=300", "connect_four", 36),
    ("perfect", "wolf_and_sheep", 11), ("perfect", "wolf_and_sheep:max_plies=30", 21),
    ("perfect", "tictactoe", 3), ("perfect", "tictactoe", 6),
    ("shielded positional", "lines_of_action", 40), ("shielded greedy", "tictactoe", 4),
    ("shielded greedy", "connect_four:rows=4,columns=5,connect=3", 6),
    ("level:6", "wolf_and_sheep", 8),
    ("shielded greedy", "tictactoe", 3), ("shielded greedy", "tictactoe", 5),
)  # fmt: skip


def rounded(values: dict[str, Any]) -> dict[str, Any]:
    """Values without None, rounded to three digits: further ones differ between machines."""
    known = {key: value for key, value in values.items() if value is not None}
    return {k: round(v, 3) + 0.0 if isinstance(v, float) else v for k, v in known.items()}


def opinions() -> str:
    """What players say of positions, with the values of the first moves."""
    lines = []
    for spec, name, plies in ASKED:
        rules = parse(name)
        agent: Any = make_agent(spec.split()[-1])
        if "shielded" in spec:
            agent = Shield(agent)
        position = next(
            p for p in random_line(rules, 5, plies + 1)[0][plies::-1] if len(p.legal_actions()) > 1
        )
        lines.append(f"{spec} on {position.fen()}")
        found = [analyse(position, agent, rng=np.random.default_rng(1))]
        if spec == "alphabeta:depth=2":
            rng = np.random.default_rng(1)
            found += islice(agent.analyse_until(position, lambda: False, rng), 3)
        for said in map(Analysis.to_json, found):
            del said["seconds"], said["position"], said["game"]
            moves = said.pop("moves")[:4]
            lines += [
                " ".join(f"{key}={value}" for key, value in rounded(part).items())
                for part in (said, *moves)
            ]
    return "".join(f"{line}\n" for line in lines)


def test_players_say_what_they_said() -> None:
    assert opinions() == (PRINTED / "opinions.txt").read_text(encoding="utf-8")


def match(pairing: Pairing, number: int) -> MatchResult | None:
    """A match of some pairing of a tournament: one is void, one forfeited, and no two are alike."""
    if number in (4, 7):
        return None if number == 4 else forfeited(pairing.pairs, SECOND, "it is ill")
    scores = ((np.arange(2 * pairing.pairs) * (number + 3) + number) % 7 % 3 / 2).reshape(2, -1)
    if number == 9:
        scores[:] = 0
        scores[1, 2] = 0.5
    if pairing.game.startswith("wolf"):  # one wins all its games, one loses all
        for label, worth in (("greedy", 0), ("perfect", 1)):
            if label in pairing.labels:
                scores[:] = worth if pairing.first.label == label else 1 - worth
    stats = [PlayerStats(), PlayerStats()]
    for side, its in enumerate(stats, FIRST):
        its.moves, its.timed_moves, its.cpu_seconds = 400 * side, 100, number * side / 7
    if number == 2:
        stats[1].add(3, "it cannot count")
    return MatchResult(
        scores=scores,
        forfeits=np.zeros((2, pairing.pairs), np.int8),
        mean_plies=20 + number / 3,
        openings=pairing.pairs - (pairing.game == "tictactoe"),
        stats=(stats[0], stats[1]),
        actions=np.empty((2, pairing.pairs, 0), np.int32),
    )


def made_up() -> tuple[list[Played], Results]:
    """A tournament whose results are made up."""
    entrants = ["random", "greedy", "positional", "perfect", "mcts:rollouts=9"]
    names = ["othello", "tictactoe", "wolf_and_sheep:rules=described"]
    settings = make_settings(entrants, names, pairs=5, seed=3)
    plan = make_plan(settings)
    played = [Played(pairing, match(pairing, i)) for i, pairing in enumerate(plan.pairings)]
    return played, summarise(settings, plan, played)


def tournament() -> dict[str, str]:
    """The reports of the tournament, by the names of files."""
    played, results = made_up()
    values = document(results)
    tables = [{"table": name, **table} for name, table in values["tables"].items()]
    ratings = [rating for table in tables for rating in table.pop("ratings")]
    times = values["timings"]["cpu_ms_per_move"], values["timings"]["players_cpu_seconds"]
    lines = map(json.dumps, [*tables, *ratings, *values["pairings"], values["ratings"], *times])
    report = compose(results).markdown()
    told = "\n".join([ratings_of(results).markdown(), *map(line_of, played), line_of(None), ""])
    return {
        "arena.md": report,
        "arena.txt": told,
        "arena.jsonl": "".join(f"{line}\n" for line in lines),
    }


@pytest.mark.usefixtures("undrawn")
def test_a_tournament_is_reported_as_it_was() -> None:
    for name, text in tournament().items():
        assert text == (PRINTED / name).read_text(encoding="utf-8"), name


def test_costs_have_a_line_along_those_whom_no_other_beats_in_both(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pictures = pytest.importorskip("boardenvs.arena.pictures")
    monkeypatch.setattr(pictures, "to_svg", lambda figure, title: figure)
    table = made_up()[1].tables[0]
    (axes,) = pictures.cost(table).axes
    times = [standing.stats.ms_per_move or 0.0 for standing in table.standings.values()]
    players = {*zip(times, table.ratings.rating.tolist(), strict=True)}
    best = {
        (ms, rating)
        for ms, rating in players
        if not any(time < ms and better >= rating for time, better in players)
    }
    assert 1 < len(best) < len(players)
    assert axes.lines[-1].get_xydata().tolist() == [list(player) for player in sorted(best)]
    (axes,) = pictures.ratings(table).axes
    assert [bar.get_width() for bar in axes.patches] == table.ratings.rating.tolist()
    assert axes.yaxis_inverted()  # the first, who is strongest, is on top
    rating = table.ratings.rating  # without an upper end the line goes from the lower one to here
    open_end = replace(table.ratings, low=rating - 9, high=np.full(len(rating), np.inf))
    (axes,) = pictures.ratings(replace(table, ratings=open_end)).axes
    (errors,) = axes.collections
    ends = np.array(errors.get_segments())[:, :, 0]
    assert ends == pytest.approx(np.stack([rating - 9, rating], axis=1))


if __name__ == "__main__":
    set_backend("numpy")
    again = {"tables.txt": tables(), "opinions.txt": opinions(), "files.txt": files()}
    again |= {"commands.txt": commands(COMMANDS.read_text(encoding="utf-8")), **tournament()}
    for name, text in again.items():
        (PRINTED / name).write_text(text, encoding="utf-8", newline="\n")
