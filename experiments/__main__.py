"""``python -m experiments VERB``: the command line of the suite."""

from experiments.cli import main

raise SystemExit(main())
