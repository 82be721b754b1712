# Everything a person does with the course. `make help` says what there is.
PYTHON ?= python3
BIN := .venv/bin
.DEFAULT_GOAL := help
.PHONY: help setup demo test check build seeds weights strength bench lab

help:  ## say what there is
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: .venv/.ready  ## make the environment in .venv (the other targets do this when needed)

.venv/.ready: requirements.txt pyproject.toml notebooks/pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; make PYTHON=/path/to/python3.11 names another")'
	@echo "Making the environment in .venv: a few minutes, once."
	@$(PYTHON) -m venv .venv
	@$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $@
	@echo "The environment is ready."

build: .venv/.ready  ## make the notebooks from the lessons' text
	@$(BIN)/python -m grader build

demo: build  ## grade the sample class through nbgrader and say who got what and why
	@$(BIN)/python -m grader demo

test: .venv/.ready  ## run all tests
	@$(BIN)/python -m pytest -n 2 --dist loadgroup

check: .venv/.ready  ## lint, types, and that the notebooks are as built
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/python -m grader build --check

strength: .venv/.ready  ## measure the hidden checks and rewrite their record
	@$(BIN)/python -m grader strength

seeds: .venv/.ready  ## hold faults and styles to one score on fifty seeds, training to its figures on five; an hour
	@$(BIN)/python -m pytest -n 2 -m seeds --seeds tests/solutions tests/attnlab/test_translator.py

weights: .venv/.ready  ## train the translator that lesson 5 uses and write its weights
	@$(BIN)/python -m grader weights

bench: .venv/.ready  ## measure a class, kernels and checks, and write tests/bench/RESULTS.md
	@$(BIN)/python -m tests.bench

lab: .venv/.ready  ## open lesson 1 in JupyterLab
	@$(BIN)/jupyter lab --notebook-dir=notebooks notebooks/01_mask/01_mask.ipynb
