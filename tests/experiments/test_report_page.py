"""The page without a browser: self-contained, well linked, true to its tables, same every time."""

from __future__ import annotations

import hashlib
import html
import json
import os
import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
import report_samples as samples

from experiments.__main__ import build_parser
from experiments.analysis.findings import findings_of
from experiments.analysis.judging import agreements
from experiments.analysis.model import Sheet, SheetColumn
from experiments.analysis.verifying import Repeats
from experiments.commands import selection
from experiments.render import numbers
from experiments.render.report import view
from experiments.render.report.collect import assemble
from experiments.render.report.headline import printed_numbers
from experiments.render.report.model import ReportData
from experiments.render.report.page import HERE, ranges, render

REPOSITORY = Path(__file__).resolve().parents[2]
LOADING = {"src", "srcset", "href", "xlink:href", "data", "poster", "action", "formaction"}


class Reader(HTMLParser):
    """Collects what the tests ask about."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.ids: Counter[str] = Counter()
        self.loads: list[str] = []
        self.refers: list[str] = []
        self.tags: Counter[str] = Counter()
        self.open: list[str] = []
        self.feed(source)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        for name, value in attributes:
            if name == "id":
                self.ids[value or ""] += 1
            if name in LOADING:
                self.loads.append(value or "")
            if name in ("aria-controls", "aria-labelledby", "for"):
                self.refers += (value or "").split()


def report(keep: samples.Keep = samples.everything) -> ReportData:
    return assemble(samples.inputs(keep), [])


@pytest.fixture(scope="module")
def data() -> ReportData:
    return report()


@pytest.fixture(scope="module")
def page(data: ReportData) -> str:
    return render(data)


@pytest.fixture(scope="module")
def content(page: str) -> dict:
    text = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert text is not None
    return json.loads(text[1])


def test_nothing_is_loaded_from_anywhere(page: str) -> None:
    for address in Reader(page).loads:
        assert address.startswith(("#", "data:")), address
    assert "@import" not in page
    assert not re.search(r"url\((?!#)", page)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    assert "default-src 'none'" in policy[1]
    assert "connect-src" not in policy[1]


def test_ids_are_unique_and_every_reference_has_its_target(page: str) -> None:
    reader = Reader(page)
    assert [name for name, count in reader.ids.items() if count > 1] == []
    targets = [address[1:] for address in reader.loads if address.startswith("#")]
    assert set(targets + reader.refers) <= set(reader.ids)
    assert len(targets) > 36


def test_the_headline_counts_what_the_verdicts_say(data: ReportData, page: str) -> None:
    found = samples.findings()
    counted = [
        verdict
        for verdict in found.verdicts
        if verdict.paper.mean is not None and verdict.table != "runtime"
    ]
    outcomes = Counter(verdict.outcome for verdict in counted)
    assert {"exact", "equivalent", "undecided", "better", "worse"} <= set(outcomes)
    assert (
        f"Of the paper’s {len(counted):,} numbers, {outcomes['exact']:,} are exact and "
        f"{outcomes['equivalent']:,} equivalent" in page
    )
    assert f"{outcomes['undecided']:,} are undecided: 10 trials show neither" in page
    assert f"({outcomes['better']:,} better, {outcomes['worse']:,} worse)" in page
    cart = [v for t in view.counted(data) for v in printed_numbers(t) if v.method == "cart"]
    assert f"{len(cart)} of {len(cart)}" in page


def test_every_cell_shows_the_mean_of_its_trials(page: str, content: dict) -> None:
    shown = [
        (content["tables"][table], dataset, at, text)
        for table, panel in re.findall(r'data-table="([^"]+)"(.*?)</table>', page, re.DOTALL)
        if table in content["tables"]
        for dataset, row in re.findall(r'<tr data-dataset="([^"]+)">(.*?)</tr>', panel, re.DOTALL)
        for at, text in enumerate(re.findall(r'<td class="c[^>]*><span class="o">([^<]*)', row))
        if re.fullmatch(r"[\d.,]+", text)
    ]
    assert len(shown) > 1000
    for about, dataset, at, text in shown:
        cell = about["cells"][dataset][at]
        assert cell["n"] == len(cell["values"]) == len(cell.get("trials", cell["values"]))
        mean = sum(cell["values"]) / cell["n"]
        assert float(text.replace(",", "")) == pytest.approx(
            mean, abs=0.51 * 10 ** -about["decimals"] + 1e-5 * abs(mean)
        )


def test_cells_carry_the_verdict_and_the_papers_number(content: dict) -> None:
    for verdict in samples.findings().verdicts:
        about = content["tables"][f"{verdict.table}-paper"]
        cell = about["cells"][verdict.dataset][about["methods"].index(verdict.method)]
        assert cell["outcome"] == verdict.outcome
        if verdict.paper.mean is not None:
            assert cell["paper"] == [verdict.paper.mean, verdict.paper.std]


def test_every_claim_and_every_dataset_has_its_place(data: ReportData, page: str) -> None:
    ids = Reader(page).ids
    assert len(data.claims) > 10
    for claim in data.claims:
        assert ids[f"claim-{claim.slug}"] == 1
    assert sum(name.startswith("dataset-") for name in ids) == 36 + 1  # and the filter


def test_gradtree_against_cart_stands_first(page: str) -> None:
    main = page.split("<main>")[1]
    assert main.index('id="against-cart"') < main.index('id="summary"')
    assert Reader(page).tags["h1"] == 1
    assert "Is GradTree better than CART?</h1>" in main
    first = main.split('id="summary"')[0]
    assert " comparisons with CART, GradTree is significantly better in " in first
    assert 'data-sheet="gradtree-against-cart-compact"' in first


def test_beside_the_counts_of_a_column_stands_its_test_over_datasets(page: str) -> None:
    found = {(each.table, each.method): each for each in agreements(samples.findings().verdicts)}
    default = found["test-f1-default", "gradtree"]
    published = found["ablation-default", "gradtree"]
    texts = [
        f"{numbers.signed(each.mean_difference, 4)}, {numbers.p_phrase(each.p_value)}"
        for each in (default, published)
    ]
    matrix = page.split('class="matrix"')[1].split("</table>")[0]
    assert html.escape(f"{texts[0]}; against the paper’s ablation table {texts[1]}") in matrix


def test_no_p_value_is_printed_as_zero(page: str) -> None:
    assert "0.0000" not in page
    assert "&lt;0.0001" in page


def test_three_trials_never_claim_a_headline() -> None:
    inputs = samples.inputs()
    few = [job for job in samples.jobs(inputs.findings.paper) if job.trial < 3]
    made = {record.key: record for record in inputs.records if record.trial < 3}
    short = replace(
        inputs,
        findings=findings_of(few, made, samples.registry()),  # type: ignore[arg-type]
        repeats=Repeats(629, ()),
    )
    page = render(assemble(short, []))
    assert "Measured with 3 trials: too few to judge the paper’s numbers" in page
    assert "629 of your 629 fits equal ours." in page
    summary = page.split('id="summary"')[1].split("</section>")[0]
    assert "852" not in summary
    assert "ten trials" not in summary
    assert "Claims that hold" not in summary


def test_what_records_say_cannot_become_markup(page: str) -> None:
    assert "onerror" in page
    assert "<img" not in page
    assert "<b>bold" not in page
    reader = Reader(page)
    assert reader.tags["img"] == 0
    assert reader.tags["script"] == 2


def test_failures_are_listed_once_with_their_trials(data: ReportData) -> None:
    errors = [failure for failure in data.failures if failure.status == "error"]
    assert {(f.protocol, f.experiment) for f in errors} == {
        ("paper", "tuned"),
        ("paper", "default"),
        ("paper", "runtime"),
        ("clean", "tuned"),
        ("clean", "default"),
    }
    assert {(f.dataset, f.method, f.trials, f.reason) for f in errors} == {
        ("zoo", "genetictree", (3,), samples.HOSTILE_REASON)
    }
    skipped = [failure for failure in data.failures if failure.status == "skipped"]
    assert all(failure.trials == tuple(range(10)) for failure in skipped)
    statuses = [failure.status for failure in data.failures]
    assert statuses == sorted(statuses, key=lambda status: status == "skipped")


def test_a_partial_store_shows_its_gaps() -> None:
    def keep(protocol: str, experiment: str, dataset: str, method: str) -> bool:
        return protocol == "paper" and experiment == "tuned" and dataset != "iris"

    page = render(report(keep))
    assert "Incomplete: 5 of 180 cells not run yet" in page
    assert page.count('class="c pending"') > 5
    assert "cannot be told" in page
    assert 'id="clean"' not in page


def test_an_empty_store_gives_a_page_that_says_so() -> None:
    page = render(report(samples.nothing))
    assert "Nothing has been measured yet" in page
    assert "Every run that was started ended with a score." in page
    assert "No run has been recorded yet." in page
    assert Reader(page).ids["tables"] == 1


def test_the_section_on_protocols_appears_once_clean_has_run(data: ReportData, page: str) -> None:
    section = next(each for each in data.sections if each.slug == "clean")
    assert {sheet.name for sheet in section.sheets} == {
        "protocols-mrr",
        "protocols-claims",
        "test-f1-default-changes",
        "test-f1-tuned-changes",
    }
    assert 'href="#clean"' in page


def test_the_section_on_draws_tells_the_three_means(data: ReportData) -> None:
    section = next(each for each in data.sections if each.slug == "draws")
    found = samples.findings()
    table = found.table_sets["paper"].tables["test-f1-tuned"]
    slugs = ("adult", "iris", "zoo")
    printed = sum(found.paper.cells["test-f1-tuned"][slug, "gradtree"].mean for slug in slugs) / 3
    here = sum(table.cell(slug, "gradtree").mean for slug in slugs) / 3
    assert section.points[0].startswith(
        f"Mean over 3 datasets: {printed:.3f} in the paper, {here:.3f} here"
    )


def test_the_papers_inconsistencies_are_listed(data: ReportData, page: str) -> None:
    (group,) = [group for group in data.sheet_groups if group.title == "The paper’s"]
    (sheet,) = [sheet for sheet in group.sheets if sheet.name == "paper-inconsistencies"]
    assert len(sheet.rows) == len(samples.findings().paper.inconsistencies) > 5
    assert 'id="table-paper-inconsistencies"' in page


def test_the_command_of_a_cell_selects_its_ten_trials(data: ReportData, content: dict) -> None:
    parser = build_parser()
    for table in view.judged(data):
        about = content["tables"][table.name]
        for method in about["methods"]:
            command = content["command"].format(dataset="iris", method=method, **about)
            interpreter, _, module, *words = command.split()
            assert (interpreter, module) == (".venv/bin/python", "experiments")
            _, jobs = selection.selected(parser.parse_args(words))
            where = {(job.protocol, job.experiment, job.dataset, job.method) for job in jobs}
            assert where == {("paper", table.ours.experiment, "iris", method)}
            assert sorted(job.trial for job in jobs) == list(range(10))


def test_learners_beyond_the_paper_have_a_table_without_verdicts(content: dict) -> None:
    about = content["tables"]["beyond-test-f1-clean"]
    cell = about["cells"]["iris"][about["methods"].index("boosting")]
    assert cell["mean"] == pytest.approx(0.9045)
    assert "outcome" not in cell


def test_the_page_stays_small(page: str) -> None:
    assert len(page.encode()) < 3_000_000


def test_headers_are_sort_buttons_with_a_state(page: str) -> None:
    panel = page.split('id="tables"')[1].split('id="figures"')[0]
    heads = re.findall(r"<th scope=\"col\"[^>]*>(.*?)</th>", panel)
    assert heads
    for head in re.findall(
        r"<th scope=\"col\"([^>]*)><button type=\"button\" class=\"sort\"", panel
    ):
        assert 'aria-sort="none"' in head


SCRIPT = """
import hashlib, sys
sys.path.insert(0, {folder!r})
import report_samples as samples
from experiments.render.report.collect import assemble
from experiments.render.report.page import render
page = render(assemble(samples.inputs(samples.three_datasets), []))
print(hashlib.sha256(page.encode()).hexdigest())
print([name for name in ("tensorflow", "numba", "sklearn.tree") if name in sys.modules])
"""


def test_bytes_do_not_depend_on_the_process_and_no_learner_is_imported() -> None:
    here = hashlib.sha256(render(report(samples.three_datasets)).encode()).hexdigest()
    # Another seed for hashing: an order that came from a set would differ.
    other_seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    there = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(folder=str(Path(__file__).parent))],
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONHASHSEED": other_seed},
        capture_output=True,
        text=True,
        check=True,
    )
    assert there.stdout.splitlines() == [here, "[]"]


def test_ranges_draw_neighbours_together() -> None:
    assert ranges([0, 1, 2, 5, 7, 8]) == "0-2, 5, 7-8"
    assert ranges([]) == ""


def test_signed_numbers_that_round_to_nothing_have_no_sign() -> None:
    assert view.signed(-0.0001, 3) == "0.000"
    assert view.signed(0.0012, 3) == "+0.001"
    assert view.signed(-1234.5, 1) == "-1,234.5"
    assert view.signed(None, 3) == view.GAP


# Contrast ----------------------------------------------------------------------------


def tokens(theme: int) -> dict[str, str]:
    css = (HERE / "assets" / "base.css").read_text(encoding="utf-8")
    pairs = re.findall(r"--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)", css)
    return {name: values[theme] for name, *values in pairs}


def luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted([luminance(one), luminance(other)], reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_text_has_the_contrast_that_wcag_asks_for(theme: int) -> None:
    colours = tokens(theme)
    text = [("ink", "bg"), ("ink", "surface"), ("muted", "bg"), ("muted", "surface")]
    text += [("accent", "bg"), ("accent", "accent-soft"), ("ink", "missing-soft")]
    for outcome in ("exact", "equivalent", "undecided", "better", "worse"):
        text += [(f"{outcome}-ink", f"{outcome}-soft"), ("ink", f"{outcome}-soft")]
        text += [("muted", f"{outcome}-soft")]
    for front, back in text:
        assert contrast(colours[front], colours[back]) >= 4.5, (front, back)
    for mark in ("blue", "vermilion", "green", "purple", "orange", "sky", "grey"):
        assert contrast(colours[mark], colours["surface"]) >= 3.0, mark


def test_the_best_of_a_row_or_a_column_is_bold() -> None:
    columns = (SheetColumn("Method"), SheetColumn("size", 0, "min"), SheetColumn("F1"))
    rows = (("A", 3, 0.5), ("B", 2, 0.9), ("C", None, 0.9))
    by_column = Sheet("s", "S", "", "", columns, rows)
    assert view.best_fields(by_column) == {(1, 1)}
    by_row = Sheet("s", "S", "", "", columns[:1] + columns[2:] * 2, rows, best_in_row="max")
    assert view.best_fields(by_row) == {(0, 1), (1, 1), (2, 2)}
