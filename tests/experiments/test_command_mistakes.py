"""A user's mistake is told in a line or two with its remedy, before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.__main__ import guarded, main
from experiments.commands import arguments
from experiments.core.checks import EXIT_FAILED, EXIT_NOTHING, EXIT_USAGE
from experiments.core.store import COMMITTED

READING = ("verify", "report", "tables", "failures", "status")
ALL_WITH_A_STORE = (*READING, "run", "plan", "search")


def told(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Exit status and what went to the user; nothing that is refused prints anything else."""
    status = main(arguments)
    printed = capsys.readouterr()
    assert not printed.out
    assert "Traceback" not in printed.err
    assert 1 <= len(printed.err.strip().splitlines()) <= 2, printed.err
    return status, printed.err


@pytest.mark.parametrize("verb", READING)
def test_a_store_that_is_not_there(
    verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nowhere = tmp_path / "nowhere"
    status, message = told([verb, "--store", str(nowhere)], capsys)
    assert status == EXIT_USAGE
    assert f"there is no folder of run records at {nowhere}" in message
    assert "--store names another" in message
    assert not nowhere.exists()


@pytest.mark.parametrize("verb", ALL_WITH_A_STORE)
def test_a_store_that_is_a_file(
    verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "records"
    file.write_text("not a folder")
    status, message = told([verb, "--store", str(file)], capsys)
    assert status == EXIT_USAGE
    assert f"{file} is a file, not a folder of run records" in message


NAMES = {
    "run --dataset titanik": "no dataset 'titanik'; did you mean titanic",
    "plan --dataset titanik": "no dataset 'titanik'; did you mean titanic",
    "status --dataset titanik": "no dataset 'titanik'; did you mean titanic",
    "search --dataset titanik": "no dataset 'titanik'; did you mean titanic",
    "trees --dataset titanik": "no dataset 'titanik'; did you mean titanic",
    "data titanik": "no dataset 'titanik'; did you mean titanic",
    "failures --dataset titanik": "unknown dataset 'titanik'; did you mean titanic",
    "run --method karts": "unknown method 'karts'; did you mean cart?",
    "plan --method karts": "unknown method 'karts'; did you mean cart?",
    "status --method karts": "unknown method 'karts'; did you mean cart?",
    "search --method karts": "unknown method 'karts'; did you mean cart?",
    "trees --method karts": "unknown method 'karts'; did you mean cart?",
    "failures --method karts": "unknown method 'karts'; did you mean cart?",
    "failures --status broken": "unknown status 'broken'; known: timeout, memory, crash",
    "run --retry broken": "'broken' is none of timeout, memory, crash, error, skipped",
    "run --experiment tunned": "unknown experiment 'tunned'; did you mean tuned?",
    "plan --experiment tunned": "unknown experiment 'tunned'; did you mean tuned?",
    "status --experiment tunned": "unknown experiment 'tunned'; did you mean tuned?",
    "measure accuracy_score --experiment tunned": "has no paper/tunned; it has",
    "run --protocol cleen": "unknown protocol 'cleen'; did you mean clean?",
    "search --protocol cleen": "unknown protocol 'cleen'; did you mean clean?",
    "run --profile smok": "unknown profile 'smok'; did you mean smoke?",
    "run --refresh table": "unknown refresh target 'table'; did you mean tables?",
    "search --method dl85": "dl85 declares no search space; these do: gradtree, dndt, genetictree",
    "tabels": "invalid choice: 'tabels'",
    "data --mirror nowhere": "--mirror: there is no folder nowhere",
}
WITH_A_STORE = ("failures", "status", "measure")


@pytest.mark.parametrize("line", NAMES)
def test_an_unknown_name(
    line: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    words = line.split()
    if words[0] in WITH_A_STORE:
        words += ["--store", str(COMMITTED)]
    status, message = told(words, capsys)
    assert status == EXIT_USAGE
    assert NAMES[line] in message
    assert not list(tmp_path.iterdir()), "nothing was begun"


def test_an_unknown_option_names_the_help_of_its_verb(capsys: pytest.CaptureFixture[str]) -> None:
    status, message = told(["run", "--foo", "3"], capsys)
    assert status == EXIT_USAGE
    assert message == "unknown arguments: --foo 3\nSee: python -m experiments run --help\n"


def test_what_verbs_share_is_no_verb(capsys: pytest.CaptureFixture[str]) -> None:
    status, message = told(["selection"], capsys)
    assert status == EXIT_USAGE
    assert "invalid choice: 'selection'" in message
    assert "'verify'" in message


NUMBERS = {
    "--time-limit -1": "--time-limit: '-1' is not a number above 0",
    "--time-limit inf": "--time-limit: 'inf' is not a number above 0",
    "--time-limit nan": "--time-limit: 'nan' is not a number above 0",
    "--time-limit 0": "--time-limit: '0' is not a number above 0",
    "--memory-limit -5": "--memory-limit: '-5' is not a number above 0",
    "--memory-limit inf": "--memory-limit: 'inf' is not a number above 0",
    "--workers 0": "--workers: '0' is not a whole number of at least 1",
    "--workers -2": "--workers: '-2' is not a whole number of at least 1",
    "--workers 1.5": "--workers: '1.5' is not a whole number of at least 1",
    "--threads nan": "--threads: 'nan' is not a whole number of at least 1",
    "--trial 77": "--trial: trials are numbered 0 to 9, not 77",
    "--trial 5-2": "--trial: '5-2' runs backwards; write 2-5",
    "--trial -3": "--trial: '-3' is not of the form 0-4,7",
    "--trial x": "--trial: 'x' is not of the form 0-4,7",
    "--shard 3/2": "--shard: '3/2': the first number must be 1 to 2",
    "--shard 0/2": "--shard: '0/2': the first number must be 1 to 2",
    "--shard two": "--shard: 'two' is not of the form 1/4",
}


@pytest.mark.parametrize("options", NUMBERS)
def test_a_number_that_cannot_be(options: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, message = told(["run", *options.split()], capsys)
    assert status == EXIT_USAGE
    assert message.startswith(NUMBERS[options])
    assert "See: python -m experiments run --help" in message


@pytest.mark.parametrize("options", ["--trials 0", "--search-seed -1", "--trials inf"])
def test_a_number_that_cannot_be_in_a_search(
    options: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert told(["search", *options.split()], capsys)[0] == EXIT_USAGE


@pytest.mark.parametrize("options", ["--repeats 0", "--epochs 1", "--longest-epoch nan"])
def test_a_number_that_cannot_be_in_a_benchmark(
    options: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert told(["bench", *options.split()], capsys)[0] == EXIT_USAGE


@pytest.mark.parametrize(
    "line",
    [
        "run --profile smoke --dataset adult",
        "plan --profile smoke --dataset adult",
        "run --profile smoke --experiment solvers",
        "run --profile smoke --dataset wine --method cart --trial 9",
        "search --method dndt --dataset mushroom",
        "run --experiment tuned --protocol paper --dataset wine --method cart --shard 2/2",
    ],
)
def test_a_filter_that_leaves_nothing(
    line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, message = told([*line.split(), "--store", str(tmp_path / "store")], capsys)
    assert status == EXIT_NOTHING
    assert message.startswith("nothing to do: ")
    assert not (tmp_path / "store").exists()


def test_nothing_to_try_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = "run --profile quick --dataset wine --method cart --trial 0 --retry crash,timeout"
    status, message = told([*line.split(), "--store", str(tmp_path)], capsys)
    assert status == EXIT_NOTHING
    assert "none of these jobs ended in crash or timeout" in message


PLUGIN = """
from dataclasses import replace
import baselines
LEARNERS = [replace(baselines.learner("cart"), slug="my-cart", name="My CART", in_paper=False)]
"""


def test_a_plugin_is_named_by_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GRADTREE_PLUGINS", "")
    file = tmp_path / "mine.py"
    file.write_text(PLUGIN)
    assert main(["list", "learners", "--plugin", str(file)]) == 0
    assert "my-cart" in capsys.readouterr().out


def test_a_plugin_that_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GRADTREE_PLUGINS", "")
    status, message = told(["list", "--plugin", str(tmp_path / "mine.py")], capsys)
    assert (status, message.strip()) == (EXIT_USAGE, f"no plug-in file {tmp_path / 'mine.py'}")


def test_the_list_is_complete(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    printed = capsys.readouterr().out
    sections = [line for line in printed.splitlines() if line.endswith(":")]
    assert sections == ["profiles:", "experiments:", "protocols:", "learners:", "datasets:"]
    for slug in ("smoke", "ablation-tuned", "search", "clean", "gradtree", "titanic"):
        assert any(line.split()[:1] == [slug] and line.split()[1:] for line in printed.splitlines())


def test_a_bug_prints_its_traceback_and_where_to_report_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def buggy() -> int:
        raise ZeroDivisionError("a bug")

    assert guarded(buggy) == EXIT_FAILED
    printed = capsys.readouterr().err
    assert "Traceback" in printed
    assert "ZeroDivisionError: a bug" in printed
    assert "please report it in" in printed


def test_an_output_that_is_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "store").mkdir()
    file = tmp_path / "file"
    file.write_text("")
    line = ["tables", "--store", str(tmp_path / "store"), "--output", str(file / "below")]
    status, message = told(line, capsys)
    assert status == EXIT_USAGE
    assert str(file) in message


def test_verbs_that_write_keep_to_the_users_own_folder() -> None:
    from experiments.__main__ import build_parser

    for verb in ("tables", "report", "run", "search", "bench", "trees", "measure accuracy_score"):
        args = build_parser(verb.split()[0]).parse_args(verb.split())
        written = getattr(args, "output", None) or args.store
        assert written.parts[0] == ".runs", verb
    for verb in ("tables", "report", "bench"):
        args = build_parser(verb).parse_args([verb, "--results"])
        written = args.output or arguments.output_of(args, verb, verb)
        assert arguments.RESULTS in written.parents, verb


def test_status_plan_tables_and_report_count_jobs_alike(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from experiments.core.store import Store
    from experiments.runner.plan import note_plan
    from experiments.runner.profiles import every_use, profiles, select

    smoke = profiles()["smoke"]
    jobs = [job for job in every_use(smoke) if job.experiment != "search"]
    note_plan(Store(tmp_path), jobs)
    count = len({job.key for job in jobs})
    narrowed = ",".join(dict.fromkeys(job.experiment for job in jobs))
    assert count == len([job for job in select(smoke) if job.experiment != "search"])
    options = ["--profile", "smoke", "--experiment", narrowed, "--store", str(tmp_path)]
    assert main(["status", *options]) == 3
    assert f"{count:,} jobs" in capsys.readouterr().out
    assert main(["plan", *options]) == 0
    assert f"{count:,} of {count:,} jobs to do" in capsys.readouterr().out
    assert main(["tables", "--store", str(tmp_path)]) == 0
    assert f"0 of {count:,} planned jobs are on record" in capsys.readouterr().out
    assert main(["report", "--store", str(tmp_path), "--no-figure-files"]) == 0
    assert f"0 of {count:,} planned jobs are on record" in capsys.readouterr().out
