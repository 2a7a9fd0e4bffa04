"""What more cores would bring: `python -m training.scaling --out training/scaling.md`.

What playing and learning cost is measured (`costs.py`); what machines with more cores would do is
computed from that, and the page says which is which.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

import torch
from threadpoolctl import threadpool_limits

import boardenvs
from boardenvs.utils.files import check_writable, write_atomically
from boardenvs.utils.version import processor
from training.costs import (
    BATCH,
    BOARDS,
    GPU,
    LEARNING,
    MINIBATCH,
    PLAYING,
    SEARCHED,
    SEARCHING,
    STEPS,
    TRAINER,
    Cost,
    Measured,
    Processes,
    measure_one_core,
    measure_processes,
    measure_step,
)
from training.ppo_single_file import Network, parse_args

MILLION = 1_000_000


def page(args: argparse.Namespace, price: float, found: Measured) -> str:
    """What was measured and what it comes to, as Markdown."""
    costs, plies = found.costs, found.plies
    game = boardenvs.games.make(args.game)
    net = Network(game, args)
    weights = sum(values.numel() for values in net.parameters()) * 4
    lines = [
        "# What more cores would bring",
        "",
        f"Written by `python -m training.scaling` on {processor()} ({os.cpu_count()} cores), torch "
        f"{torch.__version__.partition('+')[0]}, for {boardenvs.games.spec_of(game)}, "
        f"hidden layers of {' and '.join(map(str, args.hidden))} "
        f"in {'bfloat16' if args.bf16 else 'float32'}, {BOARDS} boards, {STEPS} steps an update, "
        f"{args.update_epochs} epochs. A step is an action of the learner in one game. "
        "What is **measured** was measured there; what is **computed** is arithmetic on it.",
        "",
        *_one_core(costs),
        f"A step that a runner sends takes {found.step_bytes:,} bytes, the weights {weights:,}. A "
        f"game of self-play from the start takes {plies:.0f} steps.",
        "",
        *_in_processes(found.processes),
        *_on_paper(costs, found.processes[-1], found.step_bytes),
        *_million(costs, plies, price),
    ]
    return "\n".join(lines)


def _one_core(costs: dict[str, Cost]) -> list[str]:
    """The part on each half of a training, and on both, one after the other."""
    ours = costs[PLAYING].seconds + costs[LEARNING].seconds
    theirs = sum(costs[name].seconds for name in TRAINER)
    return [
        "## Measured: one core",
        "",
        "Steps a second of CPU time, one thread; medians of rounds in turn, and half their "
        "interquartile range.",
        "",
        "| Work | steps a second |",
        "|---|---|",
        *[f"| {name} | {cost} |" for name, cost in costs.items()],
        f"| `ppo_single_file.py`, both (computed) | {1 / ours:,.0f} |",
        f"| `training.ppo`, both (computed) | {1 / theirs:,.0f} |",
        "",
    ]


def _in_processes(processes: list[Processes]) -> list[str]:
    """The part on runners and a learner."""
    return [
        "## Measured: runners and a learner, each in a process",
        "",
        "Each runner plays its own boards and sends the steps to the learner by a pipe; the "
        "learner sends the weights. "
        f"All share the {os.cpu_count()} cores of this machine, so only the CPU time of each "
        "process is measured, sending and receiving included. The last two columns are "
        "**computed**: a core for each process, and no waiting but for one another. *In turns* "
        "all play, then all is learnt from, as in `training.ppo`; *side by side* the next steps "
        "are played while the last ones are learnt from, by a policy that is one update old.",
        "",
        "| Runners | a runner plays | the learner learns | in turns | side by side |",
        "|---|---|---|---|---|",
        *[
            f"| {p.runners} | {p.playing} | {p.learning} | {p.in_turns:,.0f} | "
            f"{p.side_by_side:,.0f} |"
            for p in processes
        ],
        "",
    ]


def _on_paper(costs: dict[str, Cost], most: Processes, size: int) -> list[str]:
    """The part on 100 runners."""
    learner, rows = most.learning.rate, []
    for name in (PLAYING, SEARCHED):
        runner = costs[name].rate
        enough = learner / runner
        whole = min(100 * runner, learner)
        rows.append(
            f"| {name} | {100 * runner:,.0f} | {learner:,.0f} | {whole:,.0f} | {enough:.1f} | "
            f"{100 * runner / learner:.0f} | {whole * size / 1e6:.0f} MB |"
        )
    return [
        "## Computed: 100 runners",
        "",
        "From the costs above, with a core for each process and a network that keeps up. One "
        "learner is busy from so many runners on; all beyond wait for it. So many learners, which "
        "share the gradient's work without loss (nobody measured that here), would keep 100 busy.",
        "",
        "| Runners' work | 100 play | one learner learns | together | busy from runners | "
        "learners for 100 | sent a second |",
        "|---|---|---|---|---|---|---|",
        *rows,
        "",
        "So more runners pay only where playing is what costs: with opponents that search, with "
        "larger games, or with a learner on a GPU.",
        "",
        "No GPU was at hand: on a machine with one the script measures the learner there too."
        if GPU not in costs
        else f"With the learner on the GPU, {costs[GPU].rate:,.0f} steps a second, it is busy from "
        f"{costs[GPU].rate / costs[PLAYING].rate:.1f} runners of self-play on and from "
        f"{costs[GPU].rate / costs[SEARCHED].rate:.1f} with searching players.",
        "",
    ]


def _million(costs: dict[str, Cost], plies: float, price: float) -> list[str]:
    """The part on the cost of a million games."""
    rows = []
    for name, share in ((PLAYING, 0.0), (SEARCHED, sum(SEARCHING.values()) / BOARDS)):
        steps = MILLION * plies / (1 + share)  # against an opponent a game has half the steps
        hours = [steps * costs[half].seconds / 3600 for half in (name, LEARNING)]
        rows.append(
            f"| {name} | {steps / MILLION:.0f} million | {hours[0]:.2f} | {hours[1]:.2f} | "
            f"{sum(hours) * price:.3f} |"
        )
    return [
        "## Computed: a million games",
        "",
        f"Hours of one core, and the price where an hour of a core costs {price:g} (an assumption: "
        "`--price`).",
        "",
        "| Runners' work | steps | hours of playing | hours of learning | price |",
        "|---|---|---|---|---|",
        *rows,
        "",
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m training.scaling", description=__doc__)
    parser.add_argument("--game", default="othello", help="any game of boardenvs")
    parser.add_argument("--hidden", type=int, nargs="+", default=[256, 256], help="layers' widths")
    parser.add_argument("--rounds", type=int, default=5, help="of each measurement")
    parser.add_argument("--price", type=float, default=0.04, help="of an hour of one core")
    parser.add_argument("--out", type=Path, help="the page; by default it is printed")
    options = parser.parse_args(arguments)
    if options.out:
        check_writable(options.out)
    words = ["--game", options.game, "--hidden", *map(str, options.hidden)]
    words += ["--num-envs", str(BOARDS), "--num-steps", str(STEPS)]
    args = parse_args([*words, "--num-minibatches", str(BATCH // MINIBATCH)])
    torch.set_num_threads(1)
    with threadpool_limits(1):
        costs = measure_one_core(args, options.rounds)
        processes = [measure_processes(args, n, options.rounds) for n in (1, 2, 4)]
        found = Measured(costs, processes, *measure_step(args))
    text = page(args, options.price, found)
    if options.out:
        write_atomically(options.out, text.encode())
    else:
        print(text)


if __name__ == "__main__":
    main()
