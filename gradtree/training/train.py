"""Training a tree: runs from several initial draws, the best of which is kept; their progress."""

import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from threading import Event
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

import numpy as np

from gradtree.engines.compiled import CompiledRun
from gradtree.engines.contract import Samples, Seeds
from gradtree.engines.streams import STREAMS, noise_key
from gradtree.settings.config import TrainConfig
from gradtree.settings.losses import CustomLoss, NumberLoss
from gradtree.training.choosing import judged
from gradtree.training.numbers import judged_numbers
from gradtree.training.own_loss import guarded, refuse_loss
from gradtree.trees.costs import cost_matrix
from gradtree.trees.dense import DenseTree
from gradtree.typing import Array, Floats

if TYPE_CHECKING:
    from gradtree.engines.reference import ReferenceRun

_ENOUGH_ROWS = 10_000
BAR_CHARACTERS = 20


class Progress(NamedTuple):
    """Where a training is."""

    run: int
    runs: int
    epoch: int
    epochs: int
    best_epoch: int
    best_loss: float
    train_loss: float
    valid_loss: float


@dataclass(frozen=True, eq=False)
class RunHistory:
    """How one run went; losses are means over the batches of an epoch."""

    seed: int
    train_loss: Floats  # (epochs,)
    valid_loss: Floats  # nan without validation rows; then the training loss decides
    best_epoch: int  # that with the lowest loss, -1 if none was a number
    best_loss: float
    stopped_early: bool  # patience ran out before the epochs did
    valid_f1: Floats  # macro F1 of the validation rows; nan where it does not count


@dataclass(frozen=True, eq=False)
class TrainResult:
    """The outcome of a training."""

    # Runs with their trees: the best one, then others whose score is nearly as good.
    runs: tuple[tuple[int, DenseTree], ...]
    history: tuple[RunHistory, ...]
    epochs_run: int  # all runs together

    @property
    def best_run(self) -> int:
        return self.runs[0][0]

    @property
    def dense(self) -> DenseTree:
        """The tree of the best run."""
        return self.runs[0][1]


@dataclass(frozen=True, eq=False)
class _Offer:
    """The best that one run has to offer: its score, what ties go by, and the score's error."""

    score: tuple[float, float, float]
    dense: DenseTree
    history: RunHistory


@dataclass(frozen=True, eq=False)
class _Task:
    """What all runs of a training share."""

    train: Samples
    valid: Samples
    n_classes: int
    config: TrainConfig
    columns: Array | None
    progress: Callable[[Progress], None] | None
    costs: Floats | None = None

    def run(self, number: int, is_stopped: Callable[[], bool]) -> _Offer | None:
        """Train from one initial draw; ``None`` if all runs are to stop."""
        config, seed = self.config, self.config.run_seeds()[number]
        if isinstance(config.loss, CustomLoss) and config.engine == "compiled":
            config = replace(config, loss=guarded(config.loss))
        if isinstance(config.loss, NumberLoss):
            own = config.loss.own
            loss = replace(config.loss, own=None if own is None else guarded(own))
            config = replace(config, loss=loss, choose_by="loss")
        elif config.choose_by != "loss":
            config = replace(config, choose_by="f1")  # an engine keeps the epoch of best F1 too
        n_features = self.train.X.shape[1]
        initial = first_tree(seed, self.columns, n_features, self.n_classes, config)
        run = begin(initial, self.train, self.valid, seed, config)
        status = run.advance()
        while status == 0 and not is_stopped():
            self._look_at(run)
            # Lines of several runs at once would be unreadable: then only their ends are shown.
            if config.n_jobs == 1:
                self._show(run, number)
            status = run.advance()
        if status == 0:
            return None
        self._look_at(run)
        self._show(run, number)
        losses = run.losses[0].copy(), run.losses[1].copy()
        best = int(run.watch.best_epoch[0]), float(run.watch.best_loss[0])
        history = RunHistory(seed, *losses, *best, bool(status == 1), run.scores.copy())
        by_loss = self.config.choose_by == "loss" and self.costs is None
        if by_loss or history.best_epoch < 0:
            return _Offer((-history.best_loss, 0.0, 0.0), run.result(), history)
        offers = [_Offer(self._score(dense), dense, history) for dense in run.best().values()]
        return max(offers, key=lambda offer: offer.score[:2])

    def _score(self, dense: DenseTree) -> tuple[float, float, float]:
        rows, config = (self.train, self.valid), self.config
        if isinstance(config.loss, NumberLoss):
            return judged_numbers(dense, *rows, config)
        return judged(dense, *rows, config.smoothing, config.choose_by, self.costs)

    def _look_at(self, run: Any) -> None:
        """A loss of one's own can be wrong in ways that no one else would notice."""
        loss = self.config.loss
        if isinstance(loss, CustomLoss) or (isinstance(loss, NumberLoss) and loss.own is not None):
            train_loss, valid_loss = run.losses
            bad = np.isnan(train_loss) | (np.isnan(valid_loss) & (len(self.valid.rows) > 0))
            if bad.any():
                refuse_loss(loss, self.n_classes, int(bad.argmax()) + 1)

    def _show(self, run: Any, number: int) -> None:
        if self.progress is not None:
            epochs, losses = self.config.epochs_for(len(self.train.rows)), run.losses
            last = (float(of[-1]) if len(of) else float("nan") for of in losses)
            best = int(run.watch.best_epoch[0]), float(run.watch.best_loss[0])
            runs = self.config.restarts + 1
            self.progress(Progress(number, runs, len(losses[0]), epochs, *best, *last))


def train(
    X: Array,
    y: Array,
    X_valid: Array | None,
    y_valid: Array | None,
    n_classes: int,
    config: TrainConfig,
    *,
    sample_weight: Array | None = None,
    valid_weight: Array | None = None,
    class_weight: Array | None = None,
    valid_rows: Array | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> TrainResult:
    """Train a tree.

    ``X`` is not copied if it is C-contiguous and of type ``config.dtype``; ``y`` are class indices
    below ``n_classes``, or places among the targets of a ``NumberLoss``. Validation rows are given
    or are the rows ``valid_rows`` of ``X``; without any, the training loss decides when to stop. Of
    weights, which include those of the classes, only ratios matter; ``class_weight`` is the part of
    them that does not count in scores. ``progress`` is called several times a
    second, or with several threads once a run.
    """
    held_out = np.asarray([] if valid_rows is None else valid_rows, dtype=np.int64)
    if X_valid is not None and len(held_out):
        raise ValueError("give either X_valid and y_valid or valid_rows, not both")
    kept = np.delete(np.arange(len(X)), held_out)
    samples = samples_of(X, y, sample_weight, kept, config.dtype, class_weight)
    if X_valid is not None and y_valid is not None:
        everyone = np.arange(len(X_valid))
        valid = samples_of(X_valid, y_valid, valid_weight, everyone, config.dtype, class_weight)
    else:
        valid = samples_of(samples.X, y, sample_weight, held_out, config.dtype, class_weight)
    columns = columns_of(samples, config)
    # A loss that is a matrix of costs is judged by the costs of what is predicted.
    costs = None
    if isinstance(config.loss, CustomLoss) and config.tolerance > 0:
        costs = cost_matrix(config.loss, n_classes)
    task = _Task(samples, valid, n_classes, config, columns, progress, costs)
    offers: dict[int, _Offer] = {}
    n_threads = config.n_jobs if config.engine == "compiled" else 1
    for number, offer in _each(task.run, config.restarts + 1, n_threads):
        offers[number] = offer
    # Runs may end in any order; of equals the first counts, as one after the other.
    ranked = sorted(offers, key=lambda number: (offers[number].score[:2], -number), reverse=True)
    best, _, error = offers[ranked[0]].score
    least = best - config.tolerance * error
    near = [number for number in ranked if offers[number].score[0] >= least]
    chosen = near if config.tolerance > 0 else near[:1]
    runs = tuple((number, offers[number].dense) for number in chosen)
    histories = tuple(offers[number].history for number in sorted(offers))
    return TrainResult(runs, histories, sum(len(one.train_loss) for one in histories))


def _each(
    work: Callable[[int, Callable[[], bool]], _Offer | None], n_runs: int, n_threads: int
) -> Iterator[tuple[int, _Offer]]:
    """Do every run, in threads or one after the other, and give its number and offer as it ends."""
    if min(n_threads, n_runs) == 1:
        for number in range(n_runs):
            offer = work(number, lambda: False)
            assert offer is not None
            yield number, offer
        return
    stop = Event()
    with ThreadPoolExecutor(min(n_threads, n_runs)) as pool:
        try:
            waiting = {pool.submit(work, number, stop.is_set): number for number in range(n_runs)}
            for done in as_completed(waiting):
                offer = done.result()
                assert offer is not None
                yield waiting.pop(done), offer
        finally:
            # After an error or an interrupt, nobody waits for the other runs to come to an end.
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)


def samples_of(
    X: Array, y: Array, weight: Any, rows: Array, dtype: str, class_weight: Any = None
) -> Samples:
    """The listed rows as an engine takes them; ``weight`` includes that of the classes."""
    rows, labels = np.asarray(rows, dtype=np.int64), np.asarray(y, dtype=np.int64)
    X = np.ascontiguousarray(X, dtype=dtype)
    if weight is None:
        return Samples(X, labels, np.ones(len(X), dtype=np.float32), rows)
    weight = np.asarray(weight, dtype=np.float64)
    worth = weight if class_weight is None else weight / np.asarray(class_weight)[labels]
    mean = weight[rows].mean() if len(rows) else 1.0
    if not mean > 0:
        raise ValueError("sample weights must be positive for at least one training row")
    return Samples(X, labels, weight / mean, rows, worth)


def begin(
    initial: DenseTree, train: Samples, valid: Samples, seed: int, config: TrainConfig
) -> "CompiledRun | ReferenceRun":
    """A run of the engine that is asked for, with the draws of a seed."""
    seeds = Seeds(STREAMS[config.stream].order(seed), noise_key(seed))
    if config.engine == "compiled":
        return CompiledRun(initial, train, valid, seeds, config)
    try:
        from gradtree.engines.reference import ReferenceRun
    except ImportError as error:
        raise ImportError(
            "engine='tensorflow' needs TensorFlow: pip install 'gradtree-suite[tensorflow-cpu]' "
            "(or [tensorflow] for a graphics card); engine='compiled' needs nothing more"
        ) from error
    return ReferenceRun(initial, train, valid, seeds, config)


def first_tree(
    seed: int, columns: Array | None, n_features: int, n_classes: int, config: TrainConfig
) -> DenseTree:
    """The initial draw of a run; ``columns`` are sorted values to start thresholds from."""
    drawn = STREAMS[config.stream].initial(seed, config.depth, n_features, n_classes)
    if isinstance(config.loss, NumberLoss) and drawn.leaves.ndim == 2:
        leaves = drawn.leaves[:, : config.loss.targets.shape[1]]  # two, where three were drawn
        drawn = DenseTree(drawn.thresholds, drawn.logits, np.ascontiguousarray(leaves))
    return drawn if columns is None else at_quantiles(drawn, columns, seed)


def columns_of(samples: Samples, config: TrainConfig) -> Array | None:
    """Sorted values to start thresholds from, if they are to start there.

    Of many rows an even part stands for all.
    """
    if config.first_thresholds != "quantiles":
        return None
    rows = samples.rows
    if len(rows) > _ENOUGH_ROWS:
        rows = rows[np.linspace(0, len(rows) - 1, _ENOUGH_ROWS).astype(np.intp)]
    return np.sort(samples.X[rows], axis=0)


def at_quantiles(initial: DenseTree, columns: Array, seed: int) -> DenseTree:
    """A tree whose thresholds lie between values of their features, at random quantiles.

    Thresholds around zero, as the paper draws them, leave nodes that no row or every row passes to
    the left, wherever zero lies among the values.
    """
    rng = np.random.default_rng(np.random.SeedSequence([seed, 2]))
    last = len(columns) - 1
    below = (rng.random(initial.thresholds.shape) * last).astype(np.intp)
    above = np.minimum(below + 1, last)
    # Halves are added, not sums halved: two large numbers may not have a sum.
    thresholds = np.take_along_axis(columns, below, axis=0) * columns.dtype.type(0.5)
    thresholds += np.take_along_axis(columns, above, axis=0) * columns.dtype.type(0.5)
    return DenseTree(thresholds, initial.logits, initial.leaves)


class ProgressBar:
    """Shows a training on a terminal as one line that changes, else as a line per run.

    ``patience``, the epochs without improvement after which a run ends, fills the bar.
    """

    def __init__(self, patience: int, file: TextIO | None = None) -> None:
        self._patience = patience
        self._file = sys.stderr if file is None else file
        self._changes = self._file.isatty()
        self._began = time.monotonic()
        self._last: Progress | None = None
        self._say("GradTree: starting (the first fit on a machine compiles the engine once)")

    def __call__(self, progress: Progress) -> None:
        if self._last is not None and progress.run != self._last.run:
            self._end_run(self._last)
        self._last = progress
        if self._changes:
            self._say(self._line(progress))

    def close(self) -> None:
        if self._last is not None:
            self._end_run(self._last)

    def _end_run(self, progress: Progress) -> None:
        self._say(self._line(progress))
        if self._changes:
            self._file.write("\n")

    def _line(self, progress: Progress) -> str:
        stale = max(progress.epoch - 1 - progress.best_epoch, 0)
        share = max(progress.epoch / progress.epochs, min(stale / self._patience, 1.0))
        filled = round(BAR_CHARACTERS * share)
        bar = "█" * filled + "░" * (BAR_CHARACTERS - filled)
        return (
            f"GradTree: run {progress.run + 1}/{progress.runs} {bar} "
            f"epoch {progress.epoch}, loss {progress.train_loss:.4f}, "
            f"validation {progress.valid_loss:.4f}, best {progress.best_loss:.4f} "
            f"in epoch {progress.best_epoch + 1}, {time.monotonic() - self._began:.1f} s"
        )

    def _say(self, text: str) -> None:
        self._file.write(f"\r\x1b[K{text}" if self._changes else f"{text}\n")
        self._file.flush()
