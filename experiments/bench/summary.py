"""Medians, ratios and growth exponents of measurements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

import numpy as np

from experiments.bench.cases import AXES, Axis, Case, Phases
from experiments.bench.rounds import TimedFit

FASTEST = "compiled"


@dataclass(frozen=True)
class Typical:
    """Medians over the repeats of one engine on one case, in seconds of processor time.

    Gradients and update are parts of an epoch, known of the compiled engine only.
    """

    group: str
    case: Case
    engine: str
    repeats: int
    epoch_seconds: float
    fit_seconds: float
    gradient_seconds: float | None = None
    update_seconds: float | None = None


@dataclass(frozen=True)
class Ratio:
    """How many times longer than the compiled engine another one takes; median of the repeats."""

    group: str
    case: Case
    engine: str
    epoch_ratio: float
    lowest_epoch_ratio: float
    fit_ratio: float


@dataclass(frozen=True)
class AxisGrowth:
    """Exponents ``b`` of the power law ``seconds per epoch ~ size**b`` along an axis.

    Attributes
    ----------
    part : "epoch", or of the compiled engine "gradients": an epoch without the dense update.
    exponent : least-squares slope over all sizes, in logarithms.
    steepest : largest slope between neighbouring sizes.
    """

    axis: Axis
    engine: str
    part: str
    sizes: tuple[int, ...]
    exponent: float
    steepest: float


def typical(measurements: Sequence[TimedFit]) -> list[Typical]:
    """Medians for every case and engine, in the order of measurement."""
    fits: dict[tuple[str, Case, str], list[TimedFit]] = {}
    for fit in measurements:
        fits.setdefault((fit.group, fit.case, fit.engine), []).append(fit)
    return [
        Typical(
            *key,
            len(same),
            median(fit.timing.epoch.cpu for fit in same),
            median(fit.timing.fit.cpu for fit in same),
            *_parts([fit.timing.phases for fit in same]),
        )
        for key, same in fits.items()
    ]


def _parts(found: Sequence[Phases | None]) -> tuple[float | None, float | None]:
    known = [phases for phases in found if phases is not None]
    if not known:
        return None, None
    return median(one.gradients for one in known), median(one.update for one in known)


def ratios(measurements: Sequence[TimedFit]) -> list[Ratio]:
    """Ratios to the compiled engine, each taken between fits of the same round."""
    base = {
        (fit.group, fit.case, fit.repeat): fit.timing
        for fit in measurements
        if fit.engine == FASTEST
    }
    pairs: dict[tuple[str, Case, str], list[tuple[float, float]]] = {}
    for fit in measurements:
        ours = base.get((fit.group, fit.case, fit.repeat))
        if ours is not None and fit.engine != FASTEST:
            pairs.setdefault((fit.group, fit.case, fit.engine), []).append(
                (fit.timing.epoch.cpu / ours.epoch.cpu, fit.timing.fit.cpu / ours.fit.cpu)
            )
    return [
        Ratio(
            *key,
            median(epoch for epoch, _ in found),
            min(epoch for epoch, _ in found),
            median(fit for _, fit in found),
        )
        for key, found in pairs.items()
    ]


def growth_exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """Slope of seconds against sizes in logarithms, by least squares."""
    if len(set(sizes)) < 2:
        raise ValueError("a growth exponent needs at least two different sizes")
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def growths(rows: Sequence[Typical]) -> list[AxisGrowth]:
    """Growth along every axis of which an engine has at least two sizes."""
    found = []
    for axis in AXES:
        for engine in dict.fromkeys(row.engine for row in rows):
            own = [row for row in rows if row.group == axis and row.engine == engine]
            parts = {
                "epoch": [(row.case.size(axis), row.epoch_seconds) for row in own],
                "gradients": [
                    (row.case.size(axis), row.gradient_seconds)
                    for row in own
                    if row.gradient_seconds
                ],
            }
            found += [
                _growth(axis, engine, part, points)
                for part, points in parts.items()
                if len(points) > 1
            ]
    return found


def _growth(axis: Axis, engine: str, part: str, points: Sequence[tuple[int, float]]) -> AxisGrowth:
    slopes = [growth_exponent(*zip(*pair, strict=True)) for pair in pairwise(points)]
    sizes, seconds = zip(*points, strict=True)
    return AxisGrowth(axis, engine, part, sizes, growth_exponent(sizes, seconds), max(slopes))
