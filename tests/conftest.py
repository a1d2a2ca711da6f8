"""Parts that need a program from outside, such as a browser: where it is missing they are not tested, and that is said last."""

import os
import shutil

import pytest

PREFIX = "NOT TESTED: "


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
