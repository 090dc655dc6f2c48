"""``list``: what there is, a line each."""

from __future__ import annotations

import argparse

from experiments.errors import DONE

KINDS = ("profiles", "experiments", "protocols", "learners", "datasets", "metrics")


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = verbs.add_parser(
        "list",
        help=f"list {', '.join(KINDS[:-1])} and {KINDS[-1]}",
        description="List what there is, one per line, including what plug-ins offer.",
    )
    parser.add_argument("kind", nargs="?", choices=KINDS, help="only these (default: all)")
    parser.add_argument(
        "--cost", action="store_true", help="profiles with their jobs and core time, as recorded"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    for kind in [args.kind] if args.kind else KINDS:
        lines = _costs() if kind == "profiles" and args.cost else _lines(kind)
        width = max(len(slug) for slug, _ in lines)
        print(f"{kind}:")
        print("".join(f"  {slug.ljust(width)}  {about}\n" for slug, about in lines))
    return DONE


def _lines(kind: str) -> list[tuple[str, str]]:
    """Name and one line for each."""
    from experiments.runner import registry
    from experiments.runs.schema import BY_NAME

    entries = registry.entries(kind.removesuffix("s"))
    if kind in ("profiles", "experiments"):
        return [(slug, each.about) for slug, each in entries.items()]
    if kind == "protocols":
        return [(slug, each.summary) for slug, each in entries.items()]
    if kind == "metrics":
        return [
            (slug, BY_NAME[slug].meaning if slug in BY_NAME else "of a plug-in") for slug in entries
        ]
    beyond = {
        slug: "" if each.in_paper else " (beyond the paper)" for slug, each in entries.items()
    }
    if kind == "learners":
        return [(slug, each.name + beyond[slug]) for slug, each in entries.items()]
    return [
        (
            slug,
            f"{each.name}: {each.n_rows:,} rows, {each.n_features} features, "
            f"{len(each.class_counts)} classes{beyond[slug]}",
        )
        for slug, each in entries.items()
    ]


def _costs() -> list[tuple[str, str]]:
    """Jobs and core time of every profile, by the committed runs."""
    from experiments.runner import registry
    from experiments.runner.experiments import jobs_in, searches_in, unique
    from experiments.runner.plan import make_plan, search_seconds
    from experiments.runs.job import Limits
    from experiments.text import duration

    lines = []
    for slug, profile in registry.entries("profile").items():
        jobs, searches = unique(jobs_in(profile)), searches_in(profile)
        plan = make_plan(jobs, {}, Limits())
        seconds = plan.core_seconds + sum(search_seconds(*each) for each in searches)
        count = len(jobs) + sum(trials for _, trials in searches)
        lines.append((slug, f"{count:>7,} jobs  {duration(seconds):>12}  {profile.about}"))
    return lines
