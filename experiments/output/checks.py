"""What ``verify`` asks: are tables, READMEs, figures and report what the runs give? Is every fit of
a store equal, to the last digit, to the committed one of the same key (the same data, protocol,
learner, parameters, trial and seed), or what differs between the environments?
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.analysis.answer import Answer
from experiments.analysis.runs import Runs, Source, load
from experiments.errors import UserError
from experiments.output import files, readme
from experiments.runs import archive, schema
from experiments.runs.schema import IDENTITY, BadRunError, checked, consistent, disagreement

TOLERANCE = 1e-9
"""Between a stored score and the same score computed anew from predictions."""
RESULTS = archive.COMMITTED.parent
VARYING = "dndt"
VARIES = "as DNDT does not repeat to the bit on another, or unknown, processor (CONTRIBUTING.md)"


@dataclass
class Check:
    """One thing that was checked: how many were compared, and what is wrong with some."""

    what: str
    compared: int = 0
    wrong: list[str] = field(default_factory=list)
    skipped: str = ""
    apart: int = 0
    """How many differ where they may."""

    def lines(self, most: int = 5) -> list[str]:
        """For people: one line, and below it the first that are wrong."""
        if self.skipped:
            return [f"{self.what}: not checked, {self.skipped}"]
        said = f"{self.what}: {self.compared:,} compared, "
        said += f"{len(self.wrong):,} wrong" if self.wrong else "all right"
        more = [f"  and {len(self.wrong) - most:,} more"] if len(self.wrong) > most else []
        more += [f"  {self.apart:,} more differ and do not count, {VARIES}"] if self.apart else []
        return [said, *(f"  {line}" for line in self.wrong[:most]), *more]


def tables(answers: Sequence[Answer], runs: Runs, results: Path = RESULTS) -> Check:
    """Verdicts, claims and every table, as CSV and LaTeX."""
    made = files.table_files(answers, runs)
    found = written("Tables, verdicts and claims", made, results)
    found.wrong += [f"{name} belongs to no answer" for name in files.unowned(results, made)]
    return found


def written(what: str, made: Mapping[str, str], results: Path = RESULTS) -> Check:
    """Whether files are there and have these texts."""
    found = Check(what, len(made))
    for name, text in made.items():
        if not (results / name).is_file():
            found.wrong.append(f"{name} is missing")
        elif (there := (results / name).read_bytes()) != text.encode():
            old = there.decode(errors="replace")
            pairs = enumerate(zip(old, text, strict=False))
            at = next((at for at, (a, b) in pairs if a != b), min(len(old), len(text)))
            near, line = slice(max(0, at - 30), at + 30), old.count("\n", 0, at) + 1
            told = f"line {line}: has {old[near]!r}, the runs give {text[near]!r}"
            found.wrong.append(f"{name} {told}")
    return found


def readmes(answers: Sequence[Answer], profiles: str = "", root: Path = readme.REPOSITORY) -> Check:
    """The generated blocks of the READMEs."""
    made = readme.blocks(answers, profiles, root)
    try:
        found = written("README blocks", readme.fresh(made, root), root)
    except UserError as problem:
        found = Check("README blocks", wrong=[str(problem)])
    found.compared = sum(map(len, made.values()))
    return found


def figures(answers: Sequence[Answer], results: Path = RESULTS) -> Check:
    """Every figure is there and shows the data that the runs give."""
    drawn = [figure for answer in answers for figure in answer.figures]
    stems = [results / files.FIGURES / each.name for each in drawn]
    found = [files.stale(each.draw(), stem) for each, stem in zip(drawn, stems, strict=True)]
    return Check("Figures", len(drawn), [wrong for some in found for wrong in some])


def rows(folder: Path) -> Check:
    """Every row against the schema: each text and number out of range once, then whole rows."""
    table = Source(folder).runs
    twice = table["key"][table["key"].duplicated()]
    found = Check("Rows of the table of runs", len(table), [f"{key}: there twice" for key in twice])
    found.wrong += [f"unknown column {name!r}" for name in table if name not in schema.BY_NAME]
    for column in schema.COLUMNS:
        part = table[["key"] if column.name == "key" else ["key", column.name]]
        if column.type is not str:
            values = part[column.name].astype(float)
            whole = column.type is float or values % 1 == 0
            part = part[~(np.isfinite(values) & values.between(column.low, column.high) & whole)]
        firsts = part.drop_duplicates(column.name)
        each = [run[column.name] for run in archive.rows(firsts)]
        found.wrong += _bad(firsts["key"], each, partial(checked, column))
    related = archive.rows(table[[*IDENTITY, "key", "status", *schema.SCORES]])
    found.wrong += _bad(table["key"], related, consistent)
    return found


def _bad(keys: Iterable[str], found: Iterable[Any], check: Callable[[Any], Any]) -> Iterator[str]:
    for key, each in zip(keys, found, strict=True):
        try:
            check(each)
        except BadRunError as problem:
            yield f"{key}: {problem}"


def _good(folder: Path) -> pd.DataFrame:
    return Source(folder).runs.query("status == 'ok'")


def _place(run: Mapping[str, Any]) -> str:
    return f"{run['protocol']} {run['dataset']} {run['method']} trial {run['trial']}"


def fits(store: Path, committed: Path = archive.COMMITTED) -> Check:
    """Every successful fit of a store beside the committed one of the same key."""
    found = Check("Your fits against the committed ones")
    theirs, known = _good(store), _good(committed)
    ours = {run["key"]: run for run in archive.rows(known[known["key"].isin(theirs["key"])])}
    environments = load(store).environments
    for run in archive.rows(theirs[theirs["key"].isin(ours)]):
        other = ours[run["key"]]
        difference = disagreement(run, other)
        apart = bool(difference) and varies(environments, run, other)
        found.apart += apart
        found.compared += not apart
        if difference and not apart:
            told = unlike(environments, str(other["environment"]), str(run["environment"]))
            found.wrong.append(f"{_place(run)}: {difference} ({told})")
    if not found.compared and not found.apart:
        found.skipped = "the committed runs have none of your fits"
    return found


def varies(environments: Mapping[str, Any], *runs: Mapping[str, Any]) -> bool:
    """Whether runs of one key may differ: a learner that varies, not on one known processor."""
    machines = [environments.get(str(run["environment"]), {}).get("machine", {}) for run in runs]
    cpus = {(machine.get("cpu"), machine.get("cpu_numbers")) for machine in machines}
    known = all(machine.get("cpu_numbers") for machine in machines)
    return runs[0]["method"] == VARYING and not (known and len(cpus) == 1)


def unlike(environments: Mapping[str, Any], ours: str, theirs: str) -> str:
    """What two environments differ in."""
    parts = []
    for group in ("versions", "machine"):
        mine, other = (environments.get(each, {}).get(group, {}) for each in (ours, theirs))
        names = sorted(n for n in {*mine, *other} if mine.get(n) != other.get(n))
        parts += [f"{n} {other.get(n, 'none')} for {mine.get(n, 'none')}" for n in names]
    return ", ".join(parts) or "made with the same versions on the same kind of machine"


def scores(folder: Path, of_classes: Callable[..., Any], of_numbers: Callable[..., Any]) -> Check:
    """Stored scores against those of stored predictions, which an archive has of the headline."""
    found = Check("Scores recomputed from predictions")
    source = Source(folder)
    plan = source.plan if source.store is None else source.plan.iloc[:0]
    needed, lacking = archive.headline(plan), Counter[str]()
    for run in archive.rows(_good(folder).query("evaluation == 'holdout'")):
        kept = source.predicted(run["key"])
        if kept is None:
            if run["key"] in needed:
                lacking[f"{run['protocol']} {run['method']}"] += 1
            continue
        found.compared += 1
        rows = (kept.truth, kept.predicted, kept.proba)
        classes = () if kept.of_numbers else (int(kept.truth.max()) + 1,)
        made = (of_numbers if kept.of_numbers else of_classes)(*rows, *classes)
        for name, score in made.items():
            both = (run[name], score)
            same = both == (None, None) if None in both else math.isclose(*both, abs_tol=TOLERANCE)
            if not same:
                told = f"{name} is {run[name]}, its predictions give {score}"
                found.wrong.append(f"{_place(run)}: {told}")
    gap = "runs of the headline have no predictions"
    found.wrong += [f"{what}: {count:,} {gap}" for what, count in lacking.items()]
    if not found.compared and not found.wrong:
        found.skipped = f"{folder} keeps no predictions"
    return found
