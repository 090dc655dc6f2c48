"""``compare``: a learner of a plug-in beside the committed runs, as the README shows it."""

import re

import numpy as np
import pandas as pd
import plugins
import pytest
from analysis_support import Cell, make_runs
from scipy import stats
from sklearn.metrics import matthews_corrcoef

from experiments.analysis.pairwise import compare
from experiments.analysis.runs import load
from experiments.errors import UserError
from experiments.output.readme import REPOSITORY
from experiments.runs.archive import unpack
from experiments.runs.schema import BY_NAME
from experiments.runs.store import Store

README = (REPOSITORY / "experiments" / "README.md").read_text(encoding="utf-8")
QUICK = ["--trial", "0-1", "--inline"]


class TestVerb:
    def test_a_learner_and_a_dataset_of_ones_own(self, run, tmp_path):
        path, store = plugins.write(tmp_path, plugins.BOTH), tmp_path / "runs"
        words = ["compare", path, "--dataset", "iris,My shop", "--against", "cart-pruned"]
        words += [*QUICK, "--metric", "test_f1,tree_size", "--store", store]
        status, out, _ = run(*words)
        assert status == 0
        assert "4 of 12 runs are committed." in out
        assert "## Is Shallow tree better than CART?" in out
        assert "Datasets (test F1 and tree size): Iris and My shop." in out
        ran = Store(store).frame("runs")
        by_dataset = ran.groupby("dataset")["method"].unique().map(set).to_dict()
        assert by_dataset["iris"] == {"shallow"}
        assert by_dataset["my-shop"] == {"shallow", "cart", "cart-pruned"}
        folder = store / "comparison"
        table = pd.read_csv(folder / "comparison.csv")
        cart = table[(table["Learner"] == "CART") & (table["Metric"] == "test F1")]
        ours = load().of("clean", "default").query("dataset == 'iris' and method == 'cart'")
        iris = ours[ours["trial"] < 2]["test_f1"].mean()
        own = ran.query("dataset == 'my-shop' and method == 'cart'")["test_f1"].mean()
        assert cart["mean"].item() == pytest.approx((iris + own) / 2, abs=1e-12)
        scores = pd.read_csv(folder / "comparison-datasets.csv").set_index(["Metric", "Dataset"])
        assert scores.loc["test F1", "CART"].to_dict() == pytest.approx(
            {"Iris": iris, "My shop": own}
        )
        page = (folder / "comparison.html").read_text(encoding="utf-8")
        assert "<h1>Is Shallow tree better than CART?</h1>" in page
        assert "<svg" in page
        assert r"\toprule" in (folder / "comparison.tex").read_text(encoding="utf-8")
        assert (folder / "comparison.pdf").stat().st_size > 1000
        assert "All 8 jobs are done." in run(*words)[1]

    def test_metrics_of_ones_own_and_of_scikit_learn(self, run, tmp_path):
        """Runs whose probabilities are not committed are made anew, here and not there."""
        text = plugins.BOTH + "METRICS = {'sure': lambda y, p: p.max(axis=1).mean()}\n"
        path, store = plugins.write(tmp_path, text), tmp_path / "runs"
        words = ["--reference", "cart-weighted", "--against", "cart-weighted", *QUICK]
        words += ["--dataset", "iris", "--store", store]
        metrics = "sure,matthews_corrcoef"
        status, out, _ = run("compare", path, "--metric", metrics, *words)
        assert (status, "0 of 4 runs are committed with probabilities." in out) == (0, True)
        table = pd.read_csv(store / "comparison" / "comparison.csv")
        kept = [unpack(Store(store).predictions(key) or b"") for key in
                Store(store).frame().query("method == 'cart-weighted'")["key"]]  # fmt: skip
        wanted = {
            "sure": np.mean([each.proba.max(axis=1).mean() for each in kept]),
            "matthews corrcoef": np.mean(
                [matthews_corrcoef(each.truth, each.predicted) for each in kept]
            ),
        }
        found = table[table["Learner"].str.startswith("CART")].set_index("Metric")["mean"]
        assert found.to_dict() == pytest.approx(wanted)

    def test_a_learner_without_probabilities_takes_nothing_from_the_others(self, run, tmp_path):
        text = f"""{plugins.LEARNER}
from dataclasses import replace
from sklearn.svm import LinearSVC

def linear(split, params, seed):
    X, y = split.X_train_valid, split.y_train_valid
    return Fitted(LinearSVC(random_state=seed).fit(X, y), X, y, tree=None, size=None)

LEARNERS = [LEARNER, replace(LEARNER, slug="linear", name="Linear", fit=linear)]
del LEARNER
"""
        words = ["--dataset", "iris", "--against", "cart", *QUICK, "--store", tmp_path / "runs"]
        status, out, _ = run("compare", plugins.write(tmp_path, text), *words)
        assert status == 0
        assert "Linear lacks ROC AUC in some trial on Iris (LinearSVC has no predict_proba)." in out
        table = pd.read_csv(tmp_path / "runs" / "comparison" / "comparison.csv")
        shown = table.groupby("Metric")["Learner"].unique().map(list).to_dict()
        assert shown["test F1"] == ["Shallow tree", "Linear", "CART"]
        assert shown["ROC AUC"] == ["Shallow tree", "CART"]
        words = ["--experiment", "default", "--protocol", "clean", "--store", tmp_path / "runs"]
        status, out, _ = run("measure", "roc_auc_score", *words)
        assert (status, "2: LinearSVC has no predict_proba" in out) == (3, True)
        assert "--refit" not in out

    def test_says_why_a_metric_is_missing(self, run, tmp_path):
        text = plugins.LEARNER + "METRICS = {'broken': lambda y, p: 1 / 0}\n"
        words = ["--dataset", "iris", "--against", "cart", *QUICK, "--store", tmp_path / "runs"]
        path = plugins.write(tmp_path, text)
        status, out, _ = run("compare", path, "--metric", "test_f1,broken", *words)
        assert (status, "4 runs have no broken: division by zero." in out) == (0, True)

    def test_says_so_if_every_run_is_committed(self, run, tmp_path):
        words = ["--dataset", "iris", "--against", "cart-pruned", *QUICK]
        text = plugins.LEARNER.replace("LEARNER = ", "_UNUSED = ") + plugins.TABLES
        path = plugins.write(tmp_path, text)
        status, out, _ = run("compare", path, *words, "--store", tmp_path / "runs")
        assert (status, "4 of 4 runs are committed." in out) == (0, True)
        assert "## Is CART (pruned) better than CART?" in out

    @pytest.mark.parametrize(
        ("text", "words", "told"),
        [
            (plugins.LEARNER, "--metric tets_f1", "did you mean test_f1"),
            (plugins.LEARNER, "--reference crat", "did you mean cart"),
            (plugins.LEARNER, "--against gradtre", "did you mean gradtree"),
            (plugins.LEARNER, "--protocol claen", "did you mean clean"),
            (plugins.LEARNER, "--dataset irsi", "did you mean iris"),
            ("METRICS = {'mine': lambda y, p: 1.0}\n", "", "offers no learner or dataset"),
        ],
    )
    def test_mistakes_end_before_a_run(self, run, text, words, told, tmp_path):
        path, store = plugins.write(tmp_path, text), tmp_path / "runs"
        status, _, errors = run("compare", path, *words.split(), "--store", store)
        assert (status, told in errors, store.exists()) == (2, True, False)
        assert len(errors.splitlines()) <= 2

    @pytest.mark.slow
    def test_the_readme_shows_what_is_printed(self, run, tmp_path):
        """Slow: 210 fits on 21 datasets, all to be prepared first."""
        (code,) = re.findall(r"```py\n(.*?)```", README, flags=re.DOTALL)
        path = plugins.write(tmp_path, code)
        status, out, _ = run("compare", path, *QUICK[2:], "--store", tmp_path / "runs")
        if "the data is missing" in out:
            pytest.skip("needs the paper's datasets under 1,000 rows")
        assert status == 0
        _, paragraph, table, *_ = out[out.index("## Is") :].split("\n\n")
        shown = " ".join(README.replace("\n> ", " ").split())
        assert f"**Is Shallow tree better than CART?** {paragraph}" in shown
        assert table in README


def test_the_readme_shows_the_committed_means():
    runs = load()
    small = [slug for slug, d in runs.datasets.items() if d["in_paper"] and d["n_rows"] < 1000]
    rows = runs.of("clean", "default").query("dataset in @small")
    for metric, word in (("test_f1", "test F1"), ("test_roc_auc", "ROC AUC")):
        for method in ("cart", "cart-pruned", "gradtree"):
            mean = rows[rows["method"] == method].groupby("dataset")[metric].mean().mean()
            assert f"| {word} | {runs.name(method)} | {len(small)} | {mean:.3f} |" in README


class TestNumbers:
    """Six datasets, two trials each; ``mine`` lacks a trial on the seventh."""

    def runs(self, metric: str = "test_f1") -> tuple[pd.DataFrame, pd.DataFrame]:
        draw = np.random.default_rng(0)
        slugs = ["iris", "wine", "zoo", "glass", "titanic", "raisins", "hepatitis"]
        scores = pd.DataFrame(
            draw.uniform(0.5, 0.9, (7, 3)), slugs, ["gradtree", "cart", "cart-pruned"]
        )
        cells = {
            ("clean", "default", slug, method): [value - 0.01, value + 0.01]
            for (slug, method), value in scores.stack().items()
        }
        cells["clean", "default", "hepatitis", "gradtree"] = [0.5, None]
        made = make_runs(cells, metric)
        self.answer = compare(
            made, "clean", ["gradtree"], ["cart", "cart-pruned"], [BY_NAME[metric]]
        )
        return scores.iloc[:6], self.answer.tables[0].frame.set_index("Learner")

    def test_every_column_is_that_of_the_shared_datasets(self):
        scores, table = self.runs()
        gaps = scores["gradtree"] - scores["cart"]
        mine, others = table.loc["GradTree"], table.loc["CART (pruned)"]
        low, high = stats.t.interval(0.95, 5, gaps.mean(), stats.sem(gaps))
        assert mine["datasets"] == 6
        assert mine["mean"] == pytest.approx(scores["gradtree"].mean())
        assert mine["mean rank"] == scores.rank(axis=1, ascending=False)["gradtree"].mean()
        assert mine["difference"] == pytest.approx(gaps.mean())
        assert mine["95 % interval: low"] == pytest.approx(low)
        assert mine["95 % interval: high"] == pytest.approx(high)
        assert mine["W-T-L"] == f"{(gaps > 0).sum()}-0-{(gaps < 0).sum()}"
        plain = [
            stats.wilcoxon(scores[method] - scores["cart"], method="exact").pvalue
            for method in ("gradtree", "cart-pruned")
        ]
        found = [mine["p (Holm)"], others["p (Holm)"]]
        smaller, larger = sorted(plain)
        assert sorted(found) == pytest.approx([min(1, 2 * smaller), max(2 * smaller, larger)])
        assert mine[["P better", "P ±0.01", "P worse"]].sum() == pytest.approx(1)
        assert table.loc["CART", "difference":].isna().all()

    def test_what_is_left_out_is_named(self):
        self.runs()
        assert "GradTree lacks test F1 in some trial on Hepatitis." in self.answer.sentences
        assert not any("Datasets" in s and "Hepatitis" in s for s in self.answer.sentences)

    def test_less_of_a_loss_is_better(self):
        scores, table = self.runs("test_log_loss")
        gaps = scores["cart"] - scores["gradtree"]
        mine = table.loc["GradTree"]
        assert mine["difference"] == pytest.approx(gaps.mean())
        assert mine["mean rank"] == scores.rank(axis=1)["gradtree"].mean()
        assert np.isnan(mine["P better"])

    def test_without_a_shared_dataset_there_is_no_table(self):
        cells: dict[Cell, list[float | None]] = {
            ("clean", "default", "iris", "gradtree"): [0.5, None],
            ("clean", "default", "iris", "cart"): [0.5, 0.6],
        }
        with pytest.raises(UserError, match="GradTree lacks test F1 in some trial on Iris"):
            compare(make_runs(cells), "clean", ["gradtree"], ["cart"], [BY_NAME["test_f1"]])
