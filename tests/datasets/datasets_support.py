"""Made-up datasets, archives and servers for the tests of the registry."""

import hashlib
import io
import os
import threading
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from datasets import load_dataset, loading
from datasets.readers import read_table
from datasets.record import Record
from datasets.record_file import parse_record
from datasets.sources import uci
from datasets.table import Dataset, Table

FRUIT = b"""weight,colour,kind
120,red,apple
 80.5,yellow,lemon
?,red,apple
95,,lemon
110.0,green,apple
"""


def fruit_facts(**changes: Any) -> dict[str, Any]:
    """The facts of the made-up record as they come out of TOML."""
    facts = {
        "name": "Fruit",
        "task": "binary",
        "link": "https://example.org/fruit",
        "citation": "Nobody (2000). Fruit.",
        "licence": "CC0",
        "n_rows": 5,
        "n_features": 2,
        "content_hash": "0" * 64,
        "skip": 1,
        "columns": ["weight", "colour", "kind"],
        "label": "kind",
        "categorical": ["colour"],
        "missing": "mode",
        "classes": [{"name": "apple", "rows": 3}, {"name": "lemon", "rows": 2}],
        "files": {"fruit.csv": hashlib.sha256(FRUIT).hexdigest()},
    }
    return {**facts, **changes}


def fruit_record(**changes: Any) -> Record:
    return parse_record("fruit", fruit_facts(**changes), papers=["fruit"])


def fruit_table() -> Table:
    entry = fruit_record()
    return read_table(entry, [FRUIT], entry.layout)


def write_mirror(folder: Path, content: bytes = FRUIT) -> Path:
    (folder / "fruit").mkdir(parents=True, exist_ok=True)
    (folder / "fruit" / "fruit.csv").write_bytes(content)
    return folder


def zipped(members: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content, method)
    return buffer.getvalue()


ROWS = b"".join(
    b"%d,%s,%s\n" % (i * 7 % 23, b"rgb"[i % 3 :][:1], b"yn"[i % 2 :][:1]) for i in range(40)
)


def sample_record(**changes: Any) -> Record:
    """Another made-up dataset, of forty rows without a heading, at UCI."""
    facts = {
        "n_rows": 40,
        "skip": 0,
        "columns": ["size", "colour", "kind"],
        "classes": [{"name": "y", "rows": 20}, {"name": "n", "rows": 20}],
        "files": {"sample.csv": hashlib.sha256(ROWS).hexdigest()},
        "sources": [{"kind": "uci", "where": "7/sample"}],
    }
    return parse_record("sample", fruit_facts(**facts, **changes))


def load_from(archive: bytes, monkeypatch: pytest.MonkeyPatch) -> Dataset:
    """Load the sample from an archive as the UCI server would send it, without a cache."""
    monkeypatch.setattr(uci, "fetch", lambda address: archive)
    loading._load.cache_clear()
    return load_dataset("sample", sources=["uci"])


def make_huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(10 * 2**30)


UNUSABLE: dict[str, Callable[[Path], None]] = {
    "pipe": os.mkfifo,
    "folder": Path.mkdir,
    "10 GB": make_huge,
    "link to itself": lambda path: path.symlink_to(path),
}


Answer = Callable[[BaseHTTPRequestHandler], None]


def answer(content: bytes, status: int = 200, promised: int | None = None) -> Answer:
    """Send ``content``, promising as many bytes (to tear the download, more than there are)."""

    def send(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(content) if promised is None else promised))
        handler.end_headers()
        handler.wfile.write(content)

    return send


@contextmanager
def serving(answers: Mapping[str, list[Answer]]) -> Iterator[tuple[str, list[str]]]:
    """A local web server: its address, and the paths asked for so far.

    Each path has a list of answers, given one after the other, the last one for ever.
    """
    asked: list[str] = []
    remaining = {path: list(given) for path, given in answers.items()}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            queue = remaining.get(self.path, [answer(b"no such thing", status=404)])
            (queue.pop(0) if len(queue) > 1 else queue[0])(self)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def made_up_dataset(
    rows: int = 200,
    shares: tuple[float, ...] = (0.5, 0.5),
    seed: int = 0,
    missing: str = "mode",
    missing_labels: int = 0,
) -> Dataset:
    """Two numbers and two categories that tell something of the label, some missing."""
    draw = np.random.default_rng(seed)
    y = np.sort(draw.choice(len(shares), size=rows, p=shares))
    draw.shuffle(y)
    number = draw.normal(size=rows) + y
    noise = draw.normal(size=rows)
    colour = draw.choice(["red", "green", "blue", "grey"], size=rows).astype(object)
    shape = np.where(draw.random(rows) < 0.7, "k" + y.astype(str).astype(object), "other")
    if missing != "none":
        noise[::17] = np.nan
        colour[::13] = None
    labels = y.copy()
    labels[:missing_labels] = -1
    columns = (number, noise, pd.Categorical(colour), pd.Categorical(shape))
    counts = np.bincount(y, minlength=len(shares))
    entry = parse_record(
        "made-up",
        fruit_facts(
            name="Made up",
            task="binary" if len(shares) == 2 else "multi",
            n_rows=rows,
            n_features=4,
            columns=["number", "noise", "colour", "shape", "class"],
            label="class",
            categorical=["colour", "shape"],
            missing=missing,
            classes=[{"name": f"c{i}", "rows": int(count)} for i, count in enumerate(counts)],
        ),
    )
    return Dataset(entry, Table(columns, labels), "made up")


def made_up_regression(rows: int = 200) -> Dataset:
    """The same columns, with a number to predict that they tell something of."""
    classes = made_up_dataset(rows)
    entry = replace(classes.record, task="regression", classes=())
    y = 3.0 * classes.y + classes.X["number"].to_numpy()
    return Dataset(entry, Table(classes.table.columns, y), "made up")


def assert_no_row_sees_its_own_label(
    encoded: Callable[[np.ndarray], np.ndarray], y: np.ndarray
) -> None:
    """Changing the label of a row changes the numbers of others, never its own."""
    before = encoded(y)
    changed_others = False
    for row in range(len(y)):
        labels = y.copy()
        labels[row] = y[(y != y[row]).argmax()]
        after = encoded(labels)
        np.testing.assert_array_equal(after[row], before[row])
        changed_others |= not np.array_equal(after, before)
    assert changed_others, "else the encoding would not depend on labels at all"


def with_columns(dataset: Dataset, columns: tuple[Any, ...]) -> Dataset:
    return replace(dataset, table=Table(columns, dataset.y))
