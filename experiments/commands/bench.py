"""``bench``: speed of the GradTree engines and of the authors' package."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.commands import arguments
from experiments.core.checks import UserError
from experiments.core.store import LOCAL

if TYPE_CHECKING:
    from experiments.bench.cases import Case
    from experiments.bench.rounds import TimedFit
    from experiments.bench.summary import AxisGrowth, Ratio

FOLDER = "bench"
AUTHORS_PYTHON = "GRADTREE_AUTHORS_PYTHON"
NAMED_GROUPS = ("banknote", "spambase")


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = verbs.add_parser(
        "bench",
        help="time the GradTree engines, or compare GradTree with CART on raw tables",
        description=(
            "Time the compiled engine, the TensorFlow reference and, with --authors-python, the "
            "authors' PyPI package GradTree. Measures processor seconds per epoch and per fit on "
            "synthetic data, with one thread; the engines take turns. Writes all fits, medians, "
            "ratios and growth exponents as CSV, and a plot. Axes that are not measured keep "
            "their earlier fits."
        ),
    )
    add_arguments(parser)
    parser.set_defaults(run=run)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the benchmark."""
    parser.add_argument(
        "--first-use",
        action="store_true",
        help="instead, time what each learner imports and compiles before its first result; "
        "`plan` uses these times",
    )
    parser.add_argument(
        "--raw-tables",
        nargs="*",
        metavar="NAME",
        help="instead, compare GradTree with CART by five-fold cross-validation on these raw "
        "tables (default: all ten)",
    )
    parser.add_argument("--quick", action="store_true", help="time fewer and smaller sizes")
    parser.add_argument(
        "--axis",
        nargs="+",
        choices=("depth", "features", "samples", "classes", *NAMED_GROUPS, "all"),
        default=["all"],
        help="what to vary (default: all); 'banknote' and 'spambase' are the sizes of those "
        "datasets, at depth 10",
    )
    parser.add_argument(
        "--engines",
        nargs="+",
        choices=("compiled", "tensorflow", "authors"),
        help="what to time (default: both engines; with --authors-python also the authors' "
        "package, on the sizes banknote and spambase)",
    )
    parser.add_argument(
        "--authors-python",
        type=Path,
        default=os.environ.get(AUTHORS_PYTHON),
        metavar="PYTHON",
        help="interpreter with the authors' package, which needs Python 3.11 and TensorFlow 2.13 "
        f"(default: the environment variable {AUTHORS_PYTHON})",
    )
    parser.add_argument(
        "--repeats",
        type=arguments.whole(1),
        default=3,
        metavar="N",
        help="fits per engine and size (default: 3)",
    )
    parser.add_argument(
        "--epochs",
        type=arguments.whole(2),
        default=4,
        metavar="N",
        help="epochs per fit, of which the first is not counted (default: 4)",
    )
    parser.add_argument(
        "--longest-epoch",
        type=arguments.positive,
        default=20.0,
        metavar="SECONDS",
        help="skip sizes on which an engine's epoch would take longer than this (default: 20)",
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=LOCAL / FOLDER,
        metavar="FOLDER",
        help="where to write (default: %(default)s)",
    )
    parser.add_argument(
        "--results",
        action="store_const",
        dest="output",
        const=arguments.RESULTS / FOLDER,
        help="write to results/bench, which is committed",
    )


def run(args: argparse.Namespace) -> int:
    from experiments.bench import files
    from experiments.bench.rounds import OWN_ENGINES, Interpreters, TimingPlan, WorkerError, measure

    if args.first_use:
        from experiments.bench import first_use
        from experiments.runner import plugins

        print(first_use.write(args.output, plugins.method_slugs()))
        return 0
    if args.raw_tables is not None:
        print(_raw_tables(args.output, args.raw_tables))
        return 0
    interpreters = Interpreters(authors=args.authors_python and Path(args.authors_python))
    wanted = _groups(args.axis, args.quick, args.epochs)
    named = {group: cases for group, cases in wanted.items() if group in NAMED_GROUPS}
    axes = {group: cases for group, cases in wanted.items() if group not in NAMED_GROUPS}
    everyone = (*OWN_ENGINES, "authors") if interpreters.authors else OWN_ENGINES
    plans = [
        TimingPlan(groups, tuple(args.engines or engines), args.repeats, args.longest_epoch)
        for groups, engines in ((named, everyone), (axes, OWN_ENGINES))
        if groups
    ]
    earlier = files.read_fits(args.output / "fits.csv")
    kept = [fit for fit in earlier if fit.group not in wanted]
    fits: list[TimedFit] = []

    def note(fit: TimedFit) -> None:
        fits.append(fit)
        _tell(fit)
        files.write_fits(args.output / "fits.csv", kept + fits)

    try:
        for plan in plans:
            measure(plan, interpreters, note)
    except (ValueError, FileNotFoundError, WorkerError) as problem:
        raise UserError(f"bench: {problem}") from None
    _write(kept + fits, args.output)
    return 0


def _raw_tables(output: Path, names: list[str]) -> Path:
    from experiments.bench import raw_tables

    every = (*raw_tables.INSTALLED, *raw_tables.REGISTERED)
    if unknown := [name for name in names if name not in every]:
        known = ", ".join(every)
        raise UserError(f"bench: no raw table is called {', '.join(unknown)}; there are {known}")
    return raw_tables.write(output, names or every)


def _groups(chosen: list[str], quick: bool, epochs: int) -> dict[str, tuple[Case, ...]]:
    from experiments.bench.cases import AXES, NAMED, grid

    named = {group: (case,) for group, case in NAMED.items()}
    every = named | {axis: grid(axis, quick=quick) for axis in AXES}
    return {
        group: tuple(replace(case, epochs=epochs) for case in cases)
        for group, cases in every.items()
        if group in chosen or "all" in chosen
    }


def _tell(fit: TimedFit) -> None:
    print(
        f"{fit.case.name:<18} {fit.engine:<11} {fit.timing.epoch.cpu:10.4g} s/epoch "
        f"{fit.timing.fit.cpu:10.4g} s/fit of {fit.case.epochs} epochs",
        flush=True,
    )


def _write(fits: list[TimedFit], output: Path) -> None:
    from experiments.bench import files
    from experiments.bench.files import seconds_against_size
    from experiments.bench.summary import growths, ratios, typical
    from experiments.render.figures.style import save

    rows, compared = typical(fits), ratios(fits)
    grown = growths(rows)
    files.write_typical(output / "medians.csv", rows)
    files.write_ratios(output / "ratios.csv", compared)
    files.write_growths(output / "growth.csv", grown)
    files.write_machine(output / "machine.csv")
    save(seconds_against_size(rows, grown), output / "seconds_per_epoch")
    _summarise(compared, grown)
    print(f"{output}: {len(fits)} fits")


def _summarise(compared: list[Ratio], grown: list[AxisGrowth]) -> None:
    for ratio in compared:
        if ratio.group in NAMED_GROUPS:
            print(
                f"{ratio.case.name}: compiled is {ratio.epoch_ratio:,.0f} times faster per epoch "
                f"than {ratio.engine} (lowest of the rounds {ratio.lowest_epoch_ratio:,.0f}), "
                f"{ratio.fit_ratio:,.0f} times per fit"
            )
    for growth in grown:
        print(
            f"{growth.axis}, {growth.engine}, {growth.part}: exponent {growth.exponent:.2f}, "
            f"steepest step {growth.steepest:.2f}"
        )
