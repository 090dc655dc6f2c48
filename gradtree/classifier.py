"""The classifier: what it is called with. How it learns is in ``learning``."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from gradtree.answers import Classification
from gradtree.inputs.arrays import TrainingRows
from gradtree.inputs.parameters import settled
from gradtree.learning import Task, TreeLearner
from gradtree.settings.config import TrainConfig
from gradtree.settings.losses import CustomLoss
from gradtree.training.finishing import FittedRows
from gradtree.typing import Array, Codes, Places


@dataclass(eq=False, repr=False)
class GradTreeClassifier(Classification, TreeLearner):
    """A hard, axis-aligned decision tree, all of whose splits are learned by gradient descent.

    A complete tree of the given depth is trained by mini-batches with Adam: every node chooses one
    feature and one threshold, rows are routed hard, and gradients pass through the hard decisions
    as if they were soft (straight-through). A part of the rows decides when to stop; then splits
    are polished, leaves refitted on all rows, and what is not worth its price is cut.

    The defaults are what measured best over the datasets of the paper. The paper's own are
    :data:`gradtree.PAPER`: ``GradTreeClassifier(**gradtree.PAPER, random_state=42)``.

    Rows may be a matrix of numbers or a table (pandas, polars, Arrow or anything with the
    dataframe interchange protocol) with numbers, text, booleans, categories, dates and gaps.
    Columns are scaled and coded inside; ``tree_`` is a tree over the columns as they were given.

    Parameters
    ----------
    depth, max_depth : int or "auto", default="auto"
        Levels of splits before pruning, at most 16; a tree in training has ``2**depth`` leaves.
        "auto" is 7 for two classes, 9 for more. If ``max_depth`` is given, it counts.
    lr_index, lr_values : float, default=0.25, 0.025
        Learning rates of the feature choices and of the thresholds.
    lr_leaf : float or "auto", default=0.2
        Learning rate of the leaves; "auto" is the paper's: 0.005 for two classes, 0.05 for more.
    loss : "auto", "cross-entropy", "focal", CustomLoss or callable, default="cross-entropy"
        "auto" is the paper's: cross-entropy for two classes, focal for more. A callable is a loss
        of your own, see :class:`gradtree.CustomLoss`; it trains at compiled speed.
    gamma, poly_epsilon : float, default=3.0, None
        Exponent of the focal loss; weight of the Poly-1 term that is added to the loss, if any.
    selector : "softmax", "entmax", "gumbel", "annealed" or Selector, default="softmax"
        How nodes choose features in training: the arg-max with the gradient of the softmax, or of
        entmax (the paper's method), or one of the two alternatives of its ablation.
    split, steepness : "softsign" or "sigmoid", and float, default="softsign", 2.0
        What a decision looks like to the gradient, as a function of steepness times the distance to
        the threshold. The paper uses the sigmoid, with steepness 1.
    first_thresholds : "quantiles" or "glorot", default="quantiles"
        Thresholds start at random quantiles of their features, or around zero as in the paper.
    batch_size, epochs : int, default=512, 300
        Rows per batch, but at most half of the training rows; most passes over the rows, per run.
    patience : int, default=50
        A run ends after so many epochs without a lower validation loss (or, where that counts, a
        better F1).
    max_row_visits : int, optional, default=3000000
        A run ends after about so many rows, every pass counting all of them.
    restarts : int or "auto", default=15
        Further runs from other initial draws; "auto" is the paper's: 5 for two classes, 3 for more.
    choose_by : "auto", "f1", "loss", str or callable, default="auto"
        How to choose run and epoch. "loss": the lowest validation loss, as in the paper. A scorer
        of scikit-learn's, or its name: of the epochs with the lowest loss and the best macro F1 of
        every run, the one with the best sum of the score on the validation rows and the
        leave-one-out score on all rows, with leaves refitted, of equals that of lowest log loss; it
        is called with ``X=None`` and indices of classes. "f1" is "f1_macro" with ties left to the
        first run, as in the suite's experiments. "auto" is "f1_macro"; without weights of classes
        "neg_log_loss"; with a loss of your own "loss", or where that is a matrix of costs (linear
        in the probabilities), the cost of what is predicted, judged like a score.
    tolerance : float, default=1.0
        Of the runs whose score is lower than the best by no more than so many standard errors, the
        one with the smallest finished tree is kept. Not with "f1", "loss" and losses of your own.
    validation_fraction : float, default=0.2
        Share of the rows to stop by, stratified, unless ``fit`` gets validation rows. With 0, or
        where the classes have too few rows to spare any, the training loss decides.
    scale : "quantile", "standard" or None, default="quantile"
        How columns are brought to one scale inside: by their normal quantiles, by mean and standard
        deviation, or not at all. Every split is one of the raw numbers.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Columns that hold categories, as a mask, positions or names. Text, booleans and pandas'
        categories always do; ``"from_dtype"`` and ``None`` name no others. Categories are ordered
        inside by what they tell about the label, those with fewer than five rows lumped together.
    refit_leaves : bool, default=True
        Whether leaves become the class shares of all rows, validation rows included, instead of
        what the gradient made of them. With a loss of your own, predictions minimise that loss.
    leaf_smoothing : float, default=1.0
        So many rows with the shares of its parent join every refitted node.
    probabilities : "shares" or "weighted", default="shares"
        What ``predict_proba`` gives where leaves are refitted: the shares of the data, or those
        after weights of classes (and a loss of your own), by which ``predict`` always decides.
    min_samples_leaf : int or float, default=1
        Leaves of fewer rows give way to their siblings, after training; below 1, a share of rows.
    polish : bool, default=True
        Whether splits are chosen anew after training, one by one, by the log loss of all rows,
        removed where they do not save the price of their leaves, and added as CART would where they
        do. For refitted leaves; with a loss of your own, by that loss and without further splits,
        as with ``ccp_alpha=0`` and with Gini impurity.
    merge_leaves : "alike" or bool, default="alike"
        Which sibling leaves become one: those that predict the same class and whose shares of
        classes do not differ (likelihood-ratio test, 5 %); with True, all that predict the same
        class; with False, none.
    criterion : "log_loss" or "gini", default="log_loss"
        What a leaf costs in pruning: its part of the log loss of a tree without splits, or its
        share of the rows times its Gini impurity, as in scikit-learn. Weights of classes count.
        With a loss of your own, that loss.
    ccp_alpha : float or "auto", default="auto"
        Price of a leaf in minimal cost-complexity pruning after training, as in scikit-learn's
        ``DecisionTreeClassifier``: with the default criterion, a split must save this part of the
        loss of a tree without splits. "auto" is 0.03 divided by the number of classes, or what the
        Bayesian information criterion asks for a threshold and shares of classes if that is less,
        as it is for many rows. See ``path_`` and :meth:`prune`.
    max_leaf_nodes : int, optional
        The cheapest pairs of leaves are joined until there are no more than this.
    engine : "compiled" or "tensorflow", default="compiled"
        The fast engine, or the reference that reads like the paper's Algorithm 1.
    stream : "numpy" or "authors", default="numpy"
        Where random draws come from. "authors" repeats the initial weights and batch orders of the
        published experiments (with ``random_state=42``).
    class_weight : "auto", dict, "balanced", "sqrt-balanced", float or None, default="auto"
        Weights of classes in the loss and in what leaves predict, but not in ``predict_proba``.
        "auto" is "sqrt-balanced", but None with a loss of your own. A number ``p`` weighs a class
        by (its share)**-p: 0 is None, 1 is "balanced", 0.5 is "sqrt-balanced", which favours rare
        classes without letting them dominate.
    random_state : int, RandomState or None, default=None
        Seed of the initial weights, batch orders and the validation rows.
    n_jobs : int, optional
        Runs that train at the same time, in threads; -1 takes all processors. The tree is the same.
    verbose : int, default=0
        1 shows a progress bar.
    dtype : "float32" or "float64", default="float32"
        Precision of training.

    Attributes
    ----------
    tree_ : Tree
        The learned tree over the columns of ``X``; its ``node_count`` is the paper's size.
    columns_ : tuple of Column
        What the columns of ``X`` hold.
    classes_, class_weight_ : ndarray of shape (n_classes,)
        Labels, and their weights in training and in what leaves predict, if there are any.
    path_ : PruningPath
        Prices at which the fitted tree shrinks.
    n_features_in_, feature_importances_, feature_names_in_
        As in scikit-learn's trees.
    dense_ : DenseTree
        The trained parameters before pruning, in the scale of training.
    history_ : tuple of RunHistory
        Losses of every epoch of every run; drawn by :meth:`plot_history`.
    n_epochs_, n_iter_, best_run_ : int
        Number of epochs, all runs together; the run that the tree comes from.

    Notes
    -----
    *Missing values* of a column that had some in training go to a learned side of every split, else
    with most of the training rows; *categories that training did not see* go where these go.

    *Column names* that are whole numbers are printed as ``x0, x1, …``, those of several levels
    joined by dots, and repeated ones numbered.

    Where the paper's text and the code that produced its tables differ, this class with the
    parameters of :data:`gradtree.PAPER` does what the code does:

    - Validation rows are 20 % of the data, not of the training rows (here,
      ``validation_fraction`` of what ``fit`` gets), and restarts for two classes 5, not 3.
    - The averages of weights that the paper describes are computed, but never used.
    - Weights start from Glorot's limits with the numbers of nodes and leaves (the paper prints
      other exponents); thresholds and logits start equal; with two classes a leaf has one logit.
    - A row on a threshold goes right; pruning counts it to the left.
    - Poly-1 sees probabilities activated twice, and does nothing for the multi-class focal loss.
    - The parameters of the best epoch are restored only if patience ends a run (with
      ``choose_by="loss"``).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gradtree import GradTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = GradTreeClassifier(depth=3, random_state=0).fit(X, y)
    >>> print(model.export_text())  # doctest: +SKIP
    """

    _parted: ClassVar[str] = "classes"
    # No more than this is the usual price of a leaf.
    _auto_price = np.inf

    loss: Any = "cross-entropy"
    gamma: float = 3.0
    poly_epsilon: float | None = None
    selector: Any = "softmax"
    split: str = "softsign"
    steepness: float = 2.0
    first_thresholds: str = "quantiles"
    refit_leaves: bool = True
    probabilities: str = "shares"
    merge_leaves: bool | str = "alike"
    criterion: str = "log_loss"
    stream: str = "numpy"
    class_weight: Any = "auto"

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        X_valid: Any = None,
        y_valid: ArrayLike | None = None,
        classes: ArrayLike | None = None,
    ) -> Self:
        """Grow a tree.

        Parameters
        ----------
        X : array-like or table of shape (n_rows, n_features)
            Numbers, or a table that may hold text, booleans, categories and dates too; gaps are
            welcome (``nan``, ``None``, ``NaT``, ``NA``).
        y : array-like of shape (n_rows,)
            Class labels of any kind.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of rows in the loss; rows of weight 0 are left out.
        X_valid, y_valid : array-likes, optional
            Rows to stop by, instead of a part of ``X``.
        classes : array-like, optional
            All class labels, where ``y`` may lack some.
        """
        return self._fitted(X, y, sample_weight, X_valid, y_valid, classes)

    def _settled(self, n_classes: int = 2) -> dict[str, Any]:
        params = settled(self.get_params(deep=False), n_classes)
        if isinstance(self.ccp_alpha, str):
            params["ccp_alpha"] = min(params["ccp_alpha"], self._auto_price)
        return params

    def _task(
        self, data: TrainingRows, config: TrainConfig, matrix: Array, beside: Any, trained: Places
    ) -> Task:
        self._note(data)
        own = callable(self.loss) or isinstance(self.loss, CustomLoss)
        self._auto_price = np.inf if own else information_price(data.y)
        rows = FittedRows(matrix, data.y, data.weight, trained, data.sample_weight)
        if beside is None:
            return rows, {"y": data.y}
        valid, told = beside
        weight = None if data.class_weight is None else data.class_weight[told]
        known = {"y": data.y, "y_valid": told, "valid_weight": weight}
        return rows.joined(valid, told, weight), known


def information_price(y: Codes) -> float:
    """The price of a leaf by the Bayesian information criterion, in parts of the log loss of ``y``.

    A leaf more has a threshold more, and one share less than there are classes.
    """
    counts = np.unique(y, return_counts=True)[1]
    loss = -(counts * np.log(counts / len(y))).sum()
    return float(len(counts) * np.log(len(y)) / 2 / loss) if loss > 0 else np.inf
