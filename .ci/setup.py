"""Make .venv hold exactly what requirements.txt pins, and do nothing when it does already.

    python3 .ci/setup.py

Uses the standard library alone. Even Python 2.7 can parse this file: a Python that is too old must get as far as the line
that says so.
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

OLDEST = (3, 11, 5)  # older ones lack what pymdown-extensions asks of them
ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
REQUIREMENTS = os.path.join(ROOT, "requirements.txt")
VENV = os.path.join(ROOT, ".venv")
PYTHON = os.path.join(VENV, "bin", "python")
STAMP = os.path.join(VENV, "made-from")
LOG = os.path.join(VENV, "setup.log")

# How pip words a package index that it cannot reach.
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


class Refused(Exception):
    """Setup cannot go on. The text is one line: what happened, and what to do."""


def require_python():
    if sys.version_info < OLDEST:
        raise Refused(
            "%s is Python %s, and %s or later is needed. Install one, or name it: make PYTHON=/path/to/python3"
            % (sys.executable, dotted(sys.version_info[:3]), dotted(OLDEST))
        )


def dotted(version):
    return ".".join(str(part) for part in version)


def require_venv():
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401  Debian ships Python without the first
    except ImportError:
        raise Refused(
            "%s has no venv module. On Debian or Ubuntu: apt-get install python3-venv. Elsewhere, name a Python that "
            "has it: make PYTHON=/path/to/python3" % sys.executable
        )


@contextlib.contextmanager
def alone():
    """Let one setup run at a time; a second one waits, and then finds the work done."""
    import fcntl

    with open(os.path.realpath(__file__)) as this:
        try:
            fcntl.flock(this, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            print("Another setup is under way here. Waiting for it.", flush=True)
            fcntl.flock(this, fcntl.LOCK_EX)
        yield


def recipe():
    """What a finished .venv was made from: the pins, the Python, and the place (a virtual environment cannot be moved)."""
    with open(REQUIREMENTS, "rb") as pins:
        digest = hashlib.sha256(pins.read()).hexdigest()
    return "\n".join((digest, sys.version, sys.base_prefix, VENV))


def finished():
    """Whether .venv was made from today's recipe, to the end, and its Python still runs."""
    try:
        with open(STAMP) as stamp:
            return stamp.read() == recipe() and subprocess.call([PYTHON, "-c", ""], stderr=subprocess.DEVNULL) == 0
    except (IOError, OSError):
        return False


def build():
    """Make .venv anew. The stamp is written last, so that whatever is cut short is begun again."""
    made_from = recipe()
    if os.path.exists(STAMP):
        os.remove(STAMP)
    print("Setting up .venv from requirements.txt: a few minutes, once.", flush=True)
    make_environment()
    install()
    make_importable()
    with open(STAMP + ".new", "w") as stamp:
        stamp.write(made_from)
    os.replace(STAMP + ".new", STAMP)


def make_environment():
    made = subprocess.run(
        [sys.executable, "-m", "venv", "--clear", VENV], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    )
    if made.returncode != 0:
        raise Refused(
            "%s -m venv could not make .venv: %s. Remove .venv and run the same command again." % (sys.executable, last_line(made.stdout))
        )


def install():
    """Run pip in .venv, keep all that it says in the log, and show only how far it has come."""
    environment = {
        name: value for name, value in os.environ.items() if name not in ("PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT")
    }  # each would install elsewhere
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
                progress.heard(line)
        except BaseException:
            pip.kill()  # it must not go on behind our back
            raise
    if pip.wait() != 0:
        with open(LOG, encoding="utf-8") as log:
            raise Refused(explained(log.read()))


def make_importable():
    """Let a script run on its own, as in `python derivations/scaling/variance.py`: its imports begin at the root."""
    folder = subprocess.check_output([PYTHON, "-I", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], text=True)
    with open(os.path.join(folder.strip(), "root-of-the-site.pth"), "w") as path:
        path.write(ROOT + "\n")


def pin_count():
    with open(REQUIREMENTS) as pins:
        return sum("==" in line.split("#")[0] for line in pins)


class Progress:
    """One line on a terminal, written over and over; nothing elsewhere."""

    def __init__(self, total):
        self.total = total
        self.seen = 0

    def heard(self, line):
        words = line.split()
        if words and words[0] in ("Collecting", "Processing"):
            self.seen += 1
            self.show("%d/%d %s" % (min(self.seen, self.total), self.total, words[1].split("/")[-1]))
        elif line.startswith("Installing collected packages"):
            self.show("installing %d packages" % self.seen)

    def show(self, text):
        if sys.stdout.isatty():
            width = shutil.get_terminal_size().columns - 1
            print("\r" + ("  " + text)[:width].ljust(width), end="", flush=True)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.show("")
        if sys.stdout.isatty():
            print("\r", end="", flush=True)


def explained(log):
    """One line that says what pip's failure means."""
    missing = re.search(r"No matching distribution found for (\S+)", log)
    if any(sign in log for sign in UNREACHABLE):
        text = "no network: pip cannot reach its package index. Connect, then run the same command again."
    elif missing and "(from versions: none)" in log:
        text = (
            "pip finds no %s, in any version: there is no network, or pip's index lacks it. Connect, or look at pip's "
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
    return text + " What pip said is in .venv/setup.log."


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1].rstrip(".") if lines else "it gave no reason"


def main():
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # to be told to stop is to be interrupted
    try:
        require_python()
        with alone():
            if not finished():
                require_venv()
                build()
    except Refused as refusal:
        print("setup: %s" % refusal, file=sys.stderr)
        return 1
    except (IOError, OSError) as error:
        print("setup: %s. Put that right, then run the same command again." % error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nsetup: interrupted. Run the same command again; it starts over.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
