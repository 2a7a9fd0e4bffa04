"""An environment whose observations are prompts and whose actions are replies."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any, NamedTuple

from gymnasium.utils import seeding

from boardenvs import games
from boardenvs.agents import agent_for
from boardenvs.agents.history import history_of
from boardenvs.envs.core import ResetNeededError
from boardenvs.envs.groups import Opponent, check_seat, choose, draw_seat
from boardenvs.game.fen import parse_position
from boardenvs.game.game import Game
from boardenvs.game.position import Position, stack
from boardenvs.game.rules import goal_to_reward
from boardenvs.game.session import GameSession
from boardenvs.play.session import record_of
from boardenvs.records.record import Record
from boardenvs.text.reader import Reading
from boardenvs.text.turn import RETRIES, ModelReply, TextTurn
from boardenvs.utils.checks import check_seed, check_whole, cut, quote

_MOST_KEPT = 1_500  # characters of a reply in a transcript, so that a record's line holds many


class Step(NamedTuple):
    """The outcome of a reply."""

    prompt: str  # the next one; empty after the end of the game
    reward: float  # 1, 0 or -1 at the end of the game, else 0
    done: bool
    reading: Reading  # of the reply


class TextEnv:
    """A seat at a game for a player that reads and writes, against any other player.

    game: a game or its text. opponent, seat: as in `boardenvs.envs.single.BoardSingleEnv`: the same
    seeds and moves give the same games. Without an opponent (None) both sides are asked, and
    rewards are those of the first. A move without a choice is played unasked. legal_moves: whether
    prompts list them. retries: how often a move is asked for again before the game is forfeited.

    ValueError or TypeError for wrong values.

    ```python
    from boardenvs.text import TextEnv

    env = TextEnv("lines_of_action", opponent="level:3", seat="black")
    prompt = env.reset(seed=1)
    step = env.step('I considered c1-c3, but: {"move": "b1-b3"}')
    print(step.reading.text, step.prompt)
    ```
    """

    def __init__(
        self,
        game: Game | str,
        *,
        opponent: Opponent | None = "random",
        seat: str = "random",
        legal_moves: bool = False,
        retries: int = RETRIES,
    ) -> None:
        self.game = games.make(game)
        seat = dict(zip(self.game.sides, self.game.roles, strict=True)).get(seat, seat)
        check_seat(self.game, seat)
        check_whole("retries", retries, 0, 100)
        self.opponent = None if opponent is None else agent_for(self.game, opponent)
        self._legal_moves = legal_moves
        self._seat, self._retries = seat, retries
        other = "text" if opponent is None else opponent
        self._names = "text", other if isinstance(other, str) else type(other).__name__
        self._games = 0
        self._rng = seeding.np_random()[0]
        self._session: GameSession | None = None
        self.counts = Counter[str]()  # of the game's replies and tokens

    # ---- the game in progress ----------------------------------------------------------------

    @property
    def session(self) -> GameSession:
        """The game in progress; ResetNeededError before the first `reset`."""
        if self._session is None:
            raise ResetNeededError("there is no game yet: call reset() first")
        return self._session

    @property
    def position(self) -> Position:
        """The position on the board, under the game's own names."""
        return self.session.position

    @property
    def role(self) -> int:
        """The role that is asked, an index of `game.roles`."""
        return self.session.position.to_move if self.opponent is None else self._role

    @property
    def done(self) -> bool:
        """Whether the game is over."""
        return self.session.is_over

    @property
    def prompt(self) -> str:
        """The prompt to answer now; empty after the end."""
        return "" if self.done else self._turn.prompt

    @property
    def reward(self) -> float:
        """1, 0 or -1 for a win, a draw or a loss of the text player; 0 before the end."""
        goal = self.session.goal
        return 0.0 if goal is None else float(goal_to_reward(goal[self._role]))

    @property
    def forfeited(self) -> bool:
        """Whether the text player has forfeited the game."""
        return self.session.resigned is not None

    @property
    def record(self) -> Record:
        """The record of the game so far, with the transcript in its info."""
        text = {
            "legal_moves": self._legal_moves,
            "retries": self._retries,
            "counts": dict(self.counts),
            "transcript": self._transcript,
        }
        info = {"forfeit": self.game.sides[self.role]} if self.forfeited else {}
        players = self._names if self._role == 0 else self._names[::-1]
        return replace(record_of(self.session), players=players, info={**info, "text": text})

    # ---- playing -----------------------------------------------------------------------------

    def reset(self, *, seed: int | None = None, position: Position | str | None = None) -> str:
        """Begin a game, by default from the start, and return the first prompt."""
        if isinstance(position, str):
            position = parse_position(self.game, position)
        if not isinstance(position, Position | None):
            raise TypeError(f"position is {quote(position)}: it must be a Position or its text")
        check_seed(seed)
        if seed is not None:
            self._rng, self._games = seeding.np_random(seed)[0], 0
        self._role = 0
        if self.opponent is not None:
            self._role = draw_seat(self.game, self._seat, self._games, self._rng)
        self._games += 1
        self._session = GameSession(self.game, position)
        self.counts, self._transcript = Counter[str](), list[dict[str, Any]]()
        self._play_on()
        return self.prompt

    def step(
        self, reply: str, *, finish_reason: str = "stop", tokens: tuple[int, int] = (0, 0)
    ) -> Step:
        """Read a reply, and if it is a legal move, play it, the opponent's answer and moves without
        a choice.

        finish_reason: as in `read`; "length" if a limit of tokens cut the reply off, which is then
        no move. tokens: of the prompt and of the reply, as far as known. After the last retry the
        game is forfeited.

        TypeError for a reply that is not a string, ResetNeededError after the end of the game.
        """
        if self.done:
            raise ResetNeededError("the game is over: call reset() before the next step")
        reading = self._turn.answer(ModelReply(reply, finish_reason, tokens), self.counts)
        self._transcript.append(
            {
                "ply": self.position.ply,
                "reply": cut(reply.encode("utf-8", "replace").decode(), _MOST_KEPT),
                "tokens": list(tokens),
                "read_as": reading.kind,
                "text": reading.text,
            }
        )
        if reading.action is not None:
            self.session.play(reading.action)
            self._play_on()
        elif self._turn.is_over:
            self.session.resign(self.role)
        return Step(self.prompt, self.reward, self.done, reading)

    def _play_on(self) -> None:
        """Play the opponent's plies and the only moves of positions, and begin the next turn."""
        session = self.session
        while not self.done:
            position, action = session.position, session.position.legal_actions()[0]
            if position.to_move != self.role:
                assert self.opponent is not None
                history = history_of(session)
                action = int(
                    choose(self.opponent, self.game, stack([position]), self._rng, history)[0]
                )
            elif len(position.legal_actions()) > 1:
                break
            session.play(action)
        if not self.done:
            self._turn = TextTurn(session, self._legal_moves, self._retries)
