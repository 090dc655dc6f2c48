"""Adam on its active set changes every parameter, bit for bit, as the dense update does."""

from typing import Any

import numpy as np
import pytest
from engine_runs import GROUPS, begin, random_tree, rows_of
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit
from numpy.typing import NDArray

from gradtree.engines import adam, epochs
from gradtree.engines.state import Group, new_group
from gradtree.settings.config import TrainConfig
from gradtree.settings.losses import Loss
from gradtree.settings.selectors import Selector


class DenseAdam:
    """Adam as in Keras, over the whole matrix in every step."""

    def __init__(self, value: NDArray[Any], rate: float, flush: bool = True) -> None:
        self.value, self.rate, self.step = value.copy(), rate, 0
        self.mean, self.square = np.zeros_like(value), np.zeros_like(value)
        self.floors = (1e-16, 1e-20, 1e-36) if flush else (0.0, 0.0, 0.0)

    def update(self, slope: NDArray[Any]) -> None:
        self.step += 1
        real = self.value.dtype.type
        one, beta_1, beta_2 = real(1), real(0.9), real(0.999)
        power_1 = real(float(beta_1) ** self.step)
        power_2 = real(float(beta_2) ** self.step)
        size = real(self.rate) * np.sqrt(one - power_2) / (one - power_1)
        g = self._kept(slope, 0)
        self.mean = self._kept(self.mean + (g - self.mean) * (one - beta_1), 1)
        self.square = self._kept(self.square + (g * g - self.square) * (one - beta_2), 2)
        self.value = self.value - self.mean * size / (np.sqrt(self.square) + real(1e-7))

    def _kept(self, part: NDArray[Any], floor: int) -> NDArray[Any]:
        """Like the engine, for the sake of denormal numbers, without what is next to nothing."""
        real = part.dtype.type
        return np.where(np.abs(part) > real(self.floors[floor]), part, real(0))


@njit
def sparse_step(group, rows, width, step, rate, pace, one):
    adam.activate(group, rows, width, step, pace)
    adam.update(group, step, adam.step_size(rate, step, one), pace)


@njit
def update_parameters(run, extras, step):
    epochs.update_parameters(run, extras, step)


def sparse_update(group: Group, slope: NDArray[Any], step: int, rate: float, pace: Any) -> None:
    """Give the rows that have a gradient to the engine."""
    rows = np.flatnonzero(slope.any(axis=1)).astype(np.uint32)
    group.slope_table[rows] = slope[rows]
    sparse_step(group, rows, slope.shape[1], step, rate, pace, slope.dtype.type(1))


@settings(max_examples=12)
@given(
    shape=st.tuples(st.integers(1, 40), st.integers(1, 70)),
    bursts=st.lists(st.tuples(st.integers(1, 6), st.sampled_from([0, 3, 90, 500])), max_size=5),
    scale=st.sampled_from([1e-18, 1e-9, 1e-3, 1.0, 1e6]),
    rate=st.sampled_from([0.005, 0.25]),
    seed=st.integers(0, 1000),
)
def test_rows_that_come_and_go(shape, bursts, scale, rate, seed):
    """Bursts of gradients for a few rows, then pauses in which rows leave the active set."""
    rng = np.random.default_rng(seed)
    start = rng.normal(size=shape).astype(np.float32)
    group, pace = new_group(start, np.float32), adam.new_pace(np.float32)
    dense = DenseAdam(start, rate)
    for length, pause in bursts:
        for at in range(length + pause):
            slope = np.zeros(shape, dtype=np.float32)
            if at < length:
                chosen = rng.random(shape[0]) < 0.2
                slope[chosen] = scale * rng.normal(size=(chosen.sum(), shape[1]))
            dense.update(slope)
            sparse_update(group, slope, dense.step, rate, pace)
            assert (group.table == dense.value).all()


@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize(
    "selector",
    ["entmax", "gumbel", Selector("annealed", anneal_steps=150)],
    ids=["entmax", "gumbel", "annealed"],
)
def test_a_training_is_that_of_dense_adam(n_classes, selector):
    """Follow a training batch by batch with dense updates on the same gradients."""
    rng = np.random.default_rng(n_classes)
    X, y = rng.normal(size=(40, 5)), rng.integers(0, n_classes, 40)
    tree = random_tree(rng, 6, 5, n_classes, "float32")
    config = TrainConfig(
        depth=6, loss=Loss("focal"), selector=selector, epochs=1, lr_index=0.2, lr_leaf=0.1
    )
    compiled = begin(tree, rows_of(X, y, "float32"), config)
    run, extras, kernel = compiled.parts
    rates = {"thresholds": 0.01, "logits": 0.2, "leaves": 0.1}
    groups = {name: getattr(run.model, name) for name in GROUPS}
    dense = {name: DenseAdam(group.table, rates[name]) for name, group in groups.items()}
    plain = {name: DenseAdam(group.table, rates[name], False) for name, group in groups.items()}
    ever_idle = False
    for step in range(1, 500):
        # Half of the time only a few rows, so that some nodes are not passed for long.
        chosen = rng.choice(40 if step % 300 < 20 else 6, size=6, replace=False)
        epochs.batch_gradients(run, extras, kernel, chosen, step)
        for name, group in groups.items():
            dense[name].update(group.slope_table.copy())
            plain[name].update(group.slope_table.copy())
        update_parameters(run, extras, step)
        ever_idle |= 0 < groups["logits"].n_active[0] < len(groups["logits"].active) / 2
        for name, group in groups.items():
            assert (group.table == dense[name].value).all()
            assert (group.table == plain[name].value).all()
    # With Gumbel noise rows take other paths all the time.
    assert ever_idle or selector == "gumbel"
    assert (compiled.result().leaves != tree.leaves).any()
