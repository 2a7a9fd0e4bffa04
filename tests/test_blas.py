"""NumPy's products of matrices by one thread, and by as many as before afterwards."""

from __future__ import annotations

from typing import Any

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from boardenvs import games
from boardenvs.agents import policy_network
from boardenvs.agents.policy_network import NUMPY
from boardenvs.agents.trained import trained_policy
from boardenvs.utils.threads import one_thread


def numbers() -> set[int]:
    """The threads of NumPy's libraries; compiled rules load one of SciPy's, which nothing uses."""
    return {x["num_threads"] for x in threadpool_info() if "numpy" in x["filepath"]}


def test_one_thread_for_a_while() -> None:
    with threadpool_limits(2, user_api="blas"):
        before = numbers()
        with one_thread():
            with one_thread():
                assert numbers() <= {1}
            assert numbers() <= {1}
        assert numbers() == before
        with pytest.raises(KeyError), one_thread():
            raise KeyError("after which it is as before too")
        assert numbers() == before


def test_networks_are_judged_by_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked between two products."""
    game, seen = games.make("othello"), set[int]()
    policy = trained_policy(game)
    relu = NUMPY.relu

    def asked(x: Any) -> Any:
        seen.update(numbers())
        return relu(x)

    monkeypatch.setattr(policy_network, "NUMPY", NUMPY._replace(relu=asked))
    with threadpool_limits(2, user_api="blas"):
        policy.evaluate(game, game.init(3))
        assert seen == {min(number, 1) for number in numbers()}
