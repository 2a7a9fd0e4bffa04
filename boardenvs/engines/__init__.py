"""Programs as players, and players as programs, over protocols that game programs speak.

`EngineAgent` makes a player of a program: "engine:gtp-rhino". `serve` answers as such a program:
`boardenvs engine othello alphabeta:depth=4`. `protocol` has both sides of a conversation, `gtp`,
`nboard` and `uci` its formats; `transport` carries bytes, `channel` limits them, `process` starts a
program.
"""

from boardenvs.engines.channel import EngineError
from boardenvs.engines.player import EngineAgent
from boardenvs.engines.process import PROTOCOLS, EngineProcess
from boardenvs.engines.serve import ServedAgent, serve, servers_of
from boardenvs.engines.transport import ProcessTransport

__all__ = [
    "PROTOCOLS",
    "EngineAgent",
    "EngineError",
    "EngineProcess",
    "ProcessTransport",
    "ServedAgent",
    "serve",
    "servers_of",
]
