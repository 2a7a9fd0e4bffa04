"""An environment whose observations are prompts and whose actions are replies."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, Unpack

from gymnasium.utils import seeding

from boardenvs import games
from boardenvs.agents import agent_for
from boardenvs.envs.core import ResetNeededError
from boardenvs.envs.groups import Opponent, check_seat, choose, draw_seat
from boardenvs.game.contract import Game
from boardenvs.game.fen import parse_position
from boardenvs.game.openings import check_plies, distinct_openings
from boardenvs.game.position import Position, stack
from boardenvs.game.rules import goal_to_reward
from boardenvs.game.session import GameSession
from boardenvs.play.session import record_of
from boardenvs.records.record import Record
from boardenvs.text.prompt import Shown, Style
from boardenvs.text.question import RETRIES, Counts, Question, Transcript
from boardenvs.text.reader import Reading
from boardenvs.utils.checks import is_whole, quote


class Step(NamedTuple):
    """What came of a reply."""

    prompt: str  # the next one; empty where the game is over
    reward: float  # 1, 0 or -1 at the end of the game, else 0
    done: bool
    reading: Reading  # what the reply was read as


@dataclass(frozen=True)
class Result:
    """A game of a text player."""

    reward: float  # 1, 0 or -1; 0 of a game that is not over
    forfeited: bool
    counts: Counts
    record: Record  # with the transcript in its info


class TextEnv:
    """A seat at a game for who reads and writes, against an opponent that is any player.

    game: a game or its text. opponent, seat: as in `boardenvs.envs.single.BoardSingleEnv`, whose
    games these are: the same seeds and moves are the same games. Without an opponent (None) both
    sides are asked, and rewards are those of the first. board, legal_moves: see `Style`.
    disguise: the seed of a `Disguise`, or one. opening_plies: so many random plies come first, a
    range. retries: how often a move is asked for again before the game is forfeited. name: what
    records call the player.

    ValueError or TypeError for what none of these can be.

    ```python
    import boardenvs
    from boardenvs.text import TextEnv

    env = TextEnv("lines_of_action", opponent="level:3", seat="black")
    prompt = env.reset(seed=1)
    step = env.step("I considered c1-c3, but I move b1-b3.")
    print(step.reading.text, step.prompt)
    ```
    """

    _unit = "game"

    def __init__(
        self,
        game: Game | str,
        *,
        opponent: Opponent | None = "random",
        seat: str = "random",
        opening_plies: tuple[int, int] = (0, 0),
        retries: int = RETRIES,
        name: str = "text",
        **shown: Unpack[Shown],
    ) -> None:
        self.game = games.make(game)
        check_seat(self.game, seat)
        check_plies(opening_plies, "opening_plies")
        if not is_whole(retries, 0, 100):
            raise ValueError(f"retries is {quote(retries)}: it must be 0 to 100, and whole")
        self.opponent = None if opponent is None else agent_for(self.game, opponent)
        self.style = Style.of(self.game, **shown)
        self._seat, self._opening_plies, self._retries = seat, opening_plies, retries
        other = name if opponent is None else opponent
        self._names = name, other if isinstance(other, str) else type(other).__name__
        self._games = 0
        self._rng = seeding.np_random()[0]
        self._session: GameSession | None = None
        self.counts = Counts()  # of the game in progress

    # ---- what is -----------------------------------------------------------------------------

    @property
    def session(self) -> GameSession:
        """The game in progress; ResetNeededError before the first `reset`."""
        if self._session is None:
            raise ResetNeededError(f"there is no {self._unit} yet: call reset() first")
        return self._session

    @property
    def position(self) -> Position:
        """The position on the board, under its own names."""
        return self.session.position

    @property
    def role(self) -> int:
        """Who is asked, an index of `game.roles`."""
        return self.session.position.to_move if self.opponent is None else self._role

    @property
    def done(self) -> bool:
        """Whether the game is over."""
        return self.session.is_over

    @property
    def goal(self) -> tuple[float, float] | None:
        """What both roles have at the end, 100, 50 or 0; None before it."""
        return self.session.goal

    @property
    def prompt(self) -> str:
        """What is asked now; empty where the game is over."""
        return "" if self.done else self._question.prompt

    def picture(self) -> bytes | None:
        """The picture that goes with the prompt, PNG, with `board="picture"`."""
        return None if self.done else self._question.picture()

    @property
    def reward(self) -> float:
        """1, 0 or -1 for a win, a draw or a loss of the text player; 0 before the end."""
        goal = self.goal
        return 0.0 if goal is None else float(goal_to_reward(goal[self._role]))

    @property
    def result(self) -> Result:
        """The game so far, and its record, which has the transcript."""
        session, style = self.session, self.style
        first, second = self._names if self._role == 0 else self._names[::-1]
        text = {
            "board": style.board,
            "legal_moves": style.legal_moves,
            "retries": self._retries,
            **({"disguise": style.disguise.to_json()} if style.disguise else {}),
            "counts": self.counts.to_json(),
            "transcript": self._transcript.entries,
        }
        forfeited = session.resigned is not None
        info = {"forfeit": self.game.roles[self.role]} if forfeited else {}
        record = replace(
            record_of(session),
            goal=self.goal,
            players=(first, second),
            info={**info, "text": text},
        )
        return Result(self.reward, forfeited, self.counts, record)

    # ---- what is done ------------------------------------------------------------------------

    def reset(self, *, seed: int | None = None, position: Position | str | None = None) -> str:
        """Begin a game, from a position or its text where given, and return the first prompt."""
        if isinstance(position, str):
            position = parse_position(self.game, position)
        if seed is not None:
            self._rng, self._games = seeding.np_random(seed)[0], 0
        self._role = 0
        if self.opponent is not None:
            self._role = draw_seat(self.game, self._seat, self._games, self._rng)
        self._games += 1
        session = GameSession(self.game, position)
        if position is None and self._opening_plies[1]:
            opening = distinct_openings(self.game, 1, self._opening_plies, self._rng)
            for action in opening.actions[0].tolist():
                if action >= 0:
                    session.play(action)
        self._session = session
        self.counts, self._transcript = Counts(), Transcript()
        self._go_on()
        return self.prompt

    def step(self, reply: str, *, finished: bool = True, tokens: tuple[int, int] = (0, 0)) -> Step:
        """Read a reply, and where it is a legal move, play it and the opponent's answer.

        finished: False of a reply that a limit of tokens cut off. tokens: of the prompt and of the
        reply, where known, to be counted. After the last retry the game is forfeited.

        TypeError for a reply that is no text, ResetNeededError where the game is over.
        """
        if self.done:
            raise ResetNeededError(f"the {self._unit} is over: call reset() before the next step")
        reading = self._question.answer(reply, finished=finished)
        self.counts.add(reading, tokens)
        self._transcript.add(self.position.ply, reply, reading, tokens)
        if reading.action is not None:
            self.session.play(reading.action)
            self._go_on()
        elif self._question.is_over:
            self.session.resign(self.role)
            self.counts.forfeits += 1
        return Step(self.prompt, self.reward, self.done, reading)

    def _go_on(self) -> None:
        """The opponent's plies while it is its turn, and then the next question."""
        session = self.session
        while session.position.to_move != self.role and not session.is_over:
            assert self.opponent is not None
            state = stack([session.position])
            session.play(int(choose(self.opponent, self.game, state, self._rng)[0]))
        if not session.is_over:
            self._question = Question(self.style, session.positions, session.actions, self._retries)
