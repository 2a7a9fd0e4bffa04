"""What must not move the server of the page: other users and sites, wrong messages, code."""

import asyncio
import contextlib
import json
import re
import socket
import stat
import sys
import time
from pathlib import Path

import httpx
import pytest
from fuzzing import mutated, mutated_values
from hypothesis import given, settings
from hypothesis import strategies as st
from web_server import PATIENCE, line, served
from websockets.exceptions import ConnectionClosed, InvalidStatus

from boardenvs.utils.cache import private_folder
from boardenvs.web.connection import Connection, Options
from boardenvs.web.guard import address_in_file, kept_token

THINK = {"line": line("othello"), "agent": "alphabeta:depth=30", "seed": 0}  # for long
MOVES = ("e3", "f3", "c5")
MARK = "imported_by_the_page"
LEFT = {"type": "websocket.disconnect"}


def connected(server):
    return socket.create_connection(("127.0.0.1", server.parts.port), timeout=PATIENCE)


def head(server, request, *more, host=None):
    """The head of a request from the page, sent as it is written."""
    heads = [f"{request} HTTP/1.1", f"Host: {server.parts.netloc if host is None else host}"]
    heads += [f"Origin: {server.origin}", f"Cookie: {server.cookie['Cookie']}", *more]
    return "\r\n".join([*heads, "Connection: close", "", ""]).encode()


def get(server, path, **more):
    """What is answered."""
    with connected(server) as sent:
        sent.sendall(head(server, f"GET {path}", **more))
        return sent.makefile("rb").read()


# ---- who gets in ---------------------------------------------------------------------------------


def test_without_the_token_nobody_gets_in(server):
    assert len(server.token) >= 32
    for path in ("/", "/main.js", "/?token=", "/?token=wrong", f"/main.js?token={server.token}"):
        assert httpx.get(server.origin + path).status_code == 403
    origin = {"Origin": server.origin}
    assert httpx.post(f"{server.origin}/records", content="", headers=origin).status_code == 403
    with pytest.raises(InvalidStatus, match="403"), server.page(additional_headers={}):
        pass
    with httpx.Client(base_url=server.origin) as client:
        cookie = client.get(f"/?token={server.token}").headers["set-cookie"]
        assert {"HttpOnly", "SameSite=strict"} <= set(cookie.split("; "))
        answer = client.get("/")
        assert answer.status_code == 200
        # Nor does the page load or send anything elsewhere.
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert not re.search("http|unsafe", policy)


def test_the_token_is_kept_where_this_user_alone_can_read(tmp_path, monkeypatch):
    def mode(path):
        return stat.S_IMODE(path.stat().st_mode)

    monkeypatch.setenv("BOARDENVS_CACHE", str(tmp_path))
    token, file, other = kept_token(), tmp_path / "web_token", tmp_path / "other"
    assert mode(file) == 0o600
    assert kept_token() == token
    file.chmod(0o644)  # others may have read it
    assert kept_token() != token
    assert mode(file) == 0o600
    other.write_text("x" * 40)
    other.chmod(0o600)
    file.unlink()
    file.symlink_to(other)
    assert kept_token() != "x" * 40
    # What a browser is started with, everybody can see.
    address = address_in_file(f"http://127.0.0.1:1/?token={token}")
    assert token not in address
    opened = Path(address.removeprefix("file://"))
    assert token in opened.read_text()
    assert mode(opened) == 0o600
    assert opened.is_relative_to(private_folder())


OTHERS = ["http://evil.example", "http://127.0.0.1:1", "null", "http://127.0.0.1.evil.example",
          "http://[", None]  # fmt: skip


@pytest.mark.parametrize("origin", OTHERS)
def test_pages_of_other_sites_are_refused_though_they_bear_the_token(server, origin):
    with pytest.raises(InvalidStatus, match="403"), server.page(origin=origin):
        pass
    heads = server.cookie | ({} if origin is None else {"Origin": origin})
    for path in ("/save", "/records"):
        answer = httpx.post(server.origin + path, content="{}", headers=heads)
        assert answer.status_code == 403


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:80", "", "[", "10.0.0.1"])
def test_other_names_of_this_machine_are_refused(server, host):
    """As a page has them that has had its own name point here (DNS rebinding)."""
    assert b"not to this name" in get(server, "/", host=host)


PATHS = ["/../pyproject.toml", "/%2e%2e/server.py", "/..%2fserver.py", "//etc/passwd",
         "/runs/../../etc/passwd", "/runs/%2e%2e/report.html", "/runs/x/config.yaml",
         "/runs/..%2fx/report.html"]  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
def test_only_the_files_of_the_page_are_served(server, path):
    assert b" 404 " in get(server, path).splitlines()[0]


# ---- code ----------------------------------------------------------------------------------------


def questions(game="othello", agent="random"):
    """All that a page may ask about a game."""
    return [
        {"do": "line", "line": line(game, "e3"), "since": 0},
        {"do": "game", "game": game},
        {"do": "opponents", "game": game},
        {"do": "agent", "game": game, "agent": agent},
        {"do": "move", "line": line(game, "e3"), "agent": agent, "seed": 1, "seconds": 0.1},
        {"do": "explain", "line": line(game), "agent": agent, "seconds": 0.1},
        {"do": "review", "line": line(game, "e3"), "agent": agent},
    ]


@pytest.mark.parametrize("agent", ["python:os:getcwd", f"python:{MARK}:x"])
def test_agents_that_are_code_cannot_be_named(page, agent):
    for question in questions(agent=agent)[3:]:
        assert "may not name" in page.ask(**question)["error"]


@pytest.mark.parametrize("game", ["os:getcwd", "subprocess:run:ls", "numpy:array", f"{MARK}:Game"])
def test_games_that_are_code_cannot_be_named(server, page, game):
    for question in questions(game):
        assert "may not name" in page.ask(**question)["error"]
    record = json.dumps({"version": 1, "game": game, "actions": ""})
    for path, content in (
        ("/records?name=x.jsonl", record),
        (f"/records?name=x.txt&game={game}", "e3"),
        ("/save", json.dumps({"format": "jsonl", "line": line(game)})),
    ):
        answer = server.client.post(path, content=content)
        assert answer.status_code == 400
        assert "code" in answer.json()["error"]


def test_what_the_command_line_names_may_be_named_and_ctrl_c_ends_at_once(tmp_path, monkeypatch):
    (tmp_path / f"{MARK}.py").write_text("from three_in_a_row import ThreeInARow\n")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{Path(__file__).parent}")
    agent, game = "python:arena_agents:lowest", f"{MARK}:ThreeInARow"
    with served("--agent", agent, "--game", game) as server, server.page() as page:
        assert agent in page.hello["agents"]
        assert page.hello["games"][game] == []
        assert page.ask("game", game=game)["game"]["roles"]
        assert page.ask("move", line=line("othello"), agent=agent, seed=0)["position"]["ply"] == 1
        assert "may not name" in page.ask("agent", game="othello", agent=agent + "x")["error"]
        page.send("move", **THINK)
        page.ask("line", line=line("othello"))
        assert server.stop() == 130  # which waits a minute, where the agent would take fifteen


# ---- sizes, and what no page sends ---------------------------------------------------------------


LIMITS = """
import sys
from boardenvs.web import server
server.MOST_PROCESSES = 2
server.MOST_SOCKETS, server.ASKING_SECONDS, server.UPLOAD_SECONDS = 8, float(sys.argv[1]), 1.0
from boardenvs.cli import main
sys.argv[1:] = ["web", "--no-browser", "--port", "0"]
main()
"""


def little(asking_seconds):
    """A server that bears little."""
    return served(command=[sys.executable, "-c", LIMITS, str(asking_seconds)])


@pytest.fixture(scope="module")
def limited():
    with little(asking_seconds=3) as server:
        yield server


def test_slow_agents_keep_nobody_waiting_and_stop_with_their_pages(limited):
    for _ in range(3):
        with limited.page() as page:
            page.send("move", **THINK)
            page.ask("line", line=line("othello"))
    with limited.page() as page, limited.page() as other:
        number = page.send("move", **THINK)
        answer = other.ask("move", **{**THINK, "agent": "random"})
        assert answer["position"]["ply"] == 1
        page.send("stop", job=number)
        assert next(page.hear(number))["stopped"]


def test_sizes_are_bounded(server, limited):
    assert server.client.post("/records", content=b"x" * (33 << 20)).status_code == 400
    with limited.page() as page:
        assert "error" in page.ask("line", line=line("othello", *["e3"] * 2001))
        assert "error" in page.ask("explain", line=line("othello"), agent="random", seconds=1e9)
        numbers = [page.send("move", **THINK) for _ in range(6)]
        for number in numbers[4:]:
            assert "stop one" in next(page.hear(number))["error"]
        page.socket.send("x" * (1 << 20))
        with pytest.raises(ConnectionClosed):
            page.socket.recv(timeout=PATIENCE)


class Deaf:
    """The socket of a page that asks to stop, again and again, and never hears an answer."""

    asked = 0

    async def accept(self):
        pass

    async def receive(self):
        self.asked += 1
        text = json.dumps({"id": self.asked, "do": "stop", "job": 0})
        return {"type": "websocket.receive", "text": text} if self.asked < 1000 else LEFT

    async def send_text(self, text):
        if "hello" not in text:
            await asyncio.Event().wait()


def test_pages_that_hear_nothing_are_not_listened_to():
    page = Deaf()
    with pytest.raises(TimeoutError):
        asyncio.run(asyncio.wait_for(Connection(page, Options(), None).serve(), 1))
    assert page.asked < 10


def test_sockets_beyond_a_number_are_closed_at_once():
    with contextlib.ExitStack() as kept:
        server = kept.enter_context(little(asking_seconds=3600))
        idle = [kept.enter_context(connected(server)) for _ in range(12)]
        assert closed(idle[-1])
        idle[1].setblocking(False)
        with pytest.raises(BlockingIOError):
            idle[1].recv(1)


def test_sockets_that_ask_for_nothing_and_uploads_that_do_not_end_are_closed(limited):
    with contextlib.ExitStack() as kept:
        idle = [kept.enter_context(connected(limited)) for _ in range(2)]
        idle[0].sendall(b"GET / HTTP/1.1\r\nHost: ")
        assert all(closed(one) for one in idle)
        uploads = [kept.enter_context(connected(limited)) for _ in range(6)]
        for one in uploads:
            one.sendall(head(limited, "POST /records", "Content-Length: 99"))
        assert b"it has not come in" in uploads[-1].makefile("rb").read()
        with limited.page() as page:
            time.sleep(3.2)  # a page that has been open for longer stays
            assert page.ask("line", line=line("othello"))["positions"]


def closed(connection):
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True


GOOD = [*questions(), {"do": "runs"}, {"do": "stop", "job": 7}]
TEXTS = ["", "{", "null", "[]", "NaN", "[" * 5_000, '{"id":' * 3_000, '{"id": 1e999, "do": "runs"}',
         "\x00", "\ufffd" * 99, '{"id": 1, "do": "game", "game": "\\ud800"}']  # fmt: skip


@settings(max_examples=40)
@given(content=st.sampled_from(GOOD).flatmap(mutated_values), text=st.sampled_from(["", *TEXTS]))
def test_wrong_messages_leave_every_game_intact(page, content, text):
    message = {"id": 999_999, **content} if isinstance(content, dict) else content
    page.socket.send(text or json.dumps(message))
    answer = page.ask("line", line=line("othello", *MOVES))
    assert len(answer["positions"]) == len(MOVES) + 1


REQUESTS = ["GET /", "POST /save", "POST /records", "GET /connect", "GET /runs/a/b", "PUT /%00",
            "OPTIONS *", "\x00 /", f"GET {'/x' * 2_000}"]  # fmt: skip
HEADS = ["Content-Length: -1", "Content-Length: 99999999999", "Transfer-Encoding: chunked",
         "Upgrade: websocket", ": x", f"X: {'y' * 9_000}"]  # fmt: skip


@settings(max_examples=25)
@given(data=st.data())
def test_wrong_requests_leave_the_server_serving(server, page, data):
    request, more = data.draw(st.sampled_from(REQUESTS)), st.sampled_from(HEADS)
    start = head(server, request, *data.draw(st.lists(more, max_size=3)))
    body = data.draw(st.sampled_from([b"", b"{}", b"\x00" * 100, b"{" * 500, b"zz\r\n"]))
    with connected(server) as sent:
        sent.sendall(data.draw(mutated(st.just(start + body))))
    assert server.client.get("/main.js").status_code == 200
    assert len(page.ask("line", line=line("othello", *MOVES))["positions"]) == len(MOVES) + 1
