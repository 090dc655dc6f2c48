"""The page in a browser: sizes, unfolding, cells, sorting, trees, keys, light and dark, a phone."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import report_samples as samples
from browser import Browser, find_browser

COMMITTED = Path(__file__).resolve().parents[2] / "results" / "report.html"
TABLE = "#table-test-f1-tuned-paper"
MOST_BYTES, MOST_PIXELS, MOST_NODES = 1_500_000, 20_000, 6_000

pytestmark = pytest.mark.skipif(find_browser() is None, reason="no Chromium is installed")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = find_browser()
    with Browser(path) as opened:
        yield opened


@pytest.fixture(scope="module")
def small() -> Path:
    """The report of a small store whose names try to become markup."""
    return samples.small_report()[1]


@pytest.fixture
def opened(browser: Browser, small: Path) -> Iterator[Browser]:
    browser.open(small)
    yield browser
    assert browser.complaints() == []
    assert browser.requests() == [small.resolve().as_uri()]


def texts(browser: Browser, selector: str) -> list[str]:
    return list(
        browser.run(f"[...document.querySelectorAll({selector!r})].map(e => e.textContent)")
    )


def test_the_committed_page_is_small(browser):
    browser.open(COMMITTED)
    assert COMMITTED.stat().st_size <= MOST_BYTES
    assert browser.run("document.documentElement.scrollHeight") <= MOST_PIXELS
    assert browser.run("document.querySelectorAll('*').length") <= MOST_NODES
    assert browser.complaints() == []


@pytest.mark.parametrize("page", ["committed", "small"])
def test_a_phone_scrolls_downwards_only(browser, small, page):
    browser.open(COMMITTED if page == "committed" else small, width=390, height=844)
    unfold_all = "document.querySelectorAll('details').forEach(fold => { fold.open = true })"
    for script in ("0", unfold_all):
        browser.run(script)
        browser.settle()
        assert browser.run("document.documentElement.scrollWidth") == 390


def test_nothing_of_a_name_becomes_an_element(opened):
    opened.run("document.querySelectorAll('details').forEach(fold => { fold.open = true })")
    opened.settle()
    opened.click(f"{TABLE} td[data-cell]")
    assert opened.run("document.querySelectorAll('img').length") == 0
    assert samples.HOSTILE in opened.run("document.body.textContent")
    assert samples.HOSTILE in texts(opened, "#dataset-evil svg.tree title")


def test_a_table_is_drawn_when_it_is_unfolded_and_can_show_the_papers_numbers(opened):
    assert texts(opened, f"{TABLE} table") == []
    opened.unfold(TABLE)
    row = f"{TABLE} tbody.rows tr:has(a[href='#dataset-iris']) td"
    assert texts(opened, row)[0].startswith("0.917 ± .003")
    opened.click(f"{TABLE} [data-show=paper]")
    assert texts(opened, row)[0].startswith("0.938 ± ")
    opened.click(f"{TABLE} [data-show=difference]")
    assert texts(opened, row)[0] == "-0.021"


def test_a_cell_opens_its_trials_verdict_and_command(opened):
    opened.unfold(TABLE)
    opened.click(f"{TABLE} tbody.rows tr:has(a[href='#dataset-iris']) td")
    (shown,) = texts(opened, "#cell:popover-open")
    assert shown.startswith("Iris, GradTree")
    assert "Here: 0.917 ± .003" in shown
    assert "Paper: 0.938" in shown
    assert "Trials: 0.912, 0.913, 0.914" in shown
    command = "run --experiment tuned --protocol paper --dataset iris --method gradtree"
    assert texts(opened, "#cell pre") == [f".venv/bin/python -m experiments {command}"]
    assert opened.run("document.querySelectorAll('#cell circle').length") == samples.TRIALS
    opened.press("Escape")
    assert texts(opened, "#cell:popover-open") == []


def test_cells_are_reached_by_keys(opened):
    opened.unfold(TABLE)
    opened.run(f"document.querySelector('{TABLE} td[tabindex=\"0\"]').focus()")
    before = opened.run("document.activeElement.dataset.cell")
    for key in ("ArrowDown", "ArrowRight"):
        opened.press(key)
    after = opened.run("document.activeElement.dataset.cell")
    steps = zip(before.split(","), after.split(","), strict=True)
    assert [int(b) - int(a) for a, b in steps] == [1, 1]
    assert opened.run(f"document.querySelectorAll('{TABLE} td[tabindex=\"0\"]').length") == 1
    opened.press("Enter")
    assert texts(opened, "#cell:popover-open") != []
    assert opened.run("document.activeElement.textContent") == "Copy command"
    opened.press("Escape")
    assert opened.run("document.activeElement.dataset.cell") == after


def test_columns_sort_by_number_and_by_name_within_their_block(opened):
    table = "#table-others-tuned-test-f1-paper"
    opened.run(f"location.hash = '{table}'")  # inside a fold of tables
    opened.settle()
    block = f"{table} tbody.rows:has(a[href='#dataset-iris'])"

    def order(column: int) -> list[str]:
        opened.click(f"{table} thead tr:last-child th:nth-child({column}) button")
        return texts(opened, f"{block} tr > :nth-child({column})")

    assert order(1) == sorted(["Iris", samples.HOSTILE], key=str.casefold)
    assert order(1) == sorted(["Iris", samples.HOSTILE], key=str.casefold, reverse=True)
    assert [text[:5] for text in order(2)] == ["0.937", "0.917"]
    assert [text[:5] for text in order(2)] == ["0.917", "0.937"]
    header = f"document.querySelector('{table} thead tr:last-child th:nth-child(2)')"
    assert opened.run(f"{header}.ariaSort") == "ascending"


def test_a_link_unfolds_its_dataset_with_trials_and_trees(opened):
    opened.unfold(TABLE)
    opened.click(f"{TABLE} a[href='#dataset-iris']")
    assert opened.run("document.querySelector('#dataset-iris').open")
    assert texts(opened, "#dataset-iris .choose[role=group] button") == ["CART", "GradTree"]
    assert "petal width ≤ 0" in texts(opened, "#dataset-iris pre")[0]
    assert opened.run("document.querySelectorAll('#dataset-iris .strip circle').length") >= 20


def test_a_large_tree_opens_where_it_is_cut(opened):
    opened.unfold("#dataset-iris")
    opened.click("#dataset-iris .choose[role=group] button:nth-child(2)")
    more = "#dataset-iris .tree .more"
    assert len(texts(opened, more)) == 8
    opened.click(f"{more}:first-of-type")
    assert texts(opened, more) == []
    opened.click("#dataset-iris .choose:not([role]) button")
    assert len(texts(opened, more)) == 8


@pytest.mark.parametrize(("scheme", "other"), [("light", "dark"), ("dark", "light")])
def test_light_and_dark_follow_the_system_and_the_reader(browser, small, scheme, other):
    def brightness() -> int:
        colour = browser.run("getComputedStyle(document.body).backgroundColor")
        return sum(int(part) for part in colour[4:-1].split(","))

    browser.open(small, scheme=scheme)
    browser.run("localStorage.clear()")
    browser.open(small, scheme=scheme)
    system = brightness()
    browser.click("#theme")
    assert (system > 600) == (scheme == "light")
    assert (brightness() > 600) == (other == "light")
    browser.open(small, scheme=scheme)
    assert (brightness() > 600) == (other == "light")
    browser.run("localStorage.clear()")
