# Every target sets up what it needs in .venv; nothing outside this folder is touched.
PYTHON ?= python3
BIN := .venv/bin
export OMP_WAIT_POLICY = PASSIVE
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test test-all fuzz lint docs dist benchmarks clean

demo: .venv/.core
	$(BIN)/python examples/demo.py --out out/demo

test: .venv/.dev
	$(BIN)/python -m pytest -q -n 2 -m "not slow"

test-all: .venv/.dev
	$(BIN)/python -m pytest -q -n 2 -m "not slow"
	$(BIN)/python -m pytest -q -n 2 -m slow

fuzz: .venv/.dev
	$(BIN)/python benchmarks/fuzz.py --count 10000 --keep out/fuzz

lint: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: .venv/.dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

benchmarks: .venv/.dev
	$(BIN)/python benchmarks/rerun.py $(if $(ONLY),--only $(ONLY))

dist: .venv/.dev
	rm -rf dist
	$(BIN)/python -m build --quiet --outdir dist .
	ls -lh dist

.venv/bin/python:
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'neurok needs Python 3.11 or newer; name one with: make PYTHON=python3.11')"
	$(PYTHON) -m venv .venv

.venv/.core: .venv/bin/python pyproject.toml lab/pyproject.toml
	$(PIP) -e . -e ./lab
	touch $@

.venv/.dev: .venv/bin/python pyproject.toml lab/pyproject.toml
	$(PIP) -e ".[dev]" -e ./lab
	touch $@ .venv/.core

clean:
	rm -rf .venv build dist site out src/*.egg-info lab/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
