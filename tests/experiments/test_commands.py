"""The verbs around running, as people type them: what they do, say, and end with."""

import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import plugins
import pytest
from runner_helpers import archived

from experiments.analysis.runs import load
from experiments.commands import arguments as cli
from experiments.commands import list_plan_failures as list_verb
from experiments.commands import run_search as run_verb
from experiments.errors import UserError
from experiments.runner.experiments import jobs_of
from experiments.runs import archive
from experiments.runs.schema import NAMES
from experiments.runs.store import Store

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture
def mine(tmp_path: Path) -> list[str]:
    """Options that run a plug-in's learner on its own table, quickly."""
    path = plugins.write(tmp_path, plugins.BOTH)
    return ["--plugin", str(path), "--dataset", "my-shop", "--method", "shallow,cart",
            "--experiment", "default", "--inline"]  # fmt: skip


class TestCommandLine:
    @pytest.mark.parametrize("verb", cli.verbs())
    def test_every_verb_has_help_and_takes_plugins(self, verb, capsys):
        with pytest.raises(SystemExit) as ended:
            cli.build_parser(verb).parse_args([verb, "--help"])
        assert ended.value.code == 0
        assert "--plugin FILE.py" in capsys.readouterr().out

    def test_imports_nothing_slow_before_use(self, python):
        code = (
            "import sys; from experiments.__main__ import build_parser; build_parser(); "
            "slow = {'sklearn', 'tensorflow', 'numba', 'optuna', 'matplotlib'}; "
            "print(sorted(slow & set(sys.modules)))"
        )
        assert python(code) == "[]\n"

    @pytest.mark.parametrize(
        ("command", "told"),
        [
            ("rnu", "did you mean run?"),
            ("run --methd cart", "unknown arguments: --methd cart"),
            ("run --method crat", "did you mean cart?"),
            ("run --dataset irsi", "did you mean iris"),
            ("run --profile papr", "did you mean paper"),
            ("run --experiment tunde", "did you mean tuned"),
            ("run --protocol claen", "did you mean clean"),
            ("run --trial 4-2", "runs backwards; write 2-4"),
            ("run --trial x", "not of the form 0-4,7"),
            ("run --workers 0", "not a whole number above 0"),
            ("run --time-limit nan", "not a number above 0"),
            ("run --shard 3/2", "must be 1 to 2"),
            ("run --plugin nowhere.py", "no plug-in"),
            ("run --method ,", "no name is given"),
            ("search --method dl85", "dl85 declares no search space"),
            ("search --sampler tpee --dataset iris", "did you mean tpe"),
            ("failures --store nowhere", "nowhere holds no runs"),
            ("merge nowhere", "nowhere holds no runs"),
            ("merge", "See: python -m experiments merge --help"),
            ("compare nowhere.py", "no plug-in"),
            ("export runs.xls", "runs.parquet or runs.csv"),
            ("data irsi", "did you mean iris"),
            ("list learner", "invalid choice"),
        ],
    )
    def test_mistakes_are_a_line_or_two(self, run, command, told, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        status, _, errors = run(*command.split())
        assert status == 2
        assert told in errors
        assert len(errors.strip().splitlines()) <= 2
        assert not (tmp_path / ".runs" / "runs.sqlite").exists()

    def test_nothing_to_do_has_a_status_of_its_own(self, run):
        status, _, errors = run("plan", "--profile", "smoke", "--dataset", "digits")
        assert (status, "nothing to do" in errors) == (4, True)

    def test_a_bug_is_told_as_one(self, run, monkeypatch):
        monkeypatch.setattr(list_verb, "_about", lambda *which: 1 / 0)
        status, _, errors = run("list", "profiles")
        assert status == 1
        assert "ZeroDivisionError" in errors
        assert "a bug in the suite" in errors

    @pytest.mark.parametrize(
        ("problem", "status"),
        [(KeyboardInterrupt(), 3), (BrokenPipeError(), 0), (UserError("no"), 2),
         (PermissionError(13, "denied", "x"), 2)],
    )  # fmt: skip
    def test_what_ends_a_verb(self, problem, status, monkeypatch):
        def work() -> int:
            raise problem

        monkeypatch.setattr(cli, "silence", lambda: None)
        assert cli.guarded(work) == status


class TestRun:
    def test_runs_resumes_and_reads_back(self, run, mine, tmp_path):
        place = ["--store", tmp_path / "runs"]
        status, out, _ = run("plan", *mine[:-1], *place, "--workers", "2")
        assert status == 0
        assert re.search(r"20 of 20 jobs to do: about .* of core time, .* on 2 idle cores", out)
        assert not (tmp_path / "runs").exists()
        status, out, _ = run("run", *mine, "--trial", "0-1", *place)
        assert (status, "4 jobs: 4 ok; 0 still to run." in out) == (0, True)
        assert "All 4 jobs are done." in run("run", *mine, "--trial", "0-1", *place)[1]
        status, out, _ = run("plan", *mine[:-1], "--trial", "0-2", *place)
        assert (status, "2 of 6 jobs to do" in out) == (0, True)
        assert run("failures", *place) == (0, f"No failures in {tmp_path / 'runs'}.\n", "")

    def test_a_named_learner_of_a_plugin_runs_in_every_experiment(self, run, mine, tmp_path):
        renamed = {"default": "tuned", "shallow,cart": "shallow"}
        words = [renamed.get(word, word) for word in mine]
        assert run("run", *words, "--trial", "0", "--store", tmp_path / "runs")[0] == 0
        planned = Store(tmp_path / "runs").frame("planned")
        assert planned[["experiment", "method"]].to_numpy().tolist() == [["tuned", "shallow"]]

    def test_tables_of_a_plugin_are_in_tables_and_report(self, run, mine, tmp_path):
        """Another paper's numbers, too; a mistake in either names file and line."""
        store = ["--store", tmp_path / "runs"]
        assert run("run", *mine, "--trial", "0-4", *store)[0] == 0
        text = "dataset,method,metric,mean,std\nmy-shop,cart,test_accuracy,0.1,0.01\n"
        (tmp_path / "theirs.csv").write_text(text)
        declared = "{'title': 'My table', 'experiment': 'default', 'metric': 'test_f1'}"
        theirs = "{'title': 'Theirs', 'csv': 'theirs.csv', 'experiment': 'default', "
        theirs += "'protocol': 'paper', 'trials': 5, 'margin': {'test_accuracy': 0.02}}"
        text = plugins.BOTH + f"TABLES = {{'my-table': {declared}}}\nPRINTED = {{'them': {theirs}}}"
        path = plugins.write(tmp_path, text)
        own = ["--plugin", path, *store]
        status, out, _ = run("tables", *own)
        assert (status, "Theirs: of 1 numbers 1 better." in out) == (0, True)
        folder = tmp_path / "runs" / "tables" / "paper"
        (line,) = pd.read_csv(folder / "them-test-accuracy.csv").to_dict("records")
        assert (line["paper_mean"], line["verdict"]) == (0.1, "better")
        assert (folder / "my-table.csv").is_file()
        assert run("report", *own)[0] == 0
        page = (tmp_path / "runs" / "report.html").read_text(encoding="utf-8")
        assert "Theirs: of 1 numbers 1 better" in page
        plugins.write(tmp_path, text.replace("'test_f1'", "'test_f2'"))
        line = text[: text.index("TABLES")].count("\n") + 1
        for verb in ("tables", "report"):
            status, _, told = run(verb, *own)
            assert (status, f"{path}, line {line}: table my-table: " in told) == (2, True)

    def test_failures_are_named_and_tried_again(self, run, mine, tmp_path):
        failing = "    raise ValueError('no luck')\n    X, y = split"
        plugins.write(tmp_path, plugins.BOTH.replace("    X, y = split", failing))
        words = [*mine, "--method", "shallow", "--trial", "0", "--store", tmp_path / "runs"]
        status, out, _ = run("run", *words)
        assert (status, f"failures --store {tmp_path / 'runs'}" in out) == (1, True)
        status, out, _ = run("failures", "--store", tmp_path / "runs", "--log")
        assert status == 1
        assert "my-shop shallow, trial 0: ValueError: no luck" in out
        assert "traceback of trial 0" in out
        plugins.write(tmp_path, plugins.BOTH)
        assert run("run", *words)[0] == 0

    def test_edited_code_is_told_and_refitted(self, run, mine, tmp_path):
        words = [*mine, "--trial", "0", "--store", tmp_path / "runs"]
        run("run", *words)
        same = "# a comment\n" + plugins.BOTH + "METRICS = {'mine': lambda y, p: 1.0}\n"
        plugins.write(tmp_path, same)
        assert "has changed" not in run("run", *words)[1]
        edited = plugins.BOTH.replace("random_state=seed", "random_state=seed + 1")
        plugins.write(tmp_path, edited)
        for _ in range(2):  # it is told again, until something is done about it
            _, out, _ = run("run", *words)
            assert "mine.py has changed since 1 stored runs of shallow version 1" in out
            assert "--refit shallow" in out
        before = Store(tmp_path / "runs").frame("runs")
        assert "has changed" not in run("run", *words, "--refit", "shallow")[1]
        after = Store(tmp_path / "runs").frame("runs")
        newer = after["finished"].to_numpy() > before["finished"].to_numpy()
        assert set(after["method"][newer]) == {"shallow"}
        assert "has changed" not in run("run", *words)[1]
        text = edited.replace("seed + 1", "seed + 2").replace('"1", d', '"2", d')
        plugins.write(tmp_path, text)
        assert "has changed" not in run("run", *words)[1], "another version"

    def test_it_says_what_the_runs_come_to(self, run, mine, tmp_path, monkeypatch):
        """Tables and report are stood in for."""
        monkeypatch.setattr(run_verb, "_write", lambda folder: ["All equal.", "It reproduces."])
        words = [*mine, "--trial", "0", "--store", tmp_path / "r", "--refresh"]
        status, out, _ = run("run", *words)
        assert status == 0
        assert "All equal.\nIt reproduces." in out
        assert f"Report: {tmp_path / 'r' / 'report.html'}" in out
        assert "Next: " in out

    def test_runs_are_kept_if_tables_cannot_be_written(self, run, mine, tmp_path, monkeypatch):
        monkeypatch.setattr(run_verb, "_write", lambda folder: 1 / 0)
        words = [*mine, "--trial", "0", "--store", tmp_path / "r", "--refresh"]
        status, out, _ = run("run", *words)
        assert (status, "could not be written (ZeroDivisionError" in out) == (1, True)
        assert len(Store(tmp_path / "r").statuses()) == 2


class TestMerge:
    def test_shards_come_together_with_nothing_lost(self, run, mine, tmp_path):
        """As on a cluster: a store for each share, then one."""
        words = [*mine, "--trial", "0-2"]
        assert run("run", *words, "--store", tmp_path / "whole")[0] == 0
        shares = [tmp_path / "s1", tmp_path / "s2"]
        for number, share in enumerate(shares, 1):
            assert run("run", *words, "--store", share, "--shard", f"{number}/2")[0] == 0
        status, out, _ = run("merge", *shares, "--into", tmp_path / "all")
        assert (status, "3 new, 0 known" in out) == (0, True)
        whole, both = Store(tmp_path / "whole"), Store(tmp_path / "all")
        assert both.statuses().keys() == whole.statuses().keys()
        assert both.predicted_keys() == whole.predicted_keys() != set()
        pd.testing.assert_frame_equal(both.frame("planned"), whole.frame("planned"))
        assert both.facts("learner") == whole.facts("learner")
        assert run("merge", *shares, "--into", tmp_path / "all")[1].count("0 new, 3 known") == 2

    @pytest.mark.parametrize(
        ("change", "status", "told"),
        [
            ("0.125 WHERE method = 'shallow'", 1, "1 conflicts; what was there before is kept"),
            ("7 WHERE method = 'cart'", 0, "1 no runs and left out"),
        ],
    )
    def test_what_differs_is_told_and_our_own_stays(
        self, run, mine, tmp_path, change, status, told
    ):
        run("run", *mine, "--trial", "0", "--store", tmp_path / "a")
        shutil.copytree(tmp_path / "a", tmp_path / "b")
        other = Store(tmp_path / "b")
        with other.writing() as connection:
            connection.execute(f"UPDATE runs SET test_f1 = {change}")
        other.close()
        before = Store(tmp_path / "a").frame("runs")
        ended, out, _ = run("merge", tmp_path / "b", "--into", tmp_path / "a")
        assert (ended, told in out, "0 new" in out) == (status, True, True)
        assert ("my-shop shallow trial 0" in out) == (status == 1)
        pd.testing.assert_frame_equal(Store(tmp_path / "a").frame("runs"), before)

    def test_a_forged_plan_changes_no_cell(self, tmp_path, run):
        """Neither where only theirs has run, nor where we planned nothing."""
        ours = jobs_of("tuned", "paper", ["iris"], ["cart"], [0, 1])
        theirs = jobs_of("tuned", "paper", ["iris"], ["cart"], [0, 1, 2], setting="default")
        own = replace(theirs[0], experiment="their-own")
        true = jobs_of("tuned", "paper", ["iris"], ["cart"], [3])
        a, b = Store(tmp_path / "a"), Store(tmp_path / "b")
        a.plan(ours)
        a.add([ours[0].run("ok", test_f1=0.5)])
        b.plan([*theirs, *true, own])
        b.add([job.run("ok", test_f1=0.9) for job in theirs])
        b.add_facts("learner", {"cart": {"slug": "cart", "name": "GradTree"}})
        a.close()
        b.close()
        for into, before in (("a", ours), ("new", [])):
            status, out, _ = run("merge", tmp_path / "b", "--into", tmp_path / into)
            assert (status, "3 conflicts; what was there before is kept" in out) == (1, True)
            place = "paper tuned iris cart trial 2"
            assert f"{place}: asks otherwise here, for {theirs[2].key} there" in out
            merged = load(tmp_path / into)
            assert list(merged.of("paper", "tuned")["key"]) == [j.key for j in (*before, *true)]
            assert list(merged.of("paper", "their-own")["key"]) == [own.key]
            assert merged.name("cart") == "CART"

    def test_kept_predictions_stay(self, tmp_path, run):
        jobs = jobs_of("default", "paper", ["iris"], ["cart"], [0, 1, 2])
        for name, kept in (("ours", {0: b"good", 1: b"good"}), ("theirs", {0: b"bad", 2: b"new"})):
            store = Store(tmp_path / name)
            finished = f"20{26 + len(name)}-01-01T00:00:00.000Z"  # theirs is later, and so counts
            runs = [job.run("ok", test_f1=0.5, finished=finished) for job in jobs]
            store.add(runs, {jobs[trial].key: packed for trial, packed in kept.items()})
            store.close()
        assert run("merge", tmp_path / "theirs", "--into", tmp_path / "ours")[0] == 0
        store = Store(tmp_path / "ours")
        assert [store.predictions(job.key) for job in jobs] == [b"good", b"good", b"new"]


class TestExport:
    def test_one_row_per_experiment_and_run(self, run, mine, tmp_path):
        words = ["default,tuned" if word == "default" else word for word in mine]
        run("run", *words, "--trial", "0", "--store", tmp_path / "a")
        for name in ("runs.csv", "runs.parquet"):
            assert run("export", tmp_path / name, "--store", tmp_path / "a")[0] == 0
        frame = pd.read_parquet(tmp_path / "runs.parquet")
        places = frame[["experiment", "method"]].to_numpy().tolist()
        pairs = [[e, m] for e in ("default", "tuned") for m in ("cart", "shallow")]
        assert sorted(places) == pairs
        table = pd.read_csv(tmp_path / "runs.csv", float_precision="round_trip")
        assert list(table["test_f1"]) == list(frame["test_f1"])
        assert list(table["key"]) == list(frame["key"])

    def test_an_archive_gains_runs_and_loses_none(self, run, mine, tmp_path):
        folder = tmp_path / "archive"
        for trial in ("0", "1"):
            store = tmp_path / f"runs{trial}"
            run("run", *mine, "--trial", trial, "--store", store)
            status, out, _ = run("export", "--store", store, "--results", folder)
            assert (status, "2 new runs" in out) == (0, True)
        assert sorted(archive.read_runs(folder)["trial"]) == [0, 0, 1, 1]
        assert len(archive.read_plan(folder)) == 4
        before = {p.name: p.read_bytes() for p in folder.iterdir()}
        run("export", "--store", store, "--results", folder)
        assert {p.name: p.read_bytes() for p in folder.iterdir()} == before
        run("merge", folder, "--into", tmp_path / "back")
        back = Store(tmp_path / "back")
        assert len(back.predicted_keys()) == 4
        frames = [each.sort_values("key", ignore_index=True)[list(NAMES)]
                  for each in (archive.read_runs(folder), back.frame())]  # fmt: skip
        pd.testing.assert_frame_equal(*frames, check_exact=True)
        facts = {kind: back.facts(kind) for kind in archive.KINDS}
        archive.write(folder, back.frame().iloc[::-1], back.frame("planned").iloc[::-1], facts)
        assert {p.name: p.read_bytes() for p in folder.iterdir()} == before, "in whatever order"

    def test_runs_of_a_later_version_supersede(self, run, tmp_path):
        """Unless the catalogue asks for theirs no more than for ours."""
        (job,) = jobs_of("default", "paper", ["iris"], ["cart"], [0])
        folder, keys = tmp_path / "archive", []
        for version in ("first", "forged", job.method_version):
            one, store = replace(job, method_version=version), Store(tmp_path / version)
            store.plan([one])
            store.add([one.run("ok", test_f1=0.5)])
            store.add_facts("learner", {"cart": {"slug": "cart", "version": version}})
            if version == "first":  # as it was committed when the catalogue asked for it
                archived(store, folder)
            else:
                run("export", "--store", tmp_path / version, "--results", folder)
            keys.append(archive.read_plan(folder)["key"].tolist())
        assert keys[0] == keys[1] != keys[2] == [job.key]
        assert job.key in set(archive.read_runs(folder)["key"])
        assert not set(keys[0]) & set(archive.read_runs(folder)["key"])
        assert archive.read_facts(folder)["learner"]["cart"]["version"] == job.method_version

    def test_superseded_runs_stay_where_another_experiment_asks_for_them(self, run, tmp_path):
        (job,) = jobs_of("default", "paper", ["iris"], ["cart"], [0])
        first = replace(job, method_version="first")
        ours, theirs = Store(tmp_path / "ours"), Store(tmp_path / "theirs")
        ours.plan([first, replace(first, experiment="their-own")])
        theirs.plan([job])
        ours.add([first.run("ok", test_f1=0.5)])
        theirs.add([job.run("ok", test_f1=0.6)])
        folder = archived(ours, tmp_path / "archive")
        run("export", "--store", theirs.folder, "--results", folder)
        plan = archive.read_plan(folder).set_index("experiment")["key"]
        assert plan.to_dict() == {"default": job.key, "their-own": first.key}
        assert set(archive.read_runs(folder)["key"]) == {job.key, first.key}

    def test_predictions_that_an_archive_keeps_stay(self, run, tmp_path):
        """Of another experiment, too, though it gains those of the headline alone."""
        first, second, third = jobs_of("default", "paper", ["iris"], ["cart"], [0, 1, 2])
        packed = archive.pack(archive.Prediction(np.arange(3), np.arange(3)))
        folder, others = tmp_path / "archive", Store(tmp_path / "others")
        for job in (first, third):
            others.plan([replace(job, experiment="their-own")])
            others.add([job.run("ok", test_f1=1.0)], {job.key: packed})
        run("export", "--store", others.folder, "--results", folder)
        assert list(archive.read_predictions(folder)) == []
        runs = others.frame()
        archive.write_predictions(folder, archive.kept_predictions(others, runs[:1]))
        kept = runs["key"][0]
        store = Store(tmp_path / "store")
        store.plan([second])
        store.add([second.run("ok", test_f1=1.0)], {second.key: packed})
        run("export", "--store", store.folder, "--results", folder)
        assert set(archive.read_predictions(folder)) == {kept, second.key}

    def test_equal_runs_renew_costs_where_asked(self, run, tmp_path):
        jobs = jobs_of("default", "paper", ["iris"], ["cart"], [0, 1, 2])
        jobs[1] = replace(jobs[1], measured="alone")
        for name, seconds, f1 in (("old", 9.0, 0.5), ("new", 1.0, 0.6)):
            runs = [job.run("ok", test_f1=0.5, cpu_seconds=seconds) for job in jobs]
            runs[2]["test_f1"] = f1
            Store(tmp_path / name).add(runs)
        folder = tmp_path / "archive"
        run("export", "--store", tmp_path / "old", "--results", folder)
        words = ["export", "--store", tmp_path / "new", "--results", folder]
        for options, expected in (((), [9, 9, 9]), (("--costs",), [1, 9, 9])):
            status, said, _ = run(*words, *options)
            assert (status, "1 conflicts" in said) == (1, True)
            kept = archive.read_runs(folder).sort_values("trial")
            assert list(kept["cpu_seconds"]) == expected
            assert list(kept["test_f1"]) == [0.5] * 3


def test_lists_have_what_plugins_offer_and_what_profiles_cost(run, tmp_path):
    _, out, _ = run("list", "profiles", "--cost")
    assert re.search(r"paper +7,300 jobs( +\d+ (h|min) \d\d (min|s)){2} +every table", out)
    text = plugins.BOTH + "METRICS = {'mine': lambda y, p: 1.0}\n"
    status, out, _ = run("list", "--plugin", plugins.write(tmp_path, text))
    assert status == 0
    for line in ("Shallow tree (beyond the paper)", "My shop: 120 rows, 4 features, 2 classes",
                 "every table of the paper", "mine "):  # fmt: skip
        assert line in out
