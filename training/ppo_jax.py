"""Masked PPO by self-play as one compiled program of JAX, in one file to read, copy and change.

    python -m training.ppo_jax --game othello --steps 4000000 --name othello_jax
    boardenvs match othello policy:runs/othello_jax/policy.npz greedy

It is written as PureJaxRL is: playing and learning are pure functions, and many updates are one
call. What board games need: illegal actions are masked; one network plays both sides, and a value
that belongs to the other side counts negatively; games begin after some random plies.

`runs/NAME/` gets settings.json, metrics.json, policy.npz and checkpoint.npz at every evaluation.
"""

from __future__ import annotations

import io
import itertools
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax

import boardenvs
from boardenvs.agents.jax_players import JaxNetwork, draw_action, forward
from boardenvs.agents.policy import Policy
from boardenvs.envs.jax import JaxEnv, JaxState, outcome_of_mover
from boardenvs.game.jax_rules import choose
from boardenvs.utils.files import write_atomically
from boardenvs.utils.npz import ArchiveKind, read_array, read_json
from boardenvs.utils.threads import limit_jax
from training.single_run import SingleRunSettings, begun, evaluate, option, parser_of

CLIP_RANGE, VALUE_WEIGHT, MAX_GRADIENT = 0.2, 0.5, 0.5
METRICS = ("policy_loss", "value_loss", "entropy", "approx_kl")


@dataclass(frozen=True)
class JaxSettings(SingleRunSettings):
    """The options of the command; ValueError for numbers that do not fit together."""

    name: str = option("jax", "the run's: its files are in runs/NAME")
    seed: int = option(0, "the same seed on the same device gives the same run")
    steps: int = option(4_000_000, "moves in all games; rounded up to whole evaluations")
    boards: int = option(512, "games played side by side")
    opening_plies: Sequence[int] = option((0, 40), "random plies before each game, from, to")
    hidden: Sequence[int] = option((256, 256), "widths of the hidden layers")
    batch_size: int = option(1024, "moves in a gradient step")
    entropy_bonus: float = option(0.06, "weight of the entropy")
    evaluate_every: int = option(1_000_000, "steps between evaluations")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.update % self.batch_size:
            raise ValueError(
                f"--batch-size is {self.batch_size}: it must divide --boards times "
                f"--steps-per-update, {self.update}"
            )

    @property
    def update(self) -> int:
        """Steps of an update."""
        return self.boards * self.steps_per_update

    @property
    def updates(self) -> int:
        """Updates between two evaluations."""
        return -(-self.evaluate_every // self.update)

    @property
    def evaluations(self) -> int:
        return -(-self.steps // (self.update * self.updates))


class TrainState(NamedTuple):
    """Everything that an update changes."""

    network: JaxNetwork
    optimizer: optax.OptState
    games: JaxState  # of all boards
    key: jax.Array  # the data of a random key


class Samples(NamedTuple):
    """The training data of an update, one row a move."""

    planes: jax.Array  # (N, inputs) bool
    legal: jax.Array  # (N, A) bool
    actions: jax.Array  # (N,) int32
    log_probabilities: jax.Array  # (N,) of the actions, when they were drawn
    advantages: jax.Array  # (N,)
    returns: jax.Array  # (N,)


class Trainer:
    """The program of a run: `begin()`, then `block(state)` for the updates of each evaluation."""

    def __init__(self, settings: JaxSettings) -> None:
        self.settings = settings
        self.env = JaxEnv(boardenvs.games.make(settings.game), autoreset=False)
        steps = settings.evaluations * settings.updates * settings.update
        rate = optax.linear_schedule(
            settings.learning_rate,
            settings.final_learning_rate,
            settings.epochs * steps // settings.batch_size,
        )
        self.optimizer = optax.chain(
            optax.clip_by_global_norm(MAX_GRADIENT), optax.adam(rate, eps=1e-5)
        )
        self.begin = jax.jit(self._begin)
        self.block = jax.jit(self._block, donate_argnums=0)

    def _begin(self) -> TrainState:
        """An untrained network and new games."""
        network_key, game_key, key = jax.random.split(jax.random.key(self.settings.seed), 3)
        network = new_network(self.env, self.settings.hidden, network_key)
        games = jax.vmap(self.opening)(jax.random.split(game_key, self.settings.boards))
        return TrainState(network, self.optimizer.init(network), games, jax.random.key_data(key))

    def _block(self, state: TrainState) -> tuple[TrainState, dict[str, jax.Array]]:
        """The state after the updates between two evaluations, and the means of `METRICS`."""

        def update(state: TrainState, _: None) -> tuple[TrainState, Any]:
            key, play_key, learn_key = jax.random.split(jax.random.wrap_key_data(state.key), 3)
            keys = jax.random.split(play_key, self.settings.boards)
            games, samples = jax.vmap(self.play, (None, 0, 0))(state.network, state.games, keys)
            samples = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), samples)
            learner = state.network, state.optimizer
            (network, memory), metrics = self.learn(learner, samples, learn_key)
            return TrainState(network, memory, games, jax.random.key_data(key)), metrics

        state, metrics = lax.scan(update, state, length=self.settings.updates)
        return state, jax.tree.map(jnp.mean, metrics)

    # ---- one board -------------------------------------------------------------------------------

    def opening(self, key: jax.Array) -> JaxState:
        """A new game after random plies."""
        begin_key, length_key, key = jax.random.split(key, 3)
        low, high = self.settings.opening_plies
        start, length = self.env.init(begin_key), jax.random.randint(length_key, (), low, high + 1)

        def ply(game: JaxState, key: jax.Array) -> tuple[JaxState, None]:
            after = self.env.step(game, self.env.sample(game, key))
            return choose(game.board.ply < length, after, game), None

        game, _ = lax.scan(ply, start, jax.random.split(key, high))
        found: JaxState = choose(game.is_over, start, game)
        return found

    def play(self, network: JaxNetwork, game: JaxState, key: jax.Array) -> tuple[JaxState, Samples]:
        """The game after the moves of an update, and these as samples; when a game ends, another
        one begins.
        """
        opening_key, key = jax.random.split(key)
        opening = self.opening(opening_key)

        def evaluate(game: JaxState) -> Any:
            planes, legal = jnp.moveaxis(game.observation, -1, 0).ravel(), game.legal_action_mask
            return planes, legal, *forward(network, planes, legal)

        def move(game: JaxState, key: jax.Array) -> tuple[JaxState, Any]:
            planes, legal, logits, value = evaluate(game)
            action = draw_action(logits, key)
            after = self.env.step(game, action)
            seen = planes, legal, action, jax.nn.log_softmax(logits)[action]
            result = value, *outcome_of_mover(game, after)
            return choose(after.is_over, opening, after), (seen, result)

        keys = jax.random.split(key, self.settings.steps_per_update)
        game, (seen, (values, rewards, discounts)) = lax.scan(move, game, keys)
        last, decay = evaluate(game)[3], self.settings.gae_lambda
        gained = advantages(values, rewards, discounts, last, decay)
        planes, legal, drawn, log_probabilities = seen
        returns = gained + values
        return game, Samples(planes, legal, drawn, log_probabilities, gained, returns)

    # ---- learning --------------------------------------------------------------------------------

    def learn(self, learner: Any, samples: Samples, key: jax.Array) -> tuple[Any, Any]:
        """The network and the optimiser's state after the epochs of an update, and the metrics of
        each gradient step.
        """

        def gradient_step(learner: Any, rows: jax.Array) -> Any:
            network, memory = learner
            batch = jax.tree.map(lambda x: x[rows], samples)
            gradient, metrics = jax.grad(self.loss, has_aux=True)(network, batch)
            change, memory = self.optimizer.update(gradient, memory)
            return (optax.apply_updates(network, change), memory), metrics

        def epoch(learner: Any, key: jax.Array) -> Any:
            order = jax.random.permutation(key, self.settings.update)
            return lax.scan(gradient_step, learner, order.reshape(-1, self.settings.batch_size))

        return lax.scan(epoch, learner, jax.random.split(key, self.settings.epochs))

    def loss(self, network: JaxNetwork, batch: Samples) -> tuple[jax.Array, dict[str, jax.Array]]:
        """PPO's clipped objective, the value's squared error and the entropy, and `METRICS`."""
        logits, values = forward(network, batch.planes, batch.legal)
        log_probabilities = jax.nn.log_softmax(logits)
        drawn = jnp.take_along_axis(log_probabilities, batch.actions[:, None], axis=1)[:, 0]
        change = drawn - batch.log_probabilities
        ratio = jnp.exp(change)
        gained = jax.nn.standardize(batch.advantages)
        clipped = jnp.clip(ratio, 1 - CLIP_RANGE, 1 + CLIP_RANGE)
        policy_loss = -jnp.minimum(ratio * gained, clipped * gained).mean()
        value_loss = jnp.square(batch.returns - values).mean()
        entropy = -(jnp.exp(log_probabilities) * log_probabilities).sum(axis=1).mean()
        loss = policy_loss + VALUE_WEIGHT * value_loss - self.settings.entropy_bonus * entropy
        metrics = (policy_loss, value_loss, entropy, (ratio - 1 - change).mean())
        return loss, dict(zip(METRICS, metrics, strict=True))


def advantages(
    values: jax.Array, rewards: jax.Array, discounts: jax.Array, last: jax.Array, decay: float
) -> jax.Array:
    """Generalised advantage estimates (T,): https://arxiv.org/abs/1506.02438.

    `values` before the moves, `rewards` of the movers and `discounts` are (T,); `last` is the value
    after the last move, (). A discount is the factor of the next value: -1 where the other side is
    to move next, 1 where the mover is again, 0 where the game has ended.
    """

    def before(later: tuple[jax.Array, jax.Array], move: Any) -> Any:
        (advantage, next_value), (value, reward, discount) = later, move
        advantage = reward + discount * (next_value + decay * advantage) - value
        return (advantage, value), advantage

    first = (jnp.zeros_like(last), last)
    found: jax.Array = lax.scan(before, first, (values, rewards, discounts), reverse=True)[1]
    return found


def new_network(env: JaxEnv, hidden: Sequence[int], key: jax.Array) -> JaxNetwork:
    """Orthogonal layers with the gains of Stable-Baselines3; the inputs are all planes."""
    sizes = [int(np.prod(env.observation_shape)), *hidden]
    shapes = [(inputs, outputs, 2**0.5) for inputs, outputs in itertools.pairwise(sizes)]
    shapes += [(sizes[-1], env.num_actions, 0.01), (sizes[-1], 1, 1.0)]
    *layers, policy_head, value_head = (
        (jax.nn.initializers.orthogonal(gain)(key, (inputs, outputs)), jnp.zeros(outputs))
        for key, (inputs, outputs, gain) in zip(
            jax.random.split(key, len(shapes)), shapes, strict=True
        )
    )
    return JaxNetwork(tuple(layers), policy_head, value_head)


# ---- a run ---------------------------------------------------------------------------------------


def train(trainer: Trainer, folder: Path) -> None:
    """Train to the end, from the folder's checkpoint if there is one; print each evaluation."""
    settings, game, state = trainer.settings, trainer.env.game, trainer.begin()
    checkpoint = folder / "checkpoint.npz"
    block = settings.updates * settings.update
    rows: list[dict[str, float]] = []
    if checkpoint.exists():
        state, rows = read_checkpoint(checkpoint, state, settings)
    while len(rows) < settings.evaluations:
        began = time.perf_counter()
        state, metrics = trainer.block(state)
        found = {name: float(value) for name, value in metrics.items()}
        steps, seconds = block * (len(rows) + 1), time.perf_counter() - began
        hidden, policy_head, value_head = jax.tree.map(np.array, state.network)
        notes = {"seed": settings.seed, "steps": steps}
        policy = Policy(game, hidden, policy_head, value_head, notes)
        row = {"steps": steps, "steps_per_second": block / seconds, **found}
        rows = evaluate(policy, settings, folder, rows, row)
        write_checkpoint(checkpoint, state, rows, settings)


class JaxCheckpointError(ValueError):
    """A checkpoint that cannot be read; the message names the file and says why."""


_KIND = ArchiveKind("checkpoint", "training.ppo_jax", JaxCheckpointError)


def write_checkpoint(path: Path, state: TrainState, rows: list[Any], settings: JaxSettings) -> None:
    """Write everything that the rest of the run depends on."""
    file, made = io.BytesIO(), json.dumps([rows, asdict(settings)])
    np.savez(file, *map(np.asarray, jax.tree.leaves(state)), made=np.array(made))
    write_atomically(path, file.getvalue())


def read_checkpoint(
    path: Path, like: TrainState, settings: JaxSettings
) -> tuple[TrainState, list[Any]]:
    """The state and the metrics of a checkpoint; `like` has arrays of the same shapes.

    JaxCheckpointError if it is damaged, or of a run with other settings.
    """
    leaves, structure = jax.tree.flatten(like)
    with _KIND.open(path) as file:
        kept = [
            jnp.array(read_array(file, f"arr_{number}", leaf.shape, (leaf.dtype.name,)))
            for number, leaf in enumerate(leaves)
        ]
        rows, made = read_json(file, "made")
        if json.dumps(made) != json.dumps(asdict(settings)):
            raise JaxCheckpointError(f"{path} is of a run with other settings")
        return jax.tree.unflatten(structure, kept), list(rows)


def main(words: Sequence[str] | None = None) -> None:
    parser = parser_of(JaxSettings, "training.ppo_jax", "Train in one compiled program of JAX.")
    limit_jax(1)
    try:
        with begun(JaxSettings, vars(parser.parse_args(words))) as (settings, folder):
            train(Trainer(settings), folder)
    except (ValueError, OSError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
