"""What changed since a commit, as git says; what is not committed included."""

from __future__ import annotations

import subprocess

from ..errors import KernelError
from ..store import project_files


class NoCommit(KernelError):
    """There is no such commit, or no git to ask; the message says which."""


def changed(commit: str) -> set[str]:
    """The names of the files that are not as they were where the work on them began, at the commit or where both went apart."""
    base = git("merge-base", commit, "HEAD")
    tracked, new = git("diff", "--name-only", "--no-renames", base), git("ls-files", "--others", "--exclude-standard")
    return {*tracked.splitlines(), *new.splitlines()}


def git(*command: str) -> str:
    try:
        done = subprocess.run(
            ["git", "-c", "core.quotePath=off", "--no-pager", *command], cwd=project_files.ROOT, capture_output=True, text=True
        )
    except OSError as error:
        raise NoCommit(f"git cannot be asked what changed: {error}") from None
    if done.returncode:
        raise NoCommit(f"git does not say what changed: {done.stderr.strip().partition(chr(10))[0] or f'git {command[0]} failed'}")
    return done.stdout.strip()
