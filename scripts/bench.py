#!/usr/bin/env python
"""Time the engines, as ``python -m experiments bench`` does.

.venv/bin/python scripts/bench.py --quick
.venv/bin/python scripts/bench.py --axis banknote --authors-python ~/authors/bin/python
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from experiments.cli import main

if __name__ == "__main__":
    sys.exit(main(["bench", *sys.argv[1:]]))
