"""Text for language models: how replies are read, prompts, environments and players."""

import json
import re
import string
import time
from types import SimpleNamespace

import numpy as np
import pytest
from command_line import run
from fuzzing import texts
from hypothesis import given, settings, strategies as st
from variants import BUILT_IN, make, random_position

import boardenvs
from boardenvs import records
from boardenvs.board.bitboard import squares_of
from boardenvs.envs.single import BoardSingleEnv
from boardenvs.exams import take_exam
from boardenvs.exams.positions import exam_positions
from boardenvs.game.session import GameSession
from boardenvs.game.state import take
from boardenvs.games.notation import parse_move
from boardenvs.text import (
    ExamEnv,
    TextEnv,
    TextPlayer,
    format_reward,
    parse_position,
    read,
    reward,
    write_prompt,
)
from boardenvs.text.adapters import mcp
from boardenvs.text.adapters.mcp import GameTools
from boardenvs.text.rewards import scaled


def first_move(prompt):
    """A model: the first of the listed moves."""
    listed = re.search(r"Your legal moves are: ([^,.]*)", prompt)
    return f'{{"move": "{listed[1] if listed else "pass"}"}}'


# ---- the reader ----------------------------------------------------------------------------------

# The move, an illegal one with "!", or "?" for what cannot be read, and the reply. At the start of
# Othello e6 and f5 are legal, of Lines of Action b1-b3 and c1-c3.
REPLIES = r"""
e6 | e6
e6 | **E6**
e6 | `e6`.
e6 | e 6
e6 | (e, 6)
e6 | ["e6"]
e6 | "e6"
e6 | \uff45\uff16
e6 | e6\u200b
e6 | Move: e6
!a1 | a1
!z9 | {"move": "z9"}
!pass | pass
e6 | {"move": "e6"}
e6 | {'move': 'E6'}
e6 | {"move": "e6",}
e6 | {"answer": {"move": "e6"}}
e6 | {"reason": "f5 loses", "move": "e6", "reply": "f6"}
e6 | ```json\n{"move": "e6"}\n```
e6 | ```\ne6\n```
e6 | I like f5. {"move": "e6"} This flips one disc.
e6 | {"move": "f5"} is bad.\nBetter: {"move": "e6"}
e6 | {"move": "e6"}\n\boxed{e6}
? | {"move": "e6"}, not {"move": "f5"}
? | [{"move": "e6"}, {"move": "f5"}]
? | {"move": "e6"} {"move": "f5"} {"move": "e6"}
e6 | {"move": "f5"}, {"move": "e6"}, {"move": "e6"}
? | [\n{"move": "e6"},\n{"move": "f5"}\n]
? | {"move": "e6"}\n> {"move": "f5"}
? | {"move": "e6"} This flips one disc and is better than f5.
? | {"move": "e6"} Wait, no: f5
? | {"move": "e6"} Wait, no: f10
? | {"move": "e6"}\nf4
? | {"move": "e6"}\nI play f5.
? | {"move": ["e6", "f5"]}
? | {"move": "e6 or f5"}
? | {"move": "e6, f5"}
? | {"move": "e6/f5"}
? | {"move": "not e6"}
? | {"move": "e6"}\n{"move": "<your move>"}
? | {"move": null}
? | {"moves": ["e6"]}
? | {"opponent_move": "e6"}
? | {"opponent": {"move": "f5"}, "best move": "e6"}
? | {"choice": "e6"}
? | {"move": "e6"}\n{"move": "f
? | {"move":
e6 | <move>e6</move>
e6 | <answer>\nMove: e6\n</answer>
e6 | <answer><move>e6</move></answer>
e6 | <answer>{"move": "e6"}</answer>
e6 | &lt;move&gt;e6&lt;/move&gt;
? | <answer>e6
? | <answer>{"move": "f5"} or rather e6</answer>
? | <answer>e6, f5</answer>
? | <move></move>
e6 | Thus \boxed{e6}.
e6 | $\boxed{\text{e6}}$
? | \boxed{e6
? | \boxed{e6} \boxed{e6 / f5}
e6 | Final answer: e6
e6 | **Final Answer:** E6
e6 | That is all. Final answer: e6.
e6 | Final answer: {"move": "e6"}
e6 | **Final answer**: $\boxed{e6}$
e6 | Final answer: f5\n\nNo: that fails.\n\nFinal answer: e6
? | Final answer: e6, no, f5
? | Final answer: e6? Hmm, f5.
? | Final answer: f5\nFinal answer: I cannot say.
? | Last move: e6
? | Legal moves: e6
e6 | <think>{"move": "f5"}</think> {"move": "e6"}
e6 | {"move": "f5"} </think>\ne6
e6 | <|channel|>analysis<|message|>f5<|end|><|start|>assistant<|channel|>final<|message|>e6
? | <think>{"move": "e6"}
? | {"move": "f5"} <think>hm</think> I still think </think> no move yet
? | I play e6.
? | The best move is e6
? | e6!? Or f5
? | e6, because it flips a disc.
? | e6 f5
? | \u6211\u4e0d\u4e0be6
? | I will not play f5, but e6.
? | I pass on that.
? |
b1-b3 | b1-b3
b1-b3 | B1 to B3.
b1-b3 | from b1 to b3
b1-b3 | ["b1", "b3"]
b1-b3 | b1b3
b1-b3 | b1 -&gt; b3
b1-b3 | b1→b3
b1-b3 | b1\u2013b3
b1-b3 | \uff42\uff11\uff0db3
b1-b3 | \boxed{b1 \to b3}
!b1-b4 | b1xb4
? | b1
? | b1-b3-b5
? | b1-b3, c1-c3
? | {"move": "b1-b3 c1-c3"}
? | Piece: b1. Target: b3.
"""


def test_replies_are_read_as_meant():
    othello, loa = make("othello").start(), make("lines_of_action").start()
    wrong = []
    for meant, reply in re.findall(r"^(\S+) \|(.*)$", REPLIES, re.MULTILINE):
        position = loa if "b1" in meant + reply else othello
        text = re.sub(r"\\u(\w{4})", lambda code: chr(int(code[1], 16)), reply.strip())
        text = text.replace("\\n", "\n")
        found = read(text, position)
        known = {"move": "", "illegal": "!"}.get(found.kind, "?")
        if known + found.text * (known != "?") != meant:
            wrong.append((meant, reply, found))
        assert read(text, position, finish_reason="length").kind == "cut_off"
    assert not wrong


ILLEGAL = {  # as people write moves of each game, and no move
    "chess": ("Qh5 e5 O-O 0-0-0 Nd2 e7e8q exd5 Kxe1+ e2e5 a7a8=Q", "castle Queen e2e4e5"),
    "checkers": ("c3xe5xg7 c3-d5 22-31", "c3 king"),
    "nine_mens_morris": ("a1-d1 a1-g7 b1 d7-a7xa4", "mill"),
    "lines_of_action": ("b1-b4 b1-n", "b1 b1-b3-b5"),
    "connect_four": ("8", "d4-d5 red"),
}


@pytest.mark.parametrize("name", ILLEGAL)
def test_illegal_moves_are_told_from_what_is_no_move(name):
    start = make(name).start()
    for kind, moves in zip(("illegal", "unreadable"), ILLEGAL[name], strict=True):
        kinds = {move: read(f'{{"move": "{move}"}}', start).kind for move in moves.split()}
        assert kinds == dict.fromkeys(kinds, kind)


SLOTS = (
    '{{"move": "{}"}}',
    "```json\n{{'move': '{}'}}\n```",
    "<move>{}</move>",
    "{}",
    "<answer><move>{}</move></answer>",
    r"\boxed{{{}}}",
    "\nFinal answer: **{}**\n",
)
SPELLINGS = (
    str,
    str.upper,
    lambda move: move.replace("-", " -&gt; "),
    lambda move: "".join(chr(ord(c) + 0xFEE0) for c in move),  # full width
    "«{}»".format,
    "「{}」".format,
    lambda move: move.replace("-", " to "),
)
PROSE = ("I play {}.", "{} is best", "So {}", "Let me look: {} or {}", "I see\n- {}\n", "{} wins!",
         "My opponent's answer: {}", "“{}” was tempting")  # fmt: skip
WORDS = st.text(string.ascii_letters + " ,!äé中🙂\n", max_size=60)
OTHERS = [
    "connect_four",
    "hex",
    "nine_mens_morris",
    "checkers",
]


@st.composite
def legal_moves(draw):
    """A position of any game, and the name of a legal move."""
    game = make(draw(st.sampled_from([*BUILT_IN, *OTHERS])))
    position = random_position(game, draw(st.integers(0, 9)), draw(st.integers(0, 20)))
    if position.is_over():
        position = game.start()
    return position, game.action_name(draw(st.sampled_from(position.legal_actions())), position)


@settings(max_examples=30)
@given(
    legal_moves(), st.sampled_from(SLOTS), st.sampled_from(SPELLINGS), st.sampled_from(PROSE), WORDS
)
def test_slots_are_read_in_any_spelling_and_prose_is_not(drawn, slot, spelling, prose, words):
    position, move = drawn
    said = f"{words}\n{prose.replace('{}', move)}"
    assert read(said, position).kind == "unreadable"
    before = "" if slot == "{}" else f"{said}\n"
    found = read(before + slot.format(spelling(move)), position)
    assert position.game.action_name(found.action, position) == move


@settings(max_examples=20)
@given(texts(100) | st.binary().map(lambda some: some.decode("latin-1")))
def test_garbage_is_read_as_something(text):
    found = read(text, make("lines_of_action").start())
    assert (found.action is None) == (found.kind != "move")


def test_long_replies_take_no_long_time():
    """A pattern that takes the square of a length would take minutes."""
    position = make("othello").start()
    pieces = '{"a": |{"move": |<think>|<move>|e6|e6, |`|~~|> |\\boxed{|(|Move:|Final |wait no |<!--'
    for piece in (*pieces.split("|"), "\n", "\ud800", "{'move'", '"move":"e6"'):
        read("{" + piece * (1_000_000 // len(piece)), position)
    assert read("hm " * (3 << 19) + "\n\nFinal answer: e6", position).kind == "move"


def test_a_pass_is_a_move_where_it_is_the_only_one():
    position = parse_position(make("othello"), "8/8/8/8/8/8/8/bw6 white")
    for reply in ("pass", "PASS.", '{"move": "pass"}', "Final answer: pass"):
        assert read(reply, position).action == position.game.noop, reply
    assert {parse_move(text, position) for text in ("pa", "PS", "--")} == {position.game.noop}
    assert read('{"move": "d3"}', position).kind == "illegal"
    assert "moves are: pass" in write_prompt(GameSession.reaching(position), legal_moves=True)


# ---- prompts -------------------------------------------------------------------------------------


TOLD = """
# The game so far

1. black: f5
2. white: d6
3. black: c5

# The position

       a b c d e f g h
     1 . . . . . . . .
     2 . . . . . . . .
     3 . . # . . # . .
     4 . . . W B . . .
     5 . . B B B B . .
     6 . . # W . # . .
     7 . . . . . . . .
     8 . . . . . . . .

B is one of the discs of black, W one of white, and . an empty square, # a hole.

It is your turn: white is to move.

Your legal moves are: b6, b4, f4.

# Your answer

A move is written like e6. Think as long as you like, and then end your reply"""


def test_prompts_tell_the_game():
    session = GameSession(make("othello_holes"))
    session.play_line([session.game.parse_action(name) for name in ("f5", "d6", "c5")])
    prompt = write_prompt(session, legal_moves=True)
    assert prompt.startswith(
        "You play Othello with holes. You are white, and black is your opponent."
    )
    assert TOLD in prompt
    unmoved = write_prompt(GameSession.reaching(session.position))
    assert "\n\nThe game began at a position of its own. Nobody has moved yet.\n\n" in unmoved


def test_prompts_tell_how_each_kind_of_move_is_written():
    goes = "as the square that the piece leaves, a hyphen and the square that it goes to, as in"
    for name, form in {
        "checkers": f"{goes} c3-b4",
        "nine_mens_morris": f"like a1; or {goes} a1-e4",
        "go": "like a1; or like pass",
    }.items():
        prompt = write_prompt(GameSession(make(name)))
        assert f"\n\nA move is written {form}. Think" in prompt


@pytest.mark.parametrize("name", BUILT_IN)
def test_instructions_tell_the_holes_and_limits(name):
    game = make(name)
    text = " ".join(game.about.instructions.split())
    holes = re.findall(r"[a-h][1-8]", text.partition("Holes are")[2])
    assert holes == [game.square_name(s) for s in squares_of(game.holes)]
    limit = getattr(game, "max_steps", game.max_plies)
    assert re.findall(r"After (\d+) moves", text) == ([] if limit is None else [str(limit)])
    assert re.search(rf"{game.roles[0]} first", text, re.IGNORECASE)


# ---- environments --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["othello", "lines_of_action", "wolf_and_sheep"])
def test_games_are_those_of_gymnasium(name):
    env, text = BoardSingleEnv(make(name), opponent="greedy"), TextEnv(name, opponent="greedy")
    for seed in range(2):
        _, info = env.reset(seed=seed)
        text.reset(seed=seed)
        rng, over = np.random.default_rng(seed), False
        while not over:
            legal = env.board.position.legal_actions()
            action = int(rng.choice(legal))
            if len(legal) > 1:  # others are played unasked
                text.step(f"Final answer: {text.game.action_name(action, text.position)}")
            _, score, terminated, truncated, info = env.step(action)
            over = terminated or truncated
        assert (text.done, text.reward, text.position) == (True, score, env.board.position)
        assert text.record.goal == text.position.result()
        assert text.record.players[text.game.roles.index(info["seat"])] == "text"


def test_both_sides_may_be_asked():
    env = TextEnv("lines_of_action", opponent=None, legal_moves=True)
    prompt = env.reset(seed=1)
    while not env.done:
        assert f"You are {env.game.roles[env.position.to_move]}" in prompt
        prompt = env.step(first_move(prompt)).prompt
    assert env.record.goal == env.position.result()
    env.step(first_move(env.reset()))
    assert [env.step("I do not know.").done for _ in range(3)] == [False, False, True]
    assert (env.reward, env.record.info["forfeit"]) == (1, env.game.roles[1])


def test_bad_replies_are_asked_again_and_then_lose_the_game(tmp_path):
    env = TextEnv("lines_of_action", seat="black", retries=2)
    env.reset(seed=1)
    kinds = ["illegal", "unreadable", "move", "illegal", "unreadable", "unreadable"]
    replies = ["b1-b4", "I play b1-b3.", "b1-b3", "b1-b4", "I play b1-b3.", "\ud800" * 10**5]
    for reply, kind in zip(replies, kinds, strict=True):
        assert not env.done
        step = env.step(reply, tokens=(100, 7))
        assert step.reading.kind == kind
        wrong = {"illegal": f"You chose {step.reading.text}, which is not a legal move. Choose",
                 "unreadable": f"be read from your last reply: {step.reading.text}. Choose",
                 "move": "Your answer"}  # fmt: skip
        assert env.done or wrong[kind] in step.prompt
    assert step.reward == env.reward == -1
    assert (step.prompt, env.forfeited) == ("", True)
    with pytest.raises(boardenvs.ResetNeededError):
        env.step("b1-b3")
    assert env.counts == {"move": 1, "illegal": 2, "unreadable": 3, "retries": 4, "forfeits": 1,
                          "prompt_tokens": 600, "completion_tokens": 42}  # fmt: skip
    records.save(tmp_path / "games.jsonl", [env.record])
    (record,) = records.load(tmp_path / "games.jsonl")
    assert (record.goal, record.info["forfeit"]) == ((0, 100), "black")
    transcript = record.info["text"]["transcript"]
    assert [entry["read_as"] for entry in transcript] == kinds
    assert [entry["reply"] for entry in transcript[:-1]] == replies[:-1]
    assert 1000 < len(transcript[-1]["reply"]) <= 1500
    env.reset()
    assert (env.counts, env.record.info["text"]["transcript"]) == ({}, [])


def test_wrong_values_are_refused():
    for wrong in ({"seat": "wolf"}, {"retries": -1}, {"opponent": "nobody"}):
        with pytest.raises(ValueError, match=r"must|unknown"):
            TextEnv("othello", **wrong)
    env = TextEnv("othello")
    with pytest.raises(boardenvs.ResetNeededError):
        env.step("d3")
    env.reset(seed=1)
    assert env.step('{"move": "e6"}', finish_reason="length").reading.kind == "cut_off"


@pytest.fixture
def short(monkeypatch):
    """Exams of every eighth question."""

    def some(game):
        whole, rows = exam_positions(game), slice(None, None, 8)
        state, values = take(whole.state, rows), whole.values[rows]
        return whole._replace(kinds=whole.kinds[rows], state=state, values=values)

    for module in ("text.exam", "exams.accuracy"):
        monkeypatch.setattr(f"boardenvs.{module}.exam_positions", some)


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("name", ["othello", "wolf_and_sheep"])
def test_the_questions_of_an_exam_pay_what_the_exam_says(name):
    env, best = ExamEnv(name, legal_moves=True), []
    for number in range(len(env)):
        prompt = env.reset() if number else env.reset(seed=0)
        assert env.number == number
        assert max(env.rewards().values()) == 1 > min(env.rewards().values()) == 0
        step = env.step(first_move(prompt))
        assert (step.done, step.prompt) == (True, "")
        best.append(step.reward == 1)
    mark = take_exam(make(name), TextPlayer(first_move, legal_moves=True)).total
    assert np.mean(best) == pytest.approx(mark.kept if mark.best is None else mark.best)
    env.reset(seed=len(env) + 1)
    assert env.number == 1
    step = env.step("I do not know.")
    assert (step.reward, step.done) == (0, True), "it is asked once"


def test_rewards_of_replies():
    game = make("wolf_and_sheep")
    position = random_position(game, 1, 5)
    found = boardenvs.analyse(position)
    names = [game.action_name(move.action, position) for move in found.moves]
    rewards = [reward(position, json.dumps({"move": name})) for name in names]
    assert rewards == sorted(rewards, reverse=True)
    assert rewards[0] == format_reward(position, names[0]) == 1
    for move, share in zip(found.moves, rewards, strict=True):
        assert share > 0 or move.outcome != found.outcome
    assert (reward(position, "a1-a8"), format_reward(position, "a1-a8")) == (0, 1)
    assert reward(position, "I pass on") == format_reward(position, "I pass on") == 0
    assert reward(position, json.dumps({"move": names[0]}), finish_reason="length") == 0
    with pytest.raises(ValueError, match="does not value"):
        reward(position, names[0], "random")


# ---- players -------------------------------------------------------------------------------------


@pytest.mark.usefixtures("short")
def test_a_reply_that_cannot_be_read_is_reported_as_such():
    silent = TextPlayer(lambda prompt: "I play d3.", retries=1)
    match = boardenvs.play_match(make("othello"), silent, "random", 1)
    exam = take_exam(make("othello"), silent)
    assert match.score == exam.total.kept == 0
    for message in (match.stats[0].message, exam.stats.message):
        assert "2 replies, the last was unreadable: there is neither an answer slot" in message
        assert "action" not in message
    assert silent.counts["forfeits"] == silent.counts["unreadable"] / 2 > 2


# ---- tools ---------------------------------------------------------------------------------------


def test_tools_play_a_game():
    tools = GameTools("wolf_and_sheep", seconds=300)
    with pytest.raises(boardenvs.ResetNeededError, match="call new_game"):
        tools.play("a1")
    assert "You are sheep" in tools.new_game(opponent="greedy", seat="sheep", seed=1)
    assert "a1-a2, which is not a legal move" in tools.play("a1-a2")
    (best,) = tools.analyse(1)["moves"]
    assert best["move"] in tools.legal_moves()
    assert "\n2. " in tools.play(best["move"])
    with pytest.raises(ValueError, match="seat"):
        tools.new_game(opponent="greedy", seat="fox")
    with pytest.raises(boardenvs.ResetNeededError):  # it does not go on unseen
        tools.board()


def test_tools_test_a_model(monkeypatch):
    """Without an analysis, and with a limit for each of its moves."""
    tools = GameTools("wolf_and_sheep", analysis=False, seconds=300, move_seconds=100)
    assert "analyse" not in [tool.__name__ for tool in tools.tools]
    now = time.monotonic()
    tools.new_game(opponent="greedy", seat="sheep", seed=1)
    for passed, said in ((50, "# The position"), (140, "# The position"), (400, "You have lost")):
        monkeypatch.setattr("time.monotonic", lambda passed=passed: now + passed)
        found = tools.play(tools.legal_moves()[0])
        assert said in found
    assert "Your time for a move, 100 seconds, is over" in found


def test_tools_tell_how_a_game_ended():
    tools, position = GameTools("tictactoe"), make("tictactoe").start()
    for won, said in ((1.0, "You have won."), (0.0, "It is a draw."), (-1.0, "You have lost.")):
        tools._env = SimpleNamespace(done=True, reward=won, position=position)
        told = f"The game is over. {said}\nThe last position: 3/3/3 x 0"
        assert tools.board() == told


def test_the_command_makes_the_tools_that_it_is_asked_for(monkeypatch):
    made = []
    monkeypatch.setattr(mcp, "GameTools", lambda *given, **named: made.append((given, named)))
    monkeypatch.setattr(mcp, "server_of", lambda tools: SimpleNamespace(run=made.append))
    words = ["--no-analysis", "--seconds", 5, "--move-seconds", 7]
    run("mcp", "tictactoe", "perfect", *words)
    named = {"analysis": False, "seconds": 5, "move_seconds": 7}
    assert made == [(("tictactoe", "perfect"), named), "stdio"]


def test_tools_name_no_file():
    with pytest.raises(TypeError, match="game is 5: it must be a text"):
        GameTools().new_game(5)
    for name in (__file__, "nothing", "/root"):
        with pytest.raises(ValueError, match=r"^unknown opponent .* Known: 'alphabeta', 'greedy'"):
            GameTools().new_game(opponent=f"policy:{name}")


def test_tools_are_stopped_in_time(monkeypatch, tmp_path):
    monkeypatch.setenv("ARENA_TEST_PIDS", str(tmp_path / "pids"))
    with pytest.raises(ValueError, match="may take 1 second"):
        GameTools("othello", "python:arena_agents:waiting", seconds=1).new_game(seat="white")
    monkeypatch.setenv("ARENA_TEST_FLAG", str(tmp_path / "flag"))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    tools = GameTools("othello", "python:arena_agents:dying_once", seconds=300)
    tools.new_game(seat="black")
    with pytest.raises(ValueError, match=r"not move: the process ended with exit code 1\. This"):
        tools.play("e6")
    tools.new_game(seat="black")
    later = SimpleNamespace(monotonic=lambda: time.monotonic() + 900)
    monkeypatch.setattr("boardenvs.utils.child.time", later)  # each call has time of its own
    assert "e6" in tools.play("e6")


def test_values_are_scaled_between_the_lowest_and_the_highest():
    assert scaled({1: -2.0, 4: 0.0, 9: 2.0}) == {1: 0.0, 4: 0.5, 9: 1.0}
    assert scaled({1: 0.5, 4: 0.5}) == {1: 1.0, 4: 1.0}
