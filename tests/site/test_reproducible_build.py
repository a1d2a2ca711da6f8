"""Test that two builds of one commit are identical byte for byte."""

import filecmp
from pathlib import Path

import pytest


def differing(one: Path, other: Path) -> list[str]:
    """Return the names of files that the two folders do not share with the same bytes."""
    names = {path.relative_to(folder).as_posix() for folder in (one, other) for path in folder.rglob("*") if not path.is_dir()}
    return sorted(name for name in names if filecmp.cmpfiles(one, other, [name], shallow=False)[0] != [name])


@pytest.mark.slow
def test_two_builds_are_identical(built, build):
    again = build("built-again")
    assert len([path for path in again.rglob("*") if path.is_file()]) > 500
    assert differing(built, again) == []


def test_changed_bytes_and_missing_files_are_reported(tmp_path):
    for name, text in (("one/a/x", "1"), ("other/a/x", "2"), ("one/b", ""), ("other/b", ""), ("other/c", "")):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert differing(tmp_path / "one", tmp_path / "other") == ["a/x", "c"]
