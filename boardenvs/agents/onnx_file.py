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
from typing import TYPE_CHECKING, Any

import numpy as np

from boardenvs import games
from boardenvs.game.state import Array
from boardenvs.utils.version import __version__

if TYPE_CHECKING:
    from boardenvs.agents.policy import Layer, Policy

# All operators are older, so that runtimes of some years ago read the models.
_OPSET, _IR_VERSION = 13, 7

_OPERATORS = {"relu": "Relu", "tanh": "Tanh"}  # by activation
_NEVER = np.finfo(np.float32).min


def onnx_bytes(policy: Policy) -> bytes:
    """The content of a file with the policy as a model; ImportError where onnx is not installed."""
    try:
        from onnx import checker
    except ImportError as error:
        raise ImportError(
            "ONNX models are written with onnx: pip install 'boardenvs[onnx]'", name=error.name
        ) from error
    model = _model(policy)
    checker.check_model(model, full_check=True)
    content: bytes = model.SerializeToString()
    return content


def _model(policy: Policy) -> Any:
    from onnx import TensorProto, helper

    game, graph = policy.game, _Graph()
    x = graph.add("Cast", "observation", to=TensorProto.FLOAT)
    x = graph.add("Flatten", graph.add("Transpose", x, perm=[0, 3, 1, 2]), axis=1)
    for layer in policy.hidden:
        x = graph.add(_OPERATORS[policy.activation], graph.add_layer(x, layer))
    legal = graph.add("Cast", "action_mask", to=TensorProto.BOOL)
    logits, never = graph.add_layer(x, policy.policy_head), graph.add_constant(np.array(_NEVER))
    graph.add("Where", legal, logits, never, output="logits")
    graph.add("Softmax", "logits", output="probabilities", axis=1)
    low, high = (graph.add_constant(np.array(x, np.float32)) for x in (-1, 1))
    values = graph.add("Clip", graph.add_layer(x, policy.value_head), low, high)
    graph.add("Squeeze", values, graph.add_constant(np.array([1])), output="value")

    actions = ["B", game.num_actions]
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            game.id,
            [
                _declare("observation", TensorProto.INT8, ["B", *game.observation_shape]),
                _declare("action_mask", TensorProto.INT8, actions),
            ],
            [
                _declare("logits", TensorProto.FLOAT, actions),
                _declare("probabilities", TensorProto.FLOAT, actions),
                _declare("value", TensorProto.FLOAT, ["B"]),
            ],
            graph.constants,
        ),
        producer_name="boardenvs",
        producer_version=__version__,
        ir_version=_IR_VERSION,
        opset_imports=[helper.make_opsetid("", _OPSET)],
    )
    helper.set_model_props(model, _metadata(policy))
    return model


def _declare(name: str, kind: int, shape: list[Any]) -> Any:
    from onnx import helper

    return helper.make_tensor_value_info(name, kind, shape)


def _metadata(policy: Policy) -> dict[str, str]:
    return {
        "game": games.spec_of(policy.game),
        "roles": json.dumps(policy.game.roles),
        "notes": json.dumps(dict(policy.notes)),
        "boardenvs": __version__,
    }


class _Graph:
    """Nodes and constants, each named by its number where no name is given."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def add(self, operator: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        """A node with one output; its name."""
        from onnx import helper

        name = output or f"{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], name, **attributes))
        return name

    def add_constant(self, values: Array) -> str:
        from onnx import numpy_helper

        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def add_layer(self, inputs: str, layer: Layer) -> str:
        """A fully connected layer."""
        weights, biases = map(self.add_constant, layer)
        return self.add("Gemm", inputs, weights, biases)
