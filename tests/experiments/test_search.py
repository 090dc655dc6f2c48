"""The search: numbered candidates as an Optuna sampler, studies that resume, committed scores."""

from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pandas as pd
import pytest

from experiments.errors import UserError
from experiments.runner import candidates as scores
from experiments.runner import registry, study
from experiments.runner.candidates import Subject, candidate, candidate_job
from experiments.runner.experiments import unique
from experiments.runs.store import Store

CART = Subject("paper", "iris", "cart")
MINE = Subject("paper", "my-shop", "shallow")


def opened(store: Path, trials: int, sampler: str = "random", subject: Subject = CART) -> Any:
    folder = scores.folder_of(store)
    return study.Search(subject, trials, sampler, study.storage_in(folder), folder)


def work(search: study.Search, store: Path, value: float = 0.5, most: int = 10_000) -> int:
    """End the jobs that a search waits for, without a fit, and tell it; how many that were."""
    waiting, kept = search.open(), Store(store)
    jobs = [job for job in unique(waiting.values()) if kept.run(job.key) is None][:most]
    for number, job in enumerate(jobs):
        kept.add([job.run("ok", valid_f1=value + number / 1000, cpu_seconds=1.0)])
    search.tell(waiting, kept)
    return len(jobs)


class TestCandidates:
    def test_are_the_committed_ones(self):
        """The winners in results/search are what their numbers draw."""
        winners = scores.read(scores.FOLDER / scores.WINNERS)
        assert len(winners) > 200
        for row in winners[winners["sampler"] == "random"].to_dict("records"):
            drawn = candidate(row["dataset"], row["method"], int(row["number"]))
            assert scores.canonical_json(drawn) == row["params"]

    def test_optuna_is_what_runs(self, tmp_path):
        work(opened(tmp_path, 4), tmp_path)
        file = f"sqlite:///{scores.folder_of(tmp_path) / study.FILE}"
        stored = optuna.load_study(study_name="paper iris cart random 42", storage=file)
        assert [trial.value for trial in stored.trials] == [0.5, 0.501, 0.502, 0.503]
        drawn = [candidate("iris", "cart", number) for number in range(4)]
        assert [trial.params for trial in stored.trials] == drawn


class TestStudies:
    def test_resume_after_a_kill(self, tmp_path):
        assert work(opened(tmp_path, 6), tmp_path, most=2) == 2
        again = opened(tmp_path, 6)
        assert list(again.open()) == [2, 3, 4, 5]
        assert work(again, tmp_path) == 4
        assert opened(tmp_path, 6).open() == {}
        assert list(opened(tmp_path, 8).open()) == [6, 7]

    def test_what_ended_before_the_study_was_told_is_not_computed_again(self, tmp_path):
        work(opened(tmp_path, 2), tmp_path)
        search, store = opened(tmp_path, 6), Store(tmp_path)
        ended = [search.open()[number] for number in (2, 3, 5)]  # and the process is gone
        store.add(job.run("ok", valid_f1=0.25, cpu_seconds=2.0) for job in ended)
        assert work(search, tmp_path, 0.7) == 1
        assert [trial.value for trial in search.ended()] == [0.5, 0.501, 0.25, 0.25, 0.7, 0.25]

    def test_a_trial_that_was_asked_for_and_cut_off_is_taken_up(self, tmp_path):
        """As studies of earlier versions have them, and those of Optuna's samplers."""
        for sampler in ("random", "tpe"):
            store, search = tmp_path / sampler, opened(tmp_path / sampler, 3, sampler)
            fixed = {"fixed_distributions": search.space}
            numbered = candidate("iris", "cart", 0)
            search.study.enqueue_trial(numbered)
            asked = search.study.ask(**fixed)
            assert asked.params == numbered
            again = opened(store, 3, sampler)
            assert again.open()[0] == candidate_job(CART, numbered)
            assert work(again, store) == 3
            assert [trial.number for trial in again.ended()] == [0, 1, 2]

    def test_equal_candidates_are_fitted_once(self, tmp_path, plugged):
        search = opened(tmp_path, 20, subject=MINE)
        assert work(search, tmp_path) == 3  # of three depths
        search.keep(Store(tmp_path))
        outcomes = scores.outcomes_of(scores.folder_of(tmp_path), MINE)
        assert len(outcomes) == 20
        assert sum(seconds != "" for _, seconds in outcomes.values()) == 3

    def test_scores_that_are_known_are_not_computed_again(self, tmp_path):
        known = {0: ("0.25", "2"), 1: ("timeout", "")}
        scores.write_scores(scores.folder_of(tmp_path), CART, known)
        search = opened(tmp_path, 4)
        assert list(search.open()) == [2, 3]
        assert work(search, tmp_path) == 2
        search.keep(Store(tmp_path))
        outcomes = scores.outcomes_of(scores.folder_of(tmp_path), CART)
        assert known.items() <= outcomes.items()

    def test_failures_are_counted_and_lack_of_data_leaves_a_trial_open(self, tmp_path):
        search, store, folder = opened(tmp_path, 3), Store(tmp_path), scores.folder_of(tmp_path)
        waiting = search.open()
        store.add([waiting[0].run("timeout", reason="slow")])
        store.add([waiting[1].run("ok", valid_f1=0.5, cpu_seconds=1.0)])
        store.add([waiting[2].run("skipped", reason="no data")])
        assert search.tell(waiting, store) == 2
        assert "1 of 3 trials missing" in search.keep(store)
        assert not (folder / scores.WINNERS).exists()
        again = opened(tmp_path, 3)
        ((number, job),) = again.open().items()
        assert (number, job) == (2, waiting[2])
        store.add([job.run("ok", valid_f1=0.1, cpu_seconds=1.0)])
        assert again.tell({number: job}, store) == 1
        again.keep(store)
        (row,) = scores.read(folder / scores.WINNERS).to_dict("records")
        assert (row["number"], row["failed"], row["trials"]) == ("1", "1", "3")
        outcomes = scores.outcomes_of(folder, CART).values()
        assert [score for score, _ in outcomes] == ["timeout", "0.5", "0.1"]

    @pytest.mark.parametrize("name", ["tpe", "TPESampler", "RandomSampler"])
    def test_any_sampler_of_optuna_that_needs_nothing_more(self, tmp_path, name):
        """A few trials at a time, each time told of those before."""
        search = opened(tmp_path, study.AT_ONCE + 2, name)
        assert len(search.open()) == len(search.open()) == study.AT_ONCE
        work(search, tmp_path)
        assert len(search.open()) == 2
        work(search, tmp_path)
        assert search.open() == {}
        assert "F1 0.5" in search.keep(Store(tmp_path))
        with pytest.raises(UserError, match="cannot be used here"):
            opened(tmp_path, 3, "PartialFixedSampler")


class TestScores:
    def test_are_written_as_they_are_committed(self, tmp_path):
        """Reading and writing committed tables changes no byte."""
        for name in ("paper/iris.csv", "clean/wine.csv"):
            source = scores.FOLDER / name
            (tmp_path / name).parent.mkdir(parents=True)
            table = scores.read(source)
            for method in [each for each in table if f"{each}{scores.SECONDS}" in table]:
                subject = Subject(source.parent.name, source.stem, method)
                scores.write_scores(tmp_path, subject, scores.outcomes_of(scores.FOLDER, subject))
            assert (tmp_path / name).read_bytes() == source.read_bytes()
        scores.write_winners(tmp_path, scores.read(scores.FOLDER / scores.WINNERS))
        made = (tmp_path / scores.WINNERS).read_bytes()
        assert made == (scores.FOLDER / scores.WINNERS).read_bytes()

    def test_a_longer_search_is_not_replaced_by_its_beginning(self, tmp_path):
        for trials, number in [(300, 17), (30, 4)]:
            (row,) = scores.read(scores.FOLDER / scores.WINNERS).head(1).to_dict("records")
            row |= {"trials": str(trials), "number": str(number)}
            scores.write_winners(tmp_path, pd.DataFrame([row]))
        assert list(scores.read(tmp_path / scores.WINNERS)["number"]) == ["17"]

    def test_shards_are_merged(self, tmp_path):
        for name, method in [("a", "cart"), ("b", "dndt")]:
            subject = Subject("paper", "iris", method)
            scores.write_scores(tmp_path / name, subject, {0: ("0.5", "1"), 1: ("error", "")})
            scores.merge_scores(tmp_path / name, tmp_path / "both")
        table = scores.read(tmp_path / "both" / "paper" / "iris.csv")
        assert list(table) == ["number", "cart", "cart_seconds", "dndt", "dndt_seconds"]

    def test_a_search_that_was_not_made_is_told(self, tmp_path, plugged):
        with pytest.raises(UserError, match="experiments search --protocol paper"):
            scores.winning_params(tmp_path, "paper", "my-shop", "shallow")


class TestFolds:
    def test_part_the_rows_and_hold_a_tenth_back(self, plugged):
        made = scores.make_folds("my-shop", "paper", 0, 3)
        split = registry.make_split("my-shop", "paper", 0)
        rows = len(split.y_train_valid)
        assert sum(len(fold.y_test) for fold in made) == rows
        for fold in made:
            assert len(fold.y_train) + len(fold.y_valid) + len(fold.y_test) == rows
            assert len(fold.y_valid) == pytest.approx(0.1 * (rows - len(fold.y_test)), abs=1)
            shares = [np.mean(part == 1) for part in (fold.y_test, split.y_train_valid)]
            assert shares[0] == pytest.approx(shares[1], abs=0.03)
        made = scores.make_folds("my-shop", "clean", 0, 3)
        tested = np.concatenate([fold.rows.test for fold in made if fold.rows is not None])
        assert len(np.unique(tested)) == len(tested)

    @pytest.mark.parametrize("protocol", ["paper", "clean"])
    def test_no_learner_can_change_them(self, protocol, plugged):
        for fold in scores.make_folds("my-shop", protocol, 0, 3):
            for rows in (fold.X_train, fold.X_valid, fold.X_test, fold.y_test):
                with pytest.raises(ValueError, match="cannot set WRITEABLE flag"):
                    rows.setflags(write=True)
