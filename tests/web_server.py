"""A server of the page, as a process of its own, and a page that talks to it without a browser."""

import contextlib
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

    def __init__(self, *options, port=0, command=None):
        usual = [sys.executable, "-m", "boardenvs", "web", "--no-browser", "--port", str(port)]
        self.process = subprocess.Popen(
            command or [*usual, *options],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", "BOARDENVS_BACKEND": "numpy"},
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        line = self.process.stdout.readline()
        self.url = re.search(r"http://\S+", line)[0]
        self.parts = urlsplit(self.url)
        self.origin = f"http://{self.parts.netloc}"
        self.token = self.parts.query.removeprefix("token=")
        self.cookie = {"Cookie": f"boardenvs-{self.parts.port}={self.token}"}
        self.client = httpx.Client(
            base_url=self.origin, headers={**self.cookie, "Origin": self.origin}, timeout=PATIENCE
        )

    def stop(self, number=signal.SIGINT):
        self.process.send_signal(number)
        return self.process.wait(timeout=PATIENCE)

    @contextlib.contextmanager
    def page(self, **options):
        """A page that is connected, by default as a browser does it."""
        usual = {"origin": self.origin, "additional_headers": self.cookie, "max_size": None}
        with connect(f"ws://{self.parts.netloc}/connect", **{**usual, **options}) as socket:
            yield Page(socket)


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

    def __init__(self, socket):
        self.socket = socket
        self.ids = itertools.count(1)
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


def line(game, *moves, start=None):
    return {"game": game, "moves": list(moves), "start": start}
