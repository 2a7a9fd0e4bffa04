"""A player of ours as an engine: answers lines from standard input on standard output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO

from boardenvs.engines.gtp import GtpServer
from boardenvs.engines.nboard import NBoardServer, check_othello
from boardenvs.engines.protocol import Choose, Ended, Server, is_othello
from boardenvs.game.contract import Game
from boardenvs.utils.checks import check_name

_MAX_LINE = 1 << 16  # characters
_SERVERS: dict[str, type[Server]] = {"gtp": GtpServer, "nboard": NBoardServer}


def servers_of(game: Game, protocol: str | None) -> list[type[Server]]:
    """Return the servers for a game; ValueError if the given protocol does not have the game."""
    if protocol is None:
        return [kind for name, kind in _SERVERS.items() if name != "nboard" or is_othello(game)]
    check_name("protocol", protocol, _SERVERS)
    if protocol == "nboard":
        check_othello(game)
    return [_SERVERS[protocol]]


def serve(
    servers: Sequence[type[Server]],
    game: Game,
    name: str,
    choose: Choose,
    lines_in: IO[str],
    lines_out: IO[str],
) -> None:
    """Answer lines until the other side ends; the first known line decides between protocols.

    name: the player's. Errors in lines are answered; lines before the first known one are ignored.
    """
    server: Server | None = None
    while line := lines_in.readline(_MAX_LINE):
        if server is None:
            kind = servers[0] if len(servers) == 1 else None
            kind = kind or next((known for known in servers if known.speaks(line)), None)
            if kind is None:
                continue
            server = kind(game, name, choose)
        try:
            for answer in server.answer(line):
                print(answer, file=lines_out, flush=True)
        except Ended:
            return
        except ValueError as error:
            server.is_lost = True
            print(server.complain(" ".join(str(error).split())), file=lines_out, flush=True)
