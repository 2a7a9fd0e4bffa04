"""Text for language models: what replies mean, prompts that tell the truth, games as in process."""

import json
import random
import re
import string
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from negamax import leads
from text_kinds import fill, first_by_name, kinds, legal_names, positions
from variants import BUILT_IN, make, random_line, random_position

import boardenvs
from boardenvs import records
from boardenvs.board.bitboard import square_name, squares_of
from boardenvs.envs.groups import choose
from boardenvs.envs.single import BoardSingleEnv
from boardenvs.exams import take_exam
from boardenvs.exams.positions import exam_positions
from boardenvs.game.position import stack
from boardenvs.records.jsonl import parse_record, write_record
from boardenvs.text import Disguise, ExamEnv, Style, TextEnv, TextPlayer, compare, read
from boardenvs.text.disguise import PARTS
from boardenvs.text.samples import save_samples, solved_samples

pytestmark = pytest.mark.usefixtures("in_python")

GAMES = ("othello_holes", "lines_of_action", "wolf_and_sheep_described")


# ---- the reader ----------------------------------------------------------------------------------


def test_replies_are_read_as_meant():
    """Every kind in games of both sorts of moves."""
    wrong, count = [], 0
    for place, position in enumerate(positions(0)):
        for number, kind in list(enumerate(kinds()))[place % 2 :: 2]:
            filled = fill(kind, position, random.Random(number))
            if filled is None:
                continue
            count += 1
            reading = read(filled[0], position)
            if (reading.kind, reading.action) != (kind.means, filled[1]):
                wrong.append((kind, filled[0], reading))
    assert count > 5000
    assert not wrong


SLOTS = (
    '{{"move": "{}"}}',
    '```json\n{{"move": "{}"}}\n```',
    "<move>{}</move>",
    "<answer>{}</answer>",
    r"\boxed{{{}}}",
    "\nFinal answer: {}\n",
    "\nMove: **{}**\n",
)
# Of a writer who thinks, and says nothing to be read by a program.
PROSE = st.lists(
    st.one_of(
        st.text(string.ascii_letters + " ,.!?äé中🙂\n'", max_size=60),
        st.sampled_from(
            [
                "I considered {}.",
                "I play {}.",
                "{} is weak!",
                "\n> {}\n",
                "\n- {}\n",
                "{}",
                "**{}**",
            ]
        ),
    ),
    max_size=6,
)


@given(st.data())
def test_a_move_in_a_slot_is_read_in_any_prose(data):
    position = data.draw(st.sampled_from(positions(2)))
    names = sorted(legal_names(position))
    move = data.draw(st.sampled_from(names))
    before, after = (
        " ".join(part.replace("{}", data.draw(st.sampled_from(names))) for part in data.draw(PROSE))
        for _ in range(2)
    )
    slot = data.draw(st.sampled_from(SLOTS)).format(move)
    reading = read(f"{before}\n{slot}\n{after}", position)
    assert (reading.kind, position.game.action_name(reading.action, position)) == ("move", move)


@given(st.one_of(st.text(), st.binary().map(lambda some: some.decode("latin-1"))))
def test_garbage_is_read_as_something(text):
    reading = read(text, positions(0)[2])
    assert reading.kind in ("move", "illegal", "ambiguous", "unparsable")
    assert (reading.action is None) == (reading.kind != "move")


PIECES = """
{ | {"a": | {"move": " | <think> | </think> | <move> | d3 | d3, | I play d3 | ` | ~~ | ~~~ | " | > |
\\boxed{ | ( | [ | - d3 | . | d | b1- | not d3 or | if | I will | Move: | wait no | from b1 |
{} | - | /
""".replace("\n", " ").split(" | ")


def test_long_replies_take_no_long_time():
    """Of 400,000 characters; a pattern that takes the square of a length would take minutes."""
    position = positions(0)[2]
    started = time.process_time()
    for piece in (*PIECES, "\n", "\ud800", "\ufdfa", "- d3\n", "| d3\n"):
        read(piece * (400_000 // len(piece)), position)
    assert time.process_time() - started < 60


def test_a_pass_is_a_move_where_it_is_the_only_one():
    game = make("othello")
    position = next(
        position
        for seed in range(100)
        for position in random_line(game, seed, 60)[0]
        if not position.is_over() and position.legal_actions() == [game.noop]
    )
    for reply in (
        "pass",
        "I pass.",
        '{"move": "pass"}',
        '{"move": null}',
        "I have no move: I pass.",
    ):
        assert read(reply, position).action == game.noop, reply
    assert read('{"move": "d3"}', position).kind == "illegal"
    assert "pass" in Style().write([position], [])


def test_what_was_cut_off_counts_in_its_slots_alone():
    position = make("lines_of_action").start()
    assert read("I play b1-b3. It is", position, finished=False).kind == "unparsable"
    assert read('{"move": "b1-b3"} It is', position, finished=False).kind == "move"


# ---- prompts and disguises -----------------------------------------------------------------------


def drawn(prompt):
    """The symbols of the squares of a prompt's drawing, by the names that it gives them."""
    head, *rows = re.findall(r"^ {4}(.+)$", prompt, re.MULTILINE)
    names = {}
    for row in rows:
        rank, *symbols = row.split()
        names |= {f + rank: symbol for f, symbol in zip(head.split(), symbols, strict=True)}
    return names


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("seed", [None, 1, 2, 3])
def test_prompts_tell_the_position(name, seed):
    game = make(name)
    line, actions = random_line(game, 3, 8)
    position = line[-1]
    disguise = Disguise(game) if seed is None else Disguise.draw(game, seed)
    first, second = disguise.roles
    pieces = {square_name(s): "." for s in range(64)}
    for symbol, squares in (
        (first[0].upper(), position.pieces(0)),
        (second[0].upper(), position.pieces(1)),
        ("#", game.holes),
    ):
        pieces |= {square_name(s): symbol for s in squares_of(squares)}
    shown = {disguise.names[s]: pieces[square_name(s)] for s in range(64)}

    prompt = Style("ascii", legal_moves=True, disguise=disguise).write(line, actions)
    assert drawn(prompt) == shown
    listed = re.search(r"Your legal moves are: (.*)\.", prompt)[1].split(", ")
    assert [read(move, position, disguise).action for move in listed] == position.legal_actions()
    history = re.findall(r"^\d+\. (\w+): (\S+)$", prompt, re.MULTILINE)
    for (role, move), before, action in zip(history, line, actions, strict=False):
        assert role == disguise.roles[before.to_move]
        assert read(move, before, disguise).action == action
    assert len(history) == len(actions)
    assert f"You are {disguise.roles[position.to_move]}" in prompt

    found = json.loads(
        re.search(
            r"^\{.*rows.*\}$", Style("json", disguise=disguise).write(line, actions), re.MULTILINE
        )[0]
    )
    for role, symbol in ((first, first[0].upper()), (second, second[0].upper())):
        assert sorted(found[role]) == sorted(s for s, what in shown.items() if what == symbol)
    rows = re.search(
        r"^ {4}(\S+/\S+) \w+$", Style("fen", disguise=disguise).write(line, actions), re.MULTILINE
    )[1]
    rows = re.sub(r"\d", lambda run: "." * int(run[0]), rows).replace("/", "")
    symbols = [shown[disguise.names[s]].replace("#", ".") for row in disguise.rows for s in row]
    assert list(rows.replace("#", ".")) == symbols


@pytest.mark.parametrize("name", GAMES)
def test_a_disguise_leaves_no_name_of_the_game(name):
    game = make(name)
    line, actions = random_line(game, 1, 5)
    for seed in range(5):
        disguise = Disguise.draw(game, seed)
        assert len(set(disguise.names)) == 64
        prompt = Style(legal_moves=True, disguise=disguise).write(line, actions)
        known = [*game.roles, game.about.pieces, game.about.title, game.id, "rank", "file"]
        for word in [*known, *(square_name(s) for s in range(64))]:
            assert not re.search(rf"\b{word}\b", prompt, re.IGNORECASE), word
    assert Disguise.draw(game, 1) == Disguise.draw(game, 1) != Disguise.draw(game, 2)


def test_a_game_without_instructions_is_not_disguised():
    class Own(type(make("othello"))):
        about = boardenvs.game.rules.About()

    with pytest.raises(ValueError, match="instructions"):
        Disguise.draw(Own(), 1)
    assert Own.__doc__ or Style().write([Own().start()], [])


@pytest.mark.parametrize("name", GAMES)
def test_a_game_in_disguise_is_kept_as_the_same_game(name):
    plain, other = (TextEnv(make(name), opponent="greedy", disguise=d) for d in (None, 5))
    for env in (plain, other):
        env.reset(seed=4)
        while not env.done:
            action = min(env.position.legal_actions())
            shown = env.style.disguise or Disguise(env.game)
            env.step(f"I play {shown.move(action, env.position)}.")
    assert plain.result.record.actions == other.result.record.actions
    told = other.result.record.info["text"]["disguise"]["squares"]
    assert len(set(told.values())) == 64


# ---- the environment -----------------------------------------------------------------------------


def first_by_name_in_process(game, state, rng):
    positions = game.positions(state)
    moves = [min(p.legal_actions(), key=lambda a, p=p: game.action_name(a, p)) for p in positions]
    return np.array(moves)


@pytest.mark.parametrize("player", ["random", "greedy", "level:5"])
@pytest.mark.parametrize("name", ["othello", "lines_of_action", "wolf_and_sheep"])
def test_players_score_as_they_do_in_process(name, player):
    """The games of Gymnasium's environment, by what players say."""
    game, agent = make(name), boardenvs.make_agent(player)
    env = BoardSingleEnv(game, opponent="greedy")
    text = TextEnv(game, opponent="greedy", retries=0)
    sentences = ("I play {}.", '{{"move": "{}"}}', "Final answer: {}", "{}")
    for seed in range(3):
        rngs = [np.random.default_rng(seed) for _ in range(2)]
        _, info = env.reset(seed=seed)
        text.reset(seed=seed)
        done, reward = False, 0.0
        while not done:
            action = int(choose(agent, game, stack([env.board.position]), rngs[0])[0])
            _, reward, done, cut, info = env.step(action)
            done |= cut
        while not text.done:
            position = text.position
            action = int(choose(agent, game, stack([position]), rngs[1])[0])
            sentence = sentences[position.ply % len(sentences)]
            text.step(sentence.format(game.action_name(action, position)))
        result = text.result
        assert (result.reward, text.position) == (reward, env.board.position)
        assert result.record.goal == env.board.position.result()
        assert not result.forfeited
        assert result.record.players[game.roles.index(info["seat"])] == "text"


@pytest.mark.parametrize("name", GAMES)
def test_both_sides_may_be_asked(name):
    """As one is, whose opponent plays in process."""
    game = make(name)
    opponent = first_by_name_in_process
    both = TextEnv(game, opponent=None, legal_moves=True)
    alone = TextEnv(game, opponent=opponent, seat=game.roles[0], legal_moves=True)
    both.reset(seed=1)
    alone.reset(seed=1)
    while not both.done:
        assert both.role == both.position.to_move
        if both.role == 0:
            assert both.prompt == alone.prompt
            alone.step(first_by_name(alone.prompt))
        both.step(first_by_name(both.prompt))
    assert (both.reward, both.goal) == (alone.reward, alone.goal)
    assert both.result.record.actions == alone.result.record.actions
    both.reset()
    both.step(first_by_name(both.prompt))
    for _ in range(3):
        assert not both.done
        both.step("I do not know.")
    assert (both.reward, both.goal) == (1, (100, 0))
    assert both.result.record.info["forfeit"] == game.roles[1]


@pytest.mark.parametrize("name", ["othello", "wolf_and_sheep"])
def test_the_questions_of_an_exam_pay_what_the_exam_says(name):
    env = ExamEnv(name, legal_moves=True)
    rewards = []
    for number in range(len(env)):
        prompt = env.reset() if number else env.reset(seed=0)
        assert max(env.rewards().values()) == 1 > min(env.rewards().values()) == 0
        step = env.step(first_by_name(prompt))
        assert (step.done, step.prompt) == (True, "")
        rewards.append(step.reward)
    mark = take_exam(make(name), TextPlayer(first_by_name, legal_moves=True)).total
    share = mark.kept if mark.best is None else mark.best
    assert np.mean(np.array(rewards) == 1) == pytest.approx(share)
    with pytest.raises(boardenvs.ResetNeededError):
        env.step("I pass.")
    env.reset(seed=len(env) + 1)
    assert env.number == 1
    assert env.step("I do not know.").reward == 0
    assert env.counts.forfeits == 1


def test_solved_positions_are_lessons(tmp_path):
    """The lead that every line of play comes to; what is not proven is left out."""
    game = make("othello_holes")
    line = random_line(game, 3, 60)[0]
    late = [position for position in line if not position.is_over()][-5:]
    style = Style(disguise=Disguise.draw(game, 3))
    found = [*solved_samples([*late, line[-1]], style)]
    assert not [*solved_samples([game.start()], agent="alphabeta:depth=1")]
    assert save_samples(tmp_path / "samples.jsonl", found) == len(late)
    lines = (tmp_path / "samples.jsonl").read_text().splitlines()
    for position, line in zip(late, map(json.loads, lines), strict=True):
        assert line["prompt"] == style.write([position], [])
        assert line["position"] == position.fen()
        names = {
            style.disguise.move(a, position): lead for a, lead in leads(game, position).items()
        }
        assert line["values"] == names
        best = max(names, key=names.get)
        assert line["rewards"][best] == 1
        assert read(f'{{"move": "{best}"}}', position, style.disguise).kind == "move"


def test_bad_replies_are_asked_again_and_then_lose_the_game():
    env = TextEnv("lines_of_action", seat="black", retries=2)
    prompt = env.reset(seed=1)
    said = {"b1-b4": "illegal", "b1-b3 or c1-c3": "ambiguous", "": "unparsable"}
    for reply, kind in list(said.items())[:2]:
        step = env.step(reply, tokens=(100, 7))
        assert (step.reading.kind, step.done, step.reward) == (kind, False, 0)
        assert step.prompt.startswith(prompt)
        assert step.reading.text in step.prompt
    assert env.step("I play b1-b3").reading.kind == "move"
    for reply, kind in said.items():
        step = env.step(reply)
        assert step.reading.kind == kind
    assert (step.done, step.reward, step.prompt) == (True, -1, "")
    with pytest.raises(boardenvs.ResetNeededError):
        env.step("b1-b3")
    result = env.result
    counts = result.counts
    assert (counts.move, counts.illegal, counts.ambiguous, counts.unparsable) == (1, 2, 2, 1)
    assert (counts.replies, counts.forfeits, counts.completion_tokens) == (6, 1, 14)
    assert result.forfeited
    record = parse_record(write_record(result.record))
    assert record == result.record
    assert (record.goal, record.info["forfeit"]) == ((0, 100), "black")
    transcript = record.info["text"]["transcript"]
    assert [entry["read_as"] for entry in transcript] == [
        *list(said.values())[:2],
        "move",
        *said.values(),
    ]


def test_replies_of_any_size_and_kind_fit_into_a_record(tmp_path):
    env = TextEnv("wolf_and_sheep:rules=described", seat="wolf", retries=100)
    env.reset(seed=1)
    for reply in ("\ud800", "\0" * 10**5, "{" * 10**5, '"\\' * 10**5) * 25:
        env.step(reply)
    records.save(tmp_path / "games.jsonl", [env.result.record])
    (record,) = records.load(tmp_path / "games.jsonl")
    assert len(record.info["text"]["transcript"]) == 100
    assert records.check([record])[0].ending == "cut off"


def test_what_makes_no_environment():
    for wrong in (
        {"board": "chess"},
        {"seat": "white"},
        {"retries": -1},
        {"opponent": "nobody"},
        {"opening_plies": (3, 1)},
        {"board": "picture", "disguise": 1},
    ):
        with pytest.raises(ValueError, match=r"must|unknown|leave"):
            TextEnv("othello", **wrong)
    with pytest.raises(boardenvs.ResetNeededError):
        TextEnv("othello").step("d3")
    env = TextEnv("othello")
    env.reset(seed=1)
    with pytest.raises(TypeError, match="must be a text"):
        env.step(19)


def test_a_picture_goes_with_the_prompt():
    env = TextEnv("lines_of_action", board="picture")
    prompt = env.reset(seed=1)
    assert "picture" in prompt
    assert env.picture().startswith(b"\x89PNG")
    assert TextEnv("othello").reset(seed=1)


def test_openings_are_part_of_the_record():
    env = TextEnv("othello", opening_plies=(6, 6), seat="black")
    env.reset(seed=1)
    first = env.result.record
    assert len(first.actions) == env.position.ply == 6
    assert first.start is None
    env.reset(seed=2)
    assert env.result.record.actions != first.actions


@pytest.mark.parametrize("threads", [1, 4])
def test_a_text_player_plays_as_its_function_would(threads):
    """The same games, with the history in its prompts; and those without a legal move are lost."""
    game = make("othello")

    player = TextPlayer(first_by_name, legal_moves=True, threads=threads)
    by_text = boardenvs.play_match(game, player, "greedy", 3)
    expected = boardenvs.play_match(game, first_by_name_in_process, "greedy", 3)
    assert np.array_equal(by_text.actions, expected.actions)
    assert player.counts.replies == player.counts.move > 100
    silent = TextPlayer(lambda prompt: "", retries=1)
    lost = boardenvs.play_match(game, silent, "random", 1)
    assert lost.score == 0
    assert (silent.counts.forfeits, silent.counts.unparsable) == (2, 4)


def test_random_positions_have_prompts():
    for name in GAMES:
        position = random_position(make(name), 7, 9)
        assert "at a position of its own" in Style().write([position], [])


def test_faces_show_who_reads_and_who_knows_by_heart():
    """Of two that know the right move, by the names in the prompt and by those of the game."""
    game = make("wolf_and_sheep")
    exam = exam_positions(game)
    right = {
        position.pieces(0) << 64 | position.pieces(1): game.action_name(int(row.argmax()), position)
        for position, row in zip(game.positions(exam.state), exam.values, strict=True)
    }
    disguise = Disguise.draw(game, 1)

    def answer(prompt, shown):
        found = json.loads(re.search(r"^\{.*rows.*\}$", prompt, re.MULTILINE)[0])
        first, second = (
            sum(1 << shown.names.index(name) for name in found[role]) for role in shown.roles
        )
        return shown.write(right[first << 64 | second])

    def reader(prompt):
        faces = (Disguise.draw(game, 1, (part,)) for part in PARTS)
        for shown in (Disguise(game), disguise, *faces):
            try:
                return answer(prompt, shown)
            except (KeyError, ValueError):
                pass
        raise AssertionError(prompt)

    def by_heart(prompt):
        try:
            return answer(prompt, Disguise(game))
        except (KeyError, ValueError):
            return "I do not know this game."

    read_by = compare(reader, game, positions=8, board="json")
    assert [face.kept for face in read_by.faces] == [1] * 7
    assert [face.same for face in read_by.faces] == [1] * 7
    known = {face.name: face for face in compare(by_heart, game, positions=8, board="json").faces}
    assert known["as it is"].kept == known["as it is, again"].same == known["pieces"].kept == 1
    assert known["squares"].legal == known["roles"].legal == known["all of these"].legal == 0
    assert known["squares"].counts.unparsable == 8
    assert str(read_by).count("\n") == 8


@pytest.mark.parametrize(
    "name", ["connect_four:ConnectFour", "hex:Hex", "morris:NineMensMorris", "checkers:Checkers"]
)
@pytest.mark.parametrize("board", ["ascii", "json"])
def test_games_from_outside_are_played_by_text(name, board):
    env = TextEnv(f"boardenvs_{name}", board=board)
    env.reset(seed=1)
    while not env.done:
        position = env.position
        action = max(position.legal_actions())
        reading = env.step(f"I play {env.game.action_name(action, position)}.").reading
        assert reading.action == action
    assert parse_record(write_record(env.result.record)).actions == env.result.record.actions


@pytest.mark.parametrize("name", BUILT_IN)
def test_instructions_tell_the_start_and_the_limits(name):
    """Every square that the rules in words name in their first part, and no other, has a piece; the
    holes, and numbers of moves, are the game's.
    """
    game = make(name)
    text = " ".join(game.about.instructions.split())
    start = re.split("On its turn|The sides take", text)[0]
    squares = {
        x + y
        for a, b, c, d in re.findall(r"\b([a-h])([1-8])(?: to ([a-h])([1-8]))?", start)
        for x in "abcdefgh"[ord(a) - 97 : ord(c or a) - 96]
        for y in map(str, range(int(b), int(d or b) + 1))
    }
    position = game.start()
    assert squares == {square_name(s) for s in squares_of(position.own | position.opp)}
    holes = re.findall(r"[a-h][1-8]", text.partition("Holes are")[2])
    assert holes == [square_name(s) for s in squares_of(game.holes)]
    limit = getattr(game, "max_steps", game.max_plies)
    assert re.findall(r"After (\d+) moves", text) == ([] if limit is None else [str(limit)])
    assert re.search(rf"{game.roles[0]} first", text, re.IGNORECASE)
