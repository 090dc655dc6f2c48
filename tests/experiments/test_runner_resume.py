"""Kills, interrupts, shards, numbers of workers: the records are the same in the end."""

from __future__ import annotations

import contextlib
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import psutil
import pytest
from fake_learners import LOG_VARIABLE
from runner_helpers import descendants_left, soon_gone, steady

from experiments.core.record import RunRecord
from experiments.core.store import Store
from experiments.runner.executors.process import ROOT, python_environment

METHODS = "fake-steady,fake-raises,fake-picky"
SELECTION = ["--dataset", "fake-two,fake-three", "--experiment", "default", "--protocol", "paper"]
FAILED = 1

pytestmark = pytest.mark.usefixtures("fakes")


def command(store: Path, *more: str, methods: str = METHODS) -> list[str]:
    return [
        *[sys.executable, "-m", "experiments", "run", "--method", methods, *SELECTION],
        *["--store", str(store), "--time-limit", "30", *more],
    ]


def start(store: Path, *more: str, methods: str = METHODS) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command(store, *more, methods=methods),
        cwd=ROOT,
        env={**python_environment(), LOG_VARIABLE: str(store) + ".log"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=heed_interrupts,
    )


def heed_interrupts() -> None:
    """What a terminal has set; where tests run in the background, interrupts are ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def finish(store: Path, *more: str, methods: str = METHODS) -> tuple[int, str]:
    process = start(store, *more, methods=methods)
    output, _ = process.communicate(timeout=120)
    return process.returncode, output


def outcome(store: Path) -> dict[str, RunRecord]:
    """The records that count, without times."""
    return {key: steady(record) for key, record in Store(store).latest().items()}


def fits(store: Path) -> list[str]:
    """Every fit that was really started, in order."""
    log = Path(f"{store}.log")
    return log.read_text().splitlines() if log.exists() else []


def fit_of(record: RunRecord) -> str:
    return f"{record.protocol} {record.dataset} {record.method} {record.trial} {record.seed}"


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, RunRecord]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRADTREE_PLUGINS", "fake_learners")
        store = tmp_path_factory.mktemp("undisturbed") / "store"
        status, output = finish(store, "--workers", "2")
    assert status == FAILED, output
    records = outcome(store)
    assert Counter(r.status for r in records.values()) == {"ok": 20, "error": 20, "skipped": 20}
    return records


def kill_everything(process: subprocess.Popen[str]) -> None:
    """``kill -9`` of the whole tree at once: nobody gets to say goodbye."""
    parent = psutil.Process(process.pid)
    tree = [*parent.children(recursive=True), parent]
    for one in tree:
        with contextlib.suppress(psutil.Error):
            one.kill()
    process.communicate()


def check_kills(store: Path, moments: int, undisturbed: dict[str, RunRecord]) -> None:
    """Kill, resume, kill again …: what was finished at a kill is never fitted again."""
    chance = random.Random(moments)
    finished: set[str] = set()
    for _ in range(moments):
        seen = len(fits(store))
        wanted = len(Store(store).contents().history) + chance.randrange(1, 15)
        process = start(store, "--workers", "2")
        while len(Store(store).contents().history) < wanted and process.poll() is None:
            time.sleep(0.01)
        time.sleep(chance.random() * 0.1)
        kill_everything(process)
        assert soon_gone()
        assert not finished & set(fits(store)[seen:]), "a finished job ran twice"
        finished = {fit_of(r) for r in Store(store).records() if r.status == "ok"}
    seen = len(fits(store))
    assert finish(store, "--workers", "2")[0] == FAILED
    assert not finished & set(fits(store)[seen:]), "a finished job ran twice"
    assert outcome(store) == undisturbed


def test_killed_at_three_moments(tmp_path: Path, undisturbed: dict[str, RunRecord]) -> None:
    check_kills(tmp_path / "store", 3, undisturbed)


@pytest.mark.slow
def test_killed_at_twenty_moments(tmp_path: Path, undisturbed: dict[str, RunRecord]) -> None:
    check_kills(tmp_path / "store", 20, undisturbed)


@pytest.mark.slow
def test_real_tables_are_the_same_to_the_byte_after_kills(tmp_path: Path) -> None:
    """Iris and Wine come with scikit-learn, so this needs no other data."""
    select = ["--method", "cart,genetictree", "--dataset", "iris,wine", "--protocol", "paper"]
    select += ["--experiment", "tuned,default"]
    run = [sys.executable, "-m", "experiments", "run", *select, "--store"]
    chance, env = random.Random(0), python_environment()
    for name, kills in (("quiet", 0), ("killed", 5)):
        store = tmp_path / name
        for _ in range(kills):
            wanted = len(Store(store).contents().history) + chance.randrange(1, 20)
            process = subprocess.Popen(
                [*run, str(store)], cwd=ROOT, env=env, text=True, stdout=subprocess.DEVNULL
            )
            while len(Store(store).contents().history) < wanted and process.poll() is None:
                time.sleep(0.01)
            kill_everything(process)
        quietly([*run, str(store)])
        write = [sys.executable, "-m", "experiments", "tables", "--store", str(store)]
        write += ["--output", str(tmp_path / f"{name}-tables")]
        quietly(write)
    quiet, killed = (files_below(tmp_path / f"{name}-tables") for name in ("quiet", "killed"))
    assert len(quiet) > 20
    assert quiet == killed


def quietly(command: list[str]) -> None:
    done = subprocess.run(
        command, cwd=ROOT, env=python_environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def files_below(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_one_worker_two_workers_and_shards_agree(
    tmp_path: Path, undisturbed: dict[str, RunRecord]
) -> None:
    for index in (1, 2):
        finish(tmp_path / str(index), "--workers", "1", "--shard", f"{index}/2")
    parts = [outcome(tmp_path / str(index)) for index in (1, 2)]
    assert not parts[0].keys() & parts[1].keys()
    assert parts[0]
    assert parts[1]
    stores = [str(tmp_path / name) for name in ("1", "2", "all")]
    merge = [sys.executable, "-m", "experiments", "merge", *stores[:2], "--into", stores[2]]
    subprocess.run(merge, cwd=ROOT, check=True)
    assert outcome(tmp_path / "all") == undisturbed
    predictions = list((tmp_path / "all" / "predictions").rglob("*.npz"))
    assert len(predictions) == 20


def wait_for_sleepers(process: subprocess.Popen[str]) -> None:
    """Until two jobs sleep in native code, each with two processes of its own."""
    while len([p for p in descendants_left() if p.name() == "sleep"]) < 4:
        assert process.poll() is None
        time.sleep(0.05)


def test_a_dead_supervisor_leaves_no_process(tmp_path: Path) -> None:
    store = tmp_path / "store"
    process = start(store, "--workers", "2", methods="fake-forks-and-sleeps")
    wait_for_sleepers(process)
    process.kill()  # the supervisor alone: its workers sleep in native code and cannot notice
    process.communicate()
    assert soon_gone()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_stops_cleanly(tmp_path: Path, number: signal.Signals) -> None:
    store, methods = tmp_path / "store", "fake-steady,fake-forks-and-sleeps"
    finish(store, "--trial", "0-4", methods="fake-steady")
    finished = outcome(store)
    process = start(store, "--workers", "2", "--trial", "0-4", methods=methods)
    wait_for_sleepers(process)
    process.send_signal(number)
    output, _ = process.communicate(timeout=30)
    assert process.returncode == 3, output
    assert "Stopped. Finished jobs are kept." in output
    resume = re.search(rf"Resume with: (.*-m experiments run --method {methods}.*)", output)
    assert resume
    assert soon_gone()
    assert Store(store).contents().torn == 0
    assert outcome(store) == finished
    # Pasted into a shell, with the learner that never ends left out, it finds everything done.
    pasted = subprocess.run(
        f"{resume[1]} --method fake-steady",
        shell=True,
        cwd=ROOT,
        env={**python_environment(), LOG_VARIABLE: str(store) + ".log"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert pasted.returncode == 0, pasted.stderr
    assert "0 still to run" in pasted.stdout


def test_only_failures_are_retried(tmp_path: Path) -> None:
    store = tmp_path / "store"
    methods = "fake-good,fake-raises"
    assert finish(store, "--inline", "--trial", "0", methods=methods)[0] == FAILED
    assert len(fits(store)) == 4
    finish(store, "--inline", "--trial", "0", "--retry", "error", methods=methods)
    assert sorted(fits(store)[4:]) == [line for line in sorted(fits(store)[:4]) if "raises" in line]
    finish(store, "--inline", "--trial", "0", "--retry", "timeout,crash", methods=methods)
    assert len(fits(store)) == 6


def test_success_is_told_by_the_exit_status(tmp_path: Path) -> None:
    methods = "fake-good,fake-picky"
    status, output = finish(tmp_path / "store", "--inline", "--trial", "0", methods=methods)
    assert status == 0, output
    assert "[1/4]" in output
