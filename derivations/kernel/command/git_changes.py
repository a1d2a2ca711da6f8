"""Ask git which files changed since a commit, including uncommitted changes."""

from __future__ import annotations

import subprocess

from ..errors import KernelError
from ..store import project_files


class GitError(KernelError):
    """Git does not know the commit, or cannot be run; the message says which."""

    code = "unknown-commit"


def changed_files(commit: str) -> set[str]:
    """Return the files that differ from the last common ancestor of the commit and HEAD. Raise GitError if git cannot find them."""
    base = run_git("merge-base", commit, "HEAD")
    tracked, new = run_git("diff", "--name-only", "--no-renames", base), run_git("ls-files", "--others", "--exclude-standard")
    return {*tracked.splitlines(), *new.splitlines()}


def run_git(*command: str) -> str:
    """Return the output of a git command. Raise GitError if it fails."""
    try:
        done = subprocess.run(
            ["git", "-c", "core.quotePath=off", "--no-pager", *command], cwd=project_files.ROOT, capture_output=True, text=True
        )
    except OSError as error:
        raise GitError(f"cannot run git to see what changed: {error}", code="git-missing") from None
    if done.returncode:
        raise GitError(f"git cannot tell what changed: {done.stderr.strip().partition(chr(10))[0] or f'git {command[0]} failed'}")
    return done.stdout.strip()
