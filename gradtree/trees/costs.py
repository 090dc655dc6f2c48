"""What the nodes of a tree cost, as leaves: by impurity, by log loss, or by a loss of one's own."""

from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import softmax, xlogy

from gradtree.settings.losses import CustomLoss
from gradtree.typing import Floats

CRITERIA = ("gini", "log_loss")

# A loss of one's own is minimised in so many steps, from shares drawn this far from the corners.
STEPS = 40
FROM_CORNERS = 1e-3


def gini_costs(weight: Floats) -> Floats:
    """Share of the weight times Gini impurity, as in scikit-learn.

    ``weight``, here and below: of every class at every node, the root first.
    """
    total = weight.sum(axis=1)
    squares = np.divide((weight**2).sum(axis=1), total, out=np.zeros_like(total), where=total > 0)
    return np.asarray((total - squares) / total[0])


def log_loss_costs(weight: Floats) -> Floats:
    """Log loss of the class shares of every node, in parts of that of the root."""
    total = weight.sum(axis=1, keepdims=True)
    shares = np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)
    loss = -xlogy(weight, shares).sum(axis=1)
    return np.asarray(loss / loss[0] if loss[0] > 0 else loss)


def cost_matrix(loss: CustomLoss, n_classes: int) -> Floats | None:
    """Costs by true and predicted class, of a loss that is linear in the probabilities; or None."""
    gradient, corners = np.zeros(n_classes), np.eye(n_classes)

    def at(p: Floats) -> Floats:
        return np.array([float(loss.function(p, k, gradient)) for k in range(n_classes)])

    costs = np.array([at(corner) for corner in corners]).T
    inside = np.random.default_rng(0).dirichlet(np.ones(n_classes), 5)
    linear = np.isfinite(costs).all() and all(np.allclose(at(p), costs @ p) for p in inside)
    return costs if linear else None


def least_loss(loss: CustomLoss, weight: Floats) -> tuple[Floats, Floats]:
    """The outputs with which every node has the lowest loss, and that loss in parts of the root's.

    Of a leaf's rows only the weights of the classes count. All of it on one class, the shares
    themselves and what a descent from there finds are compared.
    """
    n_nodes, n_classes = weight.shape
    matrix = cost_matrix(loss, n_classes)
    if matrix is not None:
        costs = weight @ matrix
        best = costs.argmin(axis=1)
        least = costs[np.arange(n_nodes), best]
        return np.eye(n_classes)[best], least / abs(least[0]) if least[0] != 0 else least
    outputs, costs = np.empty((n_nodes, n_classes)), np.empty(n_nodes)
    corners = np.eye(n_classes)
    for node in range(n_nodes):
        parts = weight[node]
        shares = parts / parts.sum() if parts.sum() > 0 else np.full(n_classes, 1 / n_classes)
        tried = [*corners, shares, _descended(loss, parts, shares)]
        found = [_loss_at(loss, parts, p)[0] for p in tried]
        best = int(np.argmin(found))
        outputs[node], costs[node] = tried[best], found[best]
    return outputs, costs / abs(costs[0]) if costs[0] != 0 else costs


def leaf_losses(sums: Floats, smoothing: float, loss: CustomLoss | None) -> Floats:
    """What a row of each class loses at each node, if the node says what suits its rows best.

    ``smoothing`` rows with the shares of the root join every node. Log loss, if there is no other.
    """
    joined = sums + smoothing * sums[0] / sums[0].sum()
    if loss is None:
        with np.errstate(divide="ignore"):
            return -np.log(joined / joined.sum(axis=1, keepdims=True))
    outputs, gradient = least_loss(loss, joined)[0], np.zeros(sums.shape[1])
    classes = range(sums.shape[1])
    return np.array([[float(loss.function(p, k, gradient)) for k in classes] for p in outputs])


def _loss_at(loss: CustomLoss, parts: Floats, p: Floats) -> tuple[float, Floats]:
    """The loss of all rows of a node with one output, and its gradient."""
    total, slope, own = 0.0, np.zeros(len(p)), np.zeros(len(p))
    for label in np.flatnonzero(parts).tolist():
        own[:] = 0.0
        value = float(loss.function(p, label, own))
        if not np.isfinite(value):
            return np.inf, np.zeros(len(p))
        total += parts[label] * value
        slope += parts[label] * own
    return total, slope


def _descended(loss: CustomLoss, parts: Floats, shares: Floats) -> Floats:
    """Where a descent over softmax logits ends that begins at the shares."""
    inside = (1 - FROM_CORNERS) * shares + FROM_CORNERS / len(shares)

    def objective(logits: Floats) -> tuple[float, Any]:
        p = np.asarray(softmax(logits))
        value, slope = _loss_at(loss, parts, p)
        return value, p * (slope - slope @ p)

    found = minimize(
        objective, np.log(inside), jac=True, method="L-BFGS-B", options={"maxiter": STEPS}
    )
    return np.asarray(softmax(found.x))
