"""Two builds of one commit give the same bytes."""

import filecmp
from pathlib import Path

import pytest


def differing(one: Path, other: Path) -> list[str]:
    """What is not the same file, with the same bytes, in both folders."""
    names = {path.relative_to(folder).as_posix() for folder in (one, other) for path in folder.rglob("*") if not path.is_dir()}
    return sorted(name for name in names if filecmp.cmpfiles(one, other, [name], shallow=False)[0] != [name])


@pytest.mark.slow
def test_two_builds_give_the_same_bytes(built, build):
    again = build("built-again")
    assert len([path for path in again.rglob("*") if path.is_file()]) > 500
    assert differing(built, again) == []


def test_a_byte_a_file_and_a_name_are_differences(tmp_path):
    for name, text in (("one/a/x", "1"), ("other/a/x", "2"), ("one/b", ""), ("other/b", ""), ("other/c", "")):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert differing(tmp_path / "one", tmp_path / "other") == ["a/x", "c"]
