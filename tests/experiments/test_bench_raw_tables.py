"""The comparison on raw tables, on an invented one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from experiments.__main__ import main
from experiments.bench import raw_tables
from experiments.bench.raw_tables import LEARNERS, Score
from experiments.render.raw_tables import comparison


def invented(rows: int = 100) -> raw_tables.Table:
    """Numbers in odd units, text, gaps; both columns tell the class."""
    rng = np.random.default_rng(3)
    y = np.arange(rows) % 2
    size = np.where(y == 1, 9e6, 1e6) + rng.normal(0, 5e4, rows)
    kind = np.where(y == 1, "b", "a").astype(object)
    kind[::7], size[::9] = None, np.nan
    return pd.DataFrame({"size": size, "kind": pd.Categorical(kind)}), y


def test_every_learner_takes_the_table_as_it_is() -> None:
    quick = tuple(name for name in LEARNERS if name != "GradTree, before")
    found = list(raw_tables.scores("invented", invented(), quick))
    assert [(score.learner, score.fold) for score in found] == [
        (name, fold) for name in quick for fold in range(raw_tables.FOLDS)
    ]
    for score in found:
        assert score.accuracy > 0.9
        assert score.nodes >= 3
        assert score.cpu_seconds > 0


def test_what_was_before_gets_codes_without_gaps() -> None:
    X, y = invented()
    before = LEARNERS["GradTree, before"]()
    before.set_params(gradtreeclassifier__epochs=2, gradtreeclassifier__restarts=0).fit(X, y)
    assert before[-1].tree_.columns is None
    assert before[-1].dense_.depth == raw_tables.DEPTH


def test_scaling_by_hand_keeps_the_order_of_columns() -> None:
    X, y = invented()
    X = X[["kind", "size"]]
    scaled = raw_tables.Standardised().fit(X, y).transform(X)
    assert list(scaled) == ["kind", "size"]
    assert scaled["kind"].equals(X["kind"])
    assert abs(scaled["size"].mean()) < 1e-9
    assert abs(scaled["size"].std() - 1.0) < 1e-9


def test_tables_measured_before_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    score = Score("iris", "CART", 0, 0.9, 0.875, 5, 0.25)
    monkeypatch.setattr(raw_tables, "warm_up", lambda: None)
    monkeypatch.setattr(raw_tables, "tables", lambda names: ((name, None) for name in names))
    monkeypatch.setattr(raw_tables, "scores", lambda name, table: [replace(score, table=name)])
    for name in ("wine", "iris", "wine"):
        assert main(["bench", "--raw-tables", name, "--output", str(tmp_path)]) == 0
    kept = raw_tables.read(tmp_path / raw_tables.FILE)
    assert kept == [score, replace(score, table="wine")]
    assert (tmp_path / raw_tables.MACHINE).exists()


def test_an_unknown_table_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--raw-tables", "irsi"]) != 0
    assert "irsi" in capsys.readouterr().err


def test_the_page_says_where_scaling_inside_loses(tmp_path: Path) -> None:
    by_hand = "GradTree, scaled by hand"
    learners = {"CART": 0.8, "GradTree": 0.7, by_hand: 0.75, f"{by_hand} alone": 0.71}
    lines = ["table,learner,fold,accuracy,f1,nodes,cpu_seconds"]
    for table, lower in (("a", 0.0), ("b", 0.04)):
        for learner, score in learners.items():
            shift = lower if learner == by_hand else 0.0
            lines += [f'{table},"{learner}",{fold},{score - shift},0.5,7,1.5' for fold in range(2)]
    path = tmp_path / "raw_tables.csv"
    path.write_text("\n".join(lines) + "\n")
    page = comparison(path)
    assert "| mean | .800 / .500 | .700 / .500 | .730 / .500 | .710 / .500 |" in page
    assert "GradTree’s mean accuracy differs from CART’s by -0.100. Tables where it is more" in page
    assert "with numbers standardised by hand: a (largest loss 0.050); " in page
    assert "with no other scaling than that: none (largest loss 0.010)." in page
    assert "GradTree’s mean macro F1 differs from CART’s by +0.000. Tables where" in page
    assert "| a | 7 / 1.50 | 7 / 1.50 | 7 / 1.50 | 7 / 1.50 |" in page
