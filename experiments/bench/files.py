"""The outcome of a benchmark: CSV files, and a figure of seconds per epoch along every axis."""

from __future__ import annotations

import csv
import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.bench.cases import AXES, Axis, Case, Phases, Stamp, Timing
from experiments.bench.rounds import ENGINES, TimedFit
from experiments.bench.summary import AxisGrowth, Ratio, Typical
from experiments.render.figures import style

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


def write_fits(path: Path, fits: Iterable[TimedFit]) -> Path:
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


def read_fits(path: Path) -> list[TimedFit]:
    """What ``write_fits`` wrote; nothing if there is no such file."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return [_fit(row) for row in csv.DictReader(file)]


def _fit(row: dict[str, str]) -> TimedFit:
    size: dict[str, Any] = {name: int(row[name]) for name in _CASE if name != "name"}
    timing = Timing(
        Stamp(float(row["epoch_wall"]), float(row["epoch_cpu"])),
        Stamp(float(row["fit_wall"]), float(row["fit_cpu"])),
        Phases(float(row["gradients_cpu"]), float(row["update_cpu"]))
        if row["gradients_cpu"]
        else None,
    )
    case = Case(name=row["name"], **size)
    return TimedFit(row["group"], case, row["engine"], int(row["repeat"]), timing)


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


def write_growths(path: Path, rows: Iterable[AxisGrowth]) -> Path:
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


_MARKS = {
    "compiled": style.Mark(style.BLUE, "o"),
    "tensorflow": style.Mark(style.ORANGE, "s"),
    "authors": style.Mark(style.VERMILION, "^"),
}
_LABELS: dict[Axis, str] = {
    "depth": "Depth",
    "features": "Features",
    "samples": "Training samples",
    "classes": "Classes",
}


def seconds_against_size(rows: Sequence[Typical], growths: Sequence[AxisGrowth]) -> Figure:
    """A logarithmic panel for every axis that was measured."""
    with style.look():
        axes_measured = [axis for axis in AXES if any(row.group == axis for row in rows)]
        if not axes_measured:
            return style.empty(style.canvas(style.PAGE_WIDTH, 2.0), "No axis was measured.")
        columns = min(2, len(axes_measured))
        lines = -(-len(axes_measured) // columns)
        figure = style.canvas(style.PAGE_WIDTH, 2.4 * lines + 0.5)
        panels = figure.subplots(lines, columns, squeeze=False).ravel()
        for panel in panels[len(axes_measured) :]:
            panel.set_axis_off()
        for panel, axis in zip(panels, axes_measured, strict=False):
            own = [row for row in rows if row.group == axis]
            _draw_panel(panel, axis, own, [growth for growth in growths if growth.axis == axis])
        present = dict.fromkeys(row.engine for row in rows)
        handles = [
            panels[0].plot([], [], color=mark.colour, marker=mark.marker, label=ENGINES[name])[0]
            for name, mark in _MARKS.items()
            if name in present
        ]
        figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
        return figure


def _draw_panel(
    axes: Axes, axis: Axis, rows: Sequence[Typical], growths: Sequence[AxisGrowth]
) -> None:
    exponents = {growth.engine: growth.exponent for growth in growths if growth.part == "epoch"}
    for engine in dict.fromkeys(row.engine for row in rows):
        own = [row for row in rows if row.engine == engine]
        x = np.array([row.case.size(axis) for row in own])
        y = np.array([row.epoch_seconds for row in own])
        mark = _MARKS[engine]
        axes.plot(x, y, color=mark.colour, marker=mark.marker, markersize=4)
        if engine in exponents:
            axes.annotate(
                f"exponent {exponents[engine]:.2f}",
                (x[-1], y[-1]),
                xytext=(-4, 6),
                textcoords="offset points",
                ha="right",
                fontsize=7,
                color=mark.colour,
            )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.margins(y=0.15)
    if axis == "samples":
        style.plain_numbers(axes.xaxis)
    else:
        sizes = sorted({row.case.size(axis) for row in rows})
        axes.set_xticks(sizes, [f"{size:,}" for size in sizes], minor=False)
        axes.set_xticks([], minor=True)
    axes.set_xlabel(f"{_LABELS[axis]} (logarithmic)")
    axes.set_ylabel("Seconds per epoch")
    style.quiet(axes)
