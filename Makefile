# `make help` lists what can be made. Every target sets up what it needs.

VENV    := .venv
PY      := $(VENV)/bin/python
PROFILE ?= paper
WORKERS ?= $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
ARGS    ?=

export PIP_CONSTRAINT := $(CURDIR)/constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help setup data reproduce tables report verify bench test test-slow test-network lint format clean delete-runs

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(VENV)/.ready ## Create .venv and install everything the suite needs

$(VENV)/.ready: pyproject.toml constraints.txt scripts/setup.sh
	@bash scripts/setup.sh $(VENV)
	@touch $@

data: setup ## Fetch and verify the 36 datasets
	@$(PY) -m experiments data $(ARGS)

reproduce: setup ## Run the paper (PROFILE=smoke, quick, paper, or full with our own search), tables, report
ifeq ($(PROFILE),full)
	@$(PY) -m experiments plan --profile paper --workers $(WORKERS)
	@$(PY) -m experiments search --protocol paper,clean --workers $(WORKERS) --plan
	@$(PY) -m experiments run --profile paper --workers $(WORKERS) --refresh tables,report $(ARGS)
	@$(PY) -m experiments search --protocol paper,clean --workers $(WORKERS) $(ARGS)
	@$(PY) -m experiments run --profile searched --workers $(WORKERS) --refresh tables,report $(ARGS)
else
	@$(PY) -m experiments run --profile $(PROFILE) --workers $(WORKERS) --refresh tables,report $(ARGS)
endif

tables: setup ## Tables as CSV and LaTeX, from the committed records
	@$(PY) -m experiments tables --results $(ARGS)

report: setup ## The HTML report and its figures, from the committed records
	@$(PY) -m experiments report --results $(ARGS)

verify: setup ## Each cell and each claim of the paper beside ours, with a verdict
	@$(PY) -m experiments verify $(ARGS)

bench: setup ## Speed of the GradTree engines
	@$(PY) -m experiments bench $(ARGS)

test: setup ## The default tests: offline, a few minutes
	@$(PY) -m pytest $(ARGS)

test-slow: setup ## The tests that take long or need every dataset
	@$(PY) -m pytest -m "slow or mirror" $(ARGS)

test-network: setup ## The tests that download from the package index
	@$(PY) -m pytest -m network $(ARGS)

lint: setup ## Style and types
	@$(VENV)/bin/ruff check .
	@$(VENV)/bin/ruff format --check .
	@$(VENV)/bin/mypy

format: setup ## Let ruff rewrite the files
	@$(VENV)/bin/ruff format .
	@$(VENV)/bin/ruff check --fix .

clean: ## Remove the environment and caches; your runs stay
	rm -rf $(VENV) .cache build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

delete-runs: ## Delete .runs, your own run records; asks first
	@read -p "Delete .runs with all its records? [y/N] " answer && [ "$$answer" = y ] && rm -rf .runs
