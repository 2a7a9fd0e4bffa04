"""Training by self-play on Ray's RLlib: `python -m training.rllib`; see README.md here."""

from importlib.util import find_spec

if find_spec("ray") is None:
    raise ModuleNotFoundError(
        "training with RLlib needs ray: pip install 'boardenvs[rllib]', in an environment of its "
        "own, since RLlib wants a certain version of gymnasium",
        name="ray",
    )
