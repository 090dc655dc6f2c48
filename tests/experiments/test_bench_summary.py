"""Medians, ratios and growth exponents from made-up timings."""

from __future__ import annotations

import pytest

from experiments.bench.cases import NAMED, Phases, Stamp, Timing, along
from experiments.bench.files import seconds_against_size
from experiments.bench.rounds import TimedFit
from experiments.bench.summary import growth_exponent, growths, ratios, typical


def fit(case, engine: str, repeat: int, epoch: float, whole: float, group: str = "banknote"):
    return TimedFit(
        group, case, engine, repeat, Timing(Stamp(9 * epoch, epoch), Stamp(9 * whole, whole))
    )


class TestMediansAndRatios:
    FITS = (
        fit(NAMED["banknote"], "compiled", 0, 0.001, 0.01),
        fit(NAMED["banknote"], "tensorflow", 0, 0.050, 2.0),
        fit(NAMED["banknote"], "compiled", 1, 0.002, 0.02),
        fit(NAMED["banknote"], "tensorflow", 1, 0.080, 2.0),
        fit(NAMED["banknote"], "compiled", 2, 0.004, 0.04),
        fit(NAMED["banknote"], "tensorflow", 2, 0.180, 2.0),
    )

    def test_medians_are_of_processor_time(self) -> None:
        ours, reference = typical(self.FITS)
        assert (ours.engine, ours.repeats) == ("compiled", 3)
        assert (ours.epoch_seconds, ours.fit_seconds) == (0.002, 0.02)
        assert (reference.epoch_seconds, reference.fit_seconds) == (0.080, 2.0)

    def test_ratios_are_taken_within_rounds(self) -> None:
        (ratio,) = ratios(self.FITS)
        assert ratio.engine == "tensorflow"
        assert ratio.epoch_ratio == pytest.approx(45.0)
        assert ratio.lowest_epoch_ratio == pytest.approx(40.0)
        assert ratio.fit_ratio == pytest.approx(100.0)

    def test_no_ratio_without_the_compiled_engine(self) -> None:
        assert ratios([one for one in self.FITS if one.engine != "compiled"]) == []


class TestGrowth:
    @pytest.mark.parametrize("exponent", [0.0, 1.0, 2.5])
    def test_power_laws_are_recovered(self, exponent: float) -> None:
        sizes = [4, 10, 100, 1_000]
        seconds = [3e-4 * size**exponent for size in sizes]
        assert growth_exponent(sizes, seconds) == pytest.approx(exponent, abs=1e-9)

    def test_one_size_has_no_exponent(self) -> None:
        with pytest.raises(ValueError, match="two different sizes"):
            growth_exponent([5, 5], [1.0, 2.0])

    def test_the_steepest_step_is_told_apart(self) -> None:
        cases = along("samples", (1_000, 10_000, 100_000))
        epochs = (0.01, 0.01, 1.0)
        fits = [
            fit(case, "compiled", 0, epoch, 1.0, "samples")
            for case, epoch in zip(cases, epochs, strict=True)
        ]
        (growth,) = growths(typical(fits))
        assert growth.sizes == (1_000, 10_000, 100_000)
        assert growth.exponent == pytest.approx(1.0)
        assert growth.steepest == pytest.approx(2.0)

    def test_the_dense_update_is_told_apart(self) -> None:
        cases = along("depth", (2, 4, 8))
        fits = [
            TimedFit(
                "depth",
                case,
                "compiled",
                0,
                Timing(
                    Stamp(1.0, case.depth + 2.0**case.depth),
                    Stamp(9.0, 9.0),
                    Phases(case.depth, 2.0**case.depth),
                ),
            )
            for case in cases
        ]
        epoch, gradients = growths(typical(fits))
        assert (epoch.part, gradients.part) == ("epoch", "gradients")
        assert gradients.exponent == pytest.approx(1.0)
        assert epoch.steepest > 3

    def test_named_cases_are_no_axis(self) -> None:
        fits = [fit(case, "compiled", 0, 1.0, 2.0) for case in NAMED.values()]
        assert growths(typical(fits)) == []


class TestPlot:
    def test_a_panel_for_every_axis_measured(self) -> None:
        fits = [
            fit(case, engine, 0, scale * case.size(axis), 1.0, axis)
            for axis in ("depth", "classes")
            for case in along(axis, (2, 4, 8))
            for engine, scale in (("compiled", 1e-3), ("tensorflow", 1e-1))
        ]
        rows = typical(fits)
        figure = seconds_against_size(rows, growths(rows))
        labels = [axes.get_xlabel() for axes in figure.axes]
        assert labels == ["Depth (logarithmic)", "Classes (logarithmic)"]
        notes = [text.get_text() for text in figure.axes[0].texts]
        assert notes == ["exponent 1.00", "exponent 1.00"]

    def test_says_that_there_is_nothing(self) -> None:
        rows = typical([fit(NAMED["banknote"], "compiled", 0, 1.0, 2.0)])
        figure = seconds_against_size(rows, [])
        assert figure.axes[0].texts[0].get_text() == "No axis was measured."
