"""Build the package `attention_snippets` from the folder `snippets`: the backend that pip calls (PEP 517).

A page's code says `from snippets.softmax.distribution import softmax`, so that it runs in the repository. `snippets` is a name that any
project may use for a folder of its own, so what is installed has another one. This file copies the folder, writes the new name in the
copy's imports and examples, and lets setuptools build the copy. Nothing is written beside the sources: a later build cannot take a module
from there that is deleted by then.
"""

import contextlib
import os
import re
import shutil
import tempfile
from pathlib import Path

from setuptools import build_meta

ROOT = Path(__file__).resolve().parents[2]
FOLDER, PACKAGE = "snippets", "attention_snippets"
METADATA = ("pyproject.toml", "README.md", "LICENSE")
NOT_PACKAGED = shutil.ignore_patterns("__pycache__", ".*", "ruff.toml")
# The package's name before a dot, in imports, examples, commands and strings; in `from snippets import`; and where it is a whole string.
NAME = re.compile(rf"""(?<![\w./-]){FOLDER}(?=\.[A-Za-z_])|\bfrom {FOLDER}(?= import)|\bimport {FOLDER}\b|(?<=["']){FOLDER}(?=["'])""")


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Build the wheel into a folder and return its file name."""
    with copied() as copy:
        (copy / FOLDER).rename(copy / PACKAGE)
        for path in (copy / PACKAGE).rglob("*.py"):
            path.write_text(rename(path.read_text(encoding="utf-8")), encoding="utf-8")
        return build_meta.build_wheel(wheel_directory, config_settings)


def build_sdist(sdist_directory, config_settings=None):
    """Build the archive of the sources, from which the same wheel can be built, and return its file name."""
    with copied() as copy:
        shutil.copytree(Path(__file__).parent, copy / ".ci/backend", ignore=NOT_PACKAGED)
        (copy / "MANIFEST.in").write_text(f"graft {FOLDER}\ngraft .ci/backend\n")
        return build_meta.build_sdist(sdist_directory, config_settings)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """Refuse: the package is not the folder, but a copy with other imports."""
    raise SystemExit(
        f"The package {PACKAGE} is a copy of the folder {FOLDER} with other imports, so an editable install would not follow the folder. "
        f"Run `pip install .` after each change, or import {FOLDER} from the folder {ROOT}, where it needs no installation."
    )


@contextlib.contextmanager
def copied():
    """Yield a temporary folder that holds a copy of the sources, and is the current folder until the end."""
    with tempfile.TemporaryDirectory() as place, contextlib.ExitStack() as after:
        copy = Path(place)
        for name in METADATA:
            shutil.copy(ROOT / name, copy)
        shutil.copytree(ROOT / FOLDER, copy / FOLDER, ignore=NOT_PACKAGED)
        after.callback(os.chdir, os.getcwd())
        os.chdir(copy)
        yield copy


def rename(text):
    """Return the text of a module with the package's own name in place of the folder's."""
    return NAME.sub(lambda match: match[0].replace(FOLDER, PACKAGE), text)
