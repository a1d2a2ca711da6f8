"""Test the code alone, without the site: the tests of all chapters of `snippets`, and the examples in its docstrings.

    python -m tests.code

This needs PyTorch, jaxtyping, pytest and hypothesis, and takes about a minute. Two processes of pytest share the files. The output of the
second is shown when both have ended, and after it what is left out: the tests of everything else, which need the packages of the site.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CHAPTERS = sorted(path.parent.name for path in ROOT.glob("snippets/*/__init__.py"))
SLOWEST = "tests/together/"  # trains models, which takes a third of the time


def find_files() -> list[str]:
    """Return the files with tests or examples of the chapters."""
    found = [path for chapter in CHAPTERS for name in (f"tests/{chapter}", f"snippets/{chapter}") for path in ROOT.glob(f"{name}/*.py")]
    return sorted(str(path.relative_to(ROOT)) for path in found if path.name not in ("__init__.py", "conftest.py"))


def find_left_out() -> list[str]:
    """Return the other files and folders with tests."""
    found = [path for path in ROOT.glob("tests/*") if path.name.startswith("test_") or any(path.rglob("test_*.py"))]
    return sorted(str(path.relative_to(ROOT)) for path in found if path.name not in CHAPTERS)


def share(files: list[str]) -> tuple[list[str], list[str]]:
    """Return the files in two parts that take about the same time: the slowest folder with a fifth of the others, and the rest."""
    slowest = [file for file in files if file.startswith(SLOWEST)]
    others = [file for file in files if file not in slowest]
    return slowest + others[::5], [file for k, file in enumerate(others) if k % 5]


def run_pytest(files: list[str], output=None) -> subprocess.Popen:
    """Start pytest on files."""
    environment = os.environ | {"CI": ""}  # in CI, too, tests that need the packages of the group `models` are skipped here, and listed
    return subprocess.Popen(
        [sys.executable, "-m", "pytest", "-q", *files], cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT
    )


def main() -> int:
    """Run the tests. Return 0 if all passed and 1 otherwise."""
    first, second = share(find_files())
    with tempfile.TemporaryFile("w+") as later:
        running = run_pytest(first), run_pytest(second, later)
        failed = [process.wait() for process in running]
        later.seek(0)
        print(later.read(), end="")
    print(f"NOT TESTED here, because it needs the packages of the site: {', '.join(find_left_out())}. `make test` tests all of it.")
    return int(any(failed))


if __name__ == "__main__":
    sys.exit(main())
