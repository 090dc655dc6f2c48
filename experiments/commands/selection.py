"""What the arguments of a verb select: profile, jobs, filters, with every name checked."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.core.checks import NothingToDoError, UserError

if TYPE_CHECKING:
    from experiments.core.job import Job
    from experiments.runner.profiles import Filters, Profile


def selected(args: argparse.Namespace) -> tuple[Profile, list[Job]]:
    """The profile that was asked for and its jobs, filtered, each piece of work once."""
    from experiments.runner.profiles import select

    profile = profile_of(args)
    try:
        jobs = select(profile, filters_of(args))
    except LookupError as problem:
        raise UserError(str(problem.args[0])) from None
    if not jobs:
        raise NothingToDoError(
            f"nothing to do: profile {profile.slug} has no job that passes these filters; "
            "see `list` for what there is"
        )
    return profile, jobs


def profile_of(args: argparse.Namespace) -> Profile:
    from experiments.runner.profiles import profiles

    check("profile", [args.profile], list(profiles()))
    return profiles()[args.profile]


def filters_of(args: argparse.Namespace) -> Filters:
    """Filters with every name checked, so that a typo never selects nothing in silence."""
    from experiments.runner import plugins
    from experiments.runner.candidates import use_winners_of
    from experiments.runner.catalogue import EXPERIMENTS, SEARCH
    from experiments.runner.profiles import Filters

    plugins.use(args.plugin)
    if args.params == "ours":
        use_winners_of(args.store)
    check("experiment", args.experiment, [*EXPERIMENTS, SEARCH])
    check("method", args.method, plugins.method_slugs())
    check("protocol", args.protocol, plugins.protocols())
    return Filters(
        experiments=args.experiment,
        protocols=args.protocol,
        datasets=None if args.dataset is None else dataset_slugs(args.dataset),
        methods=args.method,
        trials=args.trial,
        setting="ours" if args.params == "ours" else None,
    )


def dataset_slugs(wanted: list[str] | None) -> list[str]:
    """Slugs of datasets given by name or slug; the paper's 36 when none is given."""
    from experiments.runner import plugins
    from experiments.runner.catalogue import all_datasets

    if wanted is None:
        return list(all_datasets())
    try:
        return [plugins.resolve_dataset(text) for text in wanted]
    except LookupError as problem:
        raise UserError(str(problem.args[0])) from None


def check(what: str, wanted: Iterable[str] | None, known: Sequence[str]) -> None:
    """Refuse a name that is not among those known, with a hint."""
    known = list(dict.fromkeys(known))
    for name in wanted or ():
        if name not in known:
            close = difflib.get_close_matches(name, known, n=2)
            hint = f"did you mean {' or '.join(close)}?" if close else f"known: {', '.join(known)}"
            raise UserError(f"unknown {what} {name!r}; {hint}")


def check_recorded(
    folder: Path, datasets: Iterable[str] | None, methods: Iterable[str] | None
) -> None:
    """Refuse names that neither the suite nor the plan of a store knows."""
    from experiments.core.planned import read_datasets, read_learners
    from experiments.runner import plugins

    check("dataset", datasets, [*plugins.dataset_slugs(), *read_datasets(folder)])
    check("method", methods, [*plugins.method_slugs(), *read_learners(folder)])
