#!/usr/bin/env bash
# Create the virtual environment and install the suite with the pinned versions.
set -euo pipefail
venv=${1:-.venv}

supported() { "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; }

find_python() {
    for candidate in "${PYTHON:-}" python3.11 python3.12 python3.13 python3 python; do
        if [ -n "$candidate" ] && supported "$candidate"; then
            command -v "$candidate"
            return
        fi
    done
    echo "setup: Python 3.11, 3.12 or 3.13 is needed and none was found; name one with PYTHON=/path/to/python make setup" >&2
    exit 1
}

if ! { [ -x "$venv/bin/python" ] && supported "$venv/bin/python"; }; then
    rm -rf "$venv"
    "$(find_python)" -m venv "$venv"
fi

# Exact versions, and for each file its hash: another file of the same name is refused.
install() { "$venv/bin/python" -m pip install --quiet --require-hashes --constraint constraints.txt "$@"; }

# What the project itself and the named extras need, without the project.
needs() {
    "$venv/bin/python" - "$@" <<'EOF'
import re, sys, tomllib

with open("pyproject.toml", "rb") as file:
    project = tomllib.load(file)["project"]
extras = list(sys.argv[1:])
needed = project["dependencies"]
for extra in extras:
    for need in project["optional-dependencies"][extra]:
        if own := re.fullmatch(re.escape(project["name"]) + r"\[(.+)\]", need):
            extras += own[1].split(",")
        else:
            needed.append(need)
print("\n".join(needed))
EOF
}

echo "setup: installing the suite into $venv (TensorFlow included; a few minutes the first time)"
sed -n '/^pip==/,/[^\\]$/p' constraints.txt >"$venv/needed.txt"
install --requirement "$venv/needed.txt"
install hatchling editables
needs suite dev >"$venv/needed.txt"
install --requirement "$venv/needed.txt"
"$venv/bin/python" -m pip install --quiet --no-deps --no-build-isolation --editable .

# pydl8.5, only compared with, is compiled on the spot. Without a compiler the suite goes on.
needs dl85 >"$venv/needed.txt"
if ! install --requirement "$venv/needed.txt" 2>"$venv/pydl85.log"; then
    if command -v "${CXX:-c++}" >/dev/null; then
        reason="building pydl8.5 failed (see $venv/pydl85.log)"
    else
        reason="pydl8.5 needs a C++ compiler and none was found; install one and run 'make setup' again after 'make clean'"
    fi
    echo "setup: the learner dl85-original will be reported as skipped: $reason" >&2
fi
echo "setup: done"
