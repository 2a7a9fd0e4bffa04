"""mctx: Gumbel MuZero's search over our environment in JAX, with the network that comes along.

The environment is the model that the search plans with; the network gives the probabilities of
moves and the value of a position. A player of this search meets the same network without search.
"""
# uv venv --allow-existing .venv-examples/mctx && . .venv-examples/mctx/bin/activate \
#     && uv pip install mctx==0.0.71 --editable '.[fast,jax]' \
#     && python training/examples/mctx_search.py

import time

import jax
import mctx
import numpy as np

import boardenvs
import boardenvs.envs.jax
from boardenvs.envs.jax import outcome_of_mover

SIMULATIONS, BOARDS = 16, 64

env = boardenvs.envs.jax.make("othello", autoreset=False)
evaluate = jax.vmap(env.evaluator("trained"))  # logits and value of each board


def expand(params, key, action, before):
    """Return the position after an action, as the search asks for it."""
    after = jax.vmap(env.step)(before, action)
    reward, discount = jax.vmap(outcome_of_mover)(before, after)
    logits, value = evaluate(after)
    output = mctx.RecurrentFnOutput(
        reward=reward, discount=discount, prior_logits=logits, value=value
    )
    return output, after


@jax.jit
def search(state, key):
    logits, value = evaluate(state)
    root = mctx.RootFnOutput(prior_logits=logits, value=value, embedding=state)
    policy = mctx.gumbel_muzero_policy(
        None,
        key,
        root,
        expand,
        num_simulations=SIMULATIONS,
        invalid_actions=~state.legal_action_mask,
        max_num_considered_actions=8,
        gumbel_scale=0.0,  # the best action, without exploration
    )
    return policy.action


def searching(game, state, rng):
    rows = np.arange(BOARDS) % len(state.ply)  # each number of boards would be compiled again
    boards = env.from_state(state.of_arrays([column[rows] for column in state.arrays]))
    actions = np.asarray(search(boards, jax.random.key(int(rng.integers(2**31)))))
    return np.where(state.terminated, game.noop, actions[: len(state.ply)])


began = time.process_time()
match = boardenvs.play_match(env.game, searching, "trained", pairs=BOARDS // 2)
print(f"against the network alone: {match} in {time.process_time() - began:.0f} CPU seconds")
assert not match.forfeits.any(), match.stats[0].message  # a player that raises loses its games
assert match.score > 0.6
