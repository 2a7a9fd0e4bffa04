"""`boardenvs analyse` and `boardenvs.play.review`: what an agent thinks of a game."""

import json
import xml.etree.ElementTree as ElementTree
from functools import partial

import numpy as np
import pytest
from command_line import run
from negamax import lead_with_best_play

from boardenvs.agents import explain, make_agent
from boardenvs.games import make
from boardenvs.play import GameSession, review
from boardenvs.play.graph import draw_graph
from boardenvs.records import replay, save

analyse = partial(run, "analyse")


def random_record(game_id, seed, start=None):
    session = GameSession(make(game_id), start, players=("ada", "bob"))
    rng = np.random.default_rng(seed)
    while not session.is_over:
        session.play(int(rng.choice(session.legal_actions())))
    return session.record()


def last_plies(seed, empty):
    """The end of a random game of Othello."""
    record = random_record("othello", seed)
    start = next(p for p in replay(record) if (p.own | p.opp).bit_count() == 64 - empty)
    return random_record("othello", seed + 1, start)


def test_losses_near_the_end_are_those_of_the_plainest_search():
    record = last_plies(1, 6)
    game, positions = record.game, replay(record)
    found = review(record, make_agent("alphabeta:depth=1,endgame=10"))
    lost = [0, 0]
    for ply, before, after in zip(found.plies, positions, positions[1:], strict=False):
        best, played = lead_with_best_play(game, before), -lead_with_best_play(game, after)
        assert (ply.before, ply.after, ply.lost) == (best, played, best - played)
        assert ply.explanation.exact
        lost[ply.role] += best - played
    assert [summary.lost.get("margin", 0) for summary in found.summaries] == lost
    assert sum(lost) > 0
    worst = max(ply.lost for ply in found.plies)
    assert found.largest_losses(1)[0].lost == worst
    for role, summary in enumerate(found.summaries):
        choices = [p for p in positions[:-1] if p.to_move == role and len(p.legal_actions()) > 1]
        assert summary.choices == len(choices)


def test_an_agent_agrees_with_itself():
    game, agent = make("othello"), make_agent("alphabeta:depth=1")
    session = GameSession(game)
    while len(session.actions) < 20:
        session.play(explain(agent, game, session.position).moves[0].action)
    found = review(session.record(), agent)
    assert all(ply.agrees and ply.lost == 0 for ply in found.plies)


def test_a_move_the_tree_never_tried_has_the_value_of_what_follows():
    record = random_record("othello", 3)
    found = review(record, make_agent("mcts:rollouts=2"))
    unseen = [
        ply
        for ply in found.plies
        if not any(m.visits for m in ply.explanation.moves if m.action == ply.action)
    ]
    assert unseen
    for ply in unseen:
        if ply.number < len(found.plies):
            assert ply.after == -found.plies[ply.number].explanation.value


@pytest.mark.parametrize("spec", ["random", "python:arena_agents:lowest"])
def test_agents_without_values_still_agree_or_not(spec):
    found = review(random_record("othello", 4), make_agent(spec))
    assert all(ply.lost in (None, 0) for ply in found.plies)
    with pytest.raises(ValueError, match="no values"):
        draw_graph(found, "svg")


def test_the_graph_is_a_picture_and_always_the_same():
    pytest.importorskip("matplotlib")
    found = review(last_plies(2, 8), make_agent("alphabeta:depth=1,endgame=4"))
    for kind in ("png", "svg"):
        assert draw_graph(found, kind) == draw_graph(found, kind)
    assert draw_graph(found, "png").startswith(b"\x89PNG")
    assert ElementTree.fromstring(draw_graph(found, "svg")).tag.endswith("svg")


def test_json_of_a_position():
    answer = json.loads(analyse("othello", "--with", "trained", "--json"))
    assert answer["position"] == "8/8/8/3rb3/3br3/8/8/8 black 0"
    assert sorted(move["name"] for move in answer["moves"]) == ["c5", "d6", "e3", "f4"]
    assert answer["unit"] == "score"
    tournament = json.loads(analyse("othello", "--with", "trained", "--json", "--tournament"))
    assert sorted(move["name"] for move in tournament["moves"]) == ["c4", "d3", "e6", "f5"]


def test_the_default_is_perfect_where_that_can_be():
    answer = json.loads(analyse("wolf_and_sheep", "--json"))
    assert (answer["exact"], answer["plies"], answer["outcome"]) == (True, 44, "loss")
    assert json.loads(analyse("lines_of_action", "--json"))["positions"] == 200


def test_a_search_goes_on_for_as_long_as_told():
    answer = json.loads(analyse("othello", "--with", "mcts:rollouts=1", "--time", "0.3", "--json"))
    assert answer["positions"] >= 64


def test_tables(tmp_path):
    record = last_plies(3, 8)
    file = tmp_path / "games.jsonl"
    save(file, [random_record("othello", 5), record])
    text = analyse("othello", file, "--number", 2, "--with", "alphabeta:depth=1,endgame=8")
    assert "proven" in text
    assert "ada" in text
    assert "Both sides" in text
    answer = json.loads(analyse("othello", file, "--number", 2, "--with", "greedy", "--json"))
    assert [ply["move"] for ply in answer["plies"]] == [
        record.game.action_name(action) for action in record.actions
    ]
    text = analyse("othello", file, "--number", 2, "--ply", 1, "--with", "greedy")
    assert "Moves" in text
    pytest.importorskip("matplotlib")
    for name in ("graph.png", "graph.svg"):
        analyse("othello", file, "--with", "greedy", "--graph", tmp_path / name)
        assert (tmp_path / name).stat().st_size > 1000


def test_errors_name_what_is_wrong(tmp_path):
    file = tmp_path / "games.jsonl"
    save(file, [random_record("othello", 5)])
    for words, said in (
        (("othello", "nothing.jsonl"), "no such file"),
        (("othello", "8/8 black"), "2 ranks"),
        (("othello", file, "--number", 2), "1 games"),
        (("othello", file, "--ply", 99), "no position after ply 99"),
        (("othello", file, "--time", 1), "--ply"),
        (("othello", file, "--graph", "graph.gif"), "gif"),
        (("othello", file, "--graph", tmp_path / "nowhere" / "graph.png"), "no folder"),
        (("othello", "--graph", "graph.png"), "recorded game"),
        (("othello", "--number", 2), "--number"),
        (("lines_of_action", file), "not lines_of_action"),
        (("othello", "--with", "perfect"), "othello"),
        (("othello", "--time", 0), "more than 0"),
        (("lines_of_action", "--tournament"), "tournament"),
        (
            ("othello", make("othello").position((1, 0)).fen()),
            "over",
        ),
    ):
        assert said in analyse(*words, code=2)
