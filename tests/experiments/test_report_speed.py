"""A hundred thousand records, from the lines of a store to tables, figures and page."""

from __future__ import annotations

import resource
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import report_samples as samples

from experiments.analysis.paper import load_paper
from experiments.core.files import replace_lines
from experiments.core.record import RunRecord
from experiments.core.store import Store, shelf

RECORDS = 100_000
LIMIT_SECONDS = 30.0

SCRIPT = """
import sys
sys.path.insert(0, {tests!r})
from pathlib import Path
import report_samples as samples
from experiments.render.figures.style import save
from experiments.analysis.findings import findings_of
from experiments.analysis.paper import load_paper
from experiments.render.report.collect import Inputs, assemble, draw
from experiments.render.report.page import write
from experiments.core.store import Store
from experiments.render.files import files_of
from experiments.core.files import write_files

folder, output = Path({store!r}), Path({output!r})
store = Store(folder)
records = store.latest()
found = findings_of(samples.jobs(load_paper()), records, samples.registry())
write_files(output / "tables", files_of(found))
inputs = Inputs(found, list(records.values()), samples.registry(), store.environments())
plates = draw(inputs)
for plate in plates:
    save(plate.figure, output / "figures" / plate.name)
page = write(assemble(inputs, plates), output / "report.html")
print(len(records), page.stat().st_size, "tensorflow" in sys.modules)
"""


def filled_store(folder: Path) -> Store:
    """The sample records, and as many of other seeds as make the number."""
    paper = load_paper()
    planned = samples.jobs(paper)
    made = list(samples.records(paper, planned, samples.everything).values())
    copies: list[RunRecord] = list(made)
    seed = 1000
    while len(copies) < RECORDS:
        seed += 1
        copies += [
            replace(record, key=f"{record.key[:14]}{seed:06d}", seed=seed)
            for record in made[: RECORDS - len(copies)]
        ]
    shelves: dict[str, list[dict]] = {}
    for record in copies:
        shelves.setdefault(shelf(record), []).append(record.to_dict())
    for name, lines in shelves.items():
        path = folder / f"{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_lines(path, lines)
    return Store(folder)


def _seconds_of_children() -> float:
    """Of the processor: one thread does the work, and a busy machine must not fail the test."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


@pytest.mark.slow
def test_a_hundred_thousand_records_take_less_than_half_a_minute(tmp_path: Path) -> None:
    store = filled_store(tmp_path / "store")
    code = SCRIPT.format(
        tests=str(Path(__file__).parent), store=str(store.folder), output=str(tmp_path / "out")
    )
    before = _seconds_of_children()
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).resolve().parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = _seconds_of_children() - before
    assert done.returncode == 0, done.stderr
    records, size, tensorflow = done.stdout.split()
    assert int(records) == RECORDS
    assert int(size) < 5_000_000
    assert tensorflow == "False"
    print(f"{seconds:.1f} s")
    assert seconds < LIMIT_SECONDS
