"""The page in a real browser: sorting, filtering, hovering, keys, trees, themes, phones.

Skipped where no Chromium is installed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import report_samples as samples
from browser import Browser, find_browser
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

from experiments.core.record import RunRecord
from experiments.render.report.collect import assemble, draw
from experiments.render.report.page import write
from experiments.render.report.payload import FORMAT
from gradtree.trees.tree import Tree

pytestmark = pytest.mark.skipif(find_browser() is None, reason="no Chromium is installed")

MAIN = "#table-test-f1-tuned-paper"
GRADTREE, CART = 2, 6  # column of the table, counted as CSS does


def stored_tree() -> dict:
    X, y = load_iris(return_X_y=True)
    tree = Tree.from_sklearn(DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, y))
    record = RunRecord("k", "paper", "iris", "cart", {}, 0, 42, "ok", test_f1=0.95)
    names = ["sepal length", "sepal width", "petal length", "petal width"]
    return {
        "method": record.method,
        "experiment": "tuned",
        "protocol": "paper",
        "trial": 0,
        "seed": 42,
        "test_f1": 0.95,
        "class_names": ["setosa", "versicolor", "virginica"],
        "tree": tree.to_dict(),
        "splits": {
            str(node): [names[feature], f"<= {threshold:.2f}", f"> {threshold:.2f}"]
            for node, (feature, threshold) in enumerate(
                zip(tree.feature.tolist(), tree.threshold.tolist(), strict=True)
            )
            if feature >= 0
        },
    }


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("report")
    content = {"format": FORMAT, "dataset": "iris", "trees": [stored_tree()]}
    (folder / "iris.json").write_text(json.dumps(content), encoding="utf-8")
    inputs = replace(samples.inputs(), trees=folder)
    return write(assemble(inputs, draw(inputs)), folder / "report.html").as_uri()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as running:
        yield running


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Browser]:
    """A fresh load for every test, which must end without a complaint or a request."""
    browser.events.clear()
    browser.resize(1280, 900)
    browser.prefer("light")
    browser.open("about:blank")
    browser.open(address)
    yield browser
    assert browser.complaints() == []
    assert {url for url in browser.requests() if url != "about:blank"} == {address}


def names(page: Browser, panel: str = MAIN) -> list[str]:
    """Datasets that are visible in a table, from top to bottom."""
    rows = "tbody.rows tr[data-dataset]"
    return page.run(
        f"[...document.querySelectorAll('{panel} {rows}')].filter(r => r.checkVisibility())"
        ".map(r => r.dataset.dataset)"
    )


def numbers(page: Browser, column: int, task: str) -> list[float]:
    return page.run(
        f"[...document.querySelectorAll('{MAIN} tbody.rows[data-task={task}] "
        f"td:nth-child({column}) .o')].map(e => parseFloat(e.textContent)).filter(v => !isNaN(v))"
    )


def test_it_opens_without_a_complaint_or_a_request(page: Browser) -> None:
    assert page.run("document.title") == "GradTree, measured again"
    assert len(names(page)) == 36
    assert page.run("document.querySelectorAll('svg.figure').length") >= 5


def test_sorting_by_a_method_and_back_by_name(page: Browser) -> None:
    head = f"{MAIN} thead tr:last-child th:nth-child({CART})"
    page.click(f"{head} .sort")
    assert page.run(f"document.querySelector('{head}').getAttribute('aria-sort')") == "descending"
    for task in ("binary", "multi"):
        shown = numbers(page, CART, task)
        assert len(shown) > 10
        assert shown == sorted(shown, reverse=True)
    page.click(f"{head} .sort")
    assert page.run(f"document.querySelector('{head}').getAttribute('aria-sort')") == "ascending"
    assert numbers(page, CART, "binary") == sorted(numbers(page, CART, "binary"))
    page.click(f"{MAIN} thead tr:last-child th:first-child .sort")
    assert page.run(f"document.querySelectorAll('{MAIN} [aria-sort=ascending]').length") == 1
    assert names(page)[:2] == ["absenteeism", "adult"]


def test_gaps_stay_last_in_either_direction(page: Browser) -> None:
    for _ in range(2):
        page.click(f"{MAIN} thead tr:last-child th:nth-child(3) .sort")
        texts = page.run(
            f"[...document.querySelectorAll('{MAIN} tbody.rows[data-task=binary] "
            "td:nth-child(3) .o')].map(e => e.textContent)"
        )
        gaps = [text == "n>12" for text in texts]
        assert any(gaps)
        assert gaps == sorted(gaps)


def test_sorting_by_difference_follows_what_is_shown(page: Browser) -> None:
    page.click(f"{MAIN} thead tr:last-child th:nth-child({GRADTREE}) .sort")
    page.click("input[name=show][value=difference] + span")
    shown = page.run(
        f"[...document.querySelectorAll('{MAIN} tbody.rows[data-task=binary] "
        f"td:nth-child({GRADTREE}) .d')].filter(e => e.checkVisibility())"
        ".map(e => parseFloat(e.textContent))"
    )
    assert len(shown) == 22
    assert shown == sorted(shown, reverse=True)
    assert min(shown) < 0 < max(shown)


def test_filtering_by_text_task_and_verdict(page: Browser) -> None:
    page.run("document.getElementById('filter-text').focus()")
    page.type("heart")
    assert names(page) == ["heart-failure", "heart-disease"]
    count = "document.getElementById('filter-count').textContent"
    assert page.run(count) == "2 of 36 rows"
    page.click("#filters button[type=reset]")
    page.wait_for(f"{count} === '36 rows'")
    page.click("input[name=task][value=multi] + span")
    assert len(names(page)) == 14
    page.click("input[name=outcome][value=worse] + span")
    worse = set(names(page))
    expected = {
        verdict.dataset
        for verdict in samples.findings().verdicts
        if verdict.table == "test-f1-tuned"
        and verdict.task == "multi"
        and verdict.outcome == "worse"
    }
    assert worse == expected
    page.run("document.getElementById('filter-text').value = 'nothing like it'")
    page.run(
        "document.getElementById('filter-text').dispatchEvent(new Event('input', {bubbles: true}))"
    )
    assert names(page) == []
    assert page.run(f"document.querySelector('{MAIN} .none').checkVisibility()")


def test_summaries_are_hidden_below_a_part_of_the_datasets(page: Browser) -> None:
    visible = f"document.querySelector('{MAIN} tbody.summaries').checkVisibility()"
    assert page.run(visible)
    page.run("document.getElementById('filter-text').focus()")
    page.type("iris")
    assert not page.run(visible)


def test_hovering_a_cell_shows_its_trials(page: Browser) -> None:
    assert page.run("document.getElementById('popover').hidden")
    page.hover(f"{MAIN} tr[data-dataset=titanic] td:nth-child({GRADTREE})")
    text = page.run("document.getElementById('popover').innerText")
    table = samples.findings().table_sets["paper"].tables["test-f1-tuned"]
    cell = table.cell("titanic", "gradtree")
    for value in cell.values:
        assert f"{value:.3f}" in text
    assert "Titanic" in text
    assert "Paper" in text
    assert page.run("document.querySelectorAll('#popover circle').length") == 10
    page.mouse("mouseMoved", 5, 5)
    page.wait_for("document.getElementById('popover').hidden")


def test_clicking_a_cell_gives_the_command_that_repeats_it(page: Browser) -> None:
    page.click(f"{MAIN} tr[data-dataset=titanic] td:nth-child({GRADTREE})")
    command = page.run("document.querySelector('#popover code').textContent.trim()")
    assert command == (
        ".venv/bin/python -m experiments run --experiment tuned --protocol paper "
        "--dataset titanic --method gradtree"
    )
    from experiments.__main__ import build_parser

    arguments = build_parser().parse_args(command.split()[3:])
    assert (arguments.dataset, arguments.method) == (["titanic"], ["gradtree"])
    page.press("Escape")
    assert page.run("document.getElementById('popover').hidden")
    assert page.run("document.activeElement.dataset.c") == "test-f1-tuned-paper/titanic/gradtree"


def test_cells_can_be_walked_with_the_keyboard(page: Browser) -> None:
    stops = f"document.querySelectorAll('{MAIN} td.c[tabindex=\"0\"]').length"
    assert page.run(stops) == 1
    page.run(f"document.querySelector('{MAIN} td.c[tabindex=\"0\"]').focus()")
    assert not page.run("document.getElementById('popover').hidden")
    page.press("ArrowDown", "ArrowRight", "ArrowRight", "ArrowLeft")
    focused = "document.activeElement.dataset.c"
    assert page.run(focused) == "test-f1-tuned-paper/banknote-authentication/dndt"
    page.press("End")
    assert page.run(focused).endswith("/cart")
    assert page.run(stops) == 1
    page.press("Enter")
    assert page.run("document.activeElement.className") == "copy"
    page.press("Escape")
    assert page.run(focused).endswith("/cart")


def test_tables_are_chosen_with_arrow_keys_and_links(page: Browser) -> None:
    page.run("document.querySelector('[role=tab][aria-selected=true]').focus()")
    page.press("ArrowRight")
    assert page.run("document.activeElement.id") == "tab-test-f1-default-paper"
    assert page.run("document.querySelectorAll('.panel.shown').length") == 1
    page.run("location.hash = '#table-summary'")
    page.wait_for("document.querySelector('.panel.shown').id === 'table-summary'")
    page.click("#table-summary thead tr:last-child th:nth-child(2) .sort")
    order = page.run(
        "[...document.querySelectorAll('#table-summary tbody td:nth-child(2)')]"
        ".map(e => Number(e.dataset.v ?? e.textContent))"
    )
    assert order == sorted(order, reverse=True)


def test_a_dataset_opens_with_its_trials_numbers_and_tree(page: Browser) -> None:
    page.click("#dataset-iris > summary")
    page.wait_for("document.querySelector('#dataset-iris .viewer .tools button') !== null")
    assert page.run("document.querySelectorAll('#dataset-iris .strips circle').length") >= 40
    assert page.run("document.querySelectorAll('#dataset-iris .overview tbody tr').length") >= 7
    tree = stored_tree()["tree"]
    leaves = sum(child < 0 for child in tree["children_left"])
    assert page.run("document.querySelectorAll('#dataset-iris .leaf').length") == leaves
    text = page.run("document.querySelector('#dataset-iris .trees pre').textContent")
    root = stored_tree()["splits"]["0"]
    assert text.startswith(f"{root[0]} {root[1]}")
    assert text.count("rows)") == leaves


def test_boxes_of_a_tree_do_not_overlap(page: Browser) -> None:
    page.click("#dataset-iris > summary")
    page.wait_for("document.querySelector('#dataset-iris .viewer rect') !== null")
    boxes = page.run(
        "[...document.querySelectorAll('#dataset-iris .viewer rect')].map(r => "
        "['x', 'y', 'width', 'height'].map(name => Number(r.getAttribute(name))))"
    )
    assert len(boxes) == len(stored_tree()["tree"]["feature"])
    for at, (x, y, width, height) in enumerate(boxes):
        for other_x, other_y, other_width, other_height in boxes[at + 1 :]:
            apart = (
                x + width <= other_x
                or other_x + other_width <= x
                or y + height <= other_y
                or other_y + other_height <= y
            )
            assert apart


def test_a_tree_moves_and_magnifies_by_pointer_wheel_and_keys(page: Browser) -> None:
    page.click("#dataset-iris > summary")
    page.wait_for("document.querySelector('#dataset-iris .viewer .tools button') !== null")
    picture = "#dataset-iris .viewer svg"

    def window() -> list[float]:
        box = page.run(f"document.querySelector('{picture}').getAttribute('viewBox')")
        return [float(part) for part in box.split()]

    start = window()
    x, y = page.middle_of(picture)
    page.mouse("mousePressed", x, y, button="left", clickCount=1)
    page.mouse("mouseMoved", x - 60, y - 20, button="left", buttons=1)
    page.mouse("mouseReleased", x - 60, y - 20, button="left", clickCount=1)
    moved = window()
    assert moved[0] > start[0]
    assert moved[1] > start[1]
    assert moved[2:] == start[2:]
    page.mouse("mouseWheel", x, y, deltaX=0, deltaY=-200, modifiers=2)
    page.wait_for(
        f"Number(document.querySelector('{picture}').getAttribute('viewBox').split(' ')[2])"
        f" < {moved[2]}"
    )
    page.run(f"document.querySelector('{picture}').focus()")
    page.press("0")
    fitted = window()
    page.press("+")
    assert window()[2] == pytest.approx(fitted[2] * 0.8)
    page.press("ArrowRight")
    assert window()[0] > fitted[0]
    page.click("#dataset-iris .tools button:last-child")
    assert window() == fitted


def test_a_link_to_a_dataset_opens_it(page: Browser, address: str) -> None:
    page.click(f"{MAIN} tr[data-dataset=wine] th a")
    page.wait_for("document.getElementById('dataset-wine').open")
    assert page.run("document.querySelector('#dataset-wine .trees .empty') !== null")


def test_the_theme_follows_the_system_until_it_is_chosen(page: Browser) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    light = page.run(background)
    page.prefer("dark")
    dark = page.run(background)
    assert light != dark
    page.click("#theme")
    assert page.run(background) == light
    page.prefer("light")
    page.click("#theme")
    assert page.run(background) == dark
    assert page.run("document.documentElement.dataset.theme") == "dark"
    page.run("localStorage.clear()")


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_the_page_never_scrolls_sideways(page: Browser, width: int) -> None:
    page.resize(width, 800, mobile=width < 700)
    page.run("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    page.wait_for("document.querySelectorAll('.body:has(.overview)').length === 36")
    assert page.run("document.documentElement.scrollWidth") <= width


def test_every_tree_opens_whole_with_its_root_in_the_middle(page: Browser) -> None:
    page.run("document.querySelectorAll('details.dataset').forEach(d => { d.open = true; })")
    page.wait_for("document.querySelectorAll('.viewer svg[viewBox]').length > 0")
    outside = page.run(
        "[...document.querySelectorAll('.viewer svg')].filter(picture => {"
        "const frame = picture.getBoundingClientRect();"
        "const boxes = [...picture.querySelectorAll('rect')].map(r => r.getBoundingClientRect());"
        "const root = boxes[0], middle = frame.left + frame.width / 2;"
        "return Math.abs(root.left + root.width / 2 - middle) > 2 || boxes.some(b =>"
        "b.left < frame.left || b.right > frame.right || b.top < frame.top"
        "|| b.bottom > frame.bottom + 1); }).length"
    )
    assert outside == 0


def test_every_table_can_be_downloaded(page: Browser) -> None:
    tables = page.run("document.querySelectorAll('table.grid, table[data-sheet]').length")
    files = page.run("[...document.querySelectorAll('button.csv')].map(b => Csv.of(b))")
    assert len(files) == tables > 10
    main = next(text for text in files if text.startswith("dataset,method,mean"))
    assert len(main.splitlines()) == 1 + 36 * 5
    assert all(len(text.splitlines()) > 1 for text in files)


def test_contents_lead_to_every_section(page: Browser) -> None:
    links = page.run(
        "[...document.querySelectorAll('nav.contents a')].map(a => a.getAttribute('href').slice(1))"
    )
    sections = page.run("[...document.querySelectorAll('main > section')].map(s => s.id)")
    assert links == sections
    contents = "document.querySelector('.contents details')"
    assert page.run(f"{contents}.querySelector('summary').click(); {contents}.open")
    assert not page.run(f"{contents}.querySelector('[href=\"#claims\"]').click(); {contents}.open")
    assert page.run("location.hash") == "#claims"


def test_everything_that_acts_can_be_reached_and_has_a_name(page: Browser) -> None:
    unnamed = page.run(
        "[...document.querySelectorAll('button, a, input')].filter(e => "
        "!(e.textContent.trim() || e.getAttribute('aria-label')"
        " || e.closest('label')?.textContent.trim()))"
        ".map(e => e.outerHTML)"
    )
    assert unnamed == []
    page.press("Tab")
    assert page.run("document.activeElement.className") == "skip"
    page.press("Tab", "Tab")
    assert page.run("document.activeElement.closest('nav') !== null")


def test_the_browser_test_would_see_a_request_and_an_error(
    browser: Browser, tmp_path: Path
) -> None:
    bad = tmp_path / "bad.html"
    bad.write_text("<img src='missing.png'><script>throw new Error('seen')</script>")
    browser.events.clear()
    browser.open(bad.as_uri())
    assert any("missing.png" in url for url in browser.requests())
    assert any("seen" in text for text in browser.complaints())
