"""Bring stores together, and make one compact before it is committed."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from experiments.core import planned, predictions
from experiments.core.checks import UserError
from experiments.core.files import (
    PACKED,
    DamagedFileError,
    content_of,
    read_lines,
    replace_lines,
    write_whole,
    writing,
)
from experiments.core.job import canonical_json
from experiments.core.manifest import HASHES, changes, write_hashes
from experiments.core.record import BadRecordError, RunRecord, checked
from experiments.core.store import (
    Store,
    conflict_text,
    conflicts,
    precedence,
    read_records,
    resolve,
    shelf,
)

SET_ASIDE = "set-aside.txt"
PREDICTIONS_KEPT = ("tuned", "default")
"""Experiments whose predicted classes are kept in a compact store."""


@dataclass
class Merged:
    """What came of bringing one store into another.

    ``conflicts`` are jobs that finished with different scores, in both or within the one that is
    brought; what was there before is kept, and of the latter nothing is taken.
    """

    new: int = 0
    newer: int = 0
    known: int = 0
    conflicts: list[tuple[RunRecord, RunRecord]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def merge(source: Store, target: Store, with_predictions: bool = True) -> Merged:
    """Bring the records that count in ``source`` into ``target``; repeating it adds nothing."""
    known, contents = target.latest(), source.contents()
    merged = Merged(problems=contents.problems, conflicts=conflicts(contents.history))
    doubtful = {ours.key for ours, _ in merged.conflicts}
    taken = []
    with writing(target.folder):
        _merge_facts(source, target)
        for key, record in resolve(contents.history).items():
            ours = known.get(key)
            if key in doubtful:
                continue
            if ours is None:
                merged.new += 1
            elif ours.status == record.status == "ok" and not ours.agrees_with(record):
                merged.conflicts.append((ours, record))
                continue
            elif precedence(record) > precedence(ours):
                merged.newer += 1
            else:
                merged.known += 1
                if with_predictions and predictions.classes(target.folder, record) is None:
                    predictions.copy(source.folder, target.folder, record)
                continue
            if with_predictions:
                predictions.copy(source.folder, target.folder, record)
            taken.append(record)
        target.append_all(taken)
    return merged


def _merge_facts(source: Store, target: Store) -> None:
    for description in source.environments().values():
        target.append_environment(description)
    planned.add_plan(target.folder, source.plan())
    planned.add_facts(
        target.folder,
        planned.read_datasets(source.folder).values(),
        planned.read_learners(source.folder).values(),
    )


def compact(store: Store) -> None:
    """Rewrite every file without superseded lines, in an order that is always the same.

    The predicted classes of ``tuned`` and ``default`` are packed, one file per dataset;
    probabilities and trees are dropped. Lines that are no records are moved to
    ``set-aside.txt``. ``hashes.csv`` says what the files should be. For stores at rest only,
    before they are committed. A kill at any moment loses nothing.

    Raises
    ------
    UserError
        If jobs have two records that contradict each other, of which one would be lost; or if files
        were altered that ``hashes.csv`` vouches for, which would then vouch for what they are now.
    """
    differing = changes(store.folder)
    if differing and (altered := differing.altered):
        raise UserError(
            f"{store.folder}: {len(altered):,} files are not as {HASHES} says, e.g. {altered[0]}; "
            f"bring them back, or delete {HASHES} to accept them as they are"
        )
    contents = store.contents()
    if disagreeing := conflicts(contents.history):
        raise UserError(
            f"{store.folder}: {len(disagreeing):,} jobs have two records that contradict each "
            "other, and a compact store would keep one of each; delete the wrong lines first, e.g. "
            f"of {conflict_text(*disagreeing[0])}"
        )
    every = sorted(resolve(contents.history).values(), key=_shelf_order)
    if (store.folder / planned.PACKED_PLAN).is_file():
        _content(store.folder / planned.PACKED_PLAN)  # what cannot be read would be lost
    plan = store.plan()
    kept = {job.key for job in plan if job.experiment in PREDICTIONS_KEPT}
    with writing(store.folder):
        _set_aside(store)
        predictions.pack_all(store.folder, [record for record in every if record.key in kept])
        _rewrite(store, every)
        planned.write_plan(store.folder, plan)
        store.forget_parts()
        write_hashes(store.folder)


def _rewrite(store: Store, every: Sequence[RunRecord]) -> None:
    """Write new, packed files beside the old ones, then remove those, then rename.

    Every record is in some file of the store at any moment; one that is in two of them does no
    harm.
    """
    shelves: dict[str, list[RunRecord]] = {}
    for record in every:
        shelves.setdefault(shelf(record), []).append(record)
    before = [path for path in store.files() if path.is_file()]
    fresh: list[tuple[Path, Path]] = []
    for name, records in shelves.items():
        path = store.folder / f"{name}.{uuid.uuid4().hex}.jsonl{PACKED}"
        replace_lines(path, [record.to_dict() for record in records])
        fresh.append((path, store.folder / f"{name}.jsonl{PACKED}"))
    for path in before:
        path.unlink()
    for path, target in fresh:
        if not target.exists():  # a folder, perhaps
            path.replace(target)


def _set_aside(store: Store) -> None:
    """Keep the lines that a compact store has no place for, as they are."""
    found = []
    for path in store.files():
        found_in = read_records([path])
        if not path.is_file() or not (found_in.problems or found_in.torn):
            continue
        raw = _content(path).split(b"\n")
        lines = read_lines(path)
        good = {number for number, values in lines.values if _is_record(values)}
        name = path.relative_to(store.folder).as_posix().encode()
        for number, line in enumerate(raw, start=1):
            if line.strip() and number not in good:
                found.append(b"%s:%d: %s\n" % (name, number, line))
    if found:
        path = store.folder / SET_ASIDE
        known = path.read_bytes() if path.is_file() else b""
        write_whole(path, known + b"".join(found))


def _content(path: Path) -> bytes:
    try:
        return content_of(path)
    except DamagedFileError as problem:
        raise UserError(
            f"{path}: {problem}; bring it back, or remove it to do without what it held"
        ) from problem


def _is_record(values: Any) -> bool:
    try:
        checked(values)
    except BadRecordError:
        return False
    return True


def _shelf_order(record: RunRecord) -> tuple[str, str, str, int, int, str]:
    params = canonical_json(record.params)
    return shelf(record), record.method, params, record.seed, record.trial, record.key
