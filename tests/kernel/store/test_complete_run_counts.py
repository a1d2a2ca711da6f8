"""Counts of complete runs are stored with their commit, and never for uncommitted changes."""

import json
import subprocess

import pytest
from click.testing import CliRunner

from derivations.kernel.command import mutants_report
from derivations.kernel.command.cli import main
from derivations.kernel.store import complete_run_counts
from derivations.kernel.store.certificates import CertificateError


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """A repository of one commit, in which the counts are kept."""
    (tmp_path / "derivations").mkdir()
    (tmp_path / "a.txt").write_text("a\n")
    for command in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"]):
        subprocess.run(["git", "-C", str(tmp_path), *command], check=True)
    monkeypatch.setattr(complete_run_counts, "ROOT", tmp_path)
    monkeypatch.setattr(complete_run_counts, "FILE", tmp_path / complete_run_counts.NAME)
    return tmp_path


def test_counts_are_kept_with_their_commit(clone):
    complete_run_counts.record("fuzz", seed=0, tried=5, faults=0)
    complete_run_counts.record("mutants", claims=2, tried=7, left=0)  # the file of counts is no change that stands in the way
    runs = complete_run_counts.read()
    head = subprocess.run(["git", "-C", str(clone), "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
    assert {kept["commit"] for kept in runs.values()} == {head} and runs["mutants"]["tried"] == 7 and runs["fuzz"]["tried"] == 5


@pytest.mark.parametrize("change", ["a.txt", "b.txt"])
def test_what_is_not_committed_is_not_counted(clone, change):
    (clone / change).write_text("b\n")
    with pytest.raises(complete_run_counts.NotRecorded, match="uncommitted"):
        complete_run_counts.record("fuzz", seed=0, tried=5, faults=0)
    assert complete_run_counts.read() == {}


def test_outside_of_a_repository_nothing_is_recorded(tmp_path, monkeypatch):
    monkeypatch.setattr(complete_run_counts, "ROOT", tmp_path)
    with pytest.raises(complete_run_counts.NotRecorded, match="in a clone of the repository"):
        complete_run_counts.commit()


GOOD = {"commit": "0a", "date": "2026-01-02", "seed": 0, "tried": 5, "faults": 0}


@pytest.mark.parametrize(
    "text",
    ["{", "[]", '{"fuzz": 1}']
    + [json.dumps({"fuzz": GOOD | change}) for change in ({"tried": "<b>5"}, {"date": "soon"}, {"commit": "<b>"}, {"faults": True})]
    + [json.dumps({"fuzz": {key: value for key, value in GOOD.items() if key != gone}}) for gone in GOOD]
    + [json.dumps({"others": GOOD})],
)
def test_a_file_that_holds_no_counts_is_refused(clone, text):
    complete_run_counts.FILE.write_text(json.dumps({"fuzz": GOOD}))
    assert complete_run_counts.read() == {"fuzz": GOOD}
    complete_run_counts.FILE.write_text(text)
    with pytest.raises(CertificateError, match=r"derivations/whole_runs\.json is invalid"):
        complete_run_counts.read()


@pytest.mark.parametrize("part", [["scaling/variance"], ["--share", "1/6"]])
def test_a_part_is_no_whole_run(part):
    said = CliRunner().invoke(main, ["mutants", "--record", *part])
    assert said.exit_code == 2 and "leave out topics, --share and --since" in said.output


def test_counts_that_cannot_be_kept_are_refused_before_hours_of_work(clone, monkeypatch):
    (clone / "a.txt").write_text("b\n")
    monkeypatch.setattr("derivations.kernel.command.mutants_report.main", lambda *_: pytest.fail("it began"))
    said = CliRunner().invoke(main, ["mutants", "--record"])
    assert said.exit_code == 1 and "commit them first" in said.output


def said_of(**counts):
    counts = dict.fromkeys(("killed", "survived", "equivalent", "unclassified", "controls"), 0) | {"covers": True, "failed": []} | counts
    return {"mutants": 3, "alike": [], "witnesses": {"exact": counts}}


def test_what_is_counted_of_the_mutants():
    results = {"a/b": {"c": said_of(killed=2, survived=1), "d": said_of(killed=3)}, "a/e": {"c": said_of(unclassified=1)}}
    assert mutants_report.count_outcomes(results) == {"claims": 3, "tried": 9, "left": 2}
