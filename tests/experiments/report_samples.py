"""A small store for the tests of the report, with names that try to become markup."""

import tempfile
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from experiments.analysis.questions import answers
from experiments.analysis.runs import Runs, load
from experiments.output.files import write_trees
from experiments.output.report import write_report
from experiments.runs.schema import Job
from experiments.runs.store import Store

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)> & \"x\" 'y' **bold**"
DATASETS = {"iris": "Iris", "banknote-authentication": "Banknote Authentication", "evil": HOSTILE}
METHODS = {"gradtree": "GradTree", "cart": "CART", "evil-learner": HOSTILE}
TRIALS = 10
_folder = tempfile.TemporaryDirectory(prefix="report-store-")


@cache
def small_report() -> tuple[Runs, Path]:
    """The runs of a small store, and the page of them; made once."""
    folder = small_store(Path(_folder.name))
    write_trees(folder / "trees", "iris", [tree_entry(), tree_entry("gradtree", depth=5)])
    write_trees(folder / "trees", "evil", [tree_entry(word=HOSTILE)])
    runs = load(folder)
    return runs, write_report(runs, answers(runs), folder)


def small_store(folder: Path) -> Path:
    """Tuned and default runs of three learners on three datasets; some of one failed."""
    store = Store(folder)
    versions = {"protocol_version": "1", "method_version": "1"}
    places = product((("tuned", 3), ("default", 5)), DATASETS, METHODS, range(TRIALS))
    jobs = []
    for (experiment, depth), dataset, method, trial in places:
        what = ("paper", experiment, dataset, method, Job.freeze({"depth": depth}), trial, 42)
        jobs.append(Job(*what, content_hash=dataset, **versions))
    store.plan(jobs)
    store.add(_run(job) for job in jobs if job.dataset != "banknote-authentication")
    store.add(_run(job) for job in jobs if job.method != "cart" or job.trial < 7)
    for slug, name in DATASETS.items():
        two = slug.startswith("bank")
        facts: dict[str, Any] = {"slug": slug, "name": name, "task": "binary" if two else "multi"}
        facts |= {"n_rows": 150, "n_features": 4, "class_counts": [75, 75] if two else [50] * 3}
        facts |= {"categorical": [HOSTILE] * (slug == "evil"), "in_paper": slug != "evil"}
        store.add_facts("dataset", {slug: facts})
    for slug, name in METHODS.items():
        facts = {"slug": slug, "name": name, "version": "1", "in_paper": True, "group": ""}
        store.add_facts("learner", {slug: facts})
    environment = {"id": "here", "machine": {"cpu": HOSTILE}, "versions": {"numpy": "2"}}
    store.add_facts("environment", {"here": environment})
    store.close()
    return folder


def _run(job: Job) -> dict[str, Any]:
    if job.method == "evil-learner" and job.trial == 4:
        return job.run("error", reason=HOSTILE, traceback=HOSTILE, environment="here")
    base = {"gradtree": 0.9122, "cart": 0.95}.get(job.method, 0.5)
    f1 = base + 0.001 * job.trial + (0.02 if job.dataset == "evil" else 0)
    taken = {"wall_seconds": 0.5, "cpu_seconds": 0.5, "environment": "here"}
    return job.run("ok", test_f1=f1, train_f1=0.99, tree_size=2 * job.trial + 3, **taken)


def tree_entry(method: str = "cart", word: str = "petal width", depth: int = 1) -> dict[str, Any]:
    """A full tree over one column, in the form of a stored one."""
    inner, nodes = 2**depth - 1, 2 ** (depth + 1) - 1
    children = [2 * at + 1 if at < inner else -1 for at in range(nodes)]
    place = {"method": method, "experiment": "tuned", "protocol": "paper", "trial": 0, "seed": 42}
    return {
        **place,
        "test_f1": 0.9,
        "class_names": ["small", word],
        "tree": {
            "feature": [0 if at < inner else -1 for at in range(nodes)],
            "children_left": children,
            "children_right": [at + 1 if at > 0 else -1 for at in children],
            "value": [[0.25, 0.75]] * nodes,
            "n_node_samples": [8] * nodes,
        },
        "splits": {str(at): [word, f"≤ {at}", f"> {at}"] for at in range(inner)},
    }
