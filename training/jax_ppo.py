"""Train a policy by self-play, as one program of JAX: `python -m training.jax_ppo CONFIG`.

The recipe is that of `training.ppo`, see README.md, and so are settings, files and report. Playing
and learning are one compiled function, `update`: on a processor it saves the way between libraries,
on a GPU nothing leaves it. Opponents must play in JAX too. For PPO itself see
https://arxiv.org/abs/1707.06347, for a program of this form https://github.com/luchris429/purejaxrl.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax
from pydantic import Field, model_validator
from rich.console import Console

from boardenvs.agents.jax_players import Network, draw_action, forward, jax_agent, network_of
from boardenvs.agents.policy import Policy, PolicyAgent
from boardenvs.agents.policy_file import save_policy
from boardenvs.agents.pool import OpponentPool
from boardenvs.game.contract import Game
from boardenvs.game.jax_rules import JaxRules
from training.checkpoint import save_checkpoint, to_arrays, to_tensors
from training.command import Command
from training.config import Config, PPOSettings
from training.folder import resume_from
from training.history import History, is_due, policy_notes
from training.interrupt import InterruptRequest
from training.jax_boards import Boards, Games, Pool, Result, View
from training.network import FLAT_WEIGHT, flat_planes
from training.openings import played_starts
from training.progress import TrainingDisplay
from training.report import conclude
from training.settings import POOL, SELF_PLAY, ConfigError, RunSettings

_NEVER = -1e8  # the logit of an illegal action: its probability is 0, its logarithm a number


class JaxConfig(Config):
    """Settings of a run in JAX: those of `training.ppo`, with opponents that play in JAX."""

    packages: ClassVar = (*RunSettings.packages, "jax", "jaxlib", "optax")

    device: Annotated[str, Field(pattern=r"^(auto|cpu|cuda(:\d+)?)$")] = "auto"
    precision: Literal["float32"] = "float32"

    @model_validator(mode="after")
    def _in_jax(self) -> Self:
        game = self.make_game()
        for spec in self.self_play.opponents:
            try:
                jax_agent(game, spec)
            except ValueError as error:
                raise ValueError(f"self_play.opponents: {error}") from None
        if self.callbacks:
            raise ValueError("callbacks are for training.ppo: leave them out")
        if self.self_play.threads > 1:
            raise ValueError(
                f"self_play.threads is {self.self_play.threads}: opponents are part of the "
                "compiled program, so it must be 1"
            )
        return self


# ---- what learns ---------------------------------------------------------------------------------


class Learner(NamedTuple):
    """All that an update changes."""

    network: Network  # its first layer takes what `Inputs` makes of an observation
    optimizer: optax.OptState
    games: Games
    key: jax.Array


class Inputs:
    """What the network takes: a plane that is the same on all squares as one number."""

    def __init__(self, game: Game) -> None:
        self._planes = game.observation_shape[2]
        self._flat = np.array(flat_planes(game), int)
        self._full = np.setdiff1d(np.arange(self._planes), self._flat)
        self.size = 64 * len(self._full) + len(self._flat)

    def __call__(self, planes: jax.Array) -> jax.Array:
        """The inputs (B, I) float32 of planes (B, C * 64)."""
        if not len(self._flat):
            return planes.astype(jnp.float32)
        by_plane = planes.reshape(len(planes), self._planes, 64)
        full = by_plane[:, self._full].reshape(len(planes), -1).astype(jnp.float32)
        flat = by_plane[:, self._flat, 0] * FLAT_WEIGHT
        return jnp.concatenate([full, flat], axis=1)

    def for_all_squares(self, weights: Any) -> Any:
        """The first layer's weights (I, N) as those of one that takes every square, (C * 64, N)."""
        full, flat = np.split(np.asarray(weights), [64 * len(self._full)])
        found = np.empty((self._planes, 64, weights.shape[1]), np.float32)
        found[self._full] = full.reshape(len(self._full), 64, -1)
        found[self._flat] = flat[:, None] * (FLAT_WEIGHT / 64)
        return found.reshape(-1, weights.shape[1])


def new_network(inputs: int, hidden: Sequence[int], actions: int, key: jax.Array) -> Network:
    """Untrained layers, orthogonal, of the gains that Stable-Baselines3 has."""
    keys = iter(jax.random.split(key, len(hidden) + 2))

    def layer(inputs: int, outputs: int, gain: float) -> tuple[jax.Array, jax.Array]:
        weights = jax.nn.initializers.orthogonal(gain)(next(keys), (inputs, outputs), jnp.float32)
        return weights, jnp.zeros(outputs)

    sizes = [inputs, *hidden]
    layers = [layer(*pair, 2**0.5) for pair in zip(sizes, hidden, strict=False)]
    return Network(tuple(layers), layer(hidden[-1], actions, 0.01), layer(hidden[-1], 1, 1.0))


class Step(NamedTuple):
    """What was seen and done in one step of all games, and later of an update, first axis time."""

    view: View
    actions: jax.Array
    log_chances: jax.Array  # the logarithm of each action's probability
    values: jax.Array
    result: Result


class Batch(NamedTuple):
    """Steps to learn from, one a row."""

    view: View
    actions: jax.Array
    log_chances: jax.Array
    advantages: jax.Array
    returns: jax.Array


class Trainer:
    """The compiled program of a run."""

    def __init__(self, config: JaxConfig) -> None:
        game = config.make_game()
        self.ppo: PPOSettings = config.ppo
        self.inputs = Inputs(game)
        self.boards = Boards(JaxRules(game), config.self_play, played_starts(config))
        self.optimizer = optax.chain(
            optax.clip_by_global_norm(config.ppo.max_gradient), optax.scale_by_adam(eps=1e-5)
        )
        self._new = jax.jit(self._untrained)
        self.update = jax.jit(self._update, donate_argnums=0)

    def new(self, seed: int) -> Learner:
        """An untrained learner with new games; ConfigError where there are no openings."""
        learner, there = self._new(jax.random.key(seed))
        if not there:
            raise ConfigError("self_play.opening_plies: no game lasts so long; lower them")
        return learner

    def _untrained(self, key: jax.Array) -> tuple[Learner, jax.Array]:
        network_key, opening_key, game_key, key = jax.random.split(key, 4)
        actions = self.boards.rules.game.num_actions
        network = new_network(self.inputs.size, self.ppo.hidden, actions, network_key)
        openings, there = self.boards.openings(opening_key, None)
        games = self.boards.begin(game_key, openings)
        return Learner(network, self.optimizer.init(network), games, key), there

    def _update(
        self, learner: Learner, pool: Pool | None, rate: jax.Array, bonus: jax.Array
    ) -> tuple[Learner, dict[str, jax.Array]]:
        """Steps on all boards and the epochs that learn from them; the learner and the figures.

        `rate` is the step size, `bonus` that of the entropy.
        """
        key, opening_key, play_key, learn_key = jax.random.split(learner.key, 4)
        openings, _ = self.boards.openings(opening_key, pool)

        def step(games: Games, key: jax.Array) -> tuple[Games, Step]:
            choice_key, board_key = jax.random.split(key)
            view = self.boards.view(games)
            logits, values = self._judged(learner.network, view)
            actions = jax.vmap(draw_action)(logits, jax.random.split(choice_key, self.boards.size))
            chances = _of(jax.nn.log_softmax(logits), actions)
            games, result = self.boards.step(games, actions, board_key, openings, pool)
            return games, Step(view, actions, chances, values, result)

        keys = jax.random.split(play_key, self.ppo.steps_per_update)
        games, steps = lax.scan(step, learner.games, keys)
        _, last = self._judged(learner.network, self.boards.view(games))
        advantages = self._advantages(steps, last)
        returns = advantages + steps.values
        batch = Batch(steps.view, steps.actions, steps.log_chances, advantages, returns)
        batch = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), batch)
        network, optimizer, figures = self._learn(learner, batch, learn_key, rate, bonus)
        spread = jnp.var(returns)
        unexplained = jnp.where(spread > 0, jnp.var(advantages) / spread, jnp.nan)
        figures |= self._game_figures(steps.result)
        figures["train/explained_variance"] = 1 - unexplained
        return Learner(network, optimizer, games, key), figures

    def _judged(self, network: Network, view: View) -> tuple[jax.Array, jax.Array]:
        """Logits of the actions, those of illegal ones very low, and values."""
        logits, values = forward(network, self.inputs(view.planes))
        return jnp.where(view.legal, logits, _NEVER), values

    def _advantages(self, steps: Step, last: jax.Array) -> jax.Array:
        """Generalised advantage estimates, (T, B): https://arxiv.org/abs/1506.02438.

        The factor of the next state's value is the board's: -1 where that is the other side's.
        """
        discounts, decay = self.boards.discounts, self.ppo.gae_lambda

        def before(
            later: tuple[jax.Array, jax.Array], step: Step
        ) -> tuple[tuple[jax.Array, jax.Array], jax.Array]:
            advantage, value = later
            factor = jnp.where(step.result.over, 0.0, discounts)
            error = step.result.rewards + factor * value - step.values
            advantage = error + factor * decay * advantage
            return (advantage, step.values), advantage

        first = (jnp.zeros_like(last), last)
        return lax.scan(before, first, steps, reverse=True)[1]

    def _learn(
        self, learner: Learner, batch: Batch, key: jax.Array, rate: jax.Array, bonus: jax.Array
    ) -> tuple[Network, optax.OptState, dict[str, jax.Array]]:
        """The epochs of gradient steps, until the policy has moved by `target_kl` where set."""
        ppo, rows = self.ppo, len(batch.actions)
        limit = jnp.inf if ppo.target_kl is None else 1.5 * ppo.target_kl  # as sb3-contrib has it
        gradient = jax.grad(partial(self._loss, bonus=bonus), has_aux=True)

        def gradient_step(
            carry: tuple[Network, optax.OptState], part: Batch
        ) -> tuple[tuple[Network, optax.OptState, jax.Array], dict[str, jax.Array]]:
            network, optimizer = carry
            gradients, figures = gradient(network, part)
            changes, new_optimizer = self.optimizer.update(gradients, optimizer, network)
            changes = jax.tree.map(lambda x: -rate * x, changes)
            goes_on = figures["train/approx_kl"] <= limit
            new = optax.apply_updates(network, changes), new_optimizer
            chosen = jax.tree.map(lambda x, y: jnp.where(goes_on, x, y), new, carry)
            return (*chosen, goes_on), figures

        def epoch(carry: Any, key: jax.Array) -> tuple[Any, dict[str, jax.Array]]:
            # One sort; `permutation` sorts twice, to be fair where two numbers are the same.
            order = jnp.argsort(jax.random.bits(key, (rows,))).reshape(-1, ppo.batch_size)

            def one(carry: Any, chosen: jax.Array) -> tuple[Any, dict[str, jax.Array]]:
                network, optimizer, goes_on = carry
                part = jax.tree.map(lambda x: x[chosen], batch)
                return lax.cond(
                    goes_on,
                    lambda: gradient_step((network, optimizer), part),
                    lambda: (carry, dict.fromkeys(_LOSSES, jnp.nan)),
                )

            going = carry[2]
            carry, figures = lax.scan(one, carry, order)
            return carry, figures | {"train/epochs": going.astype(jnp.float32)}

        carry = (learner.network, learner.optimizer, jnp.bool_(True))
        (network, optimizer, _), figures = lax.scan(epoch, carry, jax.random.split(key, ppo.epochs))
        epochs = figures.pop("train/epochs").sum()
        means = {name: jnp.nanmean(values) for name, values in figures.items()}
        return network, optimizer, means | {"train/epochs": epochs}

    def _loss(
        self, network: Network, part: Batch, bonus: jax.Array
    ) -> tuple[jax.Array, dict[str, jax.Array]]:
        """PPO's clipped objective, the value's squared error and the entropy."""
        logits, values = self._judged(network, part.view)
        log_chances = jax.nn.log_softmax(logits)
        change = _of(log_chances, part.actions) - part.log_chances
        ratio, clip = jnp.exp(change), self.ppo.clip_range
        advantages = part.advantages - part.advantages.mean()
        advantages /= part.advantages.std(ddof=1) + 1e-8
        clipped = jnp.clip(ratio, 1 - clip, 1 + clip)
        policy = -jnp.minimum(ratio * advantages, clipped * advantages).mean()
        value = jnp.square(part.returns - values).mean()
        entropy = -(jnp.exp(log_chances) * log_chances).sum(axis=1).mean()
        loss = policy + self.ppo.value_weight * value - bonus * entropy
        figures = (entropy, policy, value, (ratio - 1 - change).mean(),
                   (jnp.abs(ratio - 1) > clip).mean())  # fmt: skip
        return loss, dict(zip(_LOSSES, figures, strict=True))

    def _game_figures(self, result: Result) -> dict[str, jax.Array]:
        """The figures of the games that ended; nan where none did."""
        over = result.over
        figures = {
            "games/plies": jnp.where(over, result.plies, 0).sum() / over.sum(),
            "games/wiped_out": result.wiped_out.sum() / over.sum(),
        }
        for name in dict.fromkeys(g.name for g in self.boards.groups if g.name != SELF_PLAY):
            rows = jnp.concatenate(
                [jnp.arange(*g.rows.indices(self.boards.size)) for g in self.boards.groups
                 if g.name == name]
            )  # fmt: skip
            points = jnp.where(over, (1 + result.rewards) / 2, 0)[:, rows].sum()
            figures[f"games/{name}"] = points / over[:, rows].sum()
        return figures


_LOSSES = ("train/entropy", "train/policy_loss", "train/value_loss", "train/approx_kl",
           "train/clip_fraction")  # fmt: skip


def _of(values: jax.Array, actions: jax.Array) -> jax.Array:
    """The value of each row's action."""
    return jnp.take_along_axis(values, actions[:, None], axis=1)[:, 0]


# ---- a run ---------------------------------------------------------------------------------------


class Run:
    """A training in progress: updates, and between them evaluations, snapshots and checkpoints."""

    def __init__(self, config: JaxConfig, folder: Path) -> None:
        self.config = config
        self.folder = folder
        self.history = History(config)
        self.steps = 0
        self._trainer = Trainer(config)
        self._learner = self._trainer.new(config.seed)
        self._best = self._learner.network
        settings = config.self_play.pool
        self._pool = OpponentPool(folder / "pool", settings.size, config.seed)
        self._saved = 0  # steps of the last checkpoint

    def go_on(self, display: TrainingDisplay, interrupt: InterruptRequest) -> None:
        """Train to the end of the run, or until an interruption is asked for."""
        config, self._display = self.config, display
        self.history.start_clocks()
        if not self.history.results:
            self._evaluate()
            self._add_to_pool()
            self._try("the first checkpoint", self.save)
        while not (self.history.is_finished(self.steps) or interrupt.requested):
            before = self.steps
            self._update()
            is_last = self.history.is_finished(self.steps)
            if is_last or is_due(before, self.steps, config.evaluation.every):
                self._evaluate()
            if is_due(before, self.steps, config.self_play.pool.every):
                self._add_to_pool()
            if is_last or interrupt.requested:
                self.save()
            elif is_due(self._saved, self.steps, config.checkpoint_every):
                self._try("a checkpoint", self.save)

    def _update(self) -> None:
        began, config = time.monotonic(), self.config
        taken = config.self_play.boards * config.ppo.steps_per_update
        self.steps += taken
        done = self.steps / config.steps
        rate, bonus = config.ppo.learning_rate_at(done), config.ppo.entropy_bonus_at(done)
        learner = self._learner
        self._learner, found = self._trainer.update(learner, self._opponents(), rate, bonus)
        figures = {name: float(value) for name, value in jax.device_get(found).items()}
        seconds = time.monotonic() - began
        figures = {
            "speed/steps_per_second": taken / seconds,
            **{name: figures[name] for name in sorted(figures)},
            "train/learning_rate": rate,
            "train/entropy_bonus": bonus,
        }
        self.history.add_figures(self.steps, figures)
        self._display.update(self.steps, figures)

    def _opponents(self) -> Pool | None:
        """Other snapshots for the boards of the pool; the learner itself where none was written."""
        count = sum(group.name == POOL for group in self._trainer.boards.groups)
        if not count:
            return None
        drawn = self._pool.draw(count) if len(self._pool) else []
        policies = [agent.policy for agent in drawn if isinstance(agent, PolicyAgent)]
        networks = [network_of(p) for p in policies or [self._policy()] * count]
        return jax.tree.map(lambda *layers: jnp.stack(layers), *networks)

    def _evaluate(self) -> None:
        result, is_best = self.history.evaluate(self._policy(), self.steps)
        self._display.evaluated(result, is_best)
        if is_best:
            # A copy: an update takes the memory back.
            self._best = jax.tree.map(np.array, self._learner.network)
            self._try("the best policy", self.write_best)

    def write_best(self) -> None:
        """Write the best policy to its file; OSError where that cannot be."""
        policy = self._policy(self._best, self.history.best.steps)
        save_policy(policy, self.folder / "policy.npz")

    def _policy(self, network: Network | None = None, steps: int | None = None) -> Policy:
        """The policy of a network after so many steps, or of the learner now."""
        layers = jax.tree.map(np.array, self._learner.network if network is None else network)
        (first, biases), *rest = layers.hidden
        hidden = ((self._trainer.inputs.for_all_squares(first), biases), *rest)
        notes = policy_notes(self.config, self.steps if steps is None else steps)
        return Policy(self.history.game, hidden, layers.policy_head, layers.value_head, notes)

    def _add_to_pool(self) -> None:
        if self.config.self_play.pool.share:
            policy = self._policy()
            self._try("an opponent of the pool", lambda: self._pool.add(policy, self.steps))

    def _try(self, what: str, write: Callable[[], object]) -> None:
        """Write a file that the training can go on without: what it holds is also in memory."""
        try:
            write()
        except OSError as error:
            self._display.say(f"warning: {what} could not be written ({error}); the run goes on")

    # ---- checkpoints -------------------------------------------------------------------------

    def save(self) -> None:
        """Write a checkpoint; OSError where that cannot be, and then those before it are kept."""
        content = {
            "config": self.config.model_dump(mode="json"),
            "steps": self.steps,
            "learner": to_tensors(_leaves(self._learner)),
            "best": to_tensors(_leaves(self._best)),
            "pool": self._pool.snapshot(),
            "history": self.history.snapshot(),
        }
        save_checkpoint(self.folder / "checkpoints", self.steps, content)
        self._saved = self.steps

    def load(self, content: dict[str, Any]) -> list[str]:
        """Go on from what `save` has written; returns what could not be restored."""
        self._best = _like(self._best, to_arrays(content["best"]))
        self._learner = _like(self._learner, to_arrays(content["learner"]))
        self.history.restore(content["history"])
        self.steps = self._saved = content["steps"]
        return self._pool.restore(content["pool"])


def _leaves(tree: Any) -> list[Any]:
    """The arrays of a tree in NumPy, keys of random generators among them."""
    return [np.array(jax.random.key_data(x) if _is_key(x) else x) for x in jax.tree.leaves(tree)]


def _like(tree: Any, leaves: list[Any]) -> Any:
    """A tree like this one with other arrays; ValueError where they do not fit."""
    old, structure = jax.tree.flatten(tree)
    new = [
        jax.random.wrap_key_data(jnp.asarray(y)) if _is_key(x) else jnp.asarray(y)
        for x, y in zip(old, leaves, strict=True)
    ]
    for x, y in zip(old, new, strict=True):
        if x.shape != y.shape or x.dtype != y.dtype:
            raise ValueError(f"an array is {y.dtype} {y.shape}: it must be {x.dtype} {x.shape}")
    return jax.tree.unflatten(structure, new)


def _is_key(x: Any) -> bool:
    return jnp.issubdtype(x.dtype, jax.dtypes.prng_key)


def train(config: JaxConfig, folder: Path, resume: bool, console: Console) -> bool:
    """Train, judge the best policy and write the results; False where it was interrupted."""
    _limit_threads(config.threads)
    with jax.default_device(_device(config.device)), InterruptRequest() as interrupt:
        run = Run(config, folder)
        if resume:
            resume_from(folder, config, run.load, console)
        with TrainingDisplay(
            console, folder / "tensorboard", config.name, config.steps, run.steps
        ) as display:
            run.go_on(display, interrupt)
        if interrupt.requested:
            return False
    run.write_best()
    conclude(folder, config, run.history, console)
    return True


def _device(name: str) -> Any:
    """The device of a setting; ConfigError where there is none."""
    platform, _, index = name.partition(":")
    try:
        devices = jax.devices(None if platform == "auto" else platform)
        return devices[int(index or 0)]
    except (RuntimeError, IndexError):
        there = ", ".join(map(str, jax.devices()))
        raise ConfigError(f"device is {name!r}: JAX has {there}") from None


def _limit_threads(threads: int) -> None:
    """Let XLA use so many threads of the processor; it reads this once, with the first array."""
    if threads == 1:
        flags = os.environ.get("XLA_FLAGS", "")
        os.environ["XLA_FLAGS"] = f"{flags} --xla_cpu_multi_thread_eigen=false".strip()
    os.environ["NPROC"] = str(threads)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code, see `training.command`."""
    return Command("training.jax_ppo", JaxConfig, train)(arguments)


if __name__ == "__main__":
    sys.exit(main())
