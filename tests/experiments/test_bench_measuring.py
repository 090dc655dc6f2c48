"""The benchmark: data, fits in worker processes, files and the verb itself."""

from __future__ import annotations

import contextlib
import csv
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.__main__ import main
from experiments.bench.cases import AXES, NAMED, Case, along, grid, load_data, make_data, save_data
from experiments.bench.files import read_fits, write_fits
from experiments.bench.rounds import (
    Interpreters,
    Measurement,
    Plan,
    Worker,
    WorkerError,
    _expected,
    measure,
)
from experiments.bench.serving import Stamp, Timing, timing_of_epochs

TINY = Case("tiny", 2, 3, 40, 2, 10, epochs=3, batch_size=16)


class TestCases:
    def test_the_axes_span_the_promised_sizes(self) -> None:
        spans = {axis: [case.size(axis) for case in grid(axis)] for axis in AXES}
        ends = {axis: (sizes[0], sizes[-1]) for axis, sizes in spans.items()}
        assert ends == {
            "depth": (2, 12),
            "features": (4, 1_000),
            "samples": (1_000, 1_000_000),
            "classes": (2, 26),
        }
        assert all(sizes == sorted(sizes) for sizes in spans.values())

    def test_an_axis_varies_nothing_else(self) -> None:
        first, second = along("features", (5, 50))
        assert replace(second, features=5, name=first.name) == first

    def test_named_cases_have_depth_ten(self) -> None:
        assert {(case.samples, case.features, case.depth) for case in NAMED.values()} == {
            (823, 4, 10),
            (2761, 57, 10),
        }


class TestData:
    @pytest.mark.parametrize("classes", [2, 26])
    def test_shape_and_classes(self, classes: int) -> None:
        case = replace(TINY, classes=classes, samples=60, features=30)
        data = make_data(case)
        assert data.X.shape == (60, 30)
        assert data.X.dtype == np.float32
        assert data.X_valid.shape == (10, 30)
        assert set(data.y) == set(range(classes))

    def test_classes_can_be_told_apart(self) -> None:
        from sklearn.tree import DecisionTreeClassifier

        data = make_data(replace(TINY, samples=2_000, valid_samples=1_000, features=10))
        tree = DecisionTreeClassifier(max_depth=6, random_state=0).fit(data.X, data.y)
        assert tree.score(data.X_valid, data.y_valid) > 0.65

    def test_round_trip(self, tmp_path: Path) -> None:
        data = make_data(TINY)
        save_data(data, tmp_path / "data.npz")
        again = load_data(tmp_path / "data.npz")
        np.testing.assert_array_equal(again.X, data.X)
        np.testing.assert_array_equal(again.y_valid, data.y_valid)


class TestTiming:
    def test_the_first_epoch_does_not_count(self) -> None:
        ends = [Stamp(11.0, 6.0), Stamp(13.0, 6.5), Stamp(15.0, 7.0)]
        timing = timing_of_epochs(Stamp(1.0, 1.0), ends, Stamp(16.0, 7.5))
        assert timing.epoch == Stamp(2.0, 0.5)
        assert timing.fit == Stamp(15.0, 6.5)

    def test_one_epoch_is_too_few(self) -> None:
        with pytest.raises(ValueError, match="at least 2 epochs"):
            timing_of_epochs(Stamp(0, 0), [Stamp(1, 1)], Stamp(1, 1))

    def test_dense_cost_sets_the_expectation(self) -> None:
        larger = replace(TINY, samples=80, features=6)
        assert _expected(larger, TINY, 1.5) == pytest.approx(6.0)


class MadeUpWorker(contextlib.nullcontext[Any]):
    """Answers at once."""

    def __init__(self, engine: str, interpreters: Interpreters) -> None:
        super().__init__(self)
        self.engine = engine

    def fit(self, case: Case, data: Path) -> Timing:
        seconds = case.samples / 1_000 if self.engine == "tensorflow" else 1e-3
        return Timing(Stamp(seconds, seconds), Stamp(seconds * 9, seconds * 9))


class TestWorkers:
    def test_engines_take_turns_and_slow_ones_are_spared(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """With engines of which one takes a second for every thousand rows."""
        monkeypatch.setattr(sys.modules[measure.__module__], "Worker", MadeUpWorker)
        heard: list[Measurement] = []
        cases = (TINY, replace(TINY, name="large", samples=4_000))
        plan = Plan({"samples": cases}, ("compiled", "tensorflow"), repeats=2, longest_epoch=1.0)
        measure(plan, Interpreters(), heard.append)
        assert [(fit.case.name, fit.engine, fit.repeat) for fit in heard] == [
            ("tiny", "compiled", 0),
            ("tiny", "tensorflow", 0),
            ("tiny", "compiled", 1),
            ("tiny", "tensorflow", 1),
            ("large", "compiled", 0),
            ("large", "compiled", 1),
        ]

    def test_a_worker_that_dies_says_why(self, tmp_path: Path) -> None:
        with (
            Worker("compiled", Interpreters()) as worker,
            pytest.raises(WorkerError, match=r"compiled engine, tiny.*No such file"),
        ):
            worker.fit(TINY, tmp_path / "missing.npz")

    def test_the_authors_package_needs_an_interpreter(self) -> None:
        with pytest.raises(ValueError, match="--authors-python"):
            Interpreters().command("authors")

    def test_the_authors_interpreter_runs_their_worker(self) -> None:
        command = Interpreters(authors=Path(sys.executable)).command("authors")
        assert command == [sys.executable, "-m", "experiments.bench.authors_worker"]


class TestVerb:
    def test_writes_tables_and_plot_and_keeps_other_axes(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr("experiments.bench.cases._QUICK_SIZES", {"depth": (1, 2)} | REST)
        timing = Timing(Stamp(0.5, 0.25), Stamp(2.0, 1.0))
        old = Measurement("banknote", NAMED["banknote"], "authors", 0, timing)
        replaced = Measurement("depth", TINY, "authors", 0, timing)
        write_fits(tmp_path / "fits.csv", [old, replaced])
        options = ["--quick", "--axis", "depth", "--engines", "compiled", "--repeats", "1"]
        assert main(["bench", *options, "--output", str(tmp_path)]) == 0
        with (tmp_path / "medians.csv").open() as file:
            rows = list(csv.DictReader(file))
        assert [(row["depth"], row["engine"]) for row in rows] == [
            ("10", "authors"),
            ("1", "compiled"),
            ("2", "compiled"),
        ]
        assert all(float(row["epoch_seconds"]) > 0 for row in rows)
        kept, *ours = read_fits(tmp_path / "fits.csv")
        assert kept == old
        assert all(0 < fit.timing.epoch.cpu < fit.timing.fit.cpu for fit in ours)
        assert all(fit.timing.phases is not None for fit in ours)
        growth = (tmp_path / "growth.csv").read_text()
        assert "depth,compiled,epoch,1,2,2," in growth
        assert "depth,compiled,gradients,1,2,2," in growth
        assert (tmp_path / "seconds_per_epoch.svg").stat().st_size > 1_000
        assert "depth, compiled, epoch: exponent" in capsys.readouterr().out

    def test_says_what_is_missing(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.delenv("GRADTREE_AUTHORS_PYTHON", raising=False)
        status = main(["bench", "--engines", "authors", "--output", str(tmp_path)])
        assert status == 2
        assert "GRADTREE_AUTHORS_PYTHON" in capsys.readouterr().err
        assert not list(tmp_path.iterdir())


REST = {"features": (2,), "samples": (100,), "classes": (2,)}
