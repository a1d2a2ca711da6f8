"""Build the package of the snippets, and test it in an empty environment.

    python .ci/wheel.py [FOLDER]    into FOLDER, or dist/

pip installs the package into the empty environment with its dependencies, at the versions that requirements.txt pins. All of its modules are
imported there, and the examples of some are run; then again, with the oldest jaxtyping that pyproject.toml declares. At the end, the tests of
the code (tests/code.py) run in the same environment, with only the packages of the group `code`.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER, PACKAGE = "snippets", "attention_snippets"
EXAMPLE_MODULES = [f"{PACKAGE}.blocks.merge", f"{PACKAGE}.seeing.recall"]  # the second reads a data file

IMPORT_ALL = f"""
import importlib, pkgutil, {PACKAGE}
names = [module.name for module in pkgutil.walk_packages({PACKAGE}.__path__, "{PACKAGE}.")]
for name in names:
    importlib.import_module(name)
print(len(names), "modules from", {PACKAGE}.__path__[0])
"""
EXAMPLES = """
import doctest, importlib, sys
for name in sys.argv[1:]:
    failed, tried = doctest.testmod(importlib.import_module(name))
    print(name, tried, "examples")
    if failed or not tried:
        sys.exit(f"{name}: {failed} of {tried} examples fail")
"""


class PackageError(Exception):
    """The package cannot be built or is wrong. The message says what was expected and what was found."""


def build(folder: Path) -> Path:
    """Build the wheel into a folder and return its path. Raise PackageError if the build fails or its contents are wrong."""
    with tempfile.TemporaryDirectory() as made:
        run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", made, ROOT], made)
        (wheel,) = Path(made).glob("*.whl")
        check_contents(wheel)
        folder.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copy(wheel, folder))


def project() -> dict:
    """Return what pyproject.toml says."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def dependencies() -> list[str]:
    """Return the names of the packages on which the snippets depend, as pyproject.toml declares them."""
    return [name_of(line) for line in project()["project"]["dependencies"]]


def name_of(requirement: str) -> str:
    """Return the name of the package that a requirement asks for."""
    return re.match(r"[\w-]+", requirement)[0]


def oldest(package: str) -> str:
    """Return the requirement of the oldest version of a package that pyproject.toml allows. Each dependency declares one."""
    (line,) = (line for line in project()["project"]["dependencies"] if name_of(line) == package)
    return line.replace(">=", "==")


def expected_files() -> set[str]:
    """Return the files that the package must contain: all files in its folder except caches, hidden files and ruff.toml."""
    files = (path.relative_to(ROOT / FOLDER) for path in (ROOT / FOLDER).rglob("*") if path.is_file() and path.name != "ruff.toml")
    return {
        f"{PACKAGE}/{path.as_posix()}" for path in files if not any(part == "__pycache__" or part.startswith(".") for part in path.parts)
    }


def check_contents(wheel: Path) -> None:
    """Raise PackageError if the wheel lacks a file of the package or its metadata, or contains any other file."""
    found = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    if found != expected_files():
        raise PackageError(
            f"{wheel.name} lacks {sorted(expected_files() - found)}, and should not contain {sorted(found - expected_files())}"
        )


def install_and_test(wheel: Path) -> None:
    """Install the wheel in an empty environment and test it there, and print the results. Raise PackageError if a step fails."""
    with tempfile.TemporaryDirectory() as place:
        venv.create(Path(place) / "environment", with_pip=True)
        python = Path(place) / "environment" / "bin" / "python"
        pip = [python, "-I", "-m", "pip"]
        pinned = [*pip, "install", "--quiet", "--constraint", ROOT / "requirements.txt"]
        run([*pinned, wheel], place)
        run([*pip, "check"], place)
        print(test_package(python, place), end="", flush=True)
        run([*pip, "install", "--quiet", oldest("jaxtyping")], place)
        print(f"With {oldest('jaxtyping')}:\n{test_package(python, place)}", end="", flush=True)
        run([*pinned, *project()["dependency-groups"]["code"]], place)
        print(run([python, "-m", "tests.code"], ROOT), end="")


def test_package(python: Path, folder: str) -> str:
    """Import all modules of the installed package, run some examples, and return the output. Raise PackageError if a step fails."""
    return run([python, "-I", "-c", IMPORT_ALL], folder) + run([python, "-I", "-c", EXAMPLES, *EXAMPLE_MODULES], folder)


def run(command: list, folder: str | Path) -> str:
    """Run a command in a folder and return what it prints. Raise PackageError with its output if it fails."""
    done = subprocess.run([str(part) for part in command], cwd=folder, text=True, capture_output=True)
    if done.returncode:
        said = (done.stdout + done.stderr).strip()[-3000:]
        raise PackageError(f"{' '.join(map(str, command[1:5]))} fails:\n{said}")
    return done.stdout


def main() -> int:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "dist")
    try:
        wheel = build(folder)
        print(f"Built {wheel}. Testing it in an empty environment, into which PyTorch is installed.", flush=True)
        install_and_test(wheel)
    except PackageError as error:
        print(f"wheel: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
