# `make` on its own says what there is. Only make, a shell and Python are needed: the rest goes into .venv.

PYTHON ?= python3
PORT ?= 8000
ARGS ?=
PY := .venv/bin/python
# Test files run beside one another, in the turn that tests/conftest.py says; ARGS="-n 0" runs them one by one. Where a process dies, pytest
# would wait for its tests for ever if another one took its place.
BESIDE := --numprocesses auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder --max-worker-restart 0
# SHARED=/path: also use the results in a folder that a team shares (CONTRIBUTING.md). REPLAY=20: compute one stored result in 20 again, and
# compare; SEED=TEXT picks which ones.
SHARED ?=
STORE = $(if $(REPLAY),--replay $(REPLAY)) $(if $(SEED),--seed "$(SEED)") $(if $(SHARED),--shared "$(SHARED)")
# SINCE=main: of the test files those that what changed since then may reach, and some of the others (tests/chosen.py).
SINCE ?=
TESTED = $(PY) -m pytest $(if $(SINCE),-p tests.chosen --since $(SINCE)) $(BESIDE)

# Nothing of the caller's Python reaches ours. The last line silences a notice that Material prints at every build.
unexport PYTHONHOME PYTHONPATH PYTHONSAFEPATH PYTHONDONTWRITEBYTECODE
export NO_MKDOCS_2_WARNING := 1

.PHONY: help serve test browser slow lint coq proofs coqtest sympy mutants fuzz mutmut check site wheel retrain bench clean python port setup
.NOTPARALLEL:

help:
	@echo "make serve   check the derivations, build the site, serve it on 127.0.0.1 (PORT=$(PORT))"
	@echo "make test    lint, check the derivations, run the tests (ARGS=\"-k variance\" runs some, SINCE=main those of what changed since)"
	@echo "make browser the tests of pages in a browser: keys, light and dark, a phone's width (needs Chromium)"
	@echo "make slow    the tests that take minutes: every page in a browser, forged claims, pages pasted whole, these commands run for real"
	@echo "make lint    what a machine can say of the code: form, faults, types, and what may import what"
	@echo "make coq     have Coq prove what it can state (needs coqc), and test that witness: both of the next two"
	@echo "make proofs  have Coq prove what it can state"
	@echo "make coqtest test that witness: it has to prove what is true, and nothing that is false or forged"
	@echo "make sympy   write every claim's SymPy program, and run each of them on its own (some minutes)"
	@echo "make mutants corrupt every claim as a slip would: each witness must notice (some twenty minutes, then what changed)"
	@echo "make fuzz    random claims, true and false: no witness may accept a false one (some 15 minutes; ARGS=\"--claims 30000\" tries fewer)"
	@echo "make mutmut  corrupt the kernel's own code: its tests must notice (about an hour)"
	@echo "make check   check the derivations (REPLAY=20 checks one stored claim in 20 again; proofs, mutants and site take it too)"
	@echo "make site    check the derivations, build the site into site/"
	@echo "make wheel   build the package of the snippets into dist/, and try it in an empty environment (a minute, and a network)"
	@echo "make retrain train the models that the pages show again, and write their files (ARGS=--check compares)"
	@echo "make bench   measure what checking costs, and what a page costs a browser (an hour; the latter needs npm and Chromium)"
	@echo "make clean   remove all that these made"

# The port comes first: nobody should wait minutes to hear that it is taken.
serve: port site
	@exec $(PY) .ci/serve.py "$(PORT)" site

test: lint check
	@$(TESTED) -m "not coq and not slow and not browser" $(ARGS)

browser: check
	@$(TESTED) -m "browser and not slow" $(or $(ARGS),tests/site)

slow: check
	@$(TESTED) -m slow $(ARGS)

lint: setup
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(PY) -c "from importlinter.cli import lint_imports_command as lint; lint(['--no-logo'])"
	@$(PY) -m mypy

coq: proofs coqtest

proofs: check
	@$(PY) -m derivations coq $(STORE)

coqtest: check
	@$(TESTED) -m coq tests/kernel/test_coq_*.py

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
	  echo "setup: '$(PYTHON)' is no Python that runs. Install Python 3.11.5 or later, or name one: make PYTHON=/path/to/python3" >&2; \
	  exit 1; }

port: python
	@exec "$(PYTHON)" .ci/serve.py "$(PORT)"

setup: python
	@exec "$(PYTHON)" .ci/setup.py
