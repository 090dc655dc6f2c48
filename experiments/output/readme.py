"""The results as READMEs show them: generated blocks between two markers."""

import re
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from experiments.analysis.answer import Answer, Table
from experiments.errors import UserError
from experiments.output import files, formats
from experiments.output.formats import Shown
from experiments.runs.schema import documentation

REPOSITORY = Path(__file__).resolve().parents[2]
BEGIN, END = "<!-- results:begin -->", "<!-- results:end -->"
BLOCK = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
SNIPPET = re.compile(r"```python\n(?P<code>.*?)```\n\n```text\n(?P<output>.*?)```", re.DOTALL)
QUESTIONS = (
    ("Does it reproduce?", "reproduces", 1),
    ("Do its conclusions hold?", "conclusions", 3),
    ("Should I use it?", "use", 3),
)
"""What the first screen of README.md answers: title, answer, and how many of its sentences."""
MOST_ROWS, MOST_LINKS = 10, 12
"""A longer table is only linked."""
RAW_TABLES = Path("results") / "bench" / "raw_tables.csv"


def markdown(shown: Shown) -> str:
    """A table; names of groups stand before those of their columns."""
    names = [f"{g}: {n}" if g else n for n, g in zip(shown.headers, shown.groups, strict=True)]
    rows = [[f"**{c.text}**" if c.bold else c.text for c in line.cells] for line in shown.lines]
    return pipe_table(names, rows, shown.numeric)


def pipe_table(names: Sequence[str], rows: Iterable[Sequence[str]], numeric: Iterable[bool]) -> str:
    """Columns between bars; a bar inside a field would end it."""
    rule = "|" + "".join("---:|" if each else "---|" for each in numeric)
    full = [names, *([*row, *[""] * (len(names) - len(row))] for row in rows)]
    escaped = [[text.replace("|", r"\|") for text in row] for row in full]
    head, *body = [f"| {' | '.join(row)} |" for row in escaped]
    return "\n".join([head, rule, *body])


def first_screen(answers: Mapping[str, Answer]) -> str:
    """For README.md: the three questions, one small table and one figure."""
    parts = [
        f"**{title}** {' '.join(answers[slug].sentences[:most])}" for title, slug, most in QUESTIONS
    ]
    text = markdown(formats.shown(answers["reproduces"].extra["first"]))
    figure, *_ = answers["use"].figures
    return "\n\n".join([*parts, text, f"![{figure.caption}](results/figures/{figure.name}.png)"])


def _with_captions(answer: Answer, name: str = "") -> list[str]:
    """The short tables of a section with their captions, or the one of a name; one that stands
    twice is said once.
    """
    parts, told = list[str](), set[str]()
    for table in answer.tables:
        wanted = table.name == name if name else answer.shows(table)
        if isinstance(table, Table) and wanted and 0 < len(table.frame) <= MOST_ROWS:
            words = f"{table.title}, as above" if table.name in told else table.caption
            told.add(table.name)
            caption = formats.caption(replace(table, caption=words))
            parts += [markdown(formats.shown(table)), caption]
    return parts


def section(answer: Answer) -> str:
    """For results/README.md: a question, its answer, its short tables, and the files of all."""
    first, *more = answer.sentences
    parts = [f"### {answer.title}", f"**{first}**", "\n".join(f"* {each}" for each in more)]
    parts += _with_captions(answer)
    links = [f"[figure {f.name}](figures/{f.name}.svg)" for f in answer.figures]
    for each in answer.tables:
        name = "/".join(part for part in (each.protocol, each.name) if part)
        links.append(f"[{name}]({'' if name in files.BESIDE_TABLES else 'tables/'}{name}.csv)")
    if links:
        few = len(links) <= MOST_LINKS
        parts.append(f"Files: {', '.join(links) if few else 'all others in [tables](tables)'}.")
    return "\n\n".join(part for part in parts if part)


def raw_tables(path: Path) -> str:
    """For results/DEFAULTS.md: scores, sizes and seconds on unprepared tables."""
    folds = pd.read_csv(path)
    means = folds.groupby(["table", "learner"], sort=False).mean().drop(columns="fold")
    binary = means["classes"] == 2
    scopes = {"mean, two classes": binary, "mean, more classes": ~binary, "mean": binary | ~binary}
    averages = {scope: means[own].groupby("learner").mean() for scope, own in scopes.items()}
    every = pd.concat([means, pd.concat(averages, names=["table"])])
    learners, parts = list(folds["learner"].unique()), list[str]()
    patterns = {
        "accuracy / macro F1": "{accuracy:.3f} / {f1:.3f}",
        "ROC AUC / log loss": "{auc:.3f} / {log_loss:.3f}",
        "nodes / agreement of two seeds": "{nodes:.0f} / {agreement:.2f}",
        "CPU seconds": "{cpu_seconds:.2f}",
    }
    for title, pattern in patterns.items():
        texts = [pattern.format(**line) for line in every.to_dict("records")]
        cells = pd.Series(texts, every.index).unstack()[learners]
        rows = cells.reindex(every.index.unique("table")).reset_index().to_numpy().tolist()
        parts.append(pipe_table([title, *learners], rows, [False, *(True for _ in learners)]))
    return "\n\n".join(parts)


def blocks(
    answers: Sequence[Answer], profiles: str = "", root: Path = REPOSITORY
) -> dict[str, tuple[str, ...]]:
    """What stands between the markers, by file; that of ``profiles`` only where given."""
    sections = "\n\n".join(section(answer) for answer in answers if answer.sentences)
    asked = {answer.question: answer for answer in answers}
    cost = asked["runtime"].sentences[-1]  # of the fits behind the paper's tables
    evidence = "\n".join(f"* {sentence}" for sentence in asked["new-defaults"].sentences)
    defaults = "\n\n".join([*_with_captions(asked["new-defaults"]), evidence])
    found: dict[str, tuple[str, ...]] = {
        "README.md": (first_screen(asked), cost),
        "results/README.md": (sections, documentation()),
        "results/DEFAULTS.md": (defaults, raw_tables(root / RAW_TABLES)),
    }
    numbers, small = (asked.get(question) for question in ("regression", "small-trees"))
    classes = _with_captions(small, "small-trees-one-call") if small else []
    classes += _with_captions(asked["interactions"])
    parts = _with_captions(numbers) if numbers else []
    found["gradtree/README.md"] = "\n\n".join(parts), "\n\n".join(classes)
    return found | ({"experiments/README.md": (profiles,)} if profiles else {})


def fresh(generated: Mapping[str, Sequence[str]], root: Path = REPOSITORY) -> dict[str, str]:
    """The texts of READMEs with every generated block between its pair of markers."""
    found = {}
    for name, parts in generated.items():
        if not (root / name).is_file():
            raise UserError(f"{name} is missing")
        pieces = BLOCK.split((root / name).read_text(encoding="utf-8"))
        if len(pieces) != len(parts) + 1:
            pairs = f"{len(pieces) - 1} pairs of {BEGIN} and {END}"
            raise UserError(f"{name} has {len(parts)} blocks, but {pairs}")
        blocks = [f"{BEGIN}\n{part}\n{END}" for part in parts]
        found[name] = "".join(map("".join, zip(pieces, [*blocks, ""], strict=True)))
    return found


def update(made: Mapping[str, str], root: Path = REPOSITORY) -> list[str]:
    """Write READMEs; the names of those that changed."""
    changed = [n for n, text in made.items() if (root / n).read_text(encoding="utf-8") != text]
    for name in changed:
        (root / name).write_text(made[name], encoding="utf-8")
    return changed


def output_of(code: str) -> str:
    """What a Python snippet prints in a process of its own."""
    printed = subprocess.check_output([sys.executable, "-c", code], cwd=REPOSITORY, text=True)
    return "".join(f"{line.rstrip()}\n" for line in printed.rstrip().splitlines())


def snippets(root: Path = REPOSITORY) -> dict[str, str]:
    """The texts of READMEs with what every Python snippet prints below it."""

    def printed(found: re.Match[str]) -> str:
        return f"```python\n{found['code']}```\n\n```text\n{output_of(found['code'])}```"

    names = ["README.md", *sorted(str(path.relative_to(root)) for path in root.glob("*/README.md"))]
    return {n: SNIPPET.sub(printed, (root / n).read_text(encoding="utf-8")) for n in names}
