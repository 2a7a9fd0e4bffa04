"""The window of a game: what is clicked and typed there, and what it shows."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

from boardenvs.agents.explain import Explanation
from boardenvs.play.kept_game import KeptGame
from boardenvs.play.notation import MoveNotation
from boardenvs.play.thinker import Answer, Failure, Query, Thinker
from boardenvs.play.window.layout import (
    HEIGHT,
    WIDTH,
    Button,
    Shown,
    TextLine,
    button_at,
    window_scene,
)
from boardenvs.play.window.picker import Picker
from boardenvs.render.geometry import Side, square_at
from boardenvs.render.raster import draw_surface, import_pygame
from boardenvs.render.view import view

_FRAMES_PER_SECOND = 60
_UNIT = 64  # pixels of a square, where the screen is large enough
_LEAST_UNIT = 12
_DRIVER = "SDL_VIDEODRIVER"  # without it and a screen, SDL draws where nobody sees it


class _Command(NamedTuple):
    text: str
    key: str
    run: Callable[[], None]
    enabled: bool = True


class WindowGame:
    """A game of those before the window.

    `run` opens the window and plays until it is closed; `frame` is one turn of its loop. Agents
    think in a process of their own, so that the window answers meanwhile.
    """

    def __init__(self, game: KeptGame, notation: MoveNotation, seed: int = 0) -> None:
        self.game = game
        self._notation, self._seed = notation, seed
        self._pygame: Any = None
        self._screen: Any = None
        self._thinker = Thinker()
        self._picker = Picker()
        self._side = Side(turned=notation.tournament)
        self._stopped = False  # the agent whose turn it is waits to be told to go on
        self._resigning = False  # Resign was pressed once
        self._focus: int | None = None  # of the buttons; None is the board
        self._keys_used = False
        self._news = ""
        self._problem = ""
        self._hint: tuple[int, ...] = ()
        self._stale = True  # what is on the screen

    def run(self) -> None:
        """Play until the window is closed. RuntimeError where none can be opened."""
        self.open()
        try:
            clock = self._pygame.time.Clock()
            while self.frame():
                clock.tick(_FRAMES_PER_SECOND)
        finally:
            self.close()

    def open(self) -> None:
        """Open the window."""
        pygame = self._pygame = import_pygame()
        try:
            pygame.display.init()
            if pygame.display.get_driver() == "offscreen" and _DRIVER not in os.environ:
                raise pygame.error("there is no screen")
            tall = min(height for _, height in pygame.display.get_desktop_sizes())
            unit = min(_UNIT, int(0.85 * tall / HEIGHT))
            size = (round(WIDTH * unit), round(HEIGHT * unit))
            self._screen = pygame.display.set_mode(size, pygame.RESIZABLE)
        except pygame.error as error:
            raise RuntimeError(
                f"no window can be opened ({error}): without a screen, leave --window out and play "
                "in the terminal"
            ) from error
        pygame.display.set_caption(f"boardenvs: {self.game.session.game.id.replace('_', ' ')}")
        if len(self.game.humans) < 2:
            self._thinker.start()
        self._new_position()

    def close(self) -> None:
        """Close the window, and stop who thinks."""
        self._thinker.close()
        self._pygame.display.quit()

    def frame(self) -> bool:
        """See what was done and thought since, and show it; False where the window was closed."""
        self._hear_agent()
        for event in self._pygame.event.get():
            if event.type == self._pygame.QUIT:
                return False
            self._handle(event)
        self._ask_agent()
        if self._stale:
            self._draw()
        return True

    # ---- agents --------------------------------------------------------------------------------

    def _ask(self, agent: str, *, explain: bool = False) -> None:
        session = self.game.session
        self._thinker.ask(Query(agent, session.game, session.position, self._seed, explain))
        self._stale = True

    def _ask_agent(self) -> None:
        """Have the agent think whose turn it is."""
        game, session = self.game, self.game.session
        if session.is_over or game.is_humans_turn or self._stopped or self._thinker.asked:
            return
        if session.must_pass:
            self._play(session.game.noop)
        else:
            self._ask(game.players[session.position.to_move])

    def _hear_agent(self) -> None:
        asked, answer = self._thinker.asked, self._thinker.answer()
        if asked is None or answer is None:
            return
        self._stale = True
        if isinstance(answer, Failure):
            self._problem, self._stopped = answer.message, not asked.explain
        else:
            self._take(asked, answer)

    def _take(self, asked: Query, answer: Answer) -> None:
        session = self.game.session
        if asked.position != session.position or session.is_over:
            return
        if isinstance(answer, int):
            self._play(answer)
        elif isinstance(answer, Explanation):
            best = answer.moves[0].action
            self._hint = session.game.action_squares(best, session.position)
            name = self._notation.write(best, session.position)
            self._news = f"{asked.agent} would play {name}"

    # ---- what can be done ----------------------------------------------------------------------

    def _commands(self) -> list[_Command]:
        session, game = self.game.session, self.game
        over = session.is_over
        can_undo = bool(session.actions) or session.resigned is not None
        return [
            _Command("New game", "N", self._new_game),
            _Command("Undo", "U", self._undo, can_undo),
            _Command("Redo", "R", self._redo, bool(session.undone) and session.resigned is None),
            _Command("Hint", "H", self._ask_hint, game.is_humans_turn),
            _Command("Resign", "G", self._resign, not over),
            _Command("Flip board", "F", self._flip),
            self._last_command(),
        ]

    def _last_command(self) -> _Command:
        """What depends on whose turn it is."""
        session, game = self.game.session, self.game
        if game.is_humans_turn:
            return _Command("Pass", "P", self._pass, session.must_pass)
        if self._stopped and not session.is_over:
            return _Command("Go on", "S", self._go_on)
        return _Command("Stop", "S", self._stop, not session.is_over)

    def _new_game(self) -> None:
        self._thinker.stop()
        self.game.new_game()
        self._new_position()

    def _undo(self) -> None:
        self._thinker.stop()
        self.game.undo()
        self._new_position()

    def _redo(self) -> None:
        self._thinker.stop()
        self.game.redo()
        self._new_position()

    def _ask_hint(self) -> None:
        self._ask(self.game.adviser, explain=True)

    def _resign(self) -> None:
        if not self._resigning:
            self._resigning = True
            self._news = "press Resign again to give the game up"
            return
        self._thinker.stop()
        self.game.resign()
        self._new_position()

    def _flip(self) -> None:
        self._side = self._side._replace(flipped=not self._side.flipped)

    def _pass(self) -> None:
        self._play(self.game.session.game.noop)

    def _stop(self) -> None:
        self._thinker.stop()
        self._stopped = True

    def _go_on(self) -> None:
        self._stopped = False

    def _play(self, action: int) -> None:
        session, role = self.game.session, self.game.mover
        name = self._notation.write(action, session.position)
        passes = action == session.game.noop
        self._thinker.stop()
        self.game.play(action)
        self._new_position()
        self._news = f"{role} has no move and passes" if passes else f"{role} played {name}"

    def _new_position(self) -> None:
        session, game = self.game.session, self.game
        actions = session.legal_actions() if game.is_humans_turn else []
        self._picker.offer(session.game, session.position, actions)
        self._stopped = self._resigning = False
        self._news = self._problem = ""
        self._hint = ()
        self._stale = True

    def _run(self, command: _Command) -> None:
        if not command.enabled:
            return
        self._problem = ""
        was_resigning, self._stale = self._resigning, True
        try:
            command.run()
        except ValueError as error:
            self._problem = str(error)
        if was_resigning:
            self._resigning = False

    # ---- mouse and keys ------------------------------------------------------------------------

    def _handle(self, event: Any) -> None:
        pygame = self._pygame
        if event.type == pygame.MOUSEBUTTONDOWN and event.button == 1:
            self._press(*self._place(event.pos))
        elif event.type == pygame.MOUSEBUTTONUP and event.button == 1:
            square = square_at(*self._place(event.pos), self._side)
            self._chosen(self._picker.release(square))
        elif event.type == pygame.MOUSEMOTION:
            self._stale |= self._picker.dragged is not None
        elif event.type == pygame.KEYDOWN:
            self._key(event)
        elif event.type in (pygame.VIDEORESIZE, pygame.WINDOWEXPOSED):
            self._stale = True

    def _press(self, x: float, y: float) -> None:
        self._keys_used, self._focus, self._stale = False, None, True
        commands = self._commands()
        button = button_at(x, y, len(commands))
        square = square_at(x, y, self._side)
        if button is not None:
            self._run(commands[button])
        elif square is not None:
            self._picker.cursor = square
            self._picker.press(square)

    def _key(self, event: Any) -> None:
        pygame, self._stale = self._pygame, True
        arrows = {
            pygame.K_LEFT: (-1, 0),
            pygame.K_RIGHT: (1, 0),
            pygame.K_UP: (0, 1),
            pygame.K_DOWN: (0, -1),
        }
        if event.key in arrows:
            self._keys_used, self._focus = True, None
            way = -1 if self._side.flipped else 1
            files, ranks = arrows[event.key]
            self._picker.go(way * files, way * ranks)
        elif event.key in (pygame.K_RETURN, pygame.K_KP_ENTER, pygame.K_SPACE):
            self._enter()
        elif event.key == pygame.K_ESCAPE:
            self._picker.let_go()
        elif event.key == pygame.K_TAB:
            self._move_focus(-1 if event.mod & pygame.KMOD_SHIFT else 1)
        elif not event.mod & (pygame.KMOD_CTRL | pygame.KMOD_ALT | pygame.KMOD_META):
            for command in self._commands():
                if event.key == pygame.key.key_code(command.key.lower()):
                    self._run(command)

    def _enter(self) -> None:
        """The button with the focus is pressed, or the square of the cursor chosen."""
        if self._focus is not None:
            self._run(self._commands()[self._focus])
        elif self.game.is_humans_turn and self.game.session.must_pass:
            self._pass()
        else:
            self._keys_used = True
            self._chosen(self._picker.choose(self._picker.cursor))

    def _move_focus(self, step: int) -> None:
        """To the next button that can be pressed, or to the board, which comes before the first."""
        commands = self._commands()
        places = [None, *(i for i, command in enumerate(commands) if command.enabled)]
        now = places.index(self._focus) if self._focus in places else 0
        self._focus = places[(now + step) % len(places)]

    def _chosen(self, action: int | None) -> None:
        self._stale = True
        if action is not None:
            self._play(action)

    # ---- what is shown -------------------------------------------------------------------------

    def _place(self, pixel: tuple[int, int]) -> tuple[float, float]:
        """A point of the window in the units of its picture."""
        unit, left, top = self._fit()
        return (pixel[0] - left) / unit, (pixel[1] - top) / unit

    def _fit(self) -> tuple[int, int, int]:
        """The pixels of a square, and left of and above the picture in the middle."""
        width, height = self._screen.get_size()
        unit = max(_LEAST_UNIT, int(min(width / WIDTH, height / HEIGHT)))
        return unit, int(width - WIDTH * unit) // 2, int(height - HEIGHT * unit) // 2

    def _draw(self) -> None:
        unit, left, top = self._fit()
        picture = window_scene(self._shown())
        self._screen.fill(picture.ground)
        self._screen.blit(draw_surface(picture, unit), (left, top))
        self._pygame.display.flip()
        self._stale = False

    def _shown(self) -> Shown:
        session, picker = self.game.session, self._picker
        last = session.actions[-1] if session.actions else None
        held = picker.dragged
        return Shown(
            view=view(session.game, session.position, last, before=session.before)._replace(
                targets=picker.targets
            ),
            side=self._side,
            lines=self._lines(),
            buttons=[
                Button(command.text, command.key, command.enabled, place == self._focus)
                for place, command in enumerate(self._commands())
            ],
            sources=picker.sources,
            source=picker.source if held is None else held,
            dragged=None if held is None else self._place(self._pygame.mouse.get_pos()),
            hint=self._hint,
            cursor=picker.cursor if self._keys_used and self._focus is None else None,
        )

    def _lines(self) -> list[TextLine]:
        lines = [TextLine(self.game.counts), TextLine(self._status()), TextLine(self._news)]
        return [*lines, TextLine(self._problem, problem=True)]

    def _status(self) -> str:
        game, session = self.game, self.game.session
        if session.is_over:
            return game.result
        if game.is_humans_turn and self._thinker.asked:
            return f"{game.mover} to move; {self._thinker.asked.agent} is thinking about a hint …"
        if game.is_humans_turn and session.must_pass:
            return f"{game.mover} has no move and must pass: P or Enter"
        if game.is_humans_turn:
            return f"{game.mover} to move: your turn"
        agent = game.players[session.position.to_move]
        if self._stopped:
            return f"{game.mover}, {agent}, was stopped: Go on asks it again"
        return f"{game.mover}, {agent}, is thinking …"
