"""The page without a browser: self-contained, escaped, true to its store, always the same."""

import json
import re
from html.parser import HTMLParser
from typing import Any

import pandas as pd
import pytest
import report_samples as samples
from markupsafe import escape

from experiments.analysis import drawing
from experiments.analysis.answer import Answer, Figure, Table
from experiments.analysis.drawing import inline_svg
from experiments.analysis.questions import answers
from experiments.analysis.runs import Runs, load
from experiments.output import report
from experiments.runs.store import Store

LOADING = {"src", "srcset", "href", "xlink:href", "data", "poster", "action", "formaction"}


class Reader(HTMLParser):
    """What the tests ask about: tags, ids, addresses, handlers, visible text."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = self._silent = ""
        self.feed(source)
        self.ids = [value for name, value in self.attributes if name == "id"]
        self.loads = [value or "" for name, value in self.attributes if name in LOADING]
        self.handlers = [name for name, _ in self.attributes if name.startswith("on")]

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attributes
        self._silent = tag if tag in ("script", "style", "code", "pre") else self._silent

    def handle_endtag(self, tag: str) -> None:
        self._silent = "" if tag == self._silent else self._silent

    def handle_data(self, data: str) -> None:
        self.text += "" if self._silent else data


@pytest.fixture(scope="module")
def runs() -> Runs:
    return samples.small_report()[0]


@pytest.fixture(scope="module")
def page() -> str:
    return samples.small_report()[1].read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def data(page: str) -> dict[str, Any]:
    return data_of(page)


def data_of(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    return dict(json.loads(found[1]))


def test_the_page_loads_nothing_and_every_link_has_its_target(page):
    reader = Reader(page)
    assert all(address.startswith(("#", "data:")) for address in reader.loads)
    assert {a[1:] for a in reader.loads if a.startswith("#")} <= set(reader.ids)
    assert len(reader.ids) == len(set(reader.ids))
    assert "default-src 'none'" in page
    assert "@import" not in page
    assert page.count(report.NAME) == 3  # title, bar, heading


def test_hostile_names_stay_text(page, data):
    reader = Reader(page)
    assert "img" not in reader.tags
    assert reader.handlers == []
    assert reader.tags.count("script") == 2
    assert str(escape(samples.HOSTILE)) in page
    names = [line[0] for table in data["tables"].values() for line in table["lines"]]
    assert samples.HOSTILE in [name[0] if isinstance(name, list) else name for name in names]
    assert data["datasets"]["evil"][0]["root"][0] == samples.HOSTILE


def test_markdown_of_sentences_is_drawn_without_tags_and_pictures():
    text = report.inline_markdown("**No**: `x` <b>y</b> ![z](http://a/b) [c](javascript:alert(1))")
    assert text.startswith("<strong>No</strong>: <code>x</code> &lt;b&gt;y&lt;/b&gt; ")
    assert "<img" not in text
    assert 'href="javascript' not in text


def test_trials_are_numbered_where_one_is_missing(data):
    table = data["tables"]["others-tuned-tree-size-paper"]
    line = next(line for line in table["behind"] if line and line[0] == "evil")
    scores, numbers = line[1 + table["methods"].index("evil-learner")][4:]
    assert numbers == [0, 1, 2, 3, 5, 6, 7, 8, 9]
    assert scores == [2 * number + 3 for number in numbers]
    assert table["digits"] == 0


def test_no_slug_is_visible(page, runs, data):
    seen = Reader(page).text + json.dumps(
        [[t["headers"], t["lines"]] for t in data["tables"].values()]
    )
    slugs = [slug for slug in (*runs.datasets, *runs.learners) if "-" in slug]
    assert len(slugs) > 20
    assert [slug for slug in slugs if re.search(rf"\b{slug}\b", seen)] == []


def test_an_own_report_shows_only_what_was_run_there_and_what_failed(page, data):
    assert list(data["datasets"]) == ["banknote-authentication", "iris", "evil"]
    assert data["datasets"]["banknote-authentication"] == []
    assert [tree["name"] for tree in data["datasets"]["iris"]] == ["CART", "GradTree"]
    reader = Reader(page)
    assert "Adult" not in reader.text
    assert not {"search", "seeds", "small-trees", "leak", "gumbel"} & set(reader.ids)
    assert "table-test-f1-tuned-paper" in reader.ids
    assert "table-runtime-paper" not in reader.ids
    assert "174 of 180 planned runs" in reader.text
    assert "6 error. They never count as a result." in reader.text
    assert reader.text.count(samples.HOSTILE) >= 2  # the reason of the failures


def test_an_empty_store_gives_a_page(tmp_path):
    Store(tmp_path).connect().close()
    runs = load(tmp_path)
    path = report.write_report(runs, answers(runs), tmp_path)
    assert "0 of 0 planned runs" in path.read_text(encoding="utf-8")


def test_sections_figures_and_lead(runs):
    def draw() -> Any:
        figure = drawing.canvas(3, 2)
        figure.add_subplot().plot([0, 1], [0, 1], marker="o", label=samples.HOSTILE)
        return figure

    table = Table("shown", "Shown", "", pd.DataFrame({"Method": ["a"], "n": [1]}))
    hidden = Table("hidden", "Only a file", "", pd.DataFrame({"Method": ["a"]}))
    answer = Answer(
        *("reproduces", "Does it?", ("**Yes.**", "In part.")),
        tables=(table, hidden),
        figures=(Figure("f", samples.HOSTILE, draw),),
        shown=("shown",),
        extra={"counts": {"exact": 1234, "worse": 0}},
    )
    page = report.render(runs, [answer])
    assert page.count("<strong>Yes.</strong>") == 2  # at the top, and in its section
    assert "<li>In part.</li>" in page
    assert "1,234 exact" in page
    assert "Only a file" not in page
    assert "img" not in Reader(page).tags
    small = inline_svg(Figure("f", "label", draw))
    assert "font-family" not in small
    assert re.findall(r' id="(?!f-)', small) == []
    assert set(re.findall(r'href="#([^"]+)"', small)) <= set(re.findall(r' id="([^"]+)"', small))


def test_the_same_store_gives_the_same_page_whose_commands_have_its_parameters(page, runs):
    assert report.render(runs, answers(runs)) == page
    assert data_of(report.render(runs, [], "ours"))["options"] == " --params ours"
