"""A server of the page, as a process of its own, and a page that talks to it without a browser."""

import contextlib
import hmac
import itertools
import json
import os
import re
import signal
import subprocess
import sys
from urllib.parse import urlsplit

import httpx
from websockets.sync.client import connect

PATIENCE = 60  # seconds for what takes one, on a machine that has other work


class Served:
    """`boardenvs web` on a free port or a given one."""

    def __init__(self, *options, port=0):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "boardenvs", "web", "--no-browser", f"--port={port}", *options],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        self.url = re.search(r"http://\S+", self.process.stdout.readline())[0]
        parts = urlsplit(self.url)
        self.port, self.path = parts.port, parts.path
        self.token = parts.fragment.removeprefix("token=")
        self.origin = f"http://127.0.0.1:{self.port}"
        self.client = httpx.Client(
            base_url=self.origin, headers={"Origin": self.origin}, timeout=PATIENCE
        )

    def proven(self, kind, name):
        """The address of a report, or for a file of records."""
        return f"/{kind}/{proof_of(self.token, f'{kind} {name}')}/{name}"

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=PATIENCE)

    @contextlib.contextmanager
    def page(self, origin=None, token=None):
        """A connected page, by default with the server's token."""
        address, origin = f"ws://127.0.0.1:{self.port}{self.path}connect", origin or self.origin
        with connect(address, origin=origin, max_size=None) as socket:
            yield Page(socket, self.token if token is None else token)


@contextlib.contextmanager
def served(*options, **more):
    server = Served(*options, **more)
    try:
        yield server
    finally:
        server.process.kill()
        server.process.wait()
        server.process.stdout.close()


class Page:
    """A connected page."""

    def __init__(self, socket, token):
        self.socket = socket
        self.ids = itertools.count(1)
        socket.send("a nonce")
        nonce, proof = socket.recv(timeout=PATIENCE).split()
        self.server_is_right = proof == proof_of(token, f"server a nonce {nonce}")
        socket.send(proof_of(token, f"page a nonce {nonce}"))
        self.hello = json.loads(socket.recv(timeout=PATIENCE))["hello"]

    def send(self, do, **rest):
        number = next(self.ids)
        self.socket.send(json.dumps({"id": number, "do": do, **rest}))
        return number

    def hear(self, number):
        """All parts of the answer to a question, up to the last."""
        while True:
            answer = json.loads(self.socket.recv(timeout=PATIENCE))
            if answer.get("id") == number:
                yield answer
                if "error" in answer or answer.get("end"):
                    return

    def ask(self, do, **rest):
        """The parts of the answer in one."""
        found = {}
        for part in self.hear(self.send(do, **rest)):
            found |= part
        return found


def proof_of(token, message):
    return hmac.new(token.encode(), message.encode(), "sha256").hexdigest()


def line(game, *moves, start=None):
    return {"game": game, "moves": list(moves), "start": start}
