"""`boardenvs play`: a game against an agent, or between two people, in the terminal."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from boardenvs.agents import agent_for
from boardenvs.cli.options import GameName, Seed, check_rules, player_names, position_of
from boardenvs.game.game import Game
from boardenvs.games import parse
from boardenvs.utils.checks import check_name
from boardenvs.utils.console import make_console

if TYPE_CHECKING:
    from boardenvs.play import GameSession, GameStore

BOTH = "both"


@dataclass
class PlayCommand:
    """Play a game against an agent, or with `--as both` against each other.

    Moves are typed as they are listed, in capitals too: `f5`, `b1-b3`, `b1 b3`. So are `hint`,
    `undo`, `resign`, `help` and `quit`. The game is kept in a file after every move, whatever ends
    the program, and `--resume` goes on with it, against another agent with `--against`.

    ```
    boardenvs play othello --against trained --as black
    boardenvs play lines_of_action --against alphabeta:depth=2 --as white
    boardenvs play othello --as both
    boardenvs play othello --resume
    ```
    """

    game: GameName
    against: Annotated[
        str | None,
        Option(
            metavar="AGENT",
            help="The opponent, such as `trained` or `mcts:simulations=100`. Default: `trained` "
            "if the game has a trained policy, else `mcts`.",
            autocompletion=player_names,
        ),
    ] = None
    role: Annotated[
        str | None,
        Option("--as", metavar="SIDE", help="Your side, or `both`. Default: the first to move."),
    ] = None
    position: Annotated[
        str | None,
        Option(help="Where to begin: rows from the top, side to move, plies played; in chess FEN."),
    ] = None
    record: Annotated[Path, Option(metavar="FILE", help="The file of games, in JSON Lines.")] = (
        Path("runs/play.jsonl")
    )
    resume: Annotated[bool, Option("--resume", help="Go on with the last game of the file.")] = (
        False
    )
    seed: Seed = 0

    def run(self) -> None:
        from boardenvs.cli.play_loop import TerminalGame
        from boardenvs.play import GameStore

        game = parse(self.game)
        players = self._players(game)
        store = GameStore(self.record)
        session, console = self._session(game, players, store), make_console()
        terminal = TerminalGame(session, store, console, self.seed)
        try:
            terminal.run()
        except KeyboardInterrupt:
            console.print()
            raise typer.Exit(130) from None
        finally:
            store.keep(terminal.session)
            if terminal.session.actions:
                console.print(f"the game is in {store.path}")

    def _players(self, game: Game) -> tuple[str, str]:
        """Return the players by role, "human" or the text of an agent; ValueError if it cannot
        play.
        """
        from boardenvs.play import HUMAN, default_opponent

        side = game.sides[0] if self.role is None else self.role
        check_name("side", side, [*game.sides, BOTH])
        if side == BOTH and self.against is not None:
            raise ValueError("--as both has no opponent: leave --against out")
        opponent = self.against or default_opponent(game)
        agent_for(game, opponent)
        first, second = (HUMAN if side in (own, BOTH) else opponent for own in game.sides)
        return first, second

    def _session(self, game: Game, players: tuple[str, str], store: GameStore) -> GameSession:
        """Return the new game, or the one to go on with."""
        from boardenvs.play import GameSession

        if not self.resume:
            start = position_of(game, self.position)
            if start.is_over():
                raise ValueError("the game is over in this position: there is nothing to play")
            return GameSession(game, start, players=players)
        if self.position is not None:
            raise ValueError("--resume goes on with a game: leave --position out")
        session = store.resume()
        check_rules(f"the last game in {self.record}", session.game, game)
        if self.against is not None or self.role is not None or session.players is None:
            session.players = players
        return session
