"""`boardenvs engine`: a player as a program that others can play against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from boardenvs.cli.options import GameName, Player, Seed


@dataclass(frozen=True)
class Engine:
    """Answer as an engine on standard input and output, so that other programs can play.

    It speaks GTP, UGI and, in Othello, NBoard: what its first line is of. The player's text says
    how long it thinks; the same seed gives the same move in the same position.

    ```
    boardenvs engine othello level:5
    boardenvs engine lines_of_action alphabeta:depth=4 --protocol ugi
    ```
    """

    game: GameName
    player: Player
    protocol: Annotated[
        str | None, typer.Option(help="`gtp`, `nboard` or `ugi`. Default: that of the first line.")
    ] = None
    seed: Seed = 0

    def run(self) -> None:
        import sys
        from collections.abc import Sequence

        import numpy as np

        from boardenvs.agents import agent_for
        from boardenvs.agents.base import act_after
        from boardenvs.engines import Host, serve, servers_of
        from boardenvs.game.contract import Position, stack
        from boardenvs.games import parse

        game = parse(self.game)
        servers = servers_of(game, self.protocol)
        agent = agent_for(game, self.player)

        def choose(position: Position, actions: Sequence[int]) -> int:
            rng = np.random.default_rng([self.seed, position.ply])
            played = np.array([actions], np.int16)
            return int(act_after(agent, game, stack([position]), played, rng)[0])

        serve(Host(game, self.player, choose), servers, sys.stdin, sys.stdout)
