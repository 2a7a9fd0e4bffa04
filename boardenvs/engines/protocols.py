"""The protocols by name, from both sides."""

from __future__ import annotations

from boardenvs.engines.gtp import Gtp, GtpServer
from boardenvs.engines.nboard import NBoard, NBoardServer, check_othello
from boardenvs.engines.protocol import Protocol, is_othello
from boardenvs.engines.server import Server
from boardenvs.engines.ugi import Ugi, UgiServer
from boardenvs.game.contract import Game
from boardenvs.utils.checks import check_name

PROTOCOLS: dict[str, type[Protocol]] = {"gtp": Gtp, "nboard": NBoard, "ugi": Ugi}
_SERVERS: dict[str, type[Server]] = {"gtp": GtpServer, "nboard": NBoardServer, "ugi": UgiServer}


def servers_of(game: Game, protocol: str | None) -> list[type[Server]]:
    """Those that know the game, or the one named; ValueError where that does not know it."""
    if protocol is None:
        return [kind for name, kind in _SERVERS.items() if name != "nboard" or is_othello(game)]
    check_name("protocol", protocol, _SERVERS)
    if protocol == "nboard":
        check_othello(game)
    return [_SERVERS[protocol]]
