"""Environments in JAX; README.md in this folder is their guide. `pgx` has the same for Pgx."""

from boardenvs.envs.jax.env import JaxEnv, JaxState, make

__all__ = ["JaxEnv", "JaxState", "make"]
