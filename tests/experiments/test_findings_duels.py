"""GradTree against CART, and ST entmax against ST Gumbel softmax, on invented stores."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tables_support import Records, paper_as_ours, runs

from experiments.analysis.duels import (
    PRINTED,
    PROPER,
    Duel,
    difference,
    duels,
    duels_sheet,
    selector_duels,
    without_artefact,
)
from experiments.analysis.findings import findings_of
from experiments.analysis.grids import Results, collect
from experiments.analysis.model import Cell
from experiments.analysis.paper import load_paper
from experiments.analysis.settings import SEARCHED
from experiments.core.job import Job
from experiments.render.files import files_of
from experiments.render.report import compact, comparisons
from experiments.render.report.sections import selectors_section

PAPER = load_paper()
Store = tuple[list[Job], Records]


def _add(store: Store, *place: str, values: list[float], expected: int | None = None) -> None:
    protocol, experiment, dataset, method = place
    jobs, records = runs(experiment, dataset, method, values, protocol=protocol, expected=expected)
    store[0].extend(jobs)
    store[1].update(records)


def _results(gap: dict[str, float], protocol: str = "paper", experiment: str = "tuned") -> Results:
    """CART at 0.7 everywhere, GradTree above it by the gap of the task, a little varied."""
    store: Store = ([], {})
    for at, dataset in enumerate(PAPER.datasets):
        mine = 0.7 + gap[dataset.task] + 0.001 * (at % 3 - 1)
        _add(store, protocol, experiment, dataset.slug, "cart", values=[0.7] * 10)
        _add(store, protocol, experiment, dataset.slug, "gradtree", values=[mine] * 10)
    return collect(*store)


def _by_scope(found: list[Duel]) -> dict[str, Duel]:
    return {each.scope: each for each in found}


def test_a_known_difference_comes_out_with_its_sign_and_interval():
    found = _by_scope(duels(_results({"binary": 0.02, "multi": -0.05}), PAPER))
    assert set(found) == {"binary", "multi", "all"}
    binary, multi = found["binary"].contrast, found["multi"].contrast
    assert binary.difference.estimate == pytest.approx(0.02, abs=1e-3)
    assert 0.019 < binary.difference.low < binary.difference.high < 0.021
    assert (binary.wins, binary.ties, binary.losses, binary.n) == (22, 0, 0, 22)
    assert (multi.wins, multi.ties, multi.losses, multi.n) == (0, 0, 14, 14)
    assert binary.significant
    assert multi.significant
    mean = (22 * binary.difference.estimate + 14 * multi.difference.estimate) / 36
    assert found["all"].contrast.difference.estimate == pytest.approx(mean)


def test_no_difference_is_not_significant():
    found = duels(_results({"binary": 0.0, "multi": 0.0}), PAPER)
    assert not any(each.contrast.significant for each in found)
    assert comparisons.duels_answer(found)[0] == (
        "It is not shown. Of 3 comparisons with CART, GradTree is significantly better in none and "
        "significantly worse in none; 3 show no significant difference."
    )


def test_holm_corrects_over_all_lines():
    found = duels(_results({"binary": 0.02, "multi": -0.05}), PAPER)
    smallest = min(found, key=lambda each: each.contrast.p_value).contrast
    assert smallest.p_adjusted == pytest.approx(3 * smallest.p_value)


def test_datasets_without_every_trial_do_not_enter():
    store: Store = ([], {})
    for dataset in PAPER.of_task("multi")[:7]:
        _add(store, "paper", "tuned", dataset.slug, "cart", values=[0.7] * 10)
        expected = 10 if dataset.slug == "iris" else None
        values = [0.8] * (9 if expected else 10)
        _add(store, "paper", "tuned", dataset.slug, "gradtree", values=values, expected=expected)
    (multi, everything) = duels(collect(*store), PAPER)
    assert (multi.scope, multi.contrast.n, multi.of) == ("multi", 6, 14)
    assert (everything.scope, everything.contrast.n, everything.of) == ("all", 6, 36)
    alike = replace(multi, setting=SEARCHED, protocol="clean")
    assert "6 of 14 multi-class datasets" in comparisons.duels_answer([alike])[1]
    assert len(comparisons.duels_answer([multi])) == 1


@pytest.mark.parametrize(
    ("binary", "multi", "word"),
    [(0.02, -0.05, "It depends."), (0.02, 0.02, "Yes, in"), (-0.02, -0.05, "No.")],
)
def test_the_answer_begins_with_a_word(binary, multi, word):
    found = duels(_results({"binary": binary, "multi": multi}), PAPER)
    assert comparisons.duels_answer(found)[0].startswith(word)


def test_trials_must_be_the_same_ones():
    one, other = (Cell(0.5, 0.0, 3, 3, values=(0.5,) * 3, trials=t) for t in ((0, 1, 2), (3, 4, 5)))
    assert difference(one, one) == 0
    assert difference(one, other) is None


def test_the_pruned_tree_stands_in_every_setting():
    store: Store = ([], {})
    for dataset in PAPER.of_task("binary"):
        _add(store, "clean", "default", dataset.slug, "cart-pruned", values=[0.75] * 10)
        for experiment, score in (("tuned", 0.7), ("default", 0.72), (SEARCHED, 0.74)):
            _add(store, "clean", experiment, dataset.slug, "gradtree", values=[score] * 10)
    found = [each for each in duels(collect(*store), PAPER) if each.scope == "binary"]
    assert [(each.rival, each.setting) for each in found] == [
        ("cart-pruned", "tuned"),
        ("cart-pruned", "default"),
        ("cart-pruned", SEARCHED),
    ]
    estimates = [each.contrast.difference.estimate for each in found]
    assert estimates == pytest.approx([-0.05, -0.03, -0.01])


def test_table_and_picture_show_every_line():
    found = duels(_results({"binary": 0.02, "multi": -0.05}), PAPER)
    assert [row[3] for row in duels_sheet(found).rows] == ["binary", "multi-class", "all"]
    (row,) = compact.duels(found).rows
    assert row[:3] == ("CART", "published hyperparameters", "paper")
    assert str(row[3]).startswith("+0.020 [+0.02")
    assert ", 22-0-0, p < 0.0001" in str(row[3])
    drawn = comparisons.duels_picture(found)
    labels = [tick.get_text() for tick in drawn.axes[0].get_yticklabels()]
    assert labels == ["paper, binary (22)", "paper, multi-class (14)", "paper, all (36)"]


def test_nothing_run_gives_no_line_and_says_so():
    assert duels(collect([], {}), PAPER) == []
    assert comparisons.duels_answer([]) == [comparisons.NO_DUELS]
    assert compact.duels([]).rows == ()


# ST Gumbel softmax ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def with_proper():
    """The paper's ablations, and a column without noise at prediction level with ST entmax."""
    jobs, records = (part.copy() for part in paper_as_ours(PAPER))
    store: Store = (jobs, records)
    for setting in ("tuned", "default"):
        for at, dataset in enumerate(PAPER.datasets):
            entmax = PAPER.cells[f"ablation-{setting}"][dataset.slug, "gradtree"].mean or 0.0
            shift = 0.004 * (-1) ** at if dataset.task == "binary" else -0.03
            place = ("paper", f"ablation-{setting}", dataset.slug, PROPER)
            _add(store, *place, values=[entmax + shift] * 10)
    return findings_of(*store, paper=PAPER)


def test_both_columns_are_shown_and_the_printed_ones_keep_their_ranks(with_proper):
    table = with_proper.table_sets["paper"].tables["ablation-tuned"]
    printed = with_proper.printed.tables["ablation-tuned"]
    assert [column.method for column in table.columns] == [
        "gradtree",
        PRINTED,
        "gradtree-annealed",
        PROPER,
    ]
    for block, theirs in zip(table.blocks, printed.blocks, strict=True):
        for row, other in zip(block.rows, theirs.rows, strict=True):
            assert row.ranks == (*other.ranks, None)
        for line, other_line in zip(block.summaries, theirs.summaries, strict=True):
            ranks = [statistic.rank for statistic in line.statistics]
            assert ranks == [*(statistic.rank for statistic in other_line.statistics), None]
            assert (line.statistics[-1].value is None) == (line.name != "Mean")
    assert {v.method for v in with_proper.verdicts if v.table == "ablation-tuned"} == {
        "gradtree",
        PRINTED,
        "gradtree-annealed",
    }
    files = files_of(with_proper)
    assert f",{PROPER}," in files["paper/ablation-tuned.csv"]
    assert "noise-free prediction" in files["paper/ablation-tuned.tex"]
    assert "noise-free prediction" in files["paper/ablation-summary.tex"]
    assert files["selectors.csv"].count("\n") == 1 + 2 * 2 * 3


def test_the_claim_says_both(with_proper):
    claims = {claim.slug: claim for claim in with_proper.claims}
    binary = claims["ablation-tuned-binary"]
    assert binary.outcome == "holds as printed only"
    assert binary.in_paper == "holds"
    assert "ST Gumbel Softmax 0.569" in binary.ours
    assert "without noise at prediction ST Gumbel softmax has 0.771" in binary.ours
    assert "by +0.000 [" in binary.ours or "by -0.000 [" in binary.ours
    multi = claims["ablation-default-multi"]
    assert multi.outcome == "holds"
    assert "by +0.030 [+0.030, +0.030]" in multi.ours


def test_intervals_with_and_without_the_artefact(with_proper):
    found = {(d.other, d.setting, d.scope): d.contrast for d in with_proper.selectors}
    assert len(found) == 12
    assert found[PRINTED, "tuned", "binary"].difference.low > 0.1
    level = found[PROPER, "tuned", "binary"]
    assert level.difference.low < 0 < level.difference.high
    assert not level.significant
    assert found[PROPER, "default", "multi"].significant
    (section,) = selectors_section(with_proper)
    assert section.points[0].startswith(
        "The printed column over both ablation tables: 72 of 72 cells do not differ"
    )
    assert sum(point.startswith("Without it") for point in section.points) == 4


def test_before_it_has_run_the_section_says_so():
    found = findings_of(*paper_as_ours(PAPER), paper=PAPER)
    tables = found.table_sets["paper"].tables
    assert selector_duels(tables) == []
    assert without_artefact(tables["ablation-tuned"], "binary") is None
    (section,) = selectors_section(found)
    assert section.points[-1].startswith("The column without noise at prediction has not been run")
    assert section.sheets == ()
    claims = {claim.slug: claim.outcome for claim in found.claims}
    assert claims["ablation-tuned-binary"] == "holds"


def test_the_paper_is_not_changed_by_what_stands_beside(with_proper):
    alone = findings_of(*paper_as_ours(PAPER), paper=PAPER)
    assert with_proper.verdicts == alone.verdicts
    assert replace(with_proper.printed, sheets={}) == replace(alone.printed, sheets={})
