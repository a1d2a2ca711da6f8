"""Parts that need a program from outside, such as a browser: where it is missing they are not tested, and that is said last."""

import os
import shutil
from pathlib import Path

import pytest

PREFIX = "NOT TESTED: "
LONGEST = (  # files, under tests/, that take half a minute or more: begun first, so that no process is left with one at the end
    "kernel/test_sympy_programs.py",
    "site/test_zensical.py",
    "site/test_reach.py",
    "site/test_serving.py",
    "kernel/test_leaving.py",
    "kernel/test_cli.py",
    "kernel/test_cluster.py",
    "kernel/test_tracking.py",
    "kernel/test_torch_witness.py",
    "kernel/test_fuzzing.py",
    "kernel/test_watch.py",
)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """One process more than there are cores: tests that wait for a browser or for another process leave theirs to somebody."""
    return (os.cpu_count() or 1) + 1


def pytest_collection_modifyitems(items):
    rank = {str(Path(__file__).parent / name): k for k, name in enumerate(LONGEST)}
    items.sort(key=lambda item: rank.get(str(item.path), len(rank)))


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
