# Two commands do everything on a fresh machine with Python 3.11+ and make:
#   make demo   install into .venv, solve a bundled example, show the result
#   make test   install the development tools, run ruff, mypy and pytest
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: fuzz kills torture embedding defects demo test test-browser lint kernels docs paper-small clean

demo: $(VENV)/.installed
	$(BIN)/dabp doctor --compile
	$(BIN)/dabp solve examples/frequencies.cfn --time 10
	$(BIN)/dabp plot problem examples/frequencies.cfn --output demo.png
	@echo "The picture of the problem is in demo.png."

test: $(VENV)/.developing
	$(MAKE) --jobs 2 lint kernels
	$(BIN)/python -m pytest

kernels: $(VENV)/.developing
	$(BIN)/dabp doctor --compile
	$(BIN)/python -m tests.solvers.compiled_kinds

test-browser: $(VENV)/.developing
	command -v chromium || command -v chromium-browser || command -v google-chrome || apt-get install --yes --no-install-recommends chromium
	$(BIN)/python -m pytest -n 0 tests/experiments/test_browser.py

paper-small: $(VENV)/.experimenting
	for plan in paper/small/*.toml; do $(BIN)/dabp experiment run $$plan -o build/paper-small --jobs 2 || exit 1; done
	$(BIN)/python paper/render.py build/paper-small build/paper-small/rendered
	@echo "Tables, figures and the report are in build/paper-small/rendered."

lint: $(VENV)/.developing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/.documenting
	$(BIN)/mkdocs build --strict

fuzz: $(VENV)/.developing
	$(BIN)/python -m tests.formats.fuzz --count 100000 --seconds 900

kills: $(VENV)/.developing
	$(BIN)/python -m tests.kills --kills 200

embedding: $(VENV)/.developing
	$(BIN)/python -m tests.embedding --solves 500

defects: $(VENV)/.developing
	$(BIN)/python -m tests.defects

torture: $(VENV)/.developing
	$(BIN)/python -m tests.torture --problems 5000 --seconds 7200 --jobs 2

clean:
	rm -rf $(VENV) dist build site .mypy_cache .ruff_cache .pytest_cache

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/.experimenting: $(VENV)/.installed pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[experiments]"
	touch $@

$(VENV)/.developing: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	touch $(VENV)/.installed $@

$(VENV)/.documenting: $(VENV)/.installed pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[docs]"
	touch $@
