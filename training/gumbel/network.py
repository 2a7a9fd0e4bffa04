"""The network of a training by Gumbel search: begun anew or from a policy, judging and learning."""

from __future__ import annotations

import torch as th
from torch.nn.functional import log_softmax, softmax

from boardenvs.agents.policy import Policy
from boardenvs.agents.trunk import NEVER, BoardTrunk, as_layer, flat_planes
from boardenvs.game.contract import Game
from boardenvs.game.state import FloatArray, State
from training.gumbel.replay import ReplayBatch


class PolicyValueNetwork(th.nn.Module):
    """Shared layers, and over them the logits of actions and the value."""

    def __init__(self, game: Game, hidden: tuple[int, ...], precision: str) -> None:
        super().__init__()
        self.game = game
        self.hidden = hidden
        self.flat = flat_planes(game)
        self.trunk = BoardTrunk(game.observation_shape, hidden, self.flat, precision)
        self.policy_head = th.nn.Linear(hidden[-1], game.num_actions)
        self.value_head = th.nn.Linear(hidden[-1], 1)
        self._bfloat16 = precision == "bfloat16"
        with th.no_grad():  # begin undecided
            for head in (self.policy_head, self.value_head):
                head.weight.mul_(0.1)
                head.bias.zero_()

    def forward(self, observations: th.Tensor, legal: th.Tensor) -> tuple[th.Tensor, th.Tensor]:
        """The logits of legal actions, `NEVER` where illegal, (B, A), and values, (B,)."""
        features = self.trunk(observations)
        with th.autocast(features.device.type, th.bfloat16, enabled=self._bfloat16):
            logits = self.policy_head(features)
        values = self.value_head(features)[:, 0]
        return logits.float().masked_fill(~legal, NEVER), values

    def as_policy(self, notes: dict[str, object]) -> Policy:
        """The network as it plays without torch."""
        return Policy(
            self.game,
            tuple(self.trunk.as_layers()),
            as_layer(self.policy_head),
            as_layer(self.value_head),
            notes,
        )


class NetworkEvaluator:
    """Judges positions by the network as it is, on its device; see `search.Evaluator`."""

    def __init__(self, network: PolicyValueNetwork) -> None:
        self._network = network
        self._device = next(network.parameters()).device

    def evaluate(self, game: Game, state: State) -> tuple[FloatArray, FloatArray]:
        """The probability of each action, (B, A) float32, and the value, (B,) float32 from -1 to 1;
        no game is over.
        """
        observations, legal = tensors(game, state, self._device)
        with th.inference_mode():
            logits, values = self._network(observations, legal)
            probabilities = softmax(logits, dim=1)
            judged = values.clamp(-1, 1)
        return probabilities.cpu().numpy(), judged.cpu().numpy()


def tensors(game: Game, state: State, device: th.device) -> tuple[th.Tensor, th.Tensor]:
    """The observations, (B, 8, 8, C) int8, and the legal actions, (B, A) bool."""
    observations = th.from_numpy(game.observe(state))
    legal = th.from_numpy(game.legal(state))
    return observations.to(device), legal.to(device)


class NetworkLearner:
    """The network that learns and the average of its latest weights, which plays."""

    def __init__(self, network: PolicyValueNetwork, decay: float, weight_decay: float) -> None:
        self.network = network
        decayed = th.optim.swa_utils.get_ema_multi_avg_fn(decay)  # type: ignore[no-untyped-call]
        self.average = th.optim.swa_utils.AveragedModel(network, multi_avg_fn=decayed)
        self.average.update_parameters(network)
        self._optimizer = th.optim.AdamW(network.parameters(), weight_decay=weight_decay)
        self._device = next(network.parameters()).device

    @property
    def player(self) -> PolicyValueNetwork:
        """The average."""
        found = self.average.module
        assert isinstance(found, PolicyValueNetwork)
        return found

    def learn(self, batch: ReplayBatch, rate: float, value_weight: float) -> th.Tensor:
        """A gradient step; returns policy loss, value loss and entropy, (3,)."""
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        observations, legal = tensors(self.network.game, batch.state, self._device)
        policy, has_policy, target = (
            th.from_numpy(x).to(self._device) for x in (batch.policy, batch.has_policy, batch.value)
        )
        logits, values = self.network(observations, legal)
        chances = log_softmax(logits, dim=1)
        count = has_policy.sum().clamp(min=1)
        policy_loss = -(policy.float() * chances).sum(dim=1).mul(has_policy).sum() / count
        value_loss = (values - target).square().mean()
        loss = policy_loss + value_weight * value_loss
        self._optimizer.zero_grad()
        loss.backward()
        th.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        self._optimizer.step()
        self.average.update_parameters(self.network)
        with th.no_grad():
            entropy = -(chances.exp() * chances).sum(dim=1).mean()
            return th.stack([policy_loss, value_loss, entropy]).detach()

    def snapshot(self) -> dict[str, object]:
        """All that learning goes on from."""
        return {
            "network": self.network.state_dict(),
            "average": self.average.state_dict(),
            "optimizer": self._optimizer.state_dict(),
        }

    def restore(self, snapshot: dict[str, object]) -> None:
        """Go on from a `snapshot`."""
        self.network.load_state_dict(snapshot["network"])  # type: ignore[arg-type]
        self.average.load_state_dict(snapshot["average"])  # type: ignore[arg-type]
        self._optimizer.load_state_dict(snapshot["optimizer"])  # type: ignore[arg-type]
