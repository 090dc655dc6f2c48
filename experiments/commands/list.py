"""``list``: what there is to run, a line each."""

from __future__ import annotations

import argparse

from experiments.commands import arguments

KINDS = ("profiles", "experiments", "protocols", "learners", "datasets")


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = verbs.add_parser(
        "list",
        help="list profiles, experiments, protocols, learners and datasets",
        description="List profiles, experiments, protocols, learners and datasets, one per line, "
        "including those of plug-ins.",
    )
    parser.add_argument("kind", nargs="?", choices=KINDS, help="only these (default: all)")
    arguments.add_plugins(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from experiments.runner import plugins

    plugins.use(args.plugin)
    for kind in [args.kind] if args.kind else KINDS:
        lines = entries(kind)
        width = max(len(slug) for slug, _ in lines)
        print(f"{kind}:")
        print("".join(f"  {slug.ljust(width)}  {about}\n" for slug, about in lines))
    return 0


def entries(kind: str) -> list[tuple[str, str]]:
    """Slug and one line for each."""
    import datasets
    from experiments.runner import plugins
    from experiments.runner.catalogue import EXPERIMENTS, SEARCH
    from experiments.runner.profiles import profiles

    if kind == "profiles":
        return [(profile.slug, profile.about) for profile in profiles().values()]
    if kind == "experiments":
        found = [(each.slug, each.about) for each in EXPERIMENTS.values()]
        return [*found, (SEARCH, "hyperparameter search, with a verb of its own")]
    if kind == "protocols":
        return [(slug, datasets.PROTOCOLS[slug].summary) for slug in plugins.protocols()]
    if kind == "learners":
        learners = [plugins.learner(slug) for slug in plugins.method_slugs()]
        return [(each.slug, _learner(each.name, each.in_paper)) for each in learners]
    return [(slug, _dataset(slug)) for slug in plugins.dataset_slugs()]


def _learner(name: str, in_paper: bool) -> str:
    return name if in_paper else f"{name} (beyond the paper)"


def _dataset(slug: str) -> str:
    from experiments.runner import plugins

    facts = plugins.facts(slug)
    shape = f"{facts.n_rows:,} rows, {facts.n_features} features, {len(facts.class_counts)} classes"
    beyond = "" if getattr(facts, "in_paper", False) else " (beyond the paper)"
    return f"{facts.name}: {shape}{beyond}"
