"""Self-play by Gumbel search, as AlphaZero learns by it: ours, and mctx over Pgx's games.

Both search with the same number of simulations, boards and considered actions, and with untrained
networks of the same layers; Pgx's loop is that of its AlphaZero example, with mctx's Gumbel search.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise, product
from typing import Any

from workloads import Workload

from boardenvs.bench import Slice
from boardenvs.game.game import Game
from boardenvs.games import spec_of
from boardenvs.utils.threads import limit_jax

BOARDS, SIMULATIONS, CONSIDERED, PLIES, WIDTHS = 1024, 8, 8, 16, (256, 256)
PGX = ("connect_four", "othello", "hex")  # those of our games that it has


def by_search(games: list[Game], *, others: bool) -> Iterator[Workload]:
    """Yield self-play of these games in both precisions."""
    for game, precision in product(games, ("float32", "bfloat16")):
        name = spec_of(game)
        row = partial(
            Workload,
            game=name,
            interface=f"self-play, {precision}",
            boards=BOARDS,
            backend=None,
            unit="positions",
        )
        yield row("boardenvs", start=partial(ours, game, precision))
        if others and name in PGX:
            yield row("Pgx and mctx", start=partial(pgx_and_mctx, name, precision))


def ours(game: Game, precision: str) -> Slice:
    """Return self-play of `training.gumbel`."""
    import torch

    from boardenvs.agents.network import BoardNetwork
    from training.gumbel.gumbel_settings import GumbelConfig
    from training.gumbel.network import NetworkEvaluator
    from training.gumbel.self_play import SelfPlay

    torch.set_num_threads(1)
    settings = GumbelConfig.model_validate(
        {
            "name": "bench",
            "game": spec_of(game),
            "steps": 1,
            "self_play": {"boards": BOARDS, "opening_plies": (0, 0)},
            "search": {"simulations": SIMULATIONS, "considered": CONSIDERED, "full_share": 1},
        }
    )
    network = BoardNetwork(game, {"hidden": WIDTHS}, precision)
    play = SelfPlay(settings, game)
    play.begin(worker=0)

    def run() -> int:
        play.play(NetworkEvaluator(network), PLIES)
        return BOARDS * PLIES

    return run


def pgx_and_mctx(name: str, precision: str) -> Slice:
    """Return self-play in Pgx, whose searches are mctx's, in one compiled scan."""
    limit_jax()
    import jax
    import jax.numpy as jnp
    import mctx
    import pgx
    from pgx.experimental import auto_reset

    env, rows = pgx.make(name), jnp.arange(BOARDS)
    sizes = int(jnp.prod(jnp.array(env.observation_shape))), *WIDTHS, env.num_actions + 1
    keys = jax.random.split(jax.random.key(0), len(WIDTHS) + 1)
    shapes = zip(keys, pairwise(sizes), strict=True)
    layers = [jax.random.normal(key, shape) / shape[0] ** 0.5 for key, shape in shapes]
    step, begin = jax.vmap(env.step), jax.vmap(auto_reset(env.step, env.init))

    def evaluate(params: Any, state: Any) -> tuple[Any, Any]:
        x = state.observation.reshape(BOARDS, -1).astype(precision)
        for weights in params[:-1]:
            x = jax.nn.relu(x @ weights)
        out = (x @ params[-1]).astype("float32")
        logits = jnp.where(state.legal_action_mask, out[:, 1:], -1e9)
        return logits, jnp.tanh(out[:, 0])

    def expand(params: Any, key: Any, action: Any, before: Any) -> tuple[Any, Any]:
        after = step(before, action)
        logits, value = evaluate(params, after)
        output = mctx.RecurrentFnOutput(
            reward=after.rewards[rows, before.current_player],
            discount=jnp.where(after.terminated, 0.0, -1.0),
            prior_logits=logits,
            value=jnp.where(after.terminated, 0.0, value),
        )
        return output, after

    def ply(params: Any, state: Any, key: Any) -> tuple[Any, Any]:
        chance, next_games = jax.random.split(key)
        logits, value = evaluate(params, state)
        policy = mctx.gumbel_muzero_policy(
            params,
            chance,
            mctx.RootFnOutput(prior_logits=logits, value=value, embedding=state),
            expand,
            num_simulations=SIMULATIONS,
            invalid_actions=~state.legal_action_mask,
            max_num_considered_actions=CONSIDERED,
        )
        after = begin(state, policy.action, jax.random.split(next_games, BOARDS))
        rewards = after.rewards[rows, state.current_player]
        return after, (state.observation, policy.action_weights, rewards, after.terminated)

    @jax.jit
    def play(params: Any, state: Any, key: Any) -> Any:
        params = [weights.astype(precision) for weights in params]
        return jax.lax.scan(partial(ply, params), state, jax.random.split(key, PLIES))

    state = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.key(1), BOARDS))
    key = jax.random.key(2)

    def run() -> int:
        nonlocal state, key
        key, chance = jax.random.split(key)
        state, _ = jax.block_until_ready(play(layers, state, chance))
        return BOARDS * PLIES

    return run
