"""Programs as players, and players as programs, by the protocols that programs of games speak.

`player` makes an agent of a program: "engine:gtp-rhino". `server` has an agent answer as such a
program does: `boardenvs engine othello alphabeta:depth=4`. `protocol` is what is said in both cases
and `gtp`, `nboard` and `ugi` the formats in which it is said; `transport` carries the bytes,
`channel` bounds them, `clock` the time, and `engine` starts a program and asks it.
"""

from boardenvs.engines.channel import EngineError, EngineLateError
from boardenvs.engines.engine import Engine
from boardenvs.engines.player import EngineAgent
from boardenvs.engines.protocols import PROTOCOLS, servers_of
from boardenvs.engines.server import Host, serve
from boardenvs.engines.transport import ProcessTransport, Transport

__all__ = [
    "PROTOCOLS",
    "Engine",
    "EngineAgent",
    "EngineError",
    "EngineLateError",
    "Host",
    "ProcessTransport",
    "Transport",
    "serve",
    "servers_of",
]
