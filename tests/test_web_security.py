"""The page's server refuses other users and sites, wrong messages, and code."""

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
from fuzzing import mutated_values
from hypothesis import given, settings
from hypothesis import strategies as st
from web_server import PATIENCE, line, served
from websockets.exceptions import ConnectionClosed, InvalidStatus

from boardenvs.utils.cache import private_folder
from boardenvs.web.guard import address_in_file, kept_token

THINK = {"line": line("othello"), "agent": "alphabeta:depth=30", "seed": 0}  # for long
MOVES = ("e3", "f3", "c5")
MARK = "imported_by_the_page"


def connected(server):
    return socket.create_connection(("127.0.0.1", server.parts.port), timeout=PATIENCE)


def head(server, request, *more, host=None):
    """The head of a request from the page, sent as it is written."""
    heads = [f"{request} HTTP/1.1", f"Host: {server.parts.netloc if host is None else host}"]
    heads += [f"Origin: {server.origin}", f"Cookie: {server.cookie['Cookie']}", *more]
    return "\r\n".join([*heads, "Connection: close", "", ""]).encode()


def get(server, path, **more):
    """The answer."""
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
    token, file = kept_token(), tmp_path / "web_token"
    assert mode(file) == 0o600
    assert kept_token() == token
    file.chmod(0o644)  # others may have read it
    assert kept_token() != token
    assert mode(file) == 0o600
    # The command line of a browser is visible to everybody.
    address = address_in_file(f"http://127.0.0.1:1/?token={token}")
    assert token not in address
    opened = Path(address.removeprefix("file://"))
    assert token in opened.read_text()
    assert mode(opened) == 0o600
    assert opened.is_relative_to(private_folder())


OTHERS = ["http://evil.example", "http://127.0.0.1:1", "null", "http://[", None]


@pytest.mark.parametrize("origin", OTHERS)
def test_pages_of_other_sites_are_refused_though_they_bear_the_token(server, origin):
    with pytest.raises(InvalidStatus, match="403"), server.page(origin=origin):
        pass
    heads = server.cookie | ({} if origin is None else {"Origin": origin})
    assert httpx.post(server.origin + "/save", content="{}", headers=heads).status_code == 403


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:80", "", "[", "10.0.0.1"])
def test_other_names_of_this_machine_are_refused(server, host):
    """As a page has them that has had its own name point here (DNS rebinding)."""
    assert b"not to this name" in get(server, "/", host=host)


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


@pytest.mark.parametrize("game", ["os:getcwd", f"{MARK}:Game"])
def test_games_that_are_code_cannot_be_named(server, page, game):
    for question in questions(game):
        assert "may not name" in page.ask(**question)["error"]
    for question in questions(agent=f"python:{game}")[3:]:
        assert "may not name" in page.ask(**question)["error"]
    record = json.dumps({"version": 1, "game": game, "actions": ""})
    answer = server.client.post("/records?name=x.jsonl", content=record)
    assert answer.status_code == 400
    assert "code" in answer.json()["error"]


def test_what_the_command_line_names_may_be_named_and_ctrl_c_ends_at_once(tmp_path, monkeypatch):
    (tmp_path / f"{MARK}.py").write_text("from three_in_a_row import ThreeInARow\n")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{Path(__file__).parent}")
    agent, game = "python:arena_agents:lowest", f"{MARK}:ThreeInARow"
    with served("--agent", agent, "--game", game) as server, server.page() as page:
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
server.MOST_SOCKETS, server.ASKING_SECONDS = 8, 3.0
from boardenvs.cli import main
sys.argv[1:] = ["web", "--no-browser", "--port", "0"]
main()
"""


@pytest.fixture(scope="module")
def limited():
    with served(command=[sys.executable, "-c", LIMITS]) as server:
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


def test_sockets_that_ask_for_nothing_are_closed(limited):
    with contextlib.ExitStack() as kept:
        idle = [kept.enter_context(connected(limited)) for _ in range(2)]
        idle[0].sendall(b"GET / HTTP/1.1\r\nHost: ")
        assert all(closed(one) for one in idle)
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
