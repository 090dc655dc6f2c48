"""Accepted verdicts: what counts as a regression, in whole and in partial stores."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tables_support import Records, paper_as_ours

from experiments.analysis import verifying
from experiments.analysis.findings import Findings, findings_of
from experiments.analysis.paper import load_paper
from experiments.core.checks import UserError
from experiments.core.files import write_files
from experiments.core.job import Job
from experiments.core.record import RunRecord
from experiments.render.csvfiles import verdict_files

PAPER = load_paper()


@pytest.fixture(scope="module")
def runs() -> tuple[list[Job], Records]:
    return paper_as_ours(PAPER)


@pytest.fixture(scope="module")
def before(runs, tmp_path_factory) -> verifying.Accepted:
    found = findings_of(*runs, paper=PAPER)
    folder = tmp_path_factory.mktemp("accepted")
    write_files(folder, verdict_files(found.verdicts, found.claims))
    read = verifying.read_accepted(folder)
    assert read is not None
    return read


def _changed(runs, experiment: str, dataset: str, method: str, change) -> Findings:
    """Findings after each record of one cell has been replaced, or dropped where ``None``."""
    jobs, records = runs
    kept = dict(records)
    for job in jobs:
        if (job.experiment, job.dataset, job.method) == (experiment, dataset, method):
            record = change(job, records[job.key])
            if record is None:
                del kept[job.key]
            else:
                kept[job.key] = record
    return findings_of(jobs, kept, paper=PAPER)


def _shifted(by: float):
    def change(job: Job, record: RunRecord) -> RunRecord:
        fields = {
            "test_f1": record.test_f1 + by,
            "train_f1": record.train_f1,
            "tree_size": record.tree_size,
            "wall_seconds": None if record.wall_seconds is None else record.wall_seconds + by,
        }
        return RunRecord.of(job, "ok", **fields)

    return change


def _worse(before, found: Findings, whole: bool = True) -> list[str]:
    return verifying.regressions(before, found.verdicts, found.claims, whole)


def test_what_was_written_is_read_back(before, runs):
    found = findings_of(*runs, paper=PAPER)
    assert len(before.cells) == len(found.verdicts)
    assert set(before.cells.values()) == {"exact"}
    assert set(before.claims.values()) == {"holds"}


def test_nothing_accepted_is_no_error(tmp_path):
    assert verifying.read_accepted(tmp_path) is None


def test_the_same_again_is_no_regression(before, runs):
    assert _worse(before, findings_of(*runs, paper=PAPER)) == []


def test_an_exact_cell_that_only_nearly_agrees_is_one(before, runs):
    found = _changed(runs, "tuned", "iris", "cart", _shifted(0.004))
    assert _worse(before, found) == [
        "test-f1-tuned: cart on iris was exact, is undecided (ours 0.9410, paper 0.937)"
    ]


def test_a_lost_cell_is_one_only_among_the_committed_records(before, runs):
    found = _changed(runs, "default", "iris", "cart", lambda job, record: None)
    assert any(
        "cart on iris was exact, is missing (not run)" in each for each in _worse(before, found)
    )
    assert _worse(before, found, whole=False) == []


def test_a_crash_is_one_even_in_a_partial_store(before, runs):
    found = _changed(runs, "default", "iris", "cart", lambda job, _: RunRecord.of(job, "crash"))
    lines = _worse(before, found, whole=False)
    assert lines == ["test-f1-default: cart on iris was exact, is missing (crash)"]


def test_fewer_trials_are_one_only_among_the_committed_records(before, runs):
    found = _changed(
        runs, "default", "iris", "cart", lambda job, record: record if job.trial < 4 else None
    )
    assert _worse(before, found, whole=False) == []
    assert len(_worse(before, found)) == 1


def test_a_run_of_three_trials_is_none(before, runs):
    jobs, records = runs
    few = [job for job in jobs if job.trial < 3]
    lower = {
        job.key: replace(records[job.key], test_f1=(records[job.key].test_f1 or 0.0) * 0.5)
        for job in few
    }
    found = findings_of(few, lower, paper=PAPER)
    assert any(claim.outcome == "does not hold" for claim in found.claims)
    assert _worse(before, found, whole=False) == []


@pytest.mark.parametrize("whole", [True, False])
def test_no_data_is_none(before, runs, whole):
    def unloaded(job: Job, record: RunRecord) -> RunRecord:
        return RunRecord.of(job, "skipped", reason="no data")

    found = _changed(runs, "tuned", "iris", "cart", unloaded)
    cells = [v for v in found.verdicts if (v.dataset, v.method) == ("iris", "cart")]
    assert any(verdict.ours.missing == "no data" for verdict in cells)
    assert any(claim.outcome == "cannot be told" for claim in found.claims)
    assert _worse(before, found, whole) == []


def test_an_equivalent_cell_that_is_undecided_now_is_one(before, runs):
    accepted_before = verifying.Accepted(
        {**before.cells, ("test-f1-tuned", "iris", "cart"): "equivalent"}, before.claims
    )
    found = _changed(runs, "tuned", "iris", "cart", _shifted(0.004))
    assert len(_worse(accepted_before, found)) == 1


def test_a_claim_that_falls_is_one(before, runs):
    found = _changed(runs, "tuned", "echocardiogram", "gradtree", _shifted(-0.06))
    assert any(
        line.startswith("claim echocardiogram: was 'holds'") for line in _worse(before, found)
    )


def test_seconds_of_another_machine_are_none(before, runs):
    def slower(job: Job, record: RunRecord) -> RunRecord:
        return RunRecord.of(job, "ok", wall_seconds=record.wall_seconds * 2 + 1)

    found = _changed(runs, "runtime", "iris", "genetictree", slower)
    outcomes = {v.outcome for v in found.verdicts if v.table == "runtime" and v.dataset == "iris"}
    assert outcomes != {"exact"}
    assert _worse(before, found) == []


def test_an_improvement_is_none(before, runs):
    poorer = verifying.Accepted(
        dict.fromkeys(before.cells, "worse"), dict.fromkeys(before.claims, "cannot be told")
    )
    assert _worse(poorer, findings_of(*runs, paper=PAPER)) == []


def test_an_unknown_outcome_is_named(before, runs):
    odd = verifying.Accepted(dict.fromkeys(before.cells, "fine"), before.claims)
    with pytest.raises(UserError, match="unknown outcome 'fine'"):
        _worse(odd, findings_of(*runs, paper=PAPER))
