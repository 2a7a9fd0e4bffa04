"""What `import boardenvs` brings with it."""

import subprocess
import sys

HEAVY = [
    "torch",
    "stable_baselines3",
    "matplotlib",
    "pygame",
    "pydantic",
    "rich",
    "yaml",
    "numba",
    "jax",
]


def test_import_is_light():
    """Heavy libraries wait until they are used, and no rule is compiled on import."""
    code = (
        "import sys, boardenvs; "
        f"print([m for m in {HEAVY} if m in sys.modules]); "
        "g = boardenvs.games.make('othello'); print('kernels' in vars(g))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.split("\n")[:2] == ["[]", "False"]


def test_a_pettingzoo_without_a_registry_will_do():
    """As before its version 1.27: environments are there, and Gymnasium's names."""
    code = (
        "import sys, pettingzoo; sys.modules['pettingzoo.env_registry'] = None; "
        "import boardenvs, gymnasium; "
        "env = boardenvs.env('othello'); env.reset(); print(env.agent_selection); "
        "print(gymnasium.make('boardenvs/Othello-v0').reset(seed=1)[0].shape)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.split("\n")[:2] == ["black", "(8, 8, 2)"]
