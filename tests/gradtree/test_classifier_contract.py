"""The estimators by the contract of scikit-learn, and the registries of their settings."""

import inspect
from collections.abc import Callable
from typing import Any

import pytest
from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    check_estimator,
    parametrize_with_checks,
)
from small_problems import boxes, quick, regressor, revised

import gradtree
from baselines.gradtree_variants import NEW_DEFAULTS
from gradtree import (
    PAPER,
    CartClassifier,
    CartRegressor,
    GradTreeClassifier,
    GradTreeRegressor,
    SmallTreeClassifier,
    SmallTreeRegressor,
)
from gradtree.engines.streams import STREAMS
from gradtree.inputs.parameters import settled
from gradtree.settings.config import CHOICES, ENGINES, FIRST_THRESHOLDS
from gradtree.settings.losses import LOSSES
from gradtree.settings.selectors import SELECTORS
from gradtree.settings.splits import SPLITS

EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": (
        "trained by shuffled mini-batches: repeating a row changes the batches, a weight does not"
    )
}


def unless(spotless: tuple[type, ...]) -> Callable[[Any], dict[str, str]]:
    return lambda model: {} if isinstance(model, spotless) else EXPECTED_FAILURES


@parametrize_with_checks(
    [
        *(quick(epochs=60, patience=30), revised(), regressor()),
        *(CartClassifier(cv=2), CartRegressor(cv=2)),
        SmallTreeClassifier(families={"cart": CartClassifier(cv=2)}, cv=2, random_state=0),
        SmallTreeRegressor(families={"cart": CartRegressor(cv=2)}, cv=2, random_state=0),
    ],
    expected_failed_checks=unless((CartClassifier, CartRegressor, SmallTreeClassifier)),
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "model",
    [
        *(GradTreeClassifier(), GradTreeClassifier(**PAPER), GradTreeRegressor()),
        *(CartClassifier(), CartRegressor(), SmallTreeClassifier(cv=3), SmallTreeRegressor(cv=3)),
    ],
    ids=["own", "paper", "regressor", "cart", "cart of numbers", "small tree", "small of numbers"],
)
def test_scikit_learns_own_checks_with_the_defaults(model):
    check_estimator(model, expected_failed_checks=unless((CartClassifier,))(model))


@pytest.mark.parametrize("model", [quick(), regressor()], ids=["classifier", "regressor"])
def test_names_of_columns_are_kept_and_compared(model):
    check_dataframe_column_names_consistency("model", model)


def test_the_history_is_drawn():
    plt = pytest.importorskip("matplotlib.pyplot")
    axes = quick().fit(*boxes()).plot_history()
    assert len(axes.get_legend().get_texts()) == 2
    plt.close("all")


FORBIDDEN = ["tensorflow", "pandas", "matplotlib", "numba", "sklearn", "scipy"]


def test_import_is_fast_and_light(python):
    program = (
        "import sys, time; start = time.perf_counter(); import gradtree; "
        "seconds = time.perf_counter() - start; "
        f"print(seconds, [name for name in {FORBIDDEN} if name in sys.modules])"
    )
    seconds, loaded = python(program).split(maxsplit=1)
    assert loaded.strip() == "[]"
    assert float(seconds) < 0.5


WITHOUT_EXTRAS = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split('.')[0] in ('tensorflow', 'pandas', 'matplotlib'):
            raise ImportError(name)
sys.meta_path.insert(0, Refuse())
import numpy as np
import gradtree
class Series:
    def __init__(self, cells): self.cells = cells
    def to_numpy(self): return self.cells
class Frame(dict):
    column_names = ['n', 'word', 'y']
    shape = (80, 3)
n = np.arange(80.0)
word = np.where(n > 40, 'a', 'b').astype(object)
table = Frame(n=Series(n % 7), word=Series(word), y=Series(n > 40))
model = gradtree.fit_table(table, 'y', depth=2, epochs=40, restarts=0, random_state=0)
print(model.export_text())
try:
    model.plot()
except ImportError as error:
    print(error)
model = gradtree.GradTreeClassifier(depth=2, epochs=20, restarts=0, random_state=0)
print(model.fit(n[:, None], n > 40).export_text())
"""


def test_arrays_and_tables_need_no_tensorflow_pandas_or_matplotlib(python):
    said = python(WITHOUT_EXTRAS)
    for told in ("word = a", "pip install", "x0 <= "):
        assert told in said


def test_every_public_name_exists():
    for name in gradtree.__all__:
        assert name == "PAPER" or getattr(gradtree, name).__doc__
        assert name in dir(gradtree)
    with pytest.raises(AttributeError, match="nonsense"):
        gradtree.nonsense  # noqa: B018


REGISTRIES = {
    "loss": LOSSES,
    "selector": SELECTORS,
    "split": SPLITS,
    "stream": STREAMS,
    "engine": ENGINES,
    "choose_by": CHOICES,
    "first_thresholds": FIRST_THRESHOLDS,
}
NOT_OF_THE_METHOD = {"random_state", "verbose", "n_jobs"}


@pytest.mark.parametrize("parameter", REGISTRIES)
def test_the_help_and_the_error_name_every_entry(parameter):
    help_text = inspect.getdoc(GradTreeClassifier)
    with pytest.raises(ValueError, match=f"'{parameter}' .* Got 'nonsense'") as caught:
        quick(**{parameter: "nonsense"}).fit(*boxes(60))
    for name in REGISTRIES[parameter]:
        assert f'"{name}"' in help_text
        assert repr(name) in str(caught.value)


@pytest.mark.parametrize("parameter", [name for name in REGISTRIES if name != "engine"])
def test_every_entry_trains(parameter):
    X, y = boxes(120, n_classes=3)
    for name in REGISTRIES[parameter]:
        model = revised(epochs=20, restarts=0, **{parameter: name}).fit(X, y)
        assert model.score(X, y) > 0.4, name


def test_the_paper_names_every_parameter():
    assert set(PAPER) == set(GradTreeClassifier().get_params()) - NOT_OF_THE_METHOD


def test_the_suites_revised_learner_trains_as_the_estimator_does():
    """Its ending and its way with ties are those that its runs on record have."""
    params = settled(GradTreeClassifier().get_params(), 2)
    endings = {"merge_leaves", "ccp_alpha", "choose_by"}
    assert set(NEW_DEFAULTS) - set(params) == {"round_to_validation"}  # gone; was never used
    known = set(NEW_DEFAULTS) & set(params)
    assert {name for name in known if params[name] != NEW_DEFAULTS[name]} == endings
