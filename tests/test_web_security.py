"""The page's server refuses other users and sites, wrong messages, and code."""

import asyncio
import contextlib
import json
import re
import socket
import stat
import time
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from fuzzing import mutated_values
from hypothesis import given, settings, strategies as st
from web_server import PATIENCE, line, served
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from boardenvs.utils.cache import private_folder
from boardenvs.web import guard
from boardenvs.web.guard import MOST_STRANGERS, STRANGER_SECONDS, Door, Guard, address_in_file
from boardenvs.web.messages import parse_request

THINK = {"line": line("othello"), "agent": "alphabeta:depth=30", "seed": 0}  # for long
MOVES = ("e6", "f6", "c4")
MARK = "imported_by_the_page"


# ---- who gets in ---------------------------------------------------------------------------------


def test_without_the_token_nobody_gets_in(server):
    assert len(server.token) >= 32
    for token in ("", "x" * 32):
        with pytest.raises(ConnectionClosed), server.page(token=token):
            pass
    for proof in ("0" * 64, "\u00e9"):
        assert server.client.post(f"/records/{proof}/x").status_code == 400
        assert server.client.get(f"/report/{proof}/x").status_code == 400
    with server.page() as page:
        assert page.server_is_right
    # Nor does the page load or send anything elsewhere.
    policy = server.client.get("/").headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert not re.search("http|unsafe", policy)


def test_an_address_for_a_file_is_for_no_other_name(server):
    address = server.proven("records", "moves.txt")
    assert server.client.post(address, content="f5").status_code == 200
    other = server.client.post(address.replace("moves", "other"), content="f5")
    assert "no proof" in other.json()["error"]


def test_the_address_is_not_on_the_command_line_of_the_browser():
    opened = Path(address_in_file("http://127.0.0.1:1/#token=secret").removeprefix("file://"))
    assert "#token=secret" in opened.read_text()
    assert stat.S_IMODE(opened.stat().st_mode) == 0o600
    assert opened.is_relative_to(private_folder())


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "http://127.0.0.1:1", "https://127.0.0.1:{port}", "null"]
)
def test_pages_of_other_sites_are_refused(server, origin):
    origin = origin.format(port=server.port)
    with pytest.raises(InvalidStatus, match="403"), server.page(origin=origin):
        pass
    answer = httpx.post(f"{server.origin}/records/x/x", headers={"Origin": origin})
    assert answer.status_code == 403


def test_what_does_not_say_which_page_sent_it_changes_nothing(server):
    """A right proof is not enough: forms of other sites may send no Origin."""
    address = server.origin + server.proven("records", "moves.txt")
    assert "does not say which page" in httpx.post(address, content="f5").text
    with (
        pytest.raises(InvalidStatus, match="403"),
        connect(f"ws://127.0.0.1:{server.port}/connect"),
    ):
        pass


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:80", "", "[", "10.0.0.1"])
def test_other_names_of_this_machine_are_refused(server, host):
    """As a page has them that has had its own name point here (DNS rebinding)."""
    assert "not this name" in server.client.get("/", headers={"Host": host}).text


def test_a_shared_page_is_for_other_machines_too():
    with served("--share") as server, server.page() as page:
        with pytest.raises(InvalidStatus, match="403"), server.page(origin="http://evil.example"):
            pass
        host = urlsplit(server.url).hostname
        assert re.fullmatch(r"[\d.]+", host)
        assert page.hello["host"] == host  # for links
        for name in {host, "127.0.0.2"}:
            answer = httpx.get(server.url.replace(host, name))
            assert "main.js" in answer.text
        assert httpx.get(f"http://{host}:{server.port}/").status_code == 404


def test_answers_have_headers_that_keep_pages_apart():
    """And keep those of their own, as of reports."""
    sent = []

    async def app(scope, receive, send):
        own = [(b"content-security-policy", b"own")]
        await send({"type": "http.response.start", "status": 200, "headers": own})

    async def send(message):
        sent.append(message)

    host = [(b"host", b"127.0.0.1:8064")]
    scope = {"type": "http", "method": "GET", "headers": host}
    asyncio.run(Guard(app, shared=False)(scope, None, send))
    assert {name.decode(): value.decode() for name, value in sent[0]["headers"]} == {
        "content-security-policy": "own",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        "cache-control": "no-cache",
    }


def test_idle_connections_lock_nobody_out(server):
    address = "127.0.0.1", server.port
    with contextlib.ExitStack() as kept:
        idle = [kept.enter_context(socket.create_connection(address)) for _ in range(300)]
        idle[-1].sendall(b"GET / HTTP/1.1\r\nHost: ")
        began = time.monotonic()
        with server.page() as page:
            assert page.ask("line", line=line("othello"))["positions"]
            assert time.monotonic() - began < STRANGER_SECONDS
            assert all(closed(one) for one in idle)
            assert page.ask("line", line=line("othello"))["positions"]


def test_of_too_many_connections_the_oldest_is_closed(monkeypatch):
    class Idle:
        closed = False

        def __init__(self, number):
            self.number = number

        def get_extra_info(self, name):
            return "127.0.0.1", self.number

        def abort(self):
            self.closed = True

        close = abort

    async def come_again():
        door, first, second = Door(), Idle(1), Idle(1)  # from one port, one after the other
        monkeypatch.setattr(guard, "STRANGER_SECONDS", 0)
        door.watch(first)
        monkeypatch.undo()
        door.watch(second)
        await asyncio.sleep(0.01)
        return second.closed

    assert not asyncio.run(come_again()), "its time is not over"

    async def come():
        door, idle = Door(), [Idle(number) for number in range(MOST_STRANGERS + 2)]
        for one in idle:
            door.watch(one)
        return [one.number for one in idle if one.closed]

    assert asyncio.run(come()) == [0, 1]


def closed(connection):
    connection.settimeout(PATIENCE)
    with contextlib.suppress(ConnectionError):
        return connection.recv(1) == b""
    return True


# ---- code ----------------------------------------------------------------------------------------


def questions(game="othello", agent="random"):
    """All that a page may ask about a game."""
    return [
        {"do": "line", "line": line(game, "e6"), "since": 0},
        {"do": "opponents", "game": game},
        {"do": "agent", "game": game, "agent": agent},
        {"do": "move", "line": line(game, "e6"), "agent": agent, "seed": 1, "seconds": 0.1},
        {"do": "explain", "line": line(game), "agent": agent, "seconds": 0.1},
        {"do": "review", "line": line(game, "e6"), "agent": agent},
    ]


@pytest.mark.parametrize("game", ["os:getcwd", f"{MARK}:Game"])
def test_games_that_are_code_cannot_be_named(page, game):
    for question in [*questions(game), *questions(agent=f"python:{game}")[2:]]:
        assert "may not name" in page.ask(**question)["error"]


def test_what_the_command_line_names_may_be_named_and_ctrl_c_ends_at_once(tmp_path, monkeypatch):
    (tmp_path / f"{MARK}.py").write_text("from three_in_a_row import ThreeInARow\n")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{Path(__file__).parent}")
    agent, game = "python:arena_agents:lowest", f"{MARK}:ThreeInARow"
    down = "python:arena_agents:down"
    with served("--agent", agent, "--agent", down, "--game", game) as server, server.page() as page:
        assert page.ask("move", line=line("othello"), agent=down, seed=0)["error"] == "no answer"
        assert page.ask("game", game=game)["game"]["sides"]
        opponents = page.ask("opponents", game="tictactoe")["opponents"]
        assert [opponent["agent"] for opponent in opponents][-2:] == [agent, down]
        assert page.ask("move", line=line("othello"), agent=agent, seed=0)["position"]["ply"] == 1
        assert "may not name" in page.ask("agent", game="othello", agent=agent + "x")["error"]
        page.send("move", **THINK)
        page.ask("line", line=line("othello"))
        assert server.stop() == 130  # which waits a minute, where the agent would take fifteen


# ---- sizes, and what no page sends ---------------------------------------------------------------


def test_slow_agents_keep_nobody_waiting_and_stop_with_their_pages(server):
    for _ in range(6):  # of which four may run at a time
        with server.page() as page:
            page.send("move", **THINK)
            page.ask("line", line=line("othello"))
    with server.page() as page:
        number = page.send("move", **THINK)
        page.socket.send(json.dumps({"id": number, "do": "runs"}))
        assert "a request with it is being answered" in next(page.hear(number))["error"]
        page.send("stop", job=number)
        assert next(page.hear(number))["stopped"]


def test_sizes_are_bounded(server):
    with server.page() as page:
        large = server.client.post(server.proven("records", "x"), content=b"x" * (33 << 20))
        assert "more than 32,768 KiB" in large.json()["error"]
        assert "error" in page.ask("line", line=line("othello", *["e6"] * 2001))
        numbers = [page.send("move", **THINK) for _ in range(6)]
        for number in numbers[4:]:
            assert "stop one" in next(page.hear(number))["error"]
        page.socket.send("x" * (1 << 20))
        with pytest.raises(ConnectionClosed):
            page.socket.recv(timeout=PATIENCE)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"seconds": 60.5}, "seconds"),
        ({"seconds": 0}, "seconds"),
        ({"seconds": "1"}, "seconds"),
        ({"more": 1}, "more"),
        ({"id": -1}, "id"),
        ({"id": (1 << 50) + 1}, "id"),
        ({"agent": ""}, "agent"),
        ({"agent": "x" * 301}, "agent"),
        ({"line": line("othello", "e" * 21)}, "moves"),
        ({"do": "save", "format": "page", "curve": [1.5]}, "curve"),
        ({"do": "save", "format": "exe"}, "format"),
        ({"do": "line", "since": 2001}, "since"),
    ],
)
def test_wrong_values_in_messages_are_named(changes, named):
    base = {"id": 1, "line": line("othello")}
    right = {"do": "move", "agent": "random", "seed": 1, "seconds": 60.0}
    message = base | ({} if "do" in changes else right) | changes
    with pytest.raises(ValueError, match=rf"\b{named}\b"):
        parse_request(json.dumps(message))


GOOD = [*questions(), {"do": "runs"}, {"do": "stop", "job": 7}]
TEXTS = ["", "{", "null", "[]", "NaN", "[" * 5_000, '{"id":' * 3_000, '{"id": 1e999, "do": "runs"}',
         "\x00", "\ufffd" * 99, '{"id": 1, "do": "game", "game": "\\ud800"}']  # fmt: skip


@settings(max_examples=20)
@given(content=st.sampled_from(GOOD).flatmap(mutated_values), text=st.sampled_from(["", *TEXTS]))
def test_wrong_messages_leave_every_game_intact(page, content, text):
    message = {"id": 999_999, **content} if isinstance(content, dict) else content
    page.socket.send(text or json.dumps(message))
    answer = page.ask("line", line=line("othello", *MOVES))
    assert len(answer["positions"]) == len(MOVES) + 1
