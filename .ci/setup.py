"""Make .venv contain exactly the packages that requirements.txt pins. Do nothing if it already does.

    python3 .ci/setup.py

This file uses only the standard library. It must parse even under Python 2.7, so that it can report that a Python is too
old.
"""

from __future__ import print_function

import contextlib
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys

OLDEST = (3, 11, 5)  # pymdown-extensions needs this version
ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
REQUIREMENTS = os.path.join(ROOT, "requirements.txt")
VENV = os.path.join(ROOT, ".venv")
PYTHON = os.path.join(VENV, "bin", "python")
STAMP = os.path.join(VENV, "made-from")
LOG = os.path.join(VENV, "setup.log")

# Parts of pip's messages about a package index that it cannot reach.
UNREACHABLE = (
    "connection broken",
    "NewConnectionError",
    "NameResolutionError",
    "ConnectTimeout",
    "ReadTimeout",
    "Max retries exceeded",
    "Network is unreachable",
    "ProxyError",
    "SSLError",
)


class SetupError(Exception):
    """The setup cannot continue. The message is one line that says what happened and what to do."""


def require_python():
    """Raise SetupError if the Python that runs this script is too old."""
    if sys.version_info < OLDEST:
        raise SetupError(
            "%s is Python %s, but %s or later is needed. Install one, or name it: make PYTHON=/path/to/python3"
            % (sys.executable, format_version(sys.version_info[:3]), format_version(OLDEST))
        )


def format_version(version):
    """Return a tuple of version numbers as text."""
    return ".".join(str(part) for part in version)


def require_venv():
    """Raise SetupError if this Python cannot make virtual environments."""
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401  Debian ships Python without ensurepip
    except ImportError:
        raise SetupError(
            "%s has no venv module. On Debian or Ubuntu: apt-get install python3-venv. Elsewhere, name a Python that "
            "has it: make PYTHON=/path/to/python3" % sys.executable
        )


@contextlib.contextmanager
def exclusive():
    """Let only one setup run at a time. A second one waits, and then finds that nothing is left to do."""
    import fcntl

    with open(os.path.realpath(__file__)) as this:
        try:
            fcntl.flock(this, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            print("Another setup is running here. Waiting for it.", flush=True)
            fcntl.flock(this, fcntl.LOCK_EX)
        yield


def environment_key():
    """Return what .venv depends on: the pins, the Python, and its path, since a virtual environment cannot be moved."""
    with open(REQUIREMENTS, "rb") as pins:
        digest = hashlib.sha256(pins.read()).hexdigest()
    return "\n".join((digest, sys.version, sys.base_prefix, VENV))


def is_up_to_date():
    """Return whether .venv was completely made from the current requirements, and its Python runs."""
    try:
        with open(STAMP) as stamp:
            return stamp.read() == environment_key() and subprocess.call([PYTHON, "-c", ""], stderr=subprocess.DEVNULL) == 0
    except (IOError, OSError):
        return False


def build():
    """Make .venv from scratch. Write the stamp last, so that an interrupted setup starts over."""
    key = environment_key()
    if os.path.exists(STAMP):
        os.remove(STAMP)
    print("Setting up .venv from requirements.txt. This takes a few minutes, once.", flush=True)
    make_environment()
    install()
    make_importable()
    with open(STAMP + ".new", "w") as stamp:
        stamp.write(key)
    os.replace(STAMP + ".new", STAMP)


def make_environment():
    """Make an empty virtual environment. Raise SetupError if that fails."""
    made = subprocess.run(
        [sys.executable, "-m", "venv", "--clear", VENV], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    )
    if made.returncode != 0:
        raise SetupError(
            "%s -m venv could not make .venv: %s. Remove .venv and run the same command again." % (sys.executable, last_line(made.stdout))
        )


def install():
    """Install the pinned packages with pip. Write its output to the log, and show only the progress. Raise SetupError if pip fails."""
    environment = {
        name: value for name, value in os.environ.items() if name not in ("PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT")
    }  # these variables would make pip install elsewhere
    command = [
        PYTHON,
        "-I",
        "-m",
        "pip",
        "install",
        "--requirement",
        REQUIREMENTS,
        "--progress-bar",
        "off",
        "--no-input",
        "--disable-pip-version-check",
    ]
    with open(LOG, "w", encoding="utf-8") as log, Progress(pin_count()) as progress:
        pip = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        try:
            for line in pip.stdout:
                log.write(line)
                progress.update(line)
        except BaseException:
            pip.kill()  # do not leave it running in the background
            raise
    if pip.wait() != 0:
        with open(LOG, encoding="utf-8") as log:
            raise SetupError(explain_failure(log.read()))


def make_importable():
    """Put the root on the path of .venv, so that a script can be run directly, as in `python derivations/scaling/variance.py`."""
    folder = subprocess.check_output([PYTHON, "-I", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], text=True)
    with open(os.path.join(folder.strip(), "root-of-the-site.pth"), "w") as path:
        path.write(ROOT + "\n")


def pin_count():
    """Return the number of pinned packages."""
    with open(REQUIREMENTS) as pins:
        return sum("==" in line.split("#")[0] for line in pins)


class Progress:
    """A progress line on a terminal; without a terminal, nothing is shown."""

    def __init__(self, total):
        self.total = total
        self.seen = 0

    def update(self, line):
        """Update the progress from a line of pip's output."""
        words = line.split()
        if words and words[0] in ("Collecting", "Processing"):
            self.seen += 1
            self.show("%d/%d %s" % (min(self.seen, self.total), self.total, words[1].split("/")[-1]))
        elif line.startswith("Installing collected packages"):
            self.show("installing %d packages" % self.seen)

    def show(self, text):
        """Replace the progress line by this text."""
        if sys.stdout.isatty():
            width = shutil.get_terminal_size().columns - 1
            print("\r" + ("  " + text)[:width].ljust(width), end="", flush=True)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.show("")
        if sys.stdout.isatty():
            print("\r", end="", flush=True)


def explain_failure(log):
    """Return one line that explains why pip failed, given its log."""
    missing = re.search(r"No matching distribution found for (\S+)", log)
    if any(sign in log for sign in UNREACHABLE):
        text = "no network: pip cannot reach its package index. Connect, then run the same command again."
    elif missing and "(from versions: none)" in log:
        text = (
            "pip finds no version of %s: there is no network, or pip's index lacks it. Connect, or check pip's "
            "settings (%s -m pip config list), then run the same command again." % (missing.group(1), sys.executable)
        )
    elif missing:
        text = (
            "pip finds no %s for Python %d.%d on this system, only other versions. Try another Python: make "
            "PYTHON=/path/to/python3" % ((missing.group(1),) + sys.version_info[:2])
        ) + "."
    elif "No space left on device" in log:
        text = "the disk is full. Free about 2 GB, then run the same command again."
    else:
        errors = [line[len("ERROR: ") :] for line in log.splitlines() if line.startswith("ERROR: ")]
        text = "pip failed: %s. Run the same command again." % last_line("\n".join(errors) or log)
    return text + " The output of pip is in .venv/setup.log."


def last_line(text):
    """Return the last line that is not blank, without its final period."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1].rstrip(".") if lines else "no reason was given"


def main():
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # handle a termination like Ctrl-C
    try:
        require_python()
        with exclusive():
            if not is_up_to_date():
                require_venv()
                build()
    except SetupError as error:
        print("setup: %s" % error, file=sys.stderr)
        return 1
    except (IOError, OSError) as error:
        print("setup: %s. Correct that, then run the same command again." % error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nsetup: interrupted. Run the same command again; it starts over.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
