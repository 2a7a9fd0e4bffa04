"""The player `llm:MODEL` against a local server that speaks the protocol, with faults."""

import json
import random
import re
import threading
import time
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from command_line import run
from test_text import first_move
from variants import make

import boardenvs
from boardenvs.arena import make_settings, run_tournament
from boardenvs.game.errors import ForfeitError, StopPlayError
from boardenvs.text import ModelReply, TextPlayer
from boardenvs.text.endpoint import Endpoint, LlmSettings
from boardenvs.text.llm import Log

KEY = "sk-very/secret"


@contextmanager
def served(faults=(), reply=first_move, refused=(), **answer):
    """A server's address and what it was asked; the first answers have these faults.

    reply: the text of a reply to a prompt, or a whole choice. refused: options.
    """
    asked, left = [], iter(faults)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append((self.path, dict(self.headers), body))
            fault = next(left, None)
            choice = reply(body["messages"][-1]["content"])
            if isinstance(choice, str):
                choice = {"message": {"content": choice}, "finish_reason": "stop"}
            usage = {"prompt_tokens": 100, "completion_tokens": 10}
            whole = {"choices": [choice], "usage": usage}
            sent = fault if isinstance(fault, bytes) else json.dumps(whole | answer).encode()
            roles = [message["role"] for message in body["messages"]]
            if named := [name for name in refused if name in [*body, *roles]]:
                fault, sent = 400, f"unknown: '{named[0]}', use max_completion_tokens".encode()
            self.send_response(fault if isinstance(fault, int) else 200)
            self.send_header("Location", "http://127.0.0.1:9/")
            self.send_header("Retry-After", "0")
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            while fault == "trickle":
                self.wfile.write(b" ")
                time.sleep(0.1)
            self.wfile.write(sent[: len(sent) // 2] if fault == "half" else sent)
            self.close_connection = True

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.handle_error = lambda *args: None  # clients hang up
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def test_a_model_plays_as_its_function_does(tmp_path):
    """The same match, from a text, with faults on the way."""
    game, log = make("othello:size=6"), tmp_path / "log.jsonl"
    faults = [429, "half", 500, None, None, b"not JSON", b'{"choices": []}', b"[" * 1000, 503]
    with served(faults) as (url, asked):
        spec = f"llm:tiny,base_url={url},log={log},legal_moves=true,max_tokens=50,threads=2,wait=0"
        match = boardenvs.play_match(game, spec, "greedy", 2)
        path, headers, body = asked[0]
        assert (path, headers["Authorization"]) == ("/v1/chat/completions", f"Bearer {KEY}")
        assert (body["model"], body["max_tokens"]) == ("tiny", 50)

    class InProcess:
        games_at_once = 3  # as for the others: their opponents have random numbers by game

        def act(self, game, state, rng):
            return np.array([position.legal_actions()[0] for position in game.positions(state)])

    by_text = TextPlayer(first_move, legal_moves=True, threads=4)
    for player in (by_text, InProcess()):
        expected = boardenvs.play_match(game, player, "greedy", 2)
        assert np.array_equal(match.actions, expected.actions)
    assert by_text.counts["move"] > 30
    assert len(asked) - 7 == len(log.read_text().splitlines())
    assert KEY not in log.read_text()
    assert KEY not in str(vars(boardenvs.make_agent(spec)))


def test_no_move_is_paid_for_twice(tmp_path):
    """A match that a limit stops, and that is killed in a line, goes on with the same log, although
    the model answers the same question otherwise each time.
    """
    game, log = boardenvs.games.parse("wolf_and_sheep:max_plies=8"), tmp_path / "log.jsonl"
    rng = random.Random(1)

    def any_move(prompt):
        moves = re.search(r"Your legal moves are: (.*)\.", prompt)[1].split(", ")
        return f"Final answer: {rng.choice(moves)}"

    with served(reply=any_move) as (url, asked):

        def play(tokens):
            spec = f"llm:tiny,base_url={url},log={log},legal_moves=true,threads=3,tokens={tokens}"
            plies = (0, 0)  # the same question again and again
            return boardenvs.play_match(game, spec, "random", 4, opening_plies=plies, seed=5)

        for tokens in (1000, 2500, 2500):
            with pytest.raises(StopPlayError, match="tokens are used"):
                play(tokens)
            assert (tokens // 110) <= len(asked) <= tokens // 110 + 3
            with log.open("ab") as file:
                file.write(b'{"model": "ti')  # of a process that was killed
        whole = play(10**6)
        paid = len(asked)
        again = play(10**6)
    assert len(asked) == paid
    assert np.array_equal(whole.actions, again.actions)
    assert len({tuple(line) for line in whole.actions.reshape(8, -1).tolist()}) > 4
    assert log.read_text().count("Nobody has moved yet") == 4  # asked about in four games


def test_an_arena_stops_and_goes_on(tmp_path):
    """In processes of its own, by an endpoint that is back later."""
    with served([None] * 5 + [401]) as (url, asked):
        spec = f"llm:tiny,base_url={url},log={tmp_path / 'log'},legal_moves=true,threads=1"
        settings = make_settings({"model": spec, "random": "random"}, ["tictactoe"], pairs=1)
        with pytest.raises(StopPlayError, match="status 401"):
            run_tournament(settings, tmp_path / "arena", workers=1)
        found = run_tournament(settings, tmp_path / "arena", resume=True, workers=0)
        assert len(asked) == 1 + len((tmp_path / "log").read_text().splitlines())
    assert not found.dead
    assert not [note for note in found.notes if "forfeited" in note or "void" in note]


@pytest.mark.parametrize("limit", ["cost=0.0012", "tokens=440"])
def test_limits_of_cost(limit):
    with served() as (url, asked):
        player = boardenvs.make_agent(
            f"llm:tiny,base_url={url},{limit},prompt_price=2,reply_price=10,threads=1"
        )
        with pytest.raises(StopPlayError, match=limit.split("=")[0]):
            boardenvs.play_match(make("wolf_and_sheep"), player, "random", 2)
    assert len(asked) == 4  # at .0003 and 110 tokens each
    assert player.cost == pytest.approx(0.0012)


def test_a_log_has_each_reply_once_for_its_model(tmp_path):
    log, reply = Log(tmp_path / "log", "tiny"), ModelReply("e6", "stop", (1, 2))
    for number, model_reply in enumerate((reply, ModelReply("f5", "stop", (3, 4)))):
        assert log.take("which?") == (number, None)
        log.add("which?", number, "Which?", model_reply)
    log.add("again?", 0, "Again?", ModelReply("", "timeout", (50, 60)))
    again = Log(tmp_path / "log", "tiny")
    assert again.take("which?") == (0, reply)
    assert again.take("which?")[1].text == "f5"
    assert again.take("which?") == (2, None)
    assert again.take("again?") == (0, None)  # it is asked again, and was paid for
    assert again.tokens == log.tokens == (54, 66)
    assert Log(tmp_path / "log", "other").take("which?") == (0, None)


def test_commands_tell_strength_and_legality_apart():
    for command in (("rate",), ("match", "wolf_and_sheep")):
        replies = iter(["hm"] * 4)
        with served(reply=lambda prompt, left=replies: next(left, "") or first_move(prompt)) as at:
            spec = f"llm:tiny,base_url={at[0]},legal_moves=true,threads=1,prompt_price=1,retries=1"
            if command == ("rate",):
                said = run("rate", spec, "--game", "wolf_and_sheep", "--games", "4")
                assert re.search(r"95 % interval from|rated -?\d+ at most", said)
            else:
                said = run(*command, spec, "greedy", "--pairs", "2")
        counted = r"counted: move \d+, unreadable 4, retries [2-4], (forfeits [12], )?prompt tokens"
        assert re.search(counted, said)
        assert re.search(r"completion tokens [\d,]+, cost [\d.]+\n", said)


@pytest.mark.parametrize("fault", [400, 302])
def test_what_is_refused_is_not_tried_again(fault):
    with served([fault]) as (url, asked):
        with pytest.raises(StopPlayError, match=f"status {fault}"):
            Endpoint(LlmSettings("tiny", url)).ask("Hello")
        assert len(asked) == 1


@pytest.mark.parametrize(
    "fault", [429, "half", b"{}", b" " * (9 << 20)], ids=lambda fault: str(fault)[:9]
)
def test_an_endpoint_that_stays_bad_stops_the_work(fault):
    with served([fault] * 99) as (url, asked):
        endpoint = Endpoint(LlmSettings("tiny", url, timeout=20, wait=0))
        with pytest.raises(StopPlayError, match="after 6 tries"):
            endpoint.ask("Hello")
        assert asked
    with pytest.raises(StopPlayError, match="after 6 tries"):
        endpoint.ask("Hello")  # nobody is there


@pytest.mark.parametrize(
    ("host", "header"), [("api.openai.com", "Authorization"), ("x.openai.azure.com", "api-key")]
)
def test_tries_are_further_and_further_apart(host, header, monkeypatch):
    waits, sent = [], []

    class Deaf:
        sock = None

        def __init__(self, host, timeout):
            pass

        def connect(self):
            pass

        def request(self, method, path, body, headers):
            sent.append(headers)
            raise OSError

        def close(self):
            pass

    monkeypatch.setattr("boardenvs.text.endpoint.http.client.HTTPSConnection", Deaf)
    endpoint = Endpoint(LlmSettings("tiny", f"https://{host}/v1", wait=9))
    monkeypatch.setattr("boardenvs.text.endpoint.time.sleep", waits.append)
    with pytest.raises(StopPlayError, match="after 6 tries"):
        endpoint.ask("Hello")
    assert [wait for wait in waits if wait] == [9, 18, 36, 60, 60]
    assert [[name for name in each if KEY in each[name]] for each in sent] == [[header]] * 6


def test_eight_games_go_on_independently():
    """The model answers one game only after it has answered the others thirty times more."""
    asked, answered = [], threading.Event()

    def model(prompt):
        asked.append(prompt)
        if len(asked) > 60:
            answered.set()
        if len(asked) == 1:
            assert answered.wait(60)
        return first_move(prompt)

    player = TextPlayer(model, legal_moves=True, threads=8)
    match = boardenvs.play_match(make("othello:size=6"), player, "random", 4, seed=1)
    assert not match.forfeits.any()
    met = threading.Barrier(2, timeout=30)  # also boards of one batch
    both = TextPlayer(lambda prompt: f"{met.wait()}" and first_move(prompt),
                      legal_moves=True, threads=2)  # fmt: skip
    both.act(make("othello"), make("othello").init(2))


def test_a_timeout_is_named_paid_for_and_tried_once_more(tmp_path):
    state = make("othello").init(1)
    with served([None, "trickle", None, "trickle", "trickle"]) as (url, asked):
        limits = "timeout=2,max_tokens=50,tokens=1200,legal_moves=true"
        spec = f"llm:tiny,base_url={url},log={tmp_path / 'log'},{limits}"
        player = boardenvs.make_agent(spec)
        player.act(make("othello"), state)
        player.act(make("othello"), state)
        assert player.report()["timeouts"] == 1
        assert player.tokens > 2 * 110 + 50
        with pytest.raises(StopPlayError, match=r"not answer within 2 seconds, 2 times in a row"):
            player.act(make("othello"), state)
        assert len(asked) == 5
        with pytest.raises(StopPlayError, match=r"tokens are used, of 1,200"):
            player.act(make("othello"), state)
    logged = map(json.loads, (tmp_path / "log").read_text().splitlines())
    assert {e["tokens"][1] for e in logged if e["finish_reason"] == "timeout"} == {50}
    again = boardenvs.make_agent(f"{spec},prompt_price=1")
    assert again.tokens == player.tokens
    assert again.cost > 0
    assert "cost" not in again.report(), "of its own replies"


MOVE = '{"move": "e6"}'
CALL = {"function": {"name": "play", "arguments": MOVE}}
ENDINGS = {
    "move": ({"content": MOVE}, "stop"),
    "cut_off": ({"content": MOVE}, "length"),
    "refused": ({"content": None, "refusal": "I do not play. " + MOVE}, "stop"),
    "no_answer": ({"content": "", "reasoning_content": MOVE}, "stop"),
    "filtered": ({"content": MOVE}, "content_filter"),
    "tool_call": ({"content": MOVE, "tool_calls": [CALL, CALL]}, "tool_calls"),
}


@pytest.mark.parametrize("kind", ENDINGS)
def test_replies_that_are_no_answers_have_names_of_their_own(kind, tmp_path):
    message, ended = ENDINGS[kind]
    choice = {"message": message, "finish_reason": ended}
    with served(reply=lambda prompt: choice) as (url, _):
        player = boardenvs.make_agent(f"llm:tiny,base_url={url},log={tmp_path / 'log'},retries=0")
        with suppress(ForfeitError):
            player.act(make("othello"), make("othello").init(1))
    assert {k for k in ENDINGS if player.counts[k]} == {kind}


@pytest.mark.parametrize("structured", ["schema", "tool"])
def test_an_endpoint_may_hold_the_model_to_the_legal_moves(structured, tmp_path):
    """With all other options, at an address with a query; another name of the limit is taken."""
    call = {"message": {"content": None, "tool_calls": [CALL]}, "finish_reason": "tool_calls"}
    (tmp_path / "extra.json").write_text('{"tool_limit": 3}')
    options = (
        f"structured={structured},system=Play well.,top_p=0.5,seed=3,reasoning_effort=low,"
        f"extra={tmp_path / 'extra.json'},max_tokens=70,legal_moves=true"
    )
    reply = first_move if structured == "schema" else lambda prompt: call
    refused = []
    with served(reply=reply, refused=refused) as (url, asked):
        player = boardenvs.make_agent(f"llm:tiny,base_url={url}?api-version=1,{options}")
        assert len(player.act(make("othello"), make("othello").init(1))) == 1
        (path, _, body) = asked[-1]
        assert path == "/v1/chat/completions?api-version=1"
        assert body["messages"][0] == {"role": "system", "content": "Play well."}
        given = [body[k] for k in ("top_p", "seed", "reasoning_effort", "tool_limit", "max_tokens")]
        assert given == [0.5, 3, "low", 3, 70]
        assert "temperature" not in body  # nor anything else that was not given
        held = body["response_format"] if structured == "schema" else body["tools"][0]
        assert '"enum": ["e6", "f5", "c4", "d3"]' in json.dumps(held)
        refused.append("max_tokens")
        for _ in range(2):
            player.act(make("othello"), make("othello").init(1))
            (_, _, other) = asked[-1]
            assert other.pop("max_completion_tokens") == 70
            assert other == {k: v for k, v in body.items() if k != "max_tokens"}
        assert len(asked) == 4


def test_a_move_without_a_choice_is_not_asked_for():
    def model(prompt):
        moves = re.search(r"Your legal moves are: (.*)\.", prompt)[1].split(", ")
        assert len(moves) > 1
        return f"Final answer: {moves[0]}"

    player = TextPlayer(model, legal_moves=True)
    game = make("othello:size=6")
    match = boardenvs.play_match(game, player, "random", 3)
    assert (match.actions == game.noop).any()
    assert not match.forfeits.any()


@pytest.mark.parametrize("echoed", [KEY, "".join(f"\\u{ord(c):04X}" for c in KEY)])
def test_a_key_that_is_sent_back_is_in_no_log_reply_or_error(echoed, tmp_path):
    whole = f'{{"choices": [{{"message": {{"content": "{echoed} a1"}}}}]}}'.encode()
    wrong = f'{{"choices": "{echoed}"}}'.encode()
    with served([whole, *[wrong] * 6]) as (url, _):
        player = boardenvs.make_agent(
            f"llm:tiny,base_url={url},log={tmp_path / 'log'},retries=0,wait=0"
        )
        with pytest.raises(ForfeitError) as forfeit:
            player.act(make("othello"), make("othello").init(1))
        with pytest.raises(StopPlayError, match="6 tries") as stop:
            player.act(make("othello"), make("othello").init(1))
    said = f"{forfeit.value} {stop.value} {(tmp_path / 'log').read_text()}".replace("\\", "")
    assert "[key] a1" in said
    for secret in (KEY, echoed):
        assert secret.replace("\\", "").lower() not in said.lower()


def test_what_an_endpoint_does_not_say_is_estimated():
    choice = {"message": {"content": "d3"}, "finish_reason": "length"}
    with served(usage=None, choices=[choice]) as (url, _):
        reply = Endpoint(LlmSettings("tiny", url)).ask("Hello")
    assert (reply.text, reply.finish_reason) == ("d3", "length")
    assert min(reply.tokens) > 0
    with served(usage={"completion_tokens": None, "prompt_tokens": 9}, choices=[choice]) as (
        url,
        _,
    ):
        assert Endpoint(LlmSettings("tiny", url)).ask("Hello").tokens == (9, reply.tokens[1])


@pytest.mark.parametrize("key", ["sk-very\nsecret", "sk-very\x1b[31msecret", "sk very", "sk-é"])
def test_what_is_no_key_is_refused_by_the_name_of_its_variable(key, monkeypatch):
    monkeypatch.setenv("TINY_KEY", key)
    with pytest.raises(ValueError, match=r"the key in \$TINY_KEY holds") as caught:
        boardenvs.make_agent("llm:tiny,key_env=TINY_KEY")
    assert "very" not in str(caught.value)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("llm", "MODEL"),
        ("llm:tiny,base_url=localhost", "address"),
        ("llm:tiny,base_url=http://me:pass@localhost", "environment"),
        ("llm:tiny,key_env=sk-secret", "key_env must be the name"),
        ("llm:tiny,tokens=0", "tokens is 0"),
        ("llm:tiny,structured=xml", "unknown structured 'xml'"),
        ("llm:tiny,cost=1", "prices"),
        ("llm:tiny,log=pyproject.toml", "none of a log"),
        ("llm:tiny,extra=extra.json", "extra.json has messages"),
    ],
)
def test_what_makes_no_player(spec, said, tmp_path):
    extra = tmp_path / "extra.json"
    extra.write_text('{"messages": ["system", "system"]}')
    spec = spec.replace("extra.json", str(extra))
    with pytest.raises((ValueError, OSError), match=said):
        boardenvs.make_agent(spec)


def test_files_do_not_send_a_key():
    from boardenvs.agents.spec import runs_code

    assert runs_code("llm:tiny,base_url=http://example.org")
