"""Ask git which files changed since a commit, including changes that are not committed."""

from __future__ import annotations

import subprocess

from ..errors import KernelError
from ..store import project_files


class NoCommit(KernelError):
    """Git does not know the commit, or cannot be run; the message says which."""

    code = "unknown-commit"


def changed(commit: str) -> set[str]:
    """Return the names of files that differ from the last common ancestor of the commit and HEAD. Raise NoCommit."""
    base = git("merge-base", commit, "HEAD")
    tracked, new = git("diff", "--name-only", "--no-renames", base), git("ls-files", "--others", "--exclude-standard")
    return {*tracked.splitlines(), *new.splitlines()}


def git(*command: str) -> str:
    """Return the output of a git command. Raise NoCommit if it fails."""
    try:
        done = subprocess.run(
            ["git", "-c", "core.quotePath=off", "--no-pager", *command], cwd=project_files.ROOT, capture_output=True, text=True
        )
    except OSError as error:
        raise NoCommit(f"cannot run git to see what changed: {error}", code="git-missing") from None
    if done.returncode:
        raise NoCommit(f"git cannot tell what changed: {done.stderr.strip().partition(chr(10))[0] or f'git {command[0]} failed'}")
    return done.stdout.strip()
