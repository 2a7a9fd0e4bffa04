"""`boardenvs export`: a policy for programs that have no boardenvs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument

from boardenvs.agents.policy_file import load_policy, save_policy
from boardenvs.agents.trained import trained_policy
from boardenvs.games import parse, spec_of
from boardenvs.utils.checks import check_name
from boardenvs.utils.files import check_writable


def export(
    policy: Annotated[
        str,
        Argument(
            metavar="POLICY",
            help="A policy file, such as `runs/demo/policy.npz`, or the name of a game for the "
            "policy that comes with the package.",
        ),
    ],
    out: Annotated[
        Path,
        Argument(
            metavar="OUT",
            help="The file to write: `.onnx`, or `.npz` for a policy file with float32 weights.",
        ),
    ],
) -> None:
    """Write a policy in another format, by the file's ending.

    An ONNX model (`pip install 'boardenvs[onnx]'`) has the inputs `observation` and `action_mask`,
    as the environments give them, for any number of boards, and the outputs `logits`,
    `probabilities` and `value`. Its metadata say which game it plays.

    ```
    boardenvs export runs/othello/policy.npz othello.onnx
    boardenvs export wolf_and_sheep:rules=described wolf.onnx
    ```
    """
    check_name("format to export to", out.suffix, (".onnx", ".npz"))
    check_writable(out)
    is_file = policy.endswith(".npz") or Path(policy).exists()
    chosen = load_policy(policy) if is_file else trained_policy(parse(policy))
    if out.suffix == ".onnx":
        chosen.to_onnx(out)
    else:
        save_policy(chosen, out, stored="float32")
    shape = ", ".join(map(str, chosen.game.observation_shape))
    typer.echo(
        f"{out} plays {spec_of(chosen.game)}: observations (B, {shape}), action masks "
        f"(B, {chosen.game.num_actions})"
    )
