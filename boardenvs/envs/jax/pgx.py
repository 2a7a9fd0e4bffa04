"""Every game as an environment of Pgx: `make("othello")` here in place of `pgx.make("othello")`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from boardenvs.utils.imports import extra

with extra("peers"):
    import jax
    import jax.numpy as jnp
    import pgx


from boardenvs import games, render
from boardenvs.envs.core import VERSION
from boardenvs.envs.groups import Opponent
from boardenvs.envs.jax import JaxEnv, JaxState
from boardenvs.game.contract import Game
from boardenvs.game.jax_rules import JaxPosition, positions_of
from boardenvs.render.geometry import scene, sheet
from boardenvs.render.svg import write_svg
from boardenvs.render.view import view
from boardenvs.utils.files import write_atomically

_COLUMNS, _UNIT = 8, 20  # of pictures of a batch: boards in a row, pixels of a square


def make(game: str | Game, *, opponent: Opponent | None = None, **rules: Any) -> PgxEnv:
    """Return the environment of a game, or of its text with the parameters of its rules.

    ```python
    import boardenvs.envs.jax.pgx
    import jax
    from pgx.experimental import auto_reset

    env = boardenvs.envs.jax.pgx.make("othello")
    step = jax.jit(jax.vmap(auto_reset(env.step, env.init)))
    keys = jax.random.split(jax.random.key(0), 8)
    state = jax.vmap(env.init)(keys)
    state = step(state, state.legal_action_mask.argmax(axis=1), keys)
    print(state.rewards.shape, state.terminated)
    ```
    """
    return PgxEnv(games.make(game, **rules), opponent=opponent)


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class PgxState(pgx.State):
    """A game of Pgx; its pictures are those of boardenvs."""

    _board: JaxPosition
    _game: Game = field(metadata={"static": True})

    @property
    def env_id(self) -> Any:
        return self._game.id

    def to_svg(
        self,
        *,
        color_theme: Literal["light", "dark"] | None = None,
        scale: float | None = None,
    ) -> str:
        """The board as SVG, or all boards of a batch as one sheet; the options change nothing."""
        boards: JaxPosition = self._board
        if boards.ply.ndim == 0:
            boards = jax.tree.map(lambda x: x[None], boards)
        positions = self._game.positions(positions_of(boards))
        if len(positions) == 1:
            return render.to_svg(self._game, positions[0])
        pictures = [scene(view(self._game, position), caption=False) for position in positions]
        labels = [f"board {index}" for index in range(len(positions))]
        return write_svg(sheet(pictures, labels, _COLUMNS), _UNIT)

    def save_svg(
        self,
        filename: Path | str,
        *,
        color_theme: Literal["light", "dark"] | None = None,
        scale: float | None = None,
    ) -> None:
        """Write what `to_svg` draws; OSError where it cannot be written."""
        write_atomically(Path(filename), self.to_svg().encode())


class PgxEnv(pgx.Env):
    """A game as Pgx has them: without `opponent` for two players in turn, else for one.

    A game that reaches its cap on plies is `terminated`, since Pgx's own games and its algorithms
    know no other end. Steps of an environment with an opponent need keys. Raises ValueError for an
    opponent that does not play in JAX.
    """

    def __init__(self, game: Game, *, opponent: Opponent | None = None) -> None:
        super().__init__()
        self.game = game
        self._env = JaxEnv(game, opponent=opponent, autoreset=False)
        self._players = 2 if opponent is None else 1

    def init(self, key: jax.Array) -> PgxState:
        return self._shown(self._env.init(key), jnp.int32(0))

    def step(self, state: pgx.State, action: jax.Array, key: jax.Array | None = None) -> PgxState:
        """Replaces Pgx's own `step`, whose conditionals compute all branches in a batch."""
        played = self._env.step(_hidden(state), action, key)
        return self._shown(played, state._step_count + 1)

    def sample(self, state: pgx.State, key: jax.Array) -> jax.Array:
        """A uniformly random legal action, () int32; see `JaxEnv.sample`."""
        return self._env.sample(_hidden(state), key)

    def _shown(self, state: JaxState, steps: jax.Array) -> PgxState:
        over = state.terminated | state.truncated
        rewards, truncated = state.rewards[: self._players], jnp.zeros_like(over)
        shown = state._replace(rewards=rewards, terminated=over, truncated=truncated)
        values = shown._asdict()
        board = values.pop("board")  # Pgx wants names of its own alone
        return PgxState(**values, _board=board, _step_count=steps, _game=self.game)

    def _init(self, key: jax.Array) -> PgxState:
        return self.init(key)

    def _step(self, state: pgx.State, action: jax.Array, key: jax.Array) -> PgxState:
        return self.step(state, action, key)

    def _observe(self, state: pgx.State, player_id: jax.Array) -> jax.Array:
        return self._env.observe(_hidden(state), player_id)

    @property
    def id(self) -> Any:
        return self.game.id

    @property
    def version(self) -> str:
        return VERSION

    @property
    def num_players(self) -> int:
        return self._players

    @property
    def num_actions(self) -> int:
        return self.game.num_actions

    @property
    def observation_shape(self) -> tuple[int, ...]:
        return self.game.observation_shape


def _hidden(state: pgx.State) -> JaxState:
    assert isinstance(state, PgxState), f"{type(state).__name__} is no state of this environment"
    names = ("_board" if name == "board" else name for name in JaxState._fields)
    return JaxState(*(getattr(state, name) for name in names))
