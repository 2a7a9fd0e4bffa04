"""Masked PPO by self-play in one file, to read, copy and change; it needs torch and boardenvs.

    python ppo_single_file.py --game othello --total-timesteps 4000000
    boardenvs match othello policy:policy.npz greedy

PPO as CleanRL writes it, with what board games need: illegal actions are masked; one network plays
both sides, and the value of a next state that is the other side's counts against the mover (its
factor is -1); some games are against earlier selves, so that what was learnt is not forgotten; a
game begins after some random plies, and is seen under a symmetry of the board.
"""

from __future__ import annotations

import argparse
import copy
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

import boardenvs
from boardenvs.agents.policy import Policy
from boardenvs.agents.policy_file import save_policy
from boardenvs.agents.policy_network import fully_connected
from boardenvs.envs.batch import Batch, BoardGroup
from boardenvs.utils.files import check_writable


def parse_args(words: Sequence[str] | None = None) -> argparse.Namespace:
    processor: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()
    has_bf16 = bool(processor.get("avx512_bf16") or processor.get("amx_bf16"))
    parser = argparse.ArgumentParser(formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    add = parser.add_argument
    add("--game", default="othello", help="any game of boardenvs, or MODULE:NAME")
    add("--seed", type=int, default=0, help="the same seed gives the same run")
    add("--out", type=Path, default=Path("policy.npz"), help="what policy:FILE plays")
    add("--device", default="cpu", help="where torch computes, such as cuda")
    add("--threads", type=int, default=1, help="of torch")
    add("--bf16", action=argparse.BooleanOptionalAction, default=has_bf16, help="hidden layers")
    add("--total-timesteps", type=int, default=4_000_000, help="actions of the learner in all")
    add("--num-envs", type=int, default=512, help="games played side by side")
    add("--num-steps", type=int, default=32, help="steps in each game between two updates")
    add("--opening-plies", type=int, nargs=2, default=(0, 40), help="of openings, from, to")
    add("--pool-share", type=float, default=0.125, help="of the games: against earlier selves")
    add("--pool-size", type=int, default=20, help="earlier selves that are kept")
    add("--pool-every", type=int, default=250_000, help="steps from one to the next")
    add("--hidden", type=int, nargs="+", default=[256, 256], help="widths of the hidden layers")
    add("--learning-rate", type=float, default=2e-3, help="of Adam, at the start")
    add("--final-learning-rate", type=float, default=1e-4, help="at the end, falling linearly")
    add("--gae-lambda", type=float, default=0.9, help="how far advantages look ahead")
    add("--num-minibatches", type=int, default=16, help="gradient steps in an epoch")
    add("--update-epochs", type=int, default=2, help="how often a step is learnt from")
    add("--clip-coef", type=float, default=0.2, help="how far an update may move a probability")
    add("--ent-coef", type=float, default=0.06, help="weight of the entropy")
    add("--vf-coef", type=float, default=0.5, help="weight of the value's error")
    add("--max-grad-norm", type=float, default=0.5, help="longer gradients are cut to this")
    add("--eval-every", type=int, default=1_000_000, help="steps between evaluations")
    add("--eval-pairs", type=int, default=100, help="openings, each played from both sides")
    args = parser.parse_args(words)
    try:
        boardenvs.games.make(args.game)
    except ValueError as error:
        parser.error(str(error))
    if args.num_envs * args.num_steps % args.num_minibatches:
        parser.error("--num-minibatches must divide --num-envs times --num-steps")
    if not 0 <= args.pool_share <= 1:
        parser.error(f"--pool-share is {args.pool_share}: it must be from 0 to 1")
    return args


def linear(inputs: int, outputs: int, gain: float) -> nn.Linear:
    layer = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer


class Network(nn.Module):
    """Policy and value share their layers."""

    def __init__(self, game: boardenvs.Game, args: argparse.Namespace) -> None:
        super().__init__()
        sizes = [int(np.prod(game.observation_shape)), *args.hidden]
        layers = [linear(i, o, 2**0.5) for i, o in zip(sizes, args.hidden, strict=False)]
        self.trunk = nn.Sequential(*[m for layer in layers for m in (layer, nn.ReLU())])
        self.policy_head = linear(sizes[-1], game.num_actions, 0.01)
        self.value_head = linear(sizes[-1], 1, 1.0)
        self.bf16 = args.bf16
        self.to(args.device)

    def forward(self, planes: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits of actions (B, A), as good as -inf where `mask` is not set; values (B,)."""
        with torch.autocast(planes.device.type, torch.bfloat16, enabled=self.bf16):
            x = self.trunk(planes.float())
        x = x.float()
        return self.policy_head(x).masked_fill(~mask, -1e8), self.value_head(x).squeeze(1)

    def to_policy(self, game: boardenvs.Game, notes: dict[str, Any]) -> Policy:
        """Return a copy that plays without torch; its weights are (inputs, outputs)."""
        parameters = (x.detach().cpu().numpy().T.copy() for x in self.parameters())
        layers = list(zip(parameters, parameters, strict=True))  # weights and biases
        return Policy(game, fully_connected(layers), notes)


def look(game: boardenvs.Game, state: boardenvs.State, device: str) -> tuple[Tensor, Tensor]:
    """Return what the sides to move see, (B, planes * 64) int8, and legal moves, (B, A) bool."""
    planes = game.observe_planes(state).reshape(len(state.ply), -1)
    return torch.from_numpy(planes).to(device), torch.from_numpy(game.legal(state)).to(device)


def draw(logits: Tensor) -> tuple[Tensor, Tensor]:
    """Return an action for each row, drawn by its probability, and the logarithm of that."""
    probabilities = torch.softmax(logits, 1)  # fast for masked logits too, unlike torch.exp
    reached = probabilities.cumsum(1)
    height = (1 - torch.rand(len(logits), 1, device=logits.device)) * reached[:, -1:]
    actions = (reached < height).sum(1)
    return actions, probabilities.gather(1, actions[:, None]).squeeze(1).log()


@dataclass
class NetworkPlayer:
    """Plays a network's most probable action or, as in training, draws one: a boardenvs agent."""

    net: Network
    device: str
    sample: bool = False

    @torch.no_grad()
    def act(self, game: boardenvs.Game, state: boardenvs.State, rng: object) -> Any:
        logits, _ = self.net(*look(game, state, self.device))
        return (draw(logits)[0] if self.sample else logits.argmax(1)).cpu().numpy()


def advantages(
    rewards: Tensor, values: Tensor, ends: Tensor, next_values: Tensor, gamma: Tensor, lam: float
) -> Tensor:
    """Return generalised advantages (T, N), from rewards, values, ends (1: the step ended its game)
    and `gamma` of that shape, and the values of the states after the last step, (N,).

    `gamma` is the factor of the next state's value: -1 if the other side moves in
    it, in self-play; 1 if the learner does, against an opponent or where its turn goes on.
    """
    result, following = torch.zeros_like(rewards), torch.zeros_like(next_values)
    for t in reversed(range(len(rewards))):
        factor = gamma[t] * (1 - ends[t])
        error = rewards[t] + factor * next_values - values[t]
        result[t] = following = error + factor * lam * following
        next_values = values[t]
    return result


@torch.no_grad()
def play(boards: Batch, net: Network, args: argparse.Namespace) -> list[Tensor]:
    """Return samples for `learn`: (T * N, ...) planes, masks, actions, logarithms of probabilities,
    advantages and returns of the next `num_steps` steps on all boards.
    """
    rows = []
    for _ in range(args.num_steps):
        planes, mask = look(boards.game, boards.seen, args.device)
        logits, value = net(planes, mask)
        action, logprob = draw(logits)
        step = boards.step(action.cpu().numpy())
        over = step.terminated | step.truncated
        outcome = np.stack([step.rewards, over, boards.discounts]).astype(np.float32)
        rows.append((planes, mask, action, logprob, value, *torch.from_numpy(outcome)))
    columns = [torch.stack(column).to(args.device) for column in zip(*rows, strict=True)]
    planes, mask, action, logprob, value, reward, end, gamma = columns
    next_value = net(*look(boards.game, boards.seen, args.device))[1]
    advantage = advantages(reward, value, end, next_value, gamma, args.gae_lambda)
    learnt = (planes, mask, action, logprob, advantage, advantage + value)
    return [column.flatten(0, 1) for column in learnt]


def learn(
    net: Network, optimizer: torch.optim.Adam, columns: list[Tensor], args: argparse.Namespace
) -> dict[str, float]:
    """Update the network; return metrics."""
    metrics = []
    for _ in range(args.update_epochs):
        order = torch.randperm(len(columns[0]), device=args.device)
        for rows in order.view(args.num_minibatches, -1):
            planes, mask, action, old, advantage, target = (column[rows] for column in columns)
            logits, value = net(planes, mask)
            logprobs = torch.log_softmax(logits, 1)
            change = logprobs.gather(1, action[:, None]).squeeze(1) - old
            ratio, coef = change.exp(), args.clip_coef
            advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
            clipped = advantage * ratio.clamp(1 - coef, 1 + coef)
            policy_loss = -torch.min(advantage * ratio, clipped).mean()
            value_loss = (value - target).square().mean()
            entropy = -(torch.softmax(logits, 1) * logprobs).sum(1).mean()
            loss = policy_loss + args.vf_coef * value_loss - args.ent_coef * entropy
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), args.max_grad_norm)
            optimizer.step()
            kl = (ratio - 1 - change).mean()
            metrics.append(torch.stack([entropy, value_loss, kl]).detach())
    means = torch.stack(metrics).mean(0).tolist()
    return dict(zip(("entropy", "value loss", "kl"), means, strict=True))


def main(args: argparse.Namespace) -> None:
    check_writable(args.out)
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    game = boardenvs.games.make(args.game)
    net = Network(game, args)
    optimizer = torch.optim.Adam(net.parameters(), eps=1e-5)
    pool: list[Network] = []
    past = NetworkPlayer(net, args.device, sample=True)
    against_past = round(args.pool_share * args.num_envs)
    counts = (None, args.num_envs - against_past), (past, against_past)
    groups = [BoardGroup(count, opponent) for opponent, count in counts if count]
    openings = tuple(args.opening_plies)
    boards = Batch(game, groups, opening_plies=openings, symmetries=True, seed=args.seed)
    steps, seconds, size = 0, 0.0, args.num_envs * args.num_steps
    while steps < args.total_timesteps:
        began = time.perf_counter()
        if steps // args.pool_every > (steps - size) // args.pool_every:
            pool = [*pool, copy.deepcopy(net)][-args.pool_size :]
        past.net = pool[rng.integers(len(pool))]
        done = steps / args.total_timesteps
        rate = args.learning_rate + (args.final_learning_rate - args.learning_rate) * done
        optimizer.param_groups[0]["lr"] = rate
        metrics = learn(net, optimizer, play(boards, net, args), args)
        steps += size
        seconds += time.perf_counter() - began
        last = steps >= args.total_timesteps
        if last or steps // size % 10 == 1:
            shown = "  ".join(f"{name} {value:.3f}" for name, value in metrics.items())
            print(f"{steps:>11,} steps  {steps / seconds:,.0f} a second  {shown}", flush=True)
        if last or steps // args.eval_every > (steps - size) // args.eval_every:
            save_policy(net.to_policy(game, {"seed": args.seed, "steps": steps}), args.out)
            for name in ("random", "greedy"):
                player, pairs = NetworkPlayer(net, args.device), args.eval_pairs
                print(f"  {boardenvs.play_match(game, player, name, pairs)} against {name}")


if __name__ == "__main__":
    main(parse_args())
