"""The outcome of a benchmark as CSV files."""

from __future__ import annotations

import csv
import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from experiments.bench.cases import Case
from experiments.bench.rounds import Measurement
from experiments.bench.serving import Phases, Stamp, Timing
from experiments.bench.summary import Growth, Ratio, Typical

_CASE = tuple(field.name for field in fields(Case))


def _write(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
    return path


def _case(case: Case) -> list[object]:
    return [getattr(case, name) for name in _CASE]


def _short(number: float) -> str:
    return f"{number:.4g}"


def write_fits(path: Path, fits: Iterable[Measurement]) -> Path:
    """Every timed fit, by processor time (``cpu``) and by the clock (``wall``), in seconds."""
    times = ("epoch_cpu", "epoch_wall", "fit_cpu", "fit_wall", "gradients_cpu", "update_cpu")
    header = ("group", *_CASE, "engine", "repeat", *times)
    return _write(
        path,
        header,
        (
            [fit.group, *_case(fit.case), fit.engine, fit.repeat]
            + [
                _short(getattr(part, clock))
                for part in (fit.timing.epoch, fit.timing.fit)
                for clock in ("cpu", "wall")
            ]
            + _phases(fit.timing.phases)
            for fit in fits
        ),
    )


def _phases(phases: Phases | None) -> list[str]:
    return ["", ""] if phases is None else [_short(phases.gradients), _short(phases.update)]


def read_fits(path: Path) -> list[Measurement]:
    """What ``write_fits`` wrote; nothing if there is no such file."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return [_fit(row) for row in csv.DictReader(file)]


def _fit(row: dict[str, str]) -> Measurement:
    size: dict[str, Any] = {name: int(row[name]) for name in _CASE if name != "name"}
    timing = Timing(
        Stamp(float(row["epoch_wall"]), float(row["epoch_cpu"])),
        Stamp(float(row["fit_wall"]), float(row["fit_cpu"])),
        Phases(float(row["gradients_cpu"]), float(row["update_cpu"]))
        if row["gradients_cpu"]
        else None,
    )
    case = Case(name=row["name"], **size)
    return Measurement(row["group"], case, row["engine"], int(row["repeat"]), timing)


def write_typical(path: Path, rows: Iterable[Typical]) -> Path:
    """Medians of every case and engine."""
    seconds = ("epoch_seconds", "fit_seconds", "gradient_seconds", "update_seconds")
    header = ("group", *_CASE, "engine", "repeats", *seconds)
    return _write(
        path,
        header,
        (
            [
                *(row.group, *_case(row.case), row.engine, row.repeats),
                *(_short(row.epoch_seconds), _short(row.fit_seconds)),
                *("" if part is None else _short(part) for part in _parts(row)),
            ]
            for row in rows
        ),
    )


def _parts(row: Typical) -> tuple[float | None, float | None]:
    return row.gradient_seconds, row.update_seconds


def write_ratios(path: Path, rows: Iterable[Ratio]) -> Path:
    """How many times longer the other engines take than the compiled one."""
    header = ("group", *_CASE, "engine", "epoch_ratio", "lowest_epoch_ratio", "fit_ratio")
    return _write(
        path,
        header,
        (
            [row.group, *_case(row.case), row.engine]
            + [_short(value) for value in (row.epoch_ratio, row.lowest_epoch_ratio, row.fit_ratio)]
            for row in rows
        ),
    )


def write_growths(path: Path, rows: Iterable[Growth]) -> Path:
    """Growth exponents of every axis and engine."""
    header = ("axis", "engine", "part", "smallest", "largest", "sizes", "exponent", "steepest")
    return _write(
        path,
        header,
        (
            [
                *(row.axis, row.engine, row.part, min(row.sizes), max(row.sizes), len(row.sizes)),
                *(f"{row.exponent:.3f}", f"{row.steepest:.3f}"),
            ]
            for row in rows
        ),
    )


def write_machine(path: Path) -> Path:
    """What the benchmark ran on."""
    rows = [
        ("processor", _processor()),
        ("cores", os.cpu_count()),
        ("system", platform.system()),
        ("python", platform.python_version()),
    ]
    if hasattr(os, "getloadavg"):
        rows.append(("load_average_at_the_end", _short(os.getloadavg()[0])))
    return _write(path, ("what", "value"), rows)


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
