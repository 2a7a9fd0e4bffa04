"""What must not move the server of the page: other sites, wrong messages, code and files."""

import json
import random
import socket

import httpx
import pytest
from web_server import line, served
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from boardenvs.agents.trained import FOLDER as TRAINED

ATTACKS = 1_000
MOVES = ("e3", "f3", "c5")
MARK = "imported_by_the_page"


@pytest.fixture(scope="module")
def listening():
    """A server that others than this machine could reach."""
    with served("--host", "0.0.0.0") as server:
        yield server


def socket_of(server, **options):
    with connect(f"ws://127.0.0.1:{server.parts.port}/connect", **options) as opened:
        return json.loads(opened.recv(timeout=20))


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example", "http://127.0.0.1:1", "null", "http://127.0.0.1.evil.example",
        "http://[",
    ],
)  # fmt: skip
def test_pages_of_other_sites_are_refused(server, origin):
    with pytest.raises(InvalidStatus, match="403"):
        socket_of(server, origin=origin)
    for path in ("/save", "/records"):
        answer = httpx.post(server.origin + path, content="{}", headers={"Origin": origin})
        assert answer.status_code == 403


def test_who_does_not_say_where_it_comes_from_is_refused(server):
    with pytest.raises(InvalidStatus, match="403"):
        socket_of(server, origin=None)
    assert httpx.post(f"{server.origin}/save", content="{}").status_code == 403


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:80", "", "[", "10.0.0.1"])
def test_other_names_of_this_machine_are_refused(server, host):
    """As a page has them that has had its own name point here (DNS rebinding)."""
    head = f"GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    assert raw(server, head.encode()).startswith(b"HTTP/1.1 403")


def raw(server, content):
    with socket.create_connection(("127.0.0.1", server.parts.port), timeout=20) as sent:
        sent.sendall(content)
        found = b""
        try:
            while chunk := sent.recv(1 << 16):
                found += chunk
        except (TimeoutError, ConnectionResetError):
            pass
        return found


def test_the_page_loads_nothing_from_elsewhere(server):
    answer = httpx.get(server.url)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "http" not in policy
    assert "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_without_the_token_nobody_gets_in(listening):
    base = f"http://127.0.0.1:{listening.parts.port}"
    token = listening.parts.query.removeprefix("token=")
    assert len(token) >= 32
    for path in ("/", "/main.js", "/?token=", "/?token=wrong", f"/main.js?token={token}"):
        assert httpx.get(base + path).status_code == 403
    with pytest.raises(InvalidStatus, match="403"):
        socket_of(listening, origin=base)
    with httpx.Client(base_url=base) as client:
        answer = client.get(f"/?token={token}")
        assert answer.status_code == 307
        cookie = answer.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "samesite=strict" in cookie.lower()
        assert client.get("/").status_code == 200
        head = {"Cookie": cookie.split(";")[0]}
    assert "hello" in socket_of(listening, origin=base, additional_headers=head)
    with pytest.raises(InvalidStatus, match="403"):
        socket_of(listening, origin="http://evil.example", additional_headers=head)


@pytest.mark.parametrize(
    "path",
    [
        "/../pyproject.toml",
        "/%2e%2e/server.py",
        "/..%2fserver.py",
        "//etc/passwd",
        "/runs/../../etc/passwd",
        "/runs/%2e%2e/policy.npz",
        "/runs/x/..%2f..%2fsecret",
    ],
)
def test_only_the_files_of_the_page_are_served(server, path):
    head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
    assert b" 404 " in raw(server, head.encode()).splitlines()[0]


@pytest.mark.parametrize(
    "agent",
    [
        "python:os:getcwd",
        f"python:{MARK}:x",
        f"policy:{TRAINED / 'othello.npz'}",
        "policy:path=/etc/passwd",
        f"mcts:policy={TRAINED / 'othello.npz'}",
        "mcts:20,policy=../othello.npz",
        "policy:runs/x/policy.npz",
    ],
)
def test_agents_that_are_code_or_files_cannot_be_named(server, agent):
    with server.page() as page:
        refused = [
            page.ask("agent", game="othello", agent=agent),
            page.ask("move", line=line("othello"), agent=agent, seed=0),
            page.ask("explain", line=line("othello"), agent=agent, seconds=1.0),
            page.ask("review", line=line("othello"), agent=agent),
        ]
    assert all("may not name" in answer["error"] for answer in refused)


@pytest.mark.parametrize("game", ["os:getcwd", "subprocess:run:ls", "numpy:array", f"{MARK}:Game"])
def test_games_that_are_code_cannot_be_named(server, game):
    with server.page() as page:
        for answer in (
            page.ask("game", game=game),
            page.ask("line", line=line(game)),
            page.ask("agent", game=game, agent="random"),
            page.ask("cell", name="x", game=game, first="a", second="b"),
        ):
            assert "may not name" in answer["error"]
    headers = {"Origin": server.origin}
    record = json.dumps({"version": 1, "game": game, "actions": ""})
    for path, content in (
        ("/records?name=x.jsonl", record),
        (f"/records?name=x.txt&game={game}", "e3"),
        ("/save", json.dumps({"format": "jsonl", "line": line(game)})),
    ):
        answer = httpx.post(server.origin + path, content=content, headers=headers, timeout=60)
        assert answer.status_code == 400
        assert "code" in answer.json()["error"]


def test_what_the_command_line_names_may_be_named(tmp_path):
    policy = f"policy:{TRAINED / 'othello.npz'}"
    with served("--agent", policy, "--folder", str(tmp_path)) as server, server.page() as page:
        assert policy in page.hello["agents"]
        assert page.ask("move", line=line("othello"), agent=policy, seed=0)["position"]["ply"] == 1
        assert "error" in page.ask("agent", game="othello", agent=f"{policy},shield=true")


def test_sizes_are_bounded(server):
    headers = {"Origin": server.origin}
    huge = b"x" * (33 << 20)
    answer = httpx.post(f"{server.origin}/records", content=huge, headers=headers, timeout=60)
    assert answer.status_code == 400
    with server.page() as page:
        assert "error" in page.ask("line", line=line("othello", *["e3"] * 2001))
        assert "error" in page.ask("explain", line=line("othello"), agent="random", seconds=1e9)
        page.socket.send("x" * (1 << 20))
        with pytest.raises(ConnectionClosed):
            page.socket.recv(timeout=20)


def test_too_many_questions_at_once(server):
    with server.page() as page:
        slow = {"line": line("othello"), "agent": "alphabeta:depth=30", "seed": 0}
        numbers = [page.send("move", **slow) for _ in range(6)]
        errors = [next(page.hear(number)) for number in numbers[4:]]
        assert all("stop one" in answer["error"] for answer in errors)
        assert page.ask("line", line=line("othello"))["positions"]


def malformed(random_one):
    """A message that no page sends."""
    texts = [
        "",
        "{",
        "null",
        "[]",
        "0",
        '"x"',
        "NaN",
        '{"id": 1}',
        "[" * 5_000,
        '{"id":' * 3_000,
        '{"id": 1, "do": "line"}',
        '{"id": -1, "do": "runs"}',
        '{"id": 1e999, "do": "runs"}',
        '{"id": "1", "do": "runs"}',
        '{"id": 1, "do": "runs", "more": 1}',
        '{"id": 1, "do": "eval"}',
        '{"id": 1, "do": "line", "line": {"game": "othello", "moves": "e3"}}',
        "\x00",
        "\ufffd" * 99,
        '{"id": 1, "do": "game", "game": "\\ud800"}',
        '{"id": 1, "do": "game", "game": ""}',
    ]
    values = [
        None,
        True,
        -1,
        2**63,
        1e308,
        "",
        "x" * 5_000,
        "othello\n",
        "e3",
        "a9",
        "__import__",
        "../..",
        "othello:holes=-1",
        "othello:holes=99999999999999999999",
        [],
        ["e3"] * 3,
        ["e3", "e3"],
        ["a1"],
        ["pass"],
        {"a": 1},
        [[]],
        "8/8/8/8/8/8/8/8 black 0",
        "bbbbbbbbb/8 black 0",
    ]
    if random_one.random() < 0.3:
        return random_one.choice(texts)
    good = {
        "line": line("othello", "e3"),
        "game": "othello",
        "agent": "random",
        "seed": 1,
        "seconds": 0.1,
        "name": "x",
        "first": "a",
        "second": "b",
        "job": 7,
        "since": 0,
    }
    keys = {
        "line": ("line", "since"),
        "game": ("game",),
        "agent": ("game", "agent"),
        "move": ("line", "agent", "seed"),
        "explain": ("line", "agent", "seconds"),
        "review": ("line", "agent"),
        "run": ("name",),
        "cell": ("name", "game", "first", "second"),
        "stop": ("job",),
    }
    do = random_one.choice(list(keys))
    message = {"id": random_one.randrange(1000), "do": do, **{key: good[key] for key in keys[do]}}
    key = random_one.choice([k for k in message if k != "id"])
    if key == "line" and random_one.random() < 0.7:
        part = random_one.choice(["game", "moves", "start"])
        message["line"] = {**message["line"], part: random_one.choice(values)}
    else:
        message[key] = random_one.choice(values)
    return json.dumps(message)


def test_a_thousand_wrong_messages_leave_every_game_intact(server):
    random_one = random.Random(0)
    with server.page() as good:
        before = good.ask("line", line=line("othello", *MOVES))
        bad = server.page()
        for number in range(ATTACKS):
            text = malformed(random_one)
            try:
                bad.socket.send(text.encode() if random_one.random() < 0.05 else text)
                if number % 20 == 0:
                    while True:
                        bad.socket.recv(timeout=0.01)
            except TimeoutError:
                pass
            except ConnectionClosed:
                bad = server.page()
            if number % 50 == 0:
                now = good.ask("line", line=line("othello", *MOVES))
                assert now["positions"] == before["positions"]
        bad.__exit__()
        answer = good.ask("move", line=line("othello", *MOVES), agent="random", seed=1)
        assert answer["position"]["ply"] == len(MOVES) + 1


def test_a_thousand_wrong_requests_leave_the_server_serving(server):
    random_one = random.Random(1)
    paths = [
        "/",
        "/save",
        "/records",
        "/connect",
        "/runs/a/b",
        "/main.js",
        "/%00",
        "/x" * 2_000,
        "*",
    ]
    heads = [
        f"Origin: {server.origin}",
        "Origin: http://evil.example",
        "Content-Length: -1",
        "Content-Length: 99999999999",
        "Transfer-Encoding: chunked",
        "Upgrade: websocket",
        ": x",
        "Host: evil.example",
        f"Host: {server.parts.netloc}",
        "X: " + "y" * 9_000,
        "Connection: close",
    ]
    bodies = [
        b"",
        b"{}",
        b"\x00" * 100,
        b"{" * 500,
        b"zz\r\n",
        json.dumps({"format": "exe"}).encode(),
    ]
    for number in range(ATTACKS):
        method = random_one.choice(["GET", "POST", "PUT", "DELETE", "OPTIONS", "\x00", "G" * 500])
        chosen = random_one.sample(heads, random_one.randrange(1, 6))
        head = f"{method} {random_one.choice(paths)} HTTP/1.1\r\n" + "".join(
            f"{h}\r\n" for h in chosen
        )
        with socket.create_connection(("127.0.0.1", server.parts.port), timeout=20) as sent:
            sent.sendall(head.encode() + b"\r\n" + random_one.choice(bodies))
        if number % 100 == 0:
            assert httpx.get(server.url).status_code == 200
    with server.page() as page:
        assert len(page.ask("line", line=line("othello", *MOVES))["positions"]) == len(MOVES) + 1
