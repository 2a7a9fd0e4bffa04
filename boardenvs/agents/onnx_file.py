"""Policies as ONNX models, which the runtimes of other languages and devices play.

    observation     int8 (B, 8, 8, C)   what the environments show
    action_mask     int8 (B, A)         1 where an action is legal, as the environments give it
    logits          float32 (B, A)      of the actions; the lowest float32 for those not legal
    probabilities   float32 (B, A)      of the actions; all alike in a row without a legal one
    value           float32 (B,)        to the side to move, from -1 (a loss) to 1

B is any number. A model's metadata are texts: `game`, which `boardenvs.games.make` takes; `roles`
and `notes` (on how the policy was made) as JSON; `boardenvs`, the version that wrote it.

Writing needs onnx (pip install 'boardenvs[onnx]'), playing a runtime of ONNX alone.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from boardenvs import games
from boardenvs.utils.version import __version__

if TYPE_CHECKING:
    from boardenvs.agents.policy import Policy

# All operators are older, so that runtimes of some years ago read the models.
_OPSET, _IR_VERSION = 13, 7

_OPERATORS = {"relu": "Relu", "tanh": "Tanh"}  # by activation
_CONSTANTS = {
    "never": np.finfo(np.float32).min,
    "lowest": np.float32(-1),
    "highest": np.float32(1),
    "columns": np.array([1]),
}


def onnx_bytes(policy: Policy) -> bytes:
    """The content of a file with the policy as a model; ImportError where onnx is not installed."""
    try:
        from onnx import checker, helper, numpy_helper, parser
    except ImportError as error:
        raise ImportError(
            "ONNX models are written with onnx: pip install 'boardenvs[onnx]'", name=error.name
        ) from error
    model = parser.parse_model(_text(policy))
    model.graph.name = policy.game.id
    for name, values in {**policy.arrays, **_CONSTANTS}.items():
        model.graph.initializer.append(numpy_helper.from_array(np.asarray(values), name))
    about = {
        "game": games.spec_of(policy.game),
        "roles": json.dumps(policy.game.roles),
        "notes": json.dumps(dict(policy.notes)),
        "boardenvs": __version__,
    }
    helper.set_model_props(model, about)
    checker.check_model(model, full_check=True)
    content: bytes = model.SerializeToString()
    return content


def _text(policy: Policy) -> str:
    """The model in ONNX's own notation, but for its constants."""
    shape = ",".join(map(str, ("B", *policy.game.observation_shape)))
    actions = policy.game.num_actions
    hidden = [
        f"""
        sums_{i} = Gemm(x_{i}, weight_{i}, bias_{i})
        x_{i + 1} = {_OPERATORS[policy.activation]}(sums_{i})"""
        for i in range(len(policy.hidden))
    ]
    last = f"x_{len(hidden)}"
    return f"""
    <ir_version: {_IR_VERSION}, opset_import: ["": {_OPSET}],
     producer_name: "boardenvs", producer_version: "{__version__}">
    policy (int8[{shape}] observation, int8[B,{actions}] action_mask)
        => (float[B,{actions}] logits, float[B,{actions}] probabilities, float[B] value)
    {{
        numbers = Cast<to = 1>(observation)
        planes = Transpose<perm = [0, 3, 1, 2]>(numbers)
        x_0 = Flatten<axis = 1>(planes){"".join(hidden)}
        legal = Cast<to = 9>(action_mask)
        all_logits = Gemm({last}, weight_policy, bias_policy)
        logits = Where(legal, all_logits, never)
        probabilities = Softmax<axis = 1>(logits)
        values = Gemm({last}, weight_value, bias_value)
        clipped = Clip(values, lowest, highest)
        value = Squeeze(clipped, columns)
    }}"""
