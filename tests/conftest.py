"""Parts that need a program from outside, such as a browser: where it is missing they are not tested, and that is said last. And in which
turn, and by how many processes, tests are run beside one another."""

import os
import re
import shutil

import pytest

PREFIX = "NOT TESTED: "
# Files and folders that take longest are begun first, so that no process is left with one of them at the end. One file has the site built,
# and the others that look at it come when it is there: who asks for it meanwhile waits.
FIRST = ("tests/site/test_every_page.py", "tests/site/test_pasting.py", "tests/site/test_api.py", "tests/kernel/", "tests/site/")


def pytest_addoption(parser):
    parser.addoption(
        "--share", metavar="K/N", type=shares, default=(1, 1), help="Of what takes longest, share K of N, as CI does, a commit another."
    )


def shares(text):
    said = re.fullmatch(r"(\d+)/(\d+)", text)
    part, parts = (int(number) for number in said.groups()) if said else (0, 0)
    if not 1 <= part <= parts:
        raise pytest.UsageError(f"--share {text}: say which of how many, as 1/4")
    return part, parts


@pytest.fixture(scope="session")
def share(pytestconfig):
    """A function of numbered things: is this one in the share that is asked for?"""
    part, parts = pytestconfig.getoption("--share")
    return lambda number: number % parts == part - 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config):
    """One more than there are cores: a test that waits for a browser or another program leaves its core to one that does not."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ or config.option.numprocesses != "auto":
        return None
    return 1 + (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


def pytest_collection_modifyitems(items):
    items.sort(key=turn)


def turn(item):
    """The number of the first of these that an item belongs to; tests of one stay in their order."""
    return next((number for number, name in enumerate(FIRST) if item.nodeid.startswith(name)), len(FIRST))


@pytest.fixture(scope="session")
def program():
    """A function from names of a program to its path. Without one the test is skipped; in CI it fails."""

    def find(*names: str) -> str:
        path = next(filter(None, map(shutil.which, names)), None)
        if path is None and os.environ.get("CI") == "true":
            pytest.fail(f"{names[0]} is not installed, and CI requires it; .ci/run installs it", pytrace=False)
        if path is None:
            pytest.skip(f"{PREFIX}there is no {names[0]} here")
        return path

    return find


def pytest_unconfigure(config):
    """After pytest's own closing line, so that nothing comes behind it."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    for report in reporter.stats.get("skipped", []) if reporter else []:
        reason = str(report.longrepr[2]).removeprefix("Skipped: ")
        if reason.startswith(PREFIX):
            reporter.write_line(f"{reason} ({report.nodeid})", red=True, bold=True)
