"""`boardenvs board add`: which games count, what they come to, and that nothing is lost."""

import gzip
import json
import re

import numpy as np
import pytest
from command_line import run
from variants import make

from boardenvs import play_match
from boardenvs.arena import rating_pool
from boardenvs.records import load, record_match, save
from boardenvs.records.leaderboard import add
from boardenvs.text import TextPlayer

pytestmark = pytest.mark.usefixtures("in_python")

GAME = make("wolf_and_sheep")
ANCHORS = {anchor.agent: anchor.rating for anchor in rating_pool(GAME).anchors}


def games_of(agent, name, anchor, seed, pairs=6):
    """Records of a player of this name against an anchor, which plays as it says."""
    match = play_match(GAME, agent, anchor, pairs, seed=seed)
    return record_match(GAME, match, (name, anchor))


@pytest.fixture(scope="module")
def greedy():
    """The games of one who plays as greedy does."""
    return games_of("greedy", "mine", "random", 1) + games_of("greedy", "mine", "positional", 2)


@pytest.fixture
def written(tmp_path, greedy):
    save(tmp_path / "games.jsonl", greedy)
    return tmp_path / "games.jsonl"


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_the_rating_is_where_the_expected_points_are_the_points(tmp_path, written, greedy):
    (table,) = add(tmp_path / "board", [written]).tables
    place = table.entrants.index("mine")
    rating, points, expected = table.ratings.rating[place], 0.0, 0.0
    distinct = {record.actions + record.players: record for record in greedy}
    for record in distinct.values():
        role = record.players.index("mine")
        points += record.goal[role] / 100
        expected += 1 / (1 + 10 ** ((ANCHORS[record.players[1 - role]] - rating) / 400))
    assert abs(points - expected) < 0.5  # what a drawn game more changes at most
    assert table.standings["mine"].games == len(distinct)
    assert table.ratings.low[place] < rating < table.ratings.high[place]
    for anchor in ("random", "positional"):
        assert table.ratings.rating[table.entrants.index(anchor)] == ANCHORS[anchor]


def test_a_game_counts_once(tmp_path, written, greedy):
    """However often it is handed in, in whatever order of openings, beside others."""
    board = tmp_path / "board"
    first = add(board, [written, written])
    page = (board / "report.html").read_bytes()
    assert first.new == len(greedy) == first.known
    pairs = [greedy[place : place + 2] for place in range(0, len(greedy), 2)]
    turned = [record for pair in pairs[::-1] for record in pair[::-1]]
    save(tmp_path / "turned.jsonl.gz", turned)
    again = add(board, [tmp_path / "turned.jsonl.gz"])
    assert (again.new, again.known) == (0, len(greedy))
    assert (board / "report.html").read_bytes() == page
    save(tmp_path / "more.jsonl", games_of("random", "other", "random", 3))
    assert add(board, [tmp_path / "more.jsonl"]).new == 12
    assert len(load(board / "games.jsonl")) == len(greedy) + 12


WRONG = {
    "this is not JSON": lambda line: "{",
    "actions": lambda line: {k: v for k, v in line.items() if k != "actions"},
    "unknown game": lambda line: {**line, "game": "chess_of_others"},
    "imports code|module": lambda line: {**line, "game": "os:path"},
    "there is no rating pool of wolf_and_sheep:rules=described": lambda line: {
        **line, "game": "wolf_and_sheep:rules=described", "goal": None,
    },
    "is not legal": lambda line: {**line, "actions": line["actions"] + " a1-b2"},
    "the rules give": lambda line: {
        **line, "goal": {k: 100 - v for k, v in line["goal"].items()},
    },
    "it is not over": lambda line: {**line, "actions": line["actions"].rsplit(" ", 1)[0]},
    "the game is over by the rules": lambda line: {**line, "info": {"opening": 1, "forfeit": "x"}},
    "does not begin at": lambda line: {**line, "start": GAME.start().fen(), "goal": None},
    "does not say who": lambda line: {**line, "players": None},
    "no player is an anchor": lambda line: {**line, "players": {"wolf": "a", "sheep": "b"}},
    "both players are anchors": lambda line: {
        **line, "players": {"wolf": "random", "sheep": "greedy"},
    },
    "'a`b' is no name": lambda line: {**line, "players": {"wolf": "a`b", "sheep": "random"}},
    "is no name of a player": lambda line: {
        **line, "players": {"wolf": "\x1b[2J", "sheep": "random"},
    },
    "its per_game: ": lambda line: {**line, "info": {"per_game": {"mine": {"cost": -1}}}},
    "roles swapped, is missing": lambda line: {**line, "info": {"opening": 99}},
}  # fmt: skip


def test_what_does_not_count_is_named_and_the_rest_counts(tmp_path, written):
    whole = lines_of(written)
    path, kept = tmp_path / "wrong.jsonl", whole[2:6]
    wrong = [change(whole[0]) for change in WRONG.values()]
    texts = [line if isinstance(line, str) else json.dumps(line) for line in [*wrong, *kept]]
    path.write_text("\n".join(texts))
    said = run("board", "add", path, "--out", tmp_path / "board")
    for number, reason in enumerate(WRONG, 1):
        assert re.search(rf"refused: \S+, line {number}: .*({reason})", said), (reason, said)
    assert f"4 games added, 0 known already, {len(WRONG)} refused" in said
    path.write_text(texts[0])
    assert "0 games added" in run("board", "add", path, "--out", tmp_path / "none", code=1)


@pytest.mark.parametrize(
    ("who", "plies", "goal", "said"),
    [
        ("mine", 8, None, None),
        ("wolf", 8, {"wolf": 0, "sheep": 100}, None),
        ("mine", 9, None, "whose turn it is not"),
        ("mine", 8, {"wolf": 100, "sheep": 0}, "no loss"),
        ("random", 9, None, "only what the player forfeits"),
        ("sheep", 9, None, "only what the player forfeits"),
    ],
)
def test_only_the_player_can_forfeit_and_at_its_turn(tmp_path, written, who, plies, goal, said):
    line, other = lines_of(written)[:2]
    assert line["players"]["wolf"] == "mine"
    words = " ".join(line["actions"].split()[:plies])
    info = {**line["info"], "forfeit": who}
    changed = {**line, "actions": words, "goal": goal, "info": info}
    written.write_text(f"{json.dumps(changed)}\n{json.dumps(other)}\n")
    added = add(tmp_path / "board", [written])
    if said is None:
        assert added.tables[0].standings["mine"].faults.forfeits == 1
    else:
        assert any(said in why for _, why in added.refused)


def test_an_add_that_fails_loses_nothing(tmp_path, written):
    board = tmp_path / "board"
    bad = tmp_path / "bad.jsonl.gz"
    bad.write_bytes(gzip.compress(written.read_bytes(), mtime=0)[:-20])
    said = run("board", "add", written, bad, "--out", board, code=2)
    assert "bad.jsonl.gz is damaged" in said
    assert not (board / "games.jsonl").exists()
    first, rest = tmp_path / "first.jsonl", tmp_path / "rest.jsonl"
    save(first, load(written)[:4])
    save(rest, load(written)[4:])
    add(board, [first])
    (board / "report.html").unlink()
    (board / "report.html").mkdir()  # the games are there before the page fails
    assert "report.html" in run("board", "add", rest, "--out", board, code=2)
    (board / "report.html").rmdir()
    content = (board / "games.jsonl").read_bytes()
    (board / "games.jsonl").write_bytes(content + b'{"version": 1, "ga')  # of a merge, say
    again = add(board, [written])
    assert (again.new, again.known) == (0, len(load(written)))
    assert "mine" in (board / "report.html").read_text()
    assert (board / "games.jsonl").read_bytes().startswith(content)
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "letter.txt").write_text("x")
    with pytest.raises(ValueError, match="is not used"):
        add(tmp_path / "theirs", [written])


def test_the_page_has_what_players_told_and_shows_names_as_they_are(tmp_path):
    def model(prompt):
        if "legal" not in prompt.rsplit("\n", 3)[-1] and rng.random() < 0.2:
            return "Hm."
        return f"I play {prompt.split('Your legal moves are: ')[-1].split('.')[0].split(', ')[0]}."

    rng = np.random.default_rng(1)
    player = TextPlayer(model, legal_moves=True, retries=5)
    name = "<b>$\\frac{1}{ |x](http://example.org/x.png)"
    save(tmp_path / "games.jsonl", games_of(player, name, "random", 4, pairs=2))
    add(tmp_path / "board", [tmp_path / "games.jsonl"])
    counts = player.counts
    share = counts.unparsable / counts.replies
    assert 0 < share < 1
    report = (tmp_path / "board" / "report.md").read_text()
    (row,) = [line for line in report.splitlines() if "frac" in line and f"{share:.1%}" in line]
    assert "| 0.0% |" in row
    page = (tmp_path / "board" / "report.html").read_text()
    assert "<b>$" not in page
    assert 'src="http' not in page
    assert page.count("data:image/svg+xml") == 3


def test_a_tournament_s_folder_is_taken(tmp_path):
    words = ["arena", "random", "mcts:rollouts=2", "--game", "wolf_and_sheep", "--pairs", 2]
    run(*words, "--workers", 1, "--out", tmp_path / "arena")
    said = run("board", "add", tmp_path / "arena", "--out", tmp_path / "board")
    assert "4 games added" in said
    assert re.search(r"mcts:rollouts=2 .*│ +4 │", said)
    row = next(
        line
        for line in (tmp_path / "board" / "report.md").read_text().splitlines()
        if "mcts" in line
    )
    assert re.search(r"\d (µs|ms)", row)
    with pytest.raises(ValueError, match="not the folder of a tournament"):
        add(tmp_path / "board", [tmp_path])
