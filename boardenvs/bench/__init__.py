"""Speed, ours and other libraries': `boardenvs bench`.

`workloads` are the interfaces and searches that `measure` times in turns, `jax` the ones in JAX;
`report` prints and writes the results.
"""
