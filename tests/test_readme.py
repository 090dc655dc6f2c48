"""Every command and snippet of the READMEs runs; what they print and link to is so."""

import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pandas as pd
import pytest

from experiments.__main__ import build_parser, main
from experiments.commands import arguments
from experiments.output import readme
from experiments.runner.experiments import check_selected, jobs_in, searches_in

REPOSITORY = readme.REPOSITORY
LONGEST = 200
"""Lines of prose; what is generated does not count."""
PROSE = sorted(
    path.relative_to(REPOSITORY)
    for pattern in ("*.md", "*/*.md", ".github/**/*.md")
    for path in REPOSITORY.glob(pattern)
    if ".venv" not in path.parts
)
PYTHON = sys.executable

# What takes minutes or a cluster is run in a cut-down form that still fails on a wrong option.
VERB = f"{PYTHON} -m experiments"
ONE = "--dataset wine --method cart --inline --store STORE"
CUT_DOWN = {
    **{f"make {what}": f"make --dry-run {what}" for what in ("test", "lint", "reproduce")},
    "make reproduce PROFILE=smoke": "make --dry-run reproduce PROFILE=smoke",
    "make data": f"{VERB} data wine --source installed",
    "experiments data": f"{VERB} data wine --source installed",
    "scripts/run_dataset.py titanic": f"{PYTHON} scripts/run_dataset.py wine --method cart "
    "--trial 0 --experiment tuned --inline --store STORE",
    "scripts/run_dataset.py servo": f"{PYTHON} scripts/run_dataset.py --help",
    "--shard 1/2": f"{VERB} run --profile quick --shard 1/2 {ONE}",
    "--shard 2/2": f"{VERB} run --profile quick --shard 2/2 {ONE}",
    "experiments merge": f"{VERB} merge --help",
    "dask scheduler": f"{PYTHON} -m dask scheduler --version",
    "dask worker": f"{PYTHON} -m dask worker --version",
    "--scheduler": f"{VERB} run --help",
    "experiments audit": f"{VERB} audit 2 --seed 0 --most-seconds 0.1 --inline",
    "make verify": "make --dry-run verify",
    "experiments verify --store": f"{VERB} verify --help",
    "experiments failures": f"{VERB} failures --help",
    "experiments compare": f"{VERB} compare MINE --dataset iris,wine --trial 0-2 --inline "
    "--store STORE",
    "experiments export": f"{VERB} export --help",
    "experiments measure": f"{VERB} measure test_balanced_accuracy --store results/runs",
    "search --dataset iris --method cart": f"{VERB} search --trials 2 {ONE}",
    "--params ours": f"{VERB} plan --experiment tuned --params ours --dataset iris --method cart "
    "--store STORE",
    "--method cart-pruned": f"{VERB} run --experiment default --trial 0 {ONE} --method cart-pruned",
}
# 0: done; 3: some jobs are not done, which is what an empty store says.
EXPECTED_STATUS = (0, 3)


def text_of(path: Path | str) -> str:
    return (REPOSITORY / path).read_text(encoding="utf-8")


def commands() -> list[str]:
    found: list[str] = []
    for path in PROSE:
        blocks = re.findall(r"```sh\n(.*?)```", text_of(path), flags=re.DOTALL)
        found += [line.split("#")[0].strip() for block in blocks for line in block.splitlines()]
        found += re.findall(r"`(\.venv/bin/python [^`|]+)`", text_of(path))
    return list(dict.fromkeys(line for line in found if line))


def snippets() -> list[tuple[str, str]]:
    """Every Python block with its place."""
    return [
        (f"{path}-{number}", code)
        for path in PROSE
        for number, code in enumerate(
            re.findall(r"```python\n(.*?)```", text_of(path), flags=re.DOTALL)
        )
    ]


def runnable(command: str, store: Path) -> list[str]:
    for part, shorter in sorted(CUT_DOWN.items(), key=lambda item: -len(item[0])):
        if part in command:
            mine, text = store.with_name("mine.py"), text_of("experiments/README.md")
            mine.write_text(re.findall(r"```py\n(.*?)```", text, flags=re.DOTALL)[0])
            return shlex.split(shorter.replace("STORE", str(store)).replace("MINE", str(mine)))
    return shlex.split(command.replace(".venv/bin/python", PYTHON))


@pytest.mark.parametrize("command", commands())
def test_command(command, tmp_path, monkeypatch, capsys):
    (tmp_path / "store").mkdir()
    monkeypatch.chdir(REPOSITORY)
    monkeypatch.setenv("GRADTREE_SOURCES", "mirror,cache,installed")
    words = runnable(command, tmp_path / "store")
    if words[1:3] == ["-m", "experiments"]:
        # In this process, which has imported already what each verb would import anew.
        status, said = ended(words[3:]), capsys.readouterr().err
    else:
        done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
        status, said = done.returncode, done.stdout + done.stderr
    assert status in EXPECTED_STATUS, said


def ended(words: list[str]) -> int | str | None:
    """The exit status of a verb."""
    try:
        return main(words)
    except SystemExit as end:  # as --help does
        return end.code


@pytest.mark.parametrize(("place", "code"), snippets(), ids=[place for place, _ in snippets()])
def test_a_snippet_prints_what_stands_below_it(place, code):
    printed = readme.output_of(code)
    shown = dict(readme.SNIPPET.findall(text_of(Path(place.rpartition("-")[0]))))
    assert shown.get(code) == printed, "run `python -m experiments tables --results --snippets`"


@pytest.mark.parametrize("language", ["sql", "r"])
def test_other_languages_read_what_python_reads(language, monkeypatch):
    """One cell, one prediction and the root of one tree, where the tool is at hand."""
    monkeypatch.chdir(REPOSITORY)
    text = text_of("results/README.md")
    ((_, output),) = readme.SNIPPET.findall(text)
    (code,) = re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)
    if language == "sql":
        duckdb = pytest.importorskip("duckdb").connect()
        first, *queries = code.strip().rstrip(";").split(";\n")
        duckdb.execute(first)
        told = "".join(str(duckdb.execute(each).fetchall()) for each in queries)
    else:
        if shutil.which("Rscript") is None:
            pytest.skip("R is not installed")
        told = subprocess.run(["Rscript", "-e", code], capture_output=True, text=True).stdout
    (mean, std), classes, _, root = (re.findall(r"[\d.]+", line) for line in output.splitlines())
    found = re.findall(r"\d+\.?\d*", re.sub(r"\[+\d+\]+", "", told))
    assert [float(each) for each in found] == [float(v) for v in (mean, std, *classes, *root)]


def anchors(path: Path) -> set[str]:
    """Fragments of a file's headings, as GitHub makes them."""
    titles = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("path", PROSE, ids=str)
def test_prose_is_short_and_its_local_links_lead_somewhere(path):
    assert len(readme.BLOCK.sub("", text_of(path)).splitlines()) < LONGEST
    for link in re.findall(r"\]\((?!https?:)([^)]+)\)", text_of(path)):
        file, _, fragment = link.partition("#")
        target = (REPOSITORY / path).parent / file if file else REPOSITORY / path
        assert target.exists(), link
        assert not fragment or fragment in anchors(target), link


def numbers(text: str) -> set[str]:
    """Decimal numbers, without their signs."""
    return {number.lstrip("0") for number in re.findall(r"\d*\.\d+", text)}


def test_every_number_of_the_first_screen_is_in_a_table():
    """Rounded as it is shown there."""
    block = "".join(readme.BLOCK.findall(text_of("README.md")))
    words = re.sub(r"GradTree|DL8\.5|\(.*?\.png\)|F1|±0\.01|95 %", "", block)
    known: set[str] = set()
    for path in (REPOSITORY / "results" / "tables").rglob("*.csv"):
        for number in re.findall(r"-?\d*\.\d+(?:e-\d+)?", path.read_text(encoding="utf-8")):
            value = abs(float(number))
            known |= {f"{value:.{digits}f}".lstrip("0") for digits in (1, 2, 3, 4, 5)}
    assert numbers(words) - known == set()


def test_what_is_said_of_the_learner_is_measured():
    results = REPOSITORY / "results"
    story = pd.read_csv(results / "tables" / "same-story.csv").query("Task == 'all'")
    raw = (
        pd.read_csv(results / "bench" / "raw_tables.csv").groupby("learner").mean(numeric_only=True)
    )
    known = [*story["test F1"], *story["nodes"], *raw["f1"], *raw["nodes"]]
    shown = {f"{value:.3f}".lstrip("0") if value < 1 else f"{value:.0f}" for value in known}
    for path, begin, end in (
        ("README.md", "Over 48 datasets", "([three seeds]"),
        ("gradtree/README.md", "its mean macro F1 is", "GradTree is for"),
    ):
        text = text_of(Path(path)).partition(begin)[2].partition(end)[0]
        told = re.findall(r"(?<=[ .])\.\d{3}|(?<=with )\d+", text)
        assert len(told) >= 5
        assert set(told) <= shown


def test_the_citation_names_the_version():
    project = tomllib.loads(text_of("pyproject.toml"))["project"]
    citation = text_of("CITATION.cff")
    assert f"\nversion: {project['version']}\n" in citation
    assert "doi: 10.1609/aaai.v38i13.29345" in citation


def test_every_command_of_the_makefile_is_understood():
    commands = re.findall(r"\$\(PY\) -m experiments ([^\n}]*)", text_of("Makefile"))
    assert len(commands) > 5
    for command in commands:
        text = re.sub(r"\$\(if \$\(WORKERS\),--workers \$\(WORKERS\)\)", "--workers 2", command)
        words = text.replace("$(PROFILE)", "paper").replace("$(ARGS)", "").rstrip("; ").split()
        build_parser(words[0]).parse_args(words)


def documented() -> list[str]:
    texts = map(text_of, PROSE)
    found = {hit for text in texts for hit in re.findall(r"-m experiments ([a-z][^\n`#|]*)", text)}
    return sorted(words.strip() for words in found)


@pytest.mark.parametrize("command", documented())
def test_documented_commands_work_as_they_are_written(command):
    """Understood by the parser and, where they run jobs, with something to run."""
    words = shlex.split(command)
    args = build_parser(words[0]).parse_args(words)
    if words[0] in ("run", "plan") and not args.plugin:
        profile, chosen = arguments.selected(args)
        check_selected(profile, chosen, jobs_in(profile, chosen), searches_in(profile, chosen))
