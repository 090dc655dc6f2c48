"""Promises about stored predictions: a new metric needs no new run, a repeated fit replaces no
record, and what was not predicted is not believed.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from runner_helpers import fake_job
from sklearn.metrics import matthews_corrcoef

from experiments.__main__ import main
from experiments.core import predictions
from experiments.core.files import replace_lines
from experiments.core.store import Store
from experiments.runner import plugins
from experiments.runner.executors.process import ROOT
from experiments.runner.perform import perform

pytestmark = pytest.mark.usefixtures("fakes")
SELECTION = ["--dataset", "fake-two", "--method", "fake-good", "--experiment", "default"]
SELECTION += ["--protocol", "paper", "--trial", "0-3"]
TRIALS = 4


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store as a run leaves it."""
    folder = tmp_path_factory.mktemp("finished") / "store"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(plugins.VARIABLE, "fake_learners")
        assert main(["run", "--inline", "--plain", "--store", str(folder), *SELECTION]) == 0
    return folder


@pytest.fixture
def store(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "store"))


def without_predictions(store: Path) -> Path:
    for path in store.glob("predictions/*/*/*.npz"):
        path.unlink()
    return store


def measured(store: Path, output: Path) -> tuple[int, str]:
    words = ["measure", "matthews_corrcoef", "--store", str(store), "--output", str(output)]
    status = main([*words, "--experiment", "default"])
    (table,) = output.rglob("*.csv")
    return status, table.read_text()


def test_another_metric_needs_no_fit(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From single files and from packed ones alike."""
    scores = [matthews_corrcoef(*both(store, record)) for record in Store(store).records()]
    monkeypatch.setitem(sys.modules, "baselines", None)  # importing a learner is an error
    status, single = measured(store, tmp_path / "single")
    assert status == 0
    assert f"{np.mean(scores):.6f}"[:6] in single
    assert main(["merge", "--compact", "--into", str(store)]) == 0
    assert [path.name for path in store.rglob("*.npz")] == ["fake-two.npz"]
    assert measured(store, tmp_path / "packed") == (0, single)


def both(store: Path, record: object) -> tuple[object, object]:
    found = predictions.classes(store, record)  # type: ignore[arg-type]
    assert found is not None
    return found


def test_packed_predictions_are_a_byte_a_row_and_committable(store: Path) -> None:
    assert main(["merge", "--compact", "--into", str(store)]) == 0
    with np.load(store / "predictions" / "paper" / "fake-two.npz") as arrays:
        assert {arrays[name].dtype for name in arrays.files if "keys" not in name} == {
            np.dtype(np.uint8)
        }
    ignored = (ROOT / ".gitignore").read_text().splitlines()
    assert "results/records/predictions/*/*/" in ignored
    assert "results/records/predictions/" not in ignored


def test_gaps_are_told_with_the_command_that_fills_them(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    without_predictions(store)
    assert measured(store, tmp_path / "out")[0] == 3
    said = capsys.readouterr().out
    assert f"{TRIALS} of {TRIALS} successful runs have no predictions in {store}." in said
    assert f"run --fill-predictions --store {store} --experiment default" in said


def test_a_repeated_fit_brings_predictions_and_replaces_no_record(store: Path) -> None:
    kept = {path.name: path.read_bytes() for path in store.rglob("*.npz")}
    records = (store / "paper" / "fake-two.jsonl").read_bytes()
    without_predictions(store)
    fill = ["run", "--fill-predictions", "--inline", "--plain", "--store", str(store)]
    assert main([*fill, "--trial", "0-1"]) == 0
    assert len(list(store.rglob("*.npz"))) == 2
    assert main(fill) == 0
    assert {path.name: path.read_bytes() for path in store.rglob("*.npz")} == kept
    assert (store / "paper" / "fake-two.jsonl").read_bytes() == records
    assert main(fill) == 0, "nothing is left to do"


def test_a_fit_that_is_not_repeated_is_refused(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Someone raised a score; the predictions do not become its witnesses."""
    raise_one_score(without_predictions(store))
    fill = ["run", "--fill-predictions", "--inline", "--plain", "--store", str(store)]
    assert main(fill) == 1
    said = capsys.readouterr().out
    assert f"{TRIALS - 1} of {TRIALS} jobs repeated their records" in said
    assert "1 gave other scores than their records, and were refused:" in said
    assert "paper fake-two fake-good trial" in said
    assert len(list(store.rglob("*.npz"))) == TRIALS - 1


def raise_one_score(store: Path) -> None:
    records = [record.to_dict() for record in Store(store).records()]
    records[1]["test_f1"] = min(1.0, records[1]["test_f1"] + 0.01)
    replace_lines(store / "paper" / "fake-two.jsonl", records)


def test_a_raised_score_is_found_by_its_predictions(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without any manifest, by ``verify --deep``."""
    from experiments.analysis.verifying import recomputed

    assert recomputed(store, Store(store).records()) == (TRIALS, [])
    raise_one_score(store)
    main(["verify", "--deep", "--store", str(store), "--output", str(store / "out")])
    said = capsys.readouterr().out
    assert f"Scores recomputed from predictions: {TRIALS} records, 1 differ" in said
    assert "its predictions give" in said


def test_merging_brings_predictions_of_known_records(store: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    assert main(["merge", str(store), "--into", str(target), "--no-predictions"]) == 0
    assert list(target.rglob("*.npz")) == []
    assert main(["merge", str(store), "--into", str(target)]) == 0
    assert len(list(target.rglob("*.npz"))) == TRIALS


def test_damaged_predictions_are_named_and_never_believed(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = sorted(store.rglob("*.npz"))[0]
    whole = path.read_bytes()
    record = next(r for r in Store(store).records() if r.key == path.stem)
    sound = predictions.classes(store, record)
    assert sound is not None
    chance = random.Random(0)
    for _ in range(300):
        at = chance.randrange(len(whole))
        damaged = bytearray(whole)
        damaged[at : at + chance.randrange(1, 20)] = chance.randbytes(chance.randrange(20))
        path.write_bytes(damaged)
        found = predictions.classes(store, record)
        assert found is None or all(map(np.array_equal, found, sound))
    path.write_bytes(whole[:100])
    assert predictions.damaged(store) == [str(path.relative_to(store))]


@pytest.mark.parametrize(
    "arrays",
    [
        {"truth": np.zeros(3, int), "predicted": np.zeros(4, int)},
        {"truth": np.zeros(3), "predicted": np.zeros(3)},
        {"truth": np.zeros((2, 2), int), "predicted": np.zeros((2, 2), int)},
        {"truth": np.array([-1]), "predicted": np.array([0])},
        {"truth": np.array([999]), "predicted": np.array([0])},
        {"truth": np.array(["a"]), "predicted": np.array(["a"])},
        {"predicted": np.zeros(3, int)},
        {},
    ],
)
def test_arrays_that_are_no_classes_are_not_believed(
    arrays: dict[str, np.ndarray], tmp_path: Path
) -> None:
    record = perform(fake_job("good")).record
    path = predictions.path_of(tmp_path, record)
    path.parent.mkdir(parents=True)
    np.savez_compressed(path, **arrays)  # type: ignore[arg-type]
    assert predictions.classes(tmp_path, record) is None


def test_a_pipe_or_a_bomb_in_the_place_of_predictions_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = perform(fake_job("good")).record
    path = predictions.path_of(tmp_path, record)
    path.parent.mkdir(parents=True)
    os.mkfifo(path)
    assert predictions.classes(tmp_path, record) is None
    path.unlink()
    monkeypatch.setattr(predictions, "LARGEST_UNPACKED", 1_000_000)
    np.savez_compressed(path, truth=np.zeros(1_000_000, np.uint8))
    assert path.stat().st_size < 10_000
    assert predictions.load(tmp_path, record) is None
