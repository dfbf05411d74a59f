# Everything is installed into .venv by the first target that needs it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

.PHONY: demo test check format clean

demo: $(INSTALLED)  ## Compile real documentation, then repair what a newer release moved.
	$(BIN)/python demo/demo.py

test: $(INSTALLED)  ## Run the tests on a PostgreSQL of their own.
	$(BIN)/python -m pytest -n auto --dist worksteal $(PYTEST_ARGUMENTS)

check: $(INSTALLED)  ## Lint, types, and the direction of imports.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(INSTALLED)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) .demo build dist

$(INSTALLED): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[embedded,evaluation,pdf,dev]'
	touch $@
