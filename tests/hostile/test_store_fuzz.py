"""Promise: whatever happens to the bytes of a store, no verb ends in a traceback, and no cell of
a table changes without a word.
"""

from __future__ import annotations

import contextlib
import json
import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hostile_store import Cells, cells_of, copy_store, files_below

from experiments.__main__ import main
from experiments.core import manifest, planned, store
from experiments.core.files import Lines, read_lines

Mutation = Callable[[bytes, random.Random], bytes]

NASTY = [
    None,
    True,
    -1,
    0,
    0.5,
    1.01,
    1e308,
    10**30,
    "",
    "x",
    "../../x",
    "\ud800",
    "\x1b[2J",
    [],
    {},
]
GARBAGE = [
    b"5",
    b"[1]",
    b"{}",
    b"null",
    b"[" * 5000,
    b"\xff\xfe\x00",
    b'{"a":NaN}',
    b"",
    b"\0" * 99,
]


def flip_bit(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << chance.randrange(8))]) + data[at + 1 :]


def change_digit(data: bytes, chance: random.Random) -> bytes:
    digits = [at for at, byte in enumerate(data[:20_000]) if byte in b"0123456789"]
    at = chance.choice(digits or [0])
    return data[:at] + str(chance.randrange(10)).encode() + data[at + 1 :]


def insert_bytes(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data))
    return data[:at] + chance.randbytes(chance.randrange(1, 9)) + data[at:]


def cut_out(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data))
    return data[:at] + data[at + chance.randrange(1, 400) :]


def cut_short(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data))]


def remove_line(data: bytes, chance: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    lines.pop(chance.randrange(len(lines)))
    return b"".join(lines)


def repeat_line(data: bytes, chance: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    return b"".join([*lines, chance.choice(lines)])


def swap_lines(data: bytes, chance: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    a, b = chance.randrange(len(lines)), chance.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]
    return b"".join(lines)


def change_field(data: bytes, chance: random.Random) -> bytes:
    lines = data.splitlines()
    at = chance.randrange(len(lines))
    try:
        values = json.loads(lines[at])
        values[chance.choice(list(values))] = chance.choice(NASTY)
        lines[at] = json.dumps(values).encode()
    except (ValueError, TypeError, IndexError):
        lines[at] = json.dumps(chance.choice(NASTY)).encode()
    return b"\n".join(lines) + b"\n"


def later_contradiction(data: bytes, chance: random.Random) -> bytes:
    """A copy of a line at the end of the file, with one value changed."""
    last = change_field(chance.choice(data.splitlines()), chance)
    return data + last


def insert_garbage(data: bytes, chance: random.Random) -> bytes:
    lines = data.splitlines()
    lines.insert(chance.randrange(len(lines) + 1), chance.choice(GARBAGE))
    return b"\n".join(lines) + b"\n"


def empty(data: bytes, chance: random.Random) -> bytes:
    return b""


MUTATIONS: tuple[Mutation, ...] = (
    flip_bit,
    change_digit,
    insert_bytes,
    cut_out,
    cut_short,
    remove_line,
    repeat_line,
    swap_lines,
    change_field,
    later_contradiction,
    insert_garbage,
    empty,
)


def mutate(store: Path, contents: dict[str, bytes], chance: random.Random) -> tuple[Path, str]:
    """Change one file of a store; which, and how."""
    name = chance.choice(sorted(contents))
    path = store / name
    if chance.random() < 0.02:
        path.unlink()
        if chance.random() < 0.5:
            path.mkdir()
        return path, "gone"
    mutation = chance.choice(MUTATIONS)
    path.write_bytes(mutation(contents[name], chance))
    return path, mutation.__name__


def restore(path: Path, content: bytes) -> None:
    if path.is_dir():
        path.rmdir()
    path.write_bytes(content)


class Remembered:
    """What was read from sound files, so that after a mutation only the altered one is read."""

    def __init__(self, folder: Path, contents: dict[str, bytes]) -> None:
        self._contents = {folder / name: content for name, content in contents.items()}
        self._lines = {path: read_lines(path) for path in self._contents}
        self._sound = {id(v) for lines in self._lines.values() for _, v in lines.values}
        self._checked, self._jobs_of = self.once(store.checked), self.once(planned._jobs_of)

    def lines(self, path: Path) -> Lines:
        with contextlib.suppress(OSError):
            if path.read_bytes() == self._contents.get(path):
                return self._lines[path]
        return read_lines(path)

    def once(self, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """Ask a function about each line of a sound file once."""
        known: dict[int, Any] = {}

        def answer(values: Any) -> Any:
            if id(values) not in self._sound:
                return function(values)
            if id(values) not in known:
                known[id(values)] = function(values)
            return known[id(values)]

        return answer

    @contextlib.contextmanager
    def used(self) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(store, "read_lines", self.lines)
            patch.setattr(planned, "read_lines", self.lines)
            patch.setattr(store, "checked", self._checked)
            patch.setattr(planned, "_jobs_of", self._jobs_of)
            yield


def attack(
    folder: Path, numbers: range, verbs_every: int, capsys: pytest.CaptureFixture[str]
) -> Counter[str]:
    """Mutate a store once per number, each time from the same beginning; what came of it."""
    attacked = copy_store(folder / "store")
    contents = files_below(attacked)
    remembered = Remembered(attacked, contents)
    sound, problems, torn = cells_of(attacked)
    assert (problems, torn) == ([], 0)
    assert sum(cell.mean is not None for cell in sound.values()) > 50
    tally: Counter[str] = Counter()
    for number in numbers:
        chance = random.Random(number)
        path, how = mutate(attacked, contents, chance)
        name = str(path.relative_to(attacked))
        with remembered.used():
            cells, problems, torn = cells_of(attacked)
        told = bool(problems or torn)
        changed = altered(sound, cells)
        assert not changed or told, f"a cell changed silently: mutation {number}, {how} {name}"
        if invented(sound, cells) and not told:
            tally["new cell, file named"] += 1
            assert name in added_to(attacked), f"a cell came silently: mutation {number}, {how}"
        assert all(problem.isprintable() for problem in problems)
        tally["changed a cell, told" if changed else "told" if told else "harmless"] += 1
        if number % verbs_every == 0:
            run_every_verb(attacked, folder / "out", capsys)
            tally["run through every verb"] += 1
        restore(path, contents[name])
    assert files_below(attacked).keys() - {".lock"} == contents.keys()
    return tally


def altered(before: Cells, after: Cells) -> bool:
    """Whether a cell is another, or is gone."""
    return any(after.get(address) != cell for address, cell in before.items())


def invented(before: Cells, after: Cells) -> bool:
    """Whether a cell is new and has a number.

    A new line of the plan may use records that are there in an experiment that nobody planned;
    the verbs name the file that ``hashes.csv`` does not vouch for wholly. One that asks for
    something new makes an empty cell.
    """
    return any(cell.mean is not None for at, cell in after.items() if at not in before)


def added_to(folder: Path) -> list[str]:
    """Files that have lines of which ``status``, ``tables`` and ``verify`` say they are new."""
    found = manifest.changes(folder)
    return found.added_to if found else []


def run_every_verb(store: Path, output: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (
        ["status", "--store", str(store), "--profile", "smoke", "--dataset", "iris"],
        ["failures", "--store", str(store)],
        ["tables", "--store", str(store), "--output", str(output / "tables")],
        ["measure", "f1_score", "average=macro", "--store", str(store), "--output", str(output)],
        ["merge", str(store), "--into", str(output / "merged")],
    ):
        status = main(words)
        said = capsys.readouterr()
        assert status in (0, 1, 2, 3)
        assert "Traceback" not in said.err, said.err
    shutil.rmtree(output)


def test_200_mutations_of_a_real_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tally = attack(tmp_path, range(200), verbs_every=100, capsys=capsys)
    assert tally["changed a cell, told"] > 20
    assert tally["harmless"] > 2


@pytest.mark.slow
@pytest.mark.parametrize("thousand", range(10))
def test_10000_mutations_of_a_real_store(
    thousand: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    numbers = range(1_000 * thousand, 1_000 * (thousand + 1))
    tally = attack(tmp_path, numbers, verbs_every=200, capsys=capsys)
    with capsys.disabled():
        print(f"\n{numbers.start:,} to {numbers.stop - 1:,}: {dict(tally)}")
    assert tally["changed a cell, told"] > 100
    assert tally["harmless"] > 10
