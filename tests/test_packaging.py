"""Wheel and source archive: what is in them, and that they work where nothing else is."""

import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
SHOWN = re.compile(r"```python\n(.*?)```\n\n```text\n(.*?)```", flags=re.DOTALL)
FIRST, *OTHERS = [
    example
    for readme in ("README.md", "gradtree/README.md")
    for example in SHOWN.findall((REPOSITORY / readme).read_text(encoding="utf-8"))
]
"""Code and what it prints: of the first page, and of the guide to the estimators."""


def printed_by(python: Path | str, code: str, cwd: Path) -> list[str]:
    return [line.rstrip() for line in run(python, "-c", code, cwd=cwd).rstrip().splitlines()]


def run(*words: str | Path, cwd: Path) -> str:
    done = subprocess.run(
        [str(word) for word in words], cwd=cwd, capture_output=True, text=True, timeout=1200
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def built(folder: Path) -> tuple[Path, Path]:
    """Wheel and source archive, built in an environment of their own."""
    tools = folder / "tools"
    venv.create(tools, with_pip=True)
    run(tools / "bin" / "pip", "install", "--quiet", "build", cwd=folder)
    run(
        tools / "bin" / "python", "-m", "build", "--outdir", folder / "dist", REPOSITORY, cwd=folder
    )
    (wheel,) = (folder / "dist").glob("*.whl")
    (archive,) = (folder / "dist").glob("*.tar.gz")
    return wheel, archive


@pytest.mark.network
@pytest.mark.parametrize("kind", ["wheel", "archive"])
def test_the_examples_run_in_an_empty_environment(kind, tmp_path):
    wheel, archive = built(tmp_path)
    with zipfile.ZipFile(wheel) as contents:
        names = contents.namelist()
    assert "gradtree/py.typed" in names
    assert {name.split("/")[0].split("-")[0] for name in names} == {"gradtree", "gradtree_suite"}
    with tarfile.open(archive) as contents:
        assert any(name.endswith("/gradtree/py.typed") for name in contents.getnames())
    empty = tmp_path / "empty"
    venv.create(empty, with_pip=True)
    package = wheel if kind == "wheel" else archive
    run(empty / "bin" / "pip", "install", "--quiet", package, "pandas", cwd=tmp_path)
    told = "".join(code for code, _ in OTHERS)
    assert all(f"{name}(" in told for name in ("GradTreeRegressor", "SmallTreeClassifier"))
    for code, output in (FIRST, *OTHERS):
        assert printed_by(empty / "bin" / "python", code, tmp_path) == output.splitlines()


def test_the_example_needs_the_package_alone(tmp_path):
    """A copy of ``gradtree`` outside the checkout, beside libraries that are installed here."""
    shutil.copytree(
        REPOSITORY / "gradtree", tmp_path / "gradtree", ignore=shutil.ignore_patterns("*.nb?")
    )
    check = (
        f"import sys; sys.path[:] = [{str(tmp_path)!r}, *[p for p in sys.path if p != "
        f"{str(REPOSITORY)!r}]]\n"
    )
    refused = (
        "for name in ('baselines', 'datasets', 'experiments'): assert name not in sys.modules\n"
    )
    where = f"assert gradtree.__file__.startswith({str(tmp_path)!r}), gradtree.__file__\n"
    code, output = FIRST
    printed = printed_by(sys.executable, check + code + refused + where, tmp_path)
    assert printed == output.splitlines()
    assert (tmp_path / "gradtree" / "py.typed").is_file()


def test_what_is_installed_is_named_by_version_and_hash_and_actions_by_commit():
    """Each pin of the constraints file has hashes, and every package of pyproject.toml a pin."""
    pins = re.split(r"\n(?=\S)", (REPOSITORY / "constraints.txt").read_text(encoding="utf-8"))
    pins = [pin for pin in pins if not pin.startswith("#")]
    assert all(re.match(r"[\w.-]+==\S+ .*\\\n +--hash=sha256:[0-9a-f]{64}", pin) for pin in pins)
    with (REPOSITORY / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)
    extras = project["project"]["optional-dependencies"].values()
    asked = {
        re.split(r"[^\w.-]", need)[0]
        for needs in [
            project["project"]["dependencies"],
            *extras,
            project["dependency-groups"]["setup"],
        ]
        for need in needs
    }
    plain = {re.sub(r"[-_.]+", "-", name) for name in asked} - {project["project"]["name"]}
    assert plain <= {pin.split("==")[0] for pin in pins}
    text = (REPOSITORY / ".github/workflows/tests.yml").read_text(encoding="utf-8")
    uses = re.findall(r"uses: (\S+)", text)
    assert uses
    assert all(re.search(r"@[0-9a-f]{40}$", action) for action in uses)
