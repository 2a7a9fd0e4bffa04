"""`boardenvs play`: a game against an agent, or between two people, in the terminal."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from boardenvs.cli.options import GameName, Seed, TournamentSquares, player_names

if TYPE_CHECKING:
    from boardenvs.game.contract import Game, Position
    from boardenvs.play import GameSession, GameStore

BOTH = "both"


@dataclass(frozen=True)
class Play:
    """Play a game against an agent, or with `--as both` against each other.

    Moves are typed as they are listed, in capitals too: `d3`, `b1-b3`, `b1 b3`. So are `hint`,
    `undo`, `redo`, `resign`, `level AGENT`, `new`, `help` and `quit`. The game is kept in a file
    after every move, whatever ends the program, and `--resume` goes on with it.

    ```
    boardenvs play othello --against trained --as black
    boardenvs play lines_of_action --against alphabeta:depth=2 --as white
    boardenvs play othello --as both --tournament
    boardenvs play othello --resume
    ```
    """

    game: GameName
    against: Annotated[
        str | None,
        typer.Option(
            metavar="AGENT",
            help="Who to play against, such as `trained` or `mcts:simulations=100`. Default: "
            "`trained` where there is a trained policy, else `mcts`.",
            show_default=False,
            autocompletion=player_names,
        ),
    ] = None
    role: Annotated[
        str | None,
        typer.Option(
            "--as", metavar="ROLE", help="Your role, or `both`. Default: the one that begins.",
            show_default=False,
        ),
    ] = None  # fmt: skip
    position: Annotated[
        str | None,
        typer.Option(
            help="Where to begin, as in `boardenvs solve --position`.", show_default=False
        ),
    ] = None
    record: Annotated[
        Path, typer.Option(metavar="FILE", help="Where games are kept, in JSON Lines.")
    ] = Path("runs/play.jsonl")
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the last game of that file.")
    ] = False
    tournament: TournamentSquares = False
    seed: Seed = 0

    def run(self) -> None:
        from boardenvs.cli.console import make_console
        from boardenvs.cli.play_loop import TerminalGame
        from boardenvs.games import parse
        from boardenvs.play import GameStore, MoveNotation

        game = parse(self.game)
        players = self._players(game)
        notation = MoveNotation(game, self.tournament)
        store = GameStore(self.record)
        session, console = self._session(game, players, store), make_console()
        terminal = TerminalGame(session, store, notation, console, self.seed)
        try:
            terminal.run()
        except KeyboardInterrupt:
            console.print()
            raise typer.Exit(130) from None
        finally:
            store.keep(terminal.session)
            if terminal.session.actions:
                console.print(f"the game is in {store.path}")

    def _humans(self, game: Game) -> tuple[int, ...]:
        """The roles that are played here."""
        from boardenvs.utils.checks import check_name

        if self.role == BOTH:
            if self.against is not None:
                raise ValueError("--as both has no opponent: leave --against out")
            return (0, 1)
        if self.role is None:
            return (0,)
        check_name("role", self.role, [*game.roles, BOTH])
        return (game.roles.index(self.role),)

    def _players(self, game: Game) -> tuple[str, str]:
        """Who plays by role, `human` or the text of an agent; ValueError where that cannot play."""
        from boardenvs.agents import agent_for
        from boardenvs.play import HUMAN, default_opponent

        humans = self._humans(game)
        opponent = self.against or default_opponent(game)
        agent_for(game, opponent)
        first, second = (HUMAN if role in humans else opponent for role in (0, 1))
        return first, second

    def _session(self, game: Game, players: tuple[str, str], store: GameStore) -> GameSession:
        """The game to play."""
        from boardenvs.games import spec_of
        from boardenvs.play import GameSession

        if not self.resume:
            return GameSession(game, self._start(game), players=players)
        if self.position is not None:
            raise ValueError("--resume goes on with a game: leave --position out")
        session = store.resume()
        if not session.game.has_rules_of(game):
            raise ValueError(
                f"the last game in {self.record} is {spec_of(session.game)}, not {spec_of(game)}"
            )
        if self.against is not None or self.role is not None or session.players is None:
            session.players = players
        return session

    def _start(self, game: Game) -> Position | None:
        from boardenvs.game.fen import parse_position

        if self.position is None:
            return None
        position = parse_position(game, self.position)
        if position.is_over():
            raise ValueError("the game is over in this position: there is nothing to play")
        return position
