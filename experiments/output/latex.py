r"""Tables as LaTeX for a two-column paper.

Each file is one or more ``table*`` environments (``\newcommand{\resultstable}{table}`` before
``\input`` makes them ``table``) that need the packages booktabs, array and url, the caption below.
Nothing is scaled: a table gets the largest of three font sizes in which it fits, long texts wrap,
and what is still too wide or too tall for a page is continued in another table.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from experiments.analysis.answer import Grid, Table
from experiments.analysis.runs import Runs
from experiments.output import formats
from experiments.output.formats import GAP, Line, Shown, Text, caption


class Size(NamedTuple):
    """A font size: its name, and the width of an em and the height of a line in points."""

    name: str
    em: float
    line: float


class Layout(NamedTuple):
    """How columns are set: font size, their widths in points, which of them wrap."""

    size: Size
    widths: dict[int, float]
    wrapped: list[int]


WIDTH, HEIGHT = 478.0, 560.0
"""Points that a table may take on a page."""
SIZES = (Size("small", 9.3, 11.0), Size("footnotesize", 8.5, 9.6), Size("scriptsize", 8.0, 8.5))
"""Computer Modern is wider when small; only in the smallest do texts wrap."""
COLUMN_GAP = 4.4
MOST_LABELS = 4
NARROWEST = 6.0
"""Ems; a column of texts that is wider may wrap, if its words allow it."""
_SYMBOLS = ("pm", "times", "le", "ge", "to", "uparrow", "downarrow", "rho")
_SPECIAL = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        **{mark: f"\\{mark}" for mark in "&%$#_{}"},
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        **dict.fromkeys("-−", "-"),
        **{mark: f"${mark}$" for mark in "<>|"},
        **dict(zip("–’“”…", ("--", "'", "``", "''", r"\ldots{}"), strict=True)),
        **{mark: f"$\\{name}$" for mark, name in zip("±×≤≥→↑↓ρ", _SYMBOLS, strict=True)},
        "†": r"$^{\dagger}$",
        "\u00a0": "~",
        "`": r"\textasciigrave{}",
    }
)
_WIDTHS = {
    **dict.fromkeys("il.,:;'|!’", 0.28),
    **dict.fromkeys(" \u00a0()[]tfrjsI-", 0.37),
    **dict.fromkeys("0123456789/aogcez–", 0.51),
    **dict.fromkeys("ABCDEFGHJKLNOPQRSTUVXYZw±−+<>=", 0.75),
    **dict.fromkeys("mMW%†", 0.88),
}
_MINUS = re.compile(r"(?<![\w)\]])-(?=\.?\d)")
_DIGITS = ("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")
DOCUMENT = r"""\documentclass[10pt,a4paper]{article}
\usepackage[margin=2cm]{geometry}
\usepackage{array,booktabs,url}
\newcommand{\resultstable}{table}
\input{macros}
\begin{document}
%s
\end{document}
"""


def escape(text: str) -> str:
    """Text that LaTeX prints as it stands; addresses may break, numbers have a true minus."""
    if re.match(r"https?://\S+$", text):
        return rf"\urlstyle{{same}}\url{{{text}}}"
    minus = "\0"
    text = _MINUS.sub(minus, text).translate(_SPECIAL)
    return re.sub(r" (\$\\(?:up|down)arrow)", r"~\1", text.replace(minus, "$-$"))


def table_latex(table: Table) -> str:
    note = " ".join([caption(table), *table.notes])
    return environments(formats.shown(table), _label(table), table.title, note)


def grid_latex(grid: Grid, names: Runs, task: str = "") -> str:
    """A dataset x method table, or the part of one task."""
    title, label, cells = grid.title, _label(grid), grid.frame
    if task:
        title, label = f"{title}, {formats.TASKS[task].lower()}", f"{label}-{task}"
        cells = cells[cells["task"] == task]
    note = f"{caption(grid)} Mean ± deviation over {grid.trials} trial{'s' * (grid.trials != 1)}"
    note += ", rank in brackets." if cells["rank"].notna().any() else "."
    done, plain = cells["mean"].notna(), cells["missing"].fillna("").eq("")
    if (done & plain & (cells["n"] < cells["expected"])).any():
        note += f" Exponents: trials, where fewer than {grid.trials}."
    if (~done & plain).any():
        note += f" {GAP}: not run."
    if "stable_trials" in cells and (cells["stable_trials"] < cells["refitted_trials"]).any():
        note += " †: a rounding error in the training rows changes a trial of the cell."
    return environments(formats.shown_grid(grid, names, task), label, title, note)


def _label(table: Table | Grid) -> str:
    return f"{table.protocol}-{table.name}".strip("-")


def environments(shown: Shown, label: str, title: str, note: str) -> str:
    """The whole table, in as many environments as it takes."""
    room = HEIGHT - 12.0 * math.ceil(len(note) / 110)
    parts = [(each, lines) for each in layouts(shown) for lines in _pages(shown.lines, each, room)]
    found = [r"\providecommand{\resultstable}{table*}"]
    for number, (layout, lines) in enumerate(parts):
        lead = rf"\textbf{{{escape(title + ', continued' * bool(number))}.}}"
        found += [
            r"\begin{\resultstable}[tp]",
            rf"\centering\{layout.size.name}",
            rf"\setlength{{\tabcolsep}}{{{COLUMN_GAP / 2}pt}}",
            rf"\begin{{tabular}}{{{''.join(_column(shown, layout, c) for c in layout.widths)}}}",
            r"\toprule",
            *_header(shown, layout),
            r"\midrule",
            *(_line(line, layout, first=at == 0) for at, line in enumerate(lines)),
            r"\bottomrule",
            r"\end{tabular}",
            rf"\caption{{{lead}}}" if number else rf"\caption{{{lead} {escape(note)}}}",
            rf"\label{{tab:{label}{f'-{number + 1}' if number else ''}}}",
            r"\end{\resultstable}",
        ]
    return "\n".join(found) + "\n"


def layouts(shown: Shown) -> list[Layout]:
    """One way to set the whole table, or several for its columns in turn."""
    everything = tuple(range(len(shown.headers)))
    for size in SIZES:
        layout, fits = _laid_out(shown, everything, size)
        if fits:
            return [layout]
    # The columns before the first number name the line, and every part repeats them.
    first = next((c for c in everything if shown.numeric[c]), 1)
    labels = everything[: max(1, min(first, MOST_LABELS))]
    parts = [labels]
    for column in everything[len(labels) :]:
        # A group that fits into a part of its own is not torn.
        group = tuple(c for c in everything[column:] if shown.groups[c] == shown.groups[column])
        starts = shown.groups[column] not in ("", shown.groups[column - 1])
        next_one = group if starts and _laid_out(shown, labels + group)[1] else (column,)
        if parts[-1] != labels and not _laid_out(shown, parts[-1] + next_one)[1]:
            parts.append(labels)
        parts[-1] += (column,)
    return [_laid_out(shown, part)[0] for part in parts]


def _laid_out(
    shown: Shown, columns: tuple[int, ...], size: Size = SIZES[-1]
) -> tuple[Layout, bool]:
    """These columns in one font size, and whether they fit on a page."""
    widths = {column: ems(shown, column) * size.em for column in columns}
    waiting = list(columns)
    for heading, count in shown.spans(columns):
        under, waiting = waiting[:count], waiting[count:]
        lacking = _ems(heading) * size.em - sum(widths[c] for c in under)
        widths[under[-1]] += max(0.0, lacking - COLUMN_GAP * (count - 1))
    room, wrapped = WIDTH - COLUMN_GAP * len(columns), list[int]()
    if sum(widths.values()) > room and size is SIZES[-1]:
        texts = [c for c in columns if not shown.numeric[c]]
        least = {c: size.em * max(NARROWEST, _longest_word(shown, c)) for c in texts}
        wrapped = [c for c in texts if widths[c] > least[c]]
        over = {c: widths[c] - least[c] for c in wrapped}
        left = room - sum(widths.values()) + sum(over.values())
        if wrapped and left >= 0:
            # Long columns share what is left by the square roots of what they ask for.
            asked = sum(map(math.sqrt, over.values()))
            widths |= {c: least[c] + left * math.sqrt(over[c]) / asked for c in wrapped}
    return Layout(size, widths, wrapped), sum(widths.values()) <= room + 0.5


def _cells(shown: Shown, column: int) -> list[Text]:
    return [line.cells[column] for line in shown.lines if len(line.cells) > 1]


def ems(shown: Shown, column: int) -> float:
    """The width of a column in ems, its heading stacked if that is wider than its cells."""
    cells = _cells(shown, column)
    widest = max((_ems(cell.text, cell.bold) + 0.4 * len(cell.mark) for cell in cells), default=0)
    return max(widest, *(_ems(part) for part in stacked(shown.headers[column], widest)))


def _longest_word(shown: Shown, column: int) -> float:
    words = [(word, cell.bold) for cell in _cells(shown, column) for word in cell.text.split()]
    return max((_ems(*each) for each in words if "://" not in each[0]), default=0.0)


@lru_cache(maxsize=1 << 16)
def _ems(text: str, bold: bool = False) -> float:
    """About the width of a text in Computer Modern."""
    return sum(_WIDTHS.get(letter, 0.53) for letter in text) * (1.15 if bold else 1.0)


def stacked(header: str, width: float) -> list[str]:
    """A heading in lines that are, if words allow it, no wider than its column."""
    lines: list[str] = []
    for word in header.replace("_", " ").split(" "):
        if lines and _ems(f"{lines[-1]} {word}") <= max(width, 6.0):
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _pages(lines: Sequence[Line], layout: Layout, room: float) -> list[list[Line]]:
    """The lines of a table, cut where a page is full."""
    found: list[list[Line]] = [[]]
    used, em = 0.0, 1.12 * layout.size.em
    for line in lines:
        wrapped = layout.wrapped if len(line.cells) > 1 else ()
        rows = [math.ceil(em * _ems(line.cells[c].text) / layout.widths[c]) for c in wrapped]
        height = max([1, *rows]) * layout.size.line + (6.0 if line.rule_above else 0.0)
        if used + height > room and found[-1]:
            found.append([])
            used = 0.0
        found[-1].append(line)
        used += height
    return found


def _column(shown: Shown, layout: Layout, column: int) -> str:
    if column in layout.wrapped:
        return rf">{{\raggedright\arraybackslash}}p{{{layout.widths[column]:.0f}pt}}"
    return "r" if shown.numeric[column] else "l"


def _header(shown: Shown, layout: Layout) -> list[str]:
    """Names of columns, and above them those of groups where there are any."""
    lines, spans = [], shown.spans(layout.widths)
    if any(name for name, _ in spans):
        cells, rules, at = [], "", 1
        for name, count in spans:
            heading = rf"\multicolumn{{{count}}}{{c}}{{{escape(name)}}}"
            cells.append(heading if name else "&" * (count - 1))
            rules += rf"\cmidrule(lr){{{at}-{at + count - 1}}}" if name else ""
            at += count
        lines = [" & ".join(cells) + r" \\", rules]
    names = []
    for column, width in layout.widths.items():
        parts = [escape(part) for part in stacked(shown.headers[column], width / layout.size.em)]
        side, text = "r" if shown.numeric[column] else "l", r"\\".join(parts)
        names.append(rf"\shortstack[{side}]{{{text}}}" if parts[1:] else text)
    return [*lines, " & ".join(names) + r" \\"]


def _line(line: Line, layout: Layout, *, first: bool) -> str:
    rule = r"\midrule" + "\n" if line.rule_above and not first else ""
    if len(line.cells) == 1:
        heading = rf"\emph{{{escape(line.cells[0].text)}}}"
        return rf"{rule}\multicolumn{{{len(layout.widths)}}}{{l}}{{{heading}}} \\"
    return rule + " & ".join(_text(line.cells[column]) for column in layout.widths) + r" \\"


def _text(cell: Text) -> str:
    text = escape(cell.text)
    text = rf"\textbf{{{text}}}" if cell.bold else text
    exponent = cell.mark.replace("†", r"\dagger")
    return rf"{text}$^{{{exponent}}}$" if exponent else text


def document(inputs: Iterable[str]) -> str:
    """A document that sets all tables."""
    return DOCUMENT % "\n".join(rf"\input{{{name}}}\clearpage" for name in inputs)


def macro_name(*parts: str) -> str:
    """Letters only, as TeX wants: words capitalised and joined, digits spelled out."""
    words = [word for part in parts for word in re.split(r"[^A-Za-z0-9]+", part) if word]
    spelled = [re.sub(r"\d", lambda digit: _DIGITS[int(digit[0])], word) for word in words]
    return "".join(word[0].upper() + word[1:] for word in spelled)


def macros(grids: Iterable[Grid], names: Runs, counts: Mapping[tuple[str, ...], int]) -> str:
    r"""Single numbers to quote in a text, each a ``\newcommand`` named by what it stands for, such
    as ``TestFOneTunedBinaryMRRDLEightFive``; but for protocol ``paper``, names begin with the
    protocol.
    """
    found: dict[str, str] = {}
    for grid in grids:
        prefix = "" if grid.protocol == "paper" else grid.protocol
        for row in grid.summary.to_dict("records"):
            column = grid.names.get(row["method"]) or names.name(row["method"])
            name = macro_name(prefix, grid.name, row["task"], row["statistic"], column)
            text = formats.statistic_text(row, grid).text.partition(" ")[0]
            found[name] = text.replace(GAP, "--")
    found |= {macro_name(*key): f"{count:,}" for key, count in counts.items()}
    return "".join(f"\\newcommand{{\\{name}}}{{{value}}}\n" for name, value in found.items())
