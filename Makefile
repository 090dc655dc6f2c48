# `make help` lists what can be made. Every target sets up what it needs.

VENV    := .venv
PY      := $(VENV)/bin/python
PROFILE ?= paper
WORKERS ?=
ARGS    ?=

export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help setup data reproduce tables report verify bench test test-slow test-network lint format clean delete-runs

help: ## List the targets, and what each profile of `make reproduce` takes by the committed runs
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@test ! -x $(PY) || { echo; $(PY) -m experiments list profiles --cost; }

setup: $(VENV)/.ready ## Create .venv and install what the suite needs

$(VENV)/.ready: pyproject.toml constraints.txt scripts/setup.sh
	@bash scripts/setup.sh $(VENV)
	@touch $@

data: setup ## Fetch and verify the 36 datasets
	@$(PY) -m experiments data $(ARGS)

reproduce: setup ## Run the experiments, tables and report into .runs; PROFILE=smoke, quick, paper (default), extended, full
	@$(PY) -m experiments run --profile $(PROFILE) $(if $(WORKERS),--workers $(WORKERS)) --refresh $(ARGS)

tables: setup ## Write results/tables (CSV and LaTeX) from the committed runs
	@$(PY) -m experiments tables --results $(ARGS)

report: setup ## Write results/report.html and results/figures from the committed runs
	@$(PY) -m experiments report --results $(ARGS)

verify: setup ## Compare cells and claims with the paper; fail if a verdict got worse
	@$(PY) -m experiments verify $(ARGS)

bench: setup ## Time the GradTree engines, into .runs/bench
	@$(PY) scripts/bench.py $(ARGS)

test: setup ## Run the default tests: offline, a few minutes
	@$(PY) -m pytest $(ARGS)

test-slow: setup ## Run the tests that take long or need every dataset
	@$(PY) -m pytest -m "slow or mirror" $(ARGS)

test-network: setup ## Run the tests that download from PyPI
	@$(PY) -m pytest -m network $(ARGS)

lint: setup ## Check style (ruff) and types (mypy)
	@$(VENV)/bin/ruff check .
	@$(VENV)/bin/ruff format --check .
	@$(VENV)/bin/mypy

format: setup ## Format the code and apply ruff's fixes
	@$(VENV)/bin/ruff format .
	@$(VENV)/bin/ruff check --fix .

clean: ## Remove .venv, caches and build files; .runs stays
	rm -rf $(VENV) .cache build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

delete-runs: ## Delete .runs with your runs; asks first
	@read -p "Delete .runs with all its runs? [y/N] " answer && [ "$$answer" = y ] && rm -rf .runs
