# Two commands do everything on a fresh machine with Python 3.11+ and make:
#   make demo   install into .venv, solve a bundled example, show the result
#   make test   install the development tools, run ruff, mypy and pytest
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

OTHER_PLATFORMS := darwin win32

.PHONY: demo test test-bare test-browser lint mypy kernels wheel docs paper-small fuzz kills torture embedding defects \
	clean

demo: kernels
	$(BIN)/dabp solve examples/frequencies.cfn --time 10
	$(BIN)/dabp plot problem examples/frequencies.cfn --output demo.png
	@echo "The picture of the problem is in demo.png."

test: $(VENV)/.developing
	$(MAKE) --jobs 2 lint kernels
	$(BIN)/python -m pytest

# The build hook's work with the Numba that is installed: nothing to do if no kernel has changed.
kernels: $(VENV)/.installed
	$(BIN)/python hatch_build.py

# Wheel and source distribution into dist/, tried in an empty environment.
wheel: $(VENV)/.installed
	DABP_BUILD_KERNELS=all $(BIN)/python -m tests.wheel dist

# An environment without toulbar2 and the extras.
test-bare:
	rm -rf build/bare
	$(PYTHON) -m venv build/bare
	build/bare/bin/python -m pip install --quiet --disable-pip-version-check .
	build/bare/bin/python -m pip uninstall --quiet --yes pytoulbar2
	build/bare/bin/python tests/smoke.py --bare

test-browser: $(VENV)/.developing
	command -v chromium || command -v chromium-browser || command -v google-chrome || apt-get install --yes --no-install-recommends chromium
	$(BIN)/python -m pytest -n 0 tests/lab/experiments/test_browser.py

paper-small: $(VENV)/.experimenting
	for plan in paper/small/*.toml; do $(BIN)/dabp lab experiment run $$plan -o build/paper-small --jobs 2 || exit 1; done
	$(BIN)/python paper/render.py build/paper-small build/paper-small/rendered
	@echo "Tables, figures and the report are in build/paper-small/rendered."

lint: $(VENV)/.developing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(MAKE) --jobs 3 mypy $(OTHER_PLATFORMS:%=mypy-%)

mypy:
	$(BIN)/mypy

mypy-%:
	$(BIN)/mypy --platform $* --cache-dir .mypy_cache/$*

docs: $(VENV)/.documenting
	$(BIN)/mkdocs build --strict

fuzz: $(VENV)/.developing
	$(BIN)/python -m checks.fuzz --count 100000 --seconds 900

kills: $(VENV)/.developing
	$(BIN)/python -m checks.kills --kills 200

embedding: $(VENV)/.developing
	$(BIN)/python -m checks.embedding --solves 500

defects: $(VENV)/.developing
	$(BIN)/python -m checks.defects

torture: $(VENV)/.developing
	$(BIN)/python -m checks.torture --problems 5000 --seconds 7200 --jobs 2

clean:
	rm -rf $(VENV) dist build site .mypy_cache .ruff_cache .pytest_cache

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

# Kernels are compiled by `make kernels`, with the Numba of this environment instead of one of an isolated build.
$(VENV)/.installed: export DABP_BUILD_KERNELS = 0
$(VENV)/.installed: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check hatchling --editable ".[plots]"
	touch $@

$(VENV)/.experimenting: export DABP_BUILD_KERNELS = 0
$(VENV)/.experimenting: $(VENV)/.installed pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[experiments]"
	touch $@

$(VENV)/.developing: export DABP_BUILD_KERNELS = 0
$(VENV)/.developing: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check hatchling --editable ".[dev]"
	touch $(VENV)/.installed $@

$(VENV)/.documenting: export DABP_BUILD_KERNELS = 0
$(VENV)/.documenting: $(VENV)/.installed pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[docs]"
	touch $@
