"""Environments in JAX; README.md in this folder is their guide. `pgx` has the same for Pgx."""

from boardenvs.envs.jax.env import JaxEnv, State, make

__all__ = ["JaxEnv", "State", "make"]
