"""`boardenvs export`: a policy for programs that have no boardenvs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument

from boardenvs.agents.policy_file import load_policy, save_policy
from boardenvs.agents.spec import AGENTS
from boardenvs.agents.trained import trained_policy
from boardenvs.games import parse, spec_of
from boardenvs.utils.checks import check_name, quote
from boardenvs.utils.files import check_writable, write_atomically


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
            help="The file to write: `.onnx`, `.npz` for a policy file with float32 weights, or "
            "`.md` for a card that says what the policy is.",
        ),
    ],
) -> None:
    """Write a policy in another format, by the file's ending.

    An ONNX model (`pip install 'boardenvs[onnx]'`) has the inputs `observation` and `action_mask`,
    as the environments give them, for any number of boards, and the outputs `logits`,
    `probabilities` and `value`. Its metadata say which game it plays. A card has what the policy's
    notes say, and its marks in the game's exam.

    ```
    boardenvs export runs/othello/policy.npz othello.onnx
    boardenvs export runs/othello/policy.npz README.md
    boardenvs export wolf_and_sheep:rules=described wolf.onnx
    ```
    """
    check_name("format to export to", out.suffix, (".onnx", ".npz", ".md"))
    check_writable(out)
    is_file = policy.endswith(".npz") or Path(policy).exists()
    if not is_file and policy.partition(":")[0] in AGENTS:
        raise ValueError(
            f"POLICY is {quote(policy)}, a player: it must be a policy file, or a game such as "
            "othello for the policy that comes with the package"
        )
    chosen = load_policy(policy) if is_file else trained_policy(parse(policy))
    if out.suffix == ".onnx":
        chosen.to_onnx(out)
    elif out.suffix == ".md":
        from boardenvs.exams import model_card

        card = model_card(chosen, f"policy:{Path(policy).name}" if is_file else "trained")
        write_atomically(out, card.encode())
    else:
        save_policy(chosen, out, stored="float32")
    shape = ", ".join(map(str, chosen.game.observation_shape))
    typer.echo(
        f"{out} plays {spec_of(chosen.game)}: observations (B, {shape}), action masks "
        f"(B, {chosen.game.num_actions})"
    )
