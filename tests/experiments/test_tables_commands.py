"""The verbs ``tables`` and ``verify`` on a store of records for jobs of the catalogue."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tables_support import spread_values

from experiments.__main__ import main
from experiments.analysis import verifying
from experiments.analysis.paper import load_paper
from experiments.commands import verify
from experiments.core.manifest import write_hashes
from experiments.core.record import RunRecord
from experiments.core.store import Store
from experiments.runner.catalogue import jobs_of
from experiments.runner.plan import note_plan

PAPER = load_paper()


def _store(folder: Path, shift: float = 0.0) -> Path:
    """CART on Iris as the paper prints it, tuned, or a little off."""
    cell = PAPER.cells["test-f1-tuned"]["iris", "cart"]
    assert cell.mean is not None
    assert cell.std is not None
    store = Store(folder)
    values = spread_values(cell.mean + shift, cell.std)
    jobs = jobs_of("tuned", "paper", ["iris"], ["cart"])
    note_plan(store, jobs)
    for job in jobs:
        store.append(RunRecord.of(job, "ok", test_f1=values[job.trial]))
    return folder


@pytest.fixture
def results(tmp_path, monkeypatch) -> Path:
    """A folder of accepted verdicts of its own, and no committed records."""
    folder = tmp_path / "results"
    monkeypatch.setattr(verifying, "FOLDER", folder)
    monkeypatch.setattr(verify, "COMMITTED", tmp_path / "committed")
    return folder


def _contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_tables_are_written_and_the_same_again(tmp_path, capsys):
    store, output = _store(tmp_path / "store"), tmp_path / "out"
    assert main(["tables", "--store", str(store), "--output", str(output)]) == 0
    assert "10 of 10 planned jobs are on record" in capsys.readouterr().out
    first = _contents(output)
    assert b"multi,iris,cart,0.937" in first["paper/test-f1-tuned.csv"]
    assert b"Echocardiogram" in first["paper/datasets.tex"]
    again = tmp_path / "again"
    assert main(["tables", "--store", str(store), "--output", str(again)]) == 0
    assert _contents(again) == first


def test_an_empty_store_gives_tables_of_gaps(tmp_path):
    store, output = tmp_path / "none", tmp_path / "out"
    store.mkdir()
    assert main(["tables", "--store", str(store), "--output", str(output)]) == 0
    assert "& -- &" in (output / "paper" / "test-f1-default.tex").read_text()


def test_verify_counts_and_accepts_and_guards(tmp_path, results, capsys):
    store = _store(tmp_path / "store")
    assert main(["verify", "--store", str(store)]) == 0
    printed = capsys.readouterr().out
    assert "CART: 1/36 exact, 35 missing" in printed
    assert printed.startswith("Of 1 numbers measured so far, out of the paper’s 852 numbers,")
    assert "26 cannot be told" in printed
    assert "Runtime (another machine)\n  not run" in printed
    assert "No verdicts have been accepted yet" in printed

    assert main(["verify", "--store", str(store), "--update"]) == 0
    assert {path.name for path in results.iterdir()} == {"verdicts.csv", "claims.csv"}
    assert main(["verify", "--store", str(store)]) == 0
    assert "Worse than accepted: nothing" in capsys.readouterr().out

    worse = _store(tmp_path / "worse", shift=-0.004)
    assert main(["verify", "--store", str(worse)]) == 1
    printed = capsys.readouterr().out
    assert "Worse than accepted: 1" in printed
    assert "cart on iris was exact, is undecided" in printed


def test_verify_writes_verdicts_where_asked(tmp_path, results):
    store, output = _store(tmp_path / "store"), tmp_path / "out"
    assert main(["verify", "--store", str(store), "--output", str(output)]) == 0
    assert {path.name for path in output.iterdir()} == {"verdicts.csv", "claims.csv"}
    assert not results.exists()


def test_verify_tells_every_claim_when_asked(tmp_path, results, capsys):
    (tmp_path / "none").mkdir()
    assert main(["verify", "--store", str(tmp_path / "none"), "--claims"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("    ours:  ") == 26
    assert "0 of 22 binary datasets have run" in printed


@pytest.mark.parametrize("verb", [["verify", "--store"], ["plan", "--store"], ["merge"]])
def test_the_folder_around_a_store_is_refused_with_a_hint(verb, tmp_path, capsys):
    store = _store(tmp_path / "store")
    Store(store).append_environment({"id": "here"})
    assert main([*verb, str(tmp_path)]) == 2
    assert f"did you mean {store}?" in capsys.readouterr().err


def test_the_verbs_do_without_tensorflow(tmp_path):
    (tmp_path / "none").mkdir()
    program = f"""
import sys
from experiments.__main__ import main
main(["tables", "--store", {str(tmp_path / "none")!r}, "--output", {str(tmp_path / "out")!r}])
main(["verify", "--store", {str(tmp_path / "none")!r}])
heavy = {{"tensorflow", "keras", "numba", "optuna", "matplotlib", "pydl85"}}
print(sorted(heavy & set(sys.modules)))
"""
    outcome = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True
    )
    assert outcome.stdout.strip().splitlines()[-1] == "[]"


def test_fits_are_compared_with_the_committed_ones(tmp_path, results, capsys):
    committed, mine = _store(tmp_path / "committed"), _store(tmp_path / "mine")
    assert main(["verify", "--store", str(mine)]) == 0
    assert "Trial by trial: 10 of your 10 fits equal ours." in capsys.readouterr().out

    path = mine / "paper" / "iris.jsonl"
    lines = path.read_text().splitlines()
    altered = json.loads(lines[3]) | {"test_f1": 0.5}
    path.write_text("\n".join([*lines[:3], json.dumps(altered), *lines[4:]]) + "\n")
    assert main(["verify", "--store", str(mine)]) == 1
    printed = capsys.readouterr().out
    assert "9 of your 10 fits equal ours." in printed
    assert "paper iris cart trial 3: test_f1 0.5 for our" in printed
    assert committed.is_dir()


def _environment(cpu: str, version: str) -> dict[str, object]:
    return {"id": cpu, "versions": {"numpy": version}, "machine": {"cpu": cpu}}


def test_the_first_differences_are_named_with_what_the_machines_differ_in(
    tmp_path, results, capsys
):
    folders = tmp_path / "committed", tmp_path / "mine"
    jobs = jobs_of("tuned", "paper", ["iris"], ["cart"])
    for folder, cpu, version, shift in zip(
        folders, ("one", "other"), ("2.1", "2.2"), (0.0, 0.01), strict=True
    ):
        store = Store(folder)
        note_plan(store, jobs)
        store.append_environment(_environment(cpu, version))
        for job in jobs:
            score = 0.9 + (shift if job.trial < 7 else 0.0)
            store.append(RunRecord.of(job, "ok", test_f1=score, environment=cpu))
    assert main(["verify", "--store", str(folders[1])]) == 1
    printed = capsys.readouterr().out
    assert "3 of your 10 fits equal ours." in printed
    assert printed.count("test_f1 0.91 for our 0.9") == 5
    assert "made with numpy 2.2 for 2.1, cpu other for one" in printed
    assert "  and 2 more" in printed


def test_three_trials_are_compared_trial_by_trial_and_claim_nothing(tmp_path, results, capsys):
    committed = _store(tmp_path / "committed")
    write_hashes(committed)
    assert main(["verify", "--store", str(committed), "--update"]) == 0
    capsys.readouterr()
    cell = PAPER.cells["test-f1-tuned"]["iris", "cart"]
    values = spread_values(cell.mean or 0.0, cell.std or 0.0)
    mine = Store(tmp_path / "mine")
    jobs = jobs_of("tuned", "paper", ["iris"], ["cart"], trials=range(3))
    note_plan(mine, jobs)
    for job in jobs:
        mine.append(RunRecord.of(job, "ok", test_f1=values[job.trial]))
    assert main(["verify", "--store", str(tmp_path / "mine")]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("Measured with 3 trials: too few to judge the paper’s numbers")
    assert "CART: 1 undecided, 35 missing; from 3 trials, not judged" in printed
    assert "Trial by trial: 3 of your 3 fits equal ours." in printed
    assert "Worse than accepted: nothing" in printed
    assert "852" not in printed
    assert "ten trials" not in printed


def test_a_store_of_other_jobs_has_nothing_to_compare(tmp_path, results, capsys):
    assert main(["verify", "--store", str(_store(tmp_path / "mine"))]) == 0
    assert "The committed records have none of your fits" in capsys.readouterr().out
