"""Masked PPO by self-play as one compiled program of JAX, in one file to read, copy and change.

    python ppo_jax.py --game othello --steps 4000000
    boardenvs match othello policy:policy.npz greedy

It is written as PureJaxRL is: playing and learning are pure functions, and many updates are one
call. What board games need: illegal actions are masked; one network plays both sides, and a value
that belongs to the other side counts negatively; games begin after some random plies.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax

import boardenvs
from boardenvs.agents.jax_players import draw_action, forward
from boardenvs.agents.policy import Policy, PolicyAgent
from boardenvs.agents.policy_file import save_policy
from boardenvs.agents.policy_network import fully_connected
from boardenvs.envs.jax import JaxEnv, JaxState, outcome_of_mover
from boardenvs.game.jax_rules import choose
from boardenvs.utils.files import check_writable
from boardenvs.utils.threads import limit_jax

CLIP_RANGE, VALUE_WEIGHT, MAX_GRADIENT = 0.2, 0.5, 0.5
METRICS = ("policy_loss", "value_loss", "entropy", "approx_kl")


def parse_args(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    add = parser.add_argument
    add("--game", default="othello", help="any game of boardenvs, or MODULE:NAME")
    add("--seed", type=int, default=0, help="the same seed on the same device gives the same run")
    add("--out", type=Path, default=Path("policy.npz"), help="what policy:FILE plays")
    add("--steps", type=int, default=4_000_000, help="moves in all games; whole evaluations")
    add("--boards", type=int, default=512, help="games played side by side")
    add("--steps-per-update", type=int, default=32, help="moves in each game between two updates")
    add("--opening-plies", type=int, nargs=2, default=(0, 40), help="of openings, from, to")
    add("--hidden", type=int, nargs="+", default=(256, 256), help="widths of the hidden layers")
    add("--learning-rate", type=float, default=2e-3, help="of Adam, at the start")
    add("--final-learning-rate", type=float, default=1e-4, help="at the end, falling linearly")
    add("--gae-lambda", type=float, default=0.9, help="how far advantages look ahead")
    add("--batch-size", type=int, default=1024, help="moves in a gradient step")
    add("--epochs", type=int, default=2, help="how often each move is learnt from")
    add("--entropy-bonus", type=float, default=0.06, help="weight of the entropy")
    add("--evaluate-every", type=int, default=1_000_000, help="steps between evaluations")
    add("--pairs", type=int, default=100, help="openings, each played from both sides")
    args = parser.parse_args(words)
    try:
        boardenvs.games.make(args.game).kernels.step_words.program()  # which plain Python has not
    except ValueError as error:
        parser.error(str(error))
    for name, value in vars(args).items():
        if isinstance(value, int) and value < (name != "seed"):
            parser.error(f"--{name.replace('_', '-')} is {value}: it must be 1 or more")
    if args.boards * args.steps_per_update % args.batch_size:
        parser.error("--batch-size must divide --boards times --steps-per-update")
    return args


# The weights and biases of each layer, the last two of policy and value.
Network: TypeAlias = list[tuple[jax.Array, jax.Array]]


class TrainState(NamedTuple):
    """Everything that an update changes."""

    network: Network
    optimizer: optax.OptState
    games: JaxState  # of all boards
    key: jax.Array


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

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.env = JaxEnv(boardenvs.games.make(args.game), autoreset=False)
        self.update = args.boards * args.steps_per_update  # steps of an update
        self.updates = -(-args.evaluate_every // self.update)  # between two evaluations
        self.evaluations = -(-args.steps // (self.update * self.updates))
        steps = self.evaluations * self.updates * self.update
        rates, batches = (args.learning_rate, args.final_learning_rate), steps // args.batch_size
        rate = optax.linear_schedule(*rates, args.epochs * batches)
        self.optimizer = optax.chain(
            optax.clip_by_global_norm(MAX_GRADIENT), optax.adam(rate, eps=1e-5)
        )
        self.begin = jax.jit(self._begin)
        self.block = jax.jit(self._block, donate_argnums=0)

    def _begin(self) -> TrainState:
        """Return an untrained network and new games."""
        network_key, game_key, key = jax.random.split(jax.random.key(self.args.seed), 3)
        network = new_network(self.env, self.args.hidden, network_key)
        games = jax.vmap(self.opening)(jax.random.split(game_key, self.args.boards))
        return TrainState(network, self.optimizer.init(network), games, key)

    def _block(self, state: TrainState) -> tuple[TrainState, dict[str, jax.Array]]:
        """Return the state after the updates before an evaluation, and the means of `METRICS`."""

        def update(state: TrainState, _: None) -> tuple[TrainState, Any]:
            key, play_key, learn_key = jax.random.split(state.key, 3)
            keys = jax.random.split(play_key, self.args.boards)
            games, samples = jax.vmap(self.play, (None, 0, 0))(state.network, state.games, keys)
            samples = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), samples)
            learner = state.network, state.optimizer
            (network, memory), metrics = self.learn(learner, samples, learn_key)
            return TrainState(network, memory, games, key), metrics

        state, metrics = lax.scan(update, state, length=self.updates)
        return state, jax.tree.map(jnp.mean, metrics)

    # ---- one board -------------------------------------------------------------------------------

    def opening(self, key: jax.Array) -> JaxState:
        """Return a new game after random plies."""
        begin_key, length_key, key = jax.random.split(key, 3)
        low, high = self.args.opening_plies
        start, length = self.env.init(begin_key), jax.random.randint(length_key, (), low, high + 1)

        def ply(game: JaxState, key: jax.Array) -> tuple[JaxState, None]:
            after = self.env.step(game, self.env.sample(game, key))
            return choose(game.board.ply < length, after, game), None

        game, _ = lax.scan(ply, start, jax.random.split(key, high))
        return choose(game.is_over, start, game)

    def play(self, network: Network, game: JaxState, key: jax.Array) -> tuple[JaxState, Samples]:
        """Return the game after the moves of an update, and these as samples; when a game ends,
        another one begins.
        """
        opening_key, key = jax.random.split(key)
        opening = self.opening(opening_key)

        def evaluate(game: JaxState) -> Any:
            planes, legal = self.env.rules.planes(game.board), game.legal_action_mask
            return planes, legal, *forward(self.env.game, fully_connected(network), planes, legal)

        def move(game: JaxState, key: jax.Array) -> tuple[JaxState, Any]:
            planes, legal, logits, value = evaluate(game)
            action = draw_action(logits, key)
            after = self.env.step(game, action)
            move = planes, legal, action, jax.nn.log_softmax(logits)[action]
            result = value, *outcome_of_mover(game, after)
            return choose(after.is_over, opening, after), (move, result)

        keys = jax.random.split(key, self.args.steps_per_update)
        game, (moves, (values, rewards, discounts)) = lax.scan(move, game, keys)
        last, decay = evaluate(game)[3], self.args.gae_lambda
        gained = advantages(values, rewards, discounts, last, decay)
        return game, Samples._make((*moves, gained, gained + values))

    # ---- learning --------------------------------------------------------------------------------

    def learn(self, learner: Any, samples: Samples, key: jax.Array) -> tuple[Any, Any]:
        """Return the network and the optimiser's state after the epochs of an update, and metrics
        of each gradient step.
        """

        def gradient_step(learner: Any, rows: jax.Array) -> Any:
            network, memory = learner
            batch = jax.tree.map(lambda x: x[rows], samples)
            gradient, metrics = jax.grad(self.loss, has_aux=True)(network, batch)
            change, memory = self.optimizer.update(gradient, memory)
            return (optax.apply_updates(network, change), memory), metrics

        def epoch(learner: Any, key: jax.Array) -> Any:
            order = jax.random.permutation(key, self.update)
            return lax.scan(gradient_step, learner, order.reshape(-1, self.args.batch_size))

        return lax.scan(epoch, learner, jax.random.split(key, self.args.epochs))

    def loss(self, network: Network, batch: Samples) -> tuple[jax.Array, dict[str, jax.Array]]:
        """Return PPO's objective with the value's squared error and the entropy, and `METRICS`."""
        logits, values = forward(self.env.game, fully_connected(network), batch.planes, batch.legal)
        log_probabilities = jax.nn.log_softmax(logits)
        drawn = jnp.take_along_axis(log_probabilities, batch.actions[:, None], axis=1)[:, 0]
        change = drawn - batch.log_probabilities
        ratio = jnp.exp(change)
        gained = jax.nn.standardize(batch.advantages)
        clipped = jnp.clip(ratio, 1 - CLIP_RANGE, 1 + CLIP_RANGE)
        policy_loss = -jnp.minimum(ratio * gained, clipped * gained).mean()
        value_loss = jnp.square(batch.returns - values).mean()
        entropy = -(jnp.exp(log_probabilities) * log_probabilities).sum(axis=1).mean()
        loss = policy_loss + VALUE_WEIGHT * value_loss - self.args.entropy_bonus * entropy
        metrics = (policy_loss, value_loss, entropy, (ratio - 1 - change).mean())
        return loss, dict(zip(METRICS, metrics, strict=True))


def advantages(
    values: jax.Array, rewards: jax.Array, discounts: jax.Array, last: jax.Array, decay: float
) -> jax.Array:
    """Return generalised advantage estimates (T,): https://arxiv.org/abs/1506.02438.

    `values` before the moves, `rewards` of the movers and `discounts` are (T,); `last` is the value
    after the last move, (). A discount is the factor of the next value: -1 where the other side is
    to move next, 1 where the mover is again, 0 where the game has ended.
    """

    def before(later: tuple[jax.Array, jax.Array], move: Any) -> Any:
        (advantage, next_value), (value, reward, discount) = later, move
        advantage = reward + discount * (next_value + decay * advantage) - value
        return (advantage, value), advantage

    first = (jnp.zeros_like(last), last)
    return lax.scan(before, first, (values, rewards, discounts), reverse=True)[1]


def new_network(env: JaxEnv, hidden: Sequence[int], key: jax.Array) -> Network:
    """Return orthogonal layers with the gains of Stable-Baselines3; the inputs are all planes."""
    sizes = [int(np.prod(env.observation_shape)), *hidden]
    shapes = [(inputs, outputs, 2**0.5) for inputs, outputs in itertools.pairwise(sizes)]
    shapes += [(sizes[-1], env.num_actions, 0.01), (sizes[-1], 1, 1.0)]
    return [
        (jax.nn.initializers.orthogonal(gain)(key, (inputs, outputs)), jnp.zeros(outputs))
        for key, (inputs, outputs, gain) in zip(
            jax.random.split(key, len(shapes)), shapes, strict=True
        )
    ]


def main(args: argparse.Namespace) -> None:
    check_writable(args.out)
    limit_jax()
    trainer = Trainer(args)
    game, state = trainer.env.game, trainer.begin()
    block = trainer.update * trainer.updates
    for number in range(trainer.evaluations):
        began = time.perf_counter()
        state, metrics = trainer.block(state)
        shown = "  ".join(f"{name} {float(value):.4f}" for name, value in metrics.items())
        steps, speed = block * (number + 1), block / (time.perf_counter() - began)
        print(f"{steps:>11,} steps  {speed:,.0f} a second  {shown}", flush=True)
        network = jax.tree.map(np.array, state.network)
        policy = Policy(game, fully_connected(network), {"seed": args.seed, "steps": steps})
        save_policy(policy, args.out)
        for name in ("random", "greedy"):
            match = boardenvs.play_match(game, PolicyAgent(policy), name, args.pairs)
            print(f"  {match} against {name}", flush=True)


if __name__ == "__main__":
    main(parse_args())
