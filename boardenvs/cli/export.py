"""`boardenvs export`: a policy for programs that have no boardenvs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from boardenvs.agents.policy import Policy


def export(
    policy: Annotated[
        str,
        typer.Argument(
            metavar="POLICY",
            help="A policy file, such as `runs/demo/policy.npz`, or the name of a game for the "
            "policy that comes with the package.",
        ),
    ],
    out: Annotated[
        Path,
        typer.Argument(
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
    from boardenvs.agents.policy_file import save_policy
    from boardenvs.games import spec_of
    from boardenvs.utils.checks import check_name
    from boardenvs.utils.files import check_writable

    check_name("format to export to", out.suffix, (".onnx", ".npz"))
    check_writable(out)
    chosen = _find(policy)
    if out.suffix == ".onnx":
        chosen.to_onnx(out)
    else:
        save_policy(chosen, out, stored="float32")
    shape = ", ".join(f"{n}" for n in chosen.game.observation_shape)
    typer.echo(
        f"{out} plays {spec_of(chosen.game)}: observations (B, {shape}), action masks "
        f"(B, {chosen.game.num_actions})"
    )


def _find(name: str) -> Policy:
    """The policy of a file, or the package's own for a game; ValueError where there is neither."""
    from boardenvs.agents.policy_file import load_policy
    from boardenvs.agents.trained import trained_policy
    from boardenvs.games import parse

    is_file = name.endswith(".npz") or Path(name).exists()
    return load_policy(name) if is_file else trained_policy(parse(name))
