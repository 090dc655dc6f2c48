"""The page that sets ``clean`` beside ``paper``, in Markdown, and its numbers as CSV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from experiments.analysis.clean_effect import (
    MOVED,
    Change,
    MethodChange,
    RankingChange,
    method_changes,
    ranking_changes,
)
from experiments.analysis.definitions import method_name
from experiments.analysis.model import TASK_NAMES, Claim, Table
from experiments.render.csvfiles import csv_text

INTRODUCTION = """\
# Without the label leak

The paper encodes categories by leave-one-out means in which a training row's value depends on
its own label; validation and test rows are encoded without that. Protocol `paper` does the same.
Protocol `clean` does what a careful practitioner would: stratified splits, imputation and
encoding fitted on the training part alone and cross-fitted so that no row sees its own label,
rebalancing inside the training part only. Every method is trained anew under both, and the
figures below compare the two as wholes. The leak can act only on datasets with categorical
columns; the others show what the remaining differences do.
"""


def changes_csv(found: Sequence[Change]) -> str:
    return csv_text(
        ("table", "task", "dataset", "method", "categorical", "paper", "clean", "difference"),
        [
            (
                change.table,
                change.task,
                change.dataset,
                change.method,
                "yes" if change.categorical else "no",
                change.paper,
                change.clean,
                change.difference,
            )
            for change in found
        ],
    )


def protocol_page(
    tables: Mapping[str, tuple[Table, Table]],
    found: Mapping[str, Sequence[Change]],
    claims: tuple[Sequence[Claim], Sequence[Claim]],
) -> str:
    """Markdown for the given tables: name -> (paper, clean), with their changes.

    ``claims`` are those of the paper as checked under either protocol.
    """
    parts = [INTRODUCTION]
    for name, (paper, clean) in tables.items():
        parts.append(f"## {paper.title}\n")
        compared = [change for change in found[name] if change.difference is not None]
        if not compared:
            parts.append("Nothing has been run under both protocols yet.\n")
            continue
        for title, categorical in (
            ("Datasets with categorical columns", True),
            ("Datasets without", False),
        ):
            subset = [change for change in compared if change.categorical == categorical]
            if subset:
                parts.append(_method_table(title, method_changes(subset)))
        parts += [_ranking_paragraph(change) for change in ranking_changes(paper, clean)]
        parts.append(_dataset_table(paper, compared))
    parts.append(_claims_table(*claims))
    return "\n".join(parts)


def _claims_table(paper: Sequence[Claim], clean: Sequence[Claim]) -> str:
    """The claims that can be told under ``clean``, with its numbers."""
    told = [
        (before, after)
        for before, after in zip(paper, clean, strict=True)
        if after.outcome != "cannot be told"
    ]
    lines = ["## The paper's claims under both protocols", ""]
    if not told:
        return "\n".join([*lines, "None can be told under `clean` from these records.", ""])
    lines += ["| claim | `paper` | `clean` | under `clean` |", "|---|---|---|---|"]
    lines += [
        f"| {after.sentence} | {before.outcome} | {after.outcome} | {after.ours} |"
        for before, after in told
    ]
    return "\n".join(lines) + "\n"


def _method_table(title: str, rows: Sequence[MethodChange]) -> str:
    lines = [
        f"**{title}**: change of mean test F1 from `paper` to `clean`",
        "",
        f"| method | datasets | mean change | gains ≥ {MOVED} | losses ≥ {MOVED} | p (Wilcoxon) |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {method_name(row.method)} | {row.n} | {row.mean:+.3f} | {row.gains} | {row.losses} "
        f"| {row.p_value:.4f} |"
        for row in rows
    ]
    return "\n".join(lines) + "\n"


def _ranking_paragraph(change: RankingChange) -> str:
    before, after = (
        ", ".join(f"{method_name(method)} {score:.3f}" for method, score in order)
        for order in (change.paper, change.clean)
    )
    if change.order_survives:
        verdict = "The order by MRR is the same."
    elif change.leader_survives:
        verdict = f"{method_name(change.paper[0][0])} stays first by MRR; the order behind changes."
    else:
        verdict = (
            f"The lead by MRR passes from {method_name(change.paper[0][0])} to "
            f"{method_name(change.clean[0][0])}."
        )
    task = TASK_NAMES[change.task]
    return (
        f"**{task}** ({change.datasets} datasets complete under both). {verdict}\n\n"
        f"- `paper`: {before}\n- `clean`: {after}\n"
    )


def _dataset_table(table: Table, compared: Sequence[Change]) -> str:
    by_cell = {(change.dataset, change.method): change for change in compared}
    names = [column.name for column in table.columns]
    lines = [
        "Change per dataset (* has categorical columns):",
        "",
        f"| dataset | {' | '.join(names)} |",
        "|---|" + "---:|" * len(names),
    ]
    for block in table.blocks:
        for row in block.rows:
            found = [by_cell.get((row.dataset, column.method)) for column in table.columns]
            present = [change for change in found if change is not None]
            if present:
                mark = "*" if present[0].categorical else ""
                texts = ["–" if change is None else f"{change.difference:+.3f}" for change in found]
                lines.append(f"| {row.name}{mark} | {' | '.join(texts)} |")
    return "\n".join(lines) + "\n"
