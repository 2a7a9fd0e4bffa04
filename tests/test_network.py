"""The masked choice against sb3-contrib's own."""

from __future__ import annotations

import numpy as np
import pytest
import torch as th
from sb3_contrib.common.maskable.distributions import MaskableCategoricalDistribution

from training.network import MaskedChoice

th.set_num_threads(1)

ACTIONS = 65


def logits_and_masks(rows: int = 300) -> tuple[th.Tensor, th.Tensor]:
    generator = th.Generator().manual_seed(0)
    masks = th.rand(rows, ACTIONS, generator=generator) < 0.1
    masks[th.arange(rows), th.arange(rows) % ACTIONS] = True  # one at least
    return 3 * th.randn(rows, ACTIONS, generator=generator), masks


@pytest.mark.parametrize("masked", [True, False])
def test_it_is_the_distribution_of_sb3_contrib(masked: bool) -> None:
    logits, masks = logits_and_masks()
    gradients = []
    results = []
    for make in (MaskableCategoricalDistribution, MaskedChoice):
        inputs = logits.clone().requires_grad_()
        distribution = make(ACTIONS).proba_distribution(inputs)
        if masked:
            distribution.apply_masking(masks.numpy()[None])  # as the environment gives them
        actions = distribution.mode()
        outputs = (distribution.log_prob(actions), distribution.entropy())
        (outputs[0].sum() + 3 * outputs[1].sum()).backward()
        results.append([actions, *(x.detach() for x in outputs)])
        assert inputs.grad is not None
        gradients.append(inputs.grad)
    for expected, found in zip(*results, strict=True):
        assert th.allclose(expected, found, atol=1e-5)
    assert th.allclose(gradients[0], gradients[1], atol=1e-5)


def test_it_draws_by_probability_and_never_what_is_masked() -> None:
    logits, masks = logits_and_masks(3)
    th.manual_seed(0)
    distribution = MaskedChoice(ACTIONS).proba_distribution(logits.repeat(20_000, 1))
    distribution.apply_masking(masks.float().repeat(20_000, 1))  # as the buffer gives them
    drawn = distribution.sample().reshape(20_000, 3)
    for row in range(3):
        shares = np.bincount(drawn[:, row], minlength=ACTIONS) / 20_000
        assert (shares[~masks[row].numpy()] == 0).all()
        assert np.abs(shares - distribution.probs[row].numpy()).max() < 0.015


def test_no_random_number_leads_beyond_the_probabilities(monkeypatch: pytest.MonkeyPatch) -> None:
    """`rand` may give 0, and its largest number is just below 1."""
    logits, masks = logits_and_masks()
    for number in (0.0, 1 - 2**-24):
        monkeypatch.setattr(th, "rand", lambda *size, number=number, device: th.full(size, number))
        distribution = MaskedChoice(ACTIONS).proba_distribution(logits)
        distribution.apply_masking(masks)
        drawn = distribution.sample()
        assert masks[th.arange(len(masks)), drawn].all()
