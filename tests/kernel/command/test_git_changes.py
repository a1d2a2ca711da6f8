"""Finding the files that changed since a commit, and the topics that they affect."""

import json
import subprocess

import pytest

from derivations.kernel.command import git_changes, mutants_report
from derivations.kernel.store import certificates, project_files
from tests.kernel.common import has_code

AUTHOR = ("-c", "user.name=A", "-c", "user.email=a@example.org")


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository with two commits on main, and one on a branch of the first; and a function that asks its git."""

    def git(*command):
        return subprocess.run(["git", *AUTHOR, *command], cwd=tmp_path, check=True, capture_output=True, text=True).stdout.strip()

    def commit(name, text):
        (tmp_path / name).write_text(text)
        git("add", "-A")
        git("commit", "-qm", name)

    git("init", "-q", "-b", "main")
    commit("a.py", "1")
    git("branch", "mine")
    commit("others.py", "1")
    git("checkout", "-q", "mine")
    commit("mine é.py", "1")
    monkeypatch.setattr(project_files, "ROOT", tmp_path)
    return tmp_path


def test_what_others_changed_meanwhile_is_no_part_of_a_change(repository):
    assert git_changes.changed_files("main") == {"mine é.py"}


def test_what_is_not_committed_is_a_part_of_it(repository):
    (repository / "a.py").write_text("2")
    (repository / "new.py").write_text("1")
    assert git_changes.changed_files("HEAD") == {"a.py", "new.py"} and git_changes.changed_files("main") == {"a.py", "new.py", "mine é.py"}


def test_what_was_moved_is_there_by_both_names(repository):
    (repository / "a.py").rename(repository / "b.py")
    assert git_changes.changed_files("HEAD") == {"a.py", "b.py"}


def test_a_commit_that_is_none_is_named(repository):
    with pytest.raises(git_changes.GitError, check=has_code("unknown-commit"), match="nowhere"):
        git_changes.changed_files("nowhere")


def test_without_git_it_is_said(repository, monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(git_changes.GitError, check=has_code("git-missing")):
        git_changes.changed_files("main")


TOPICS = [("a/one", "one.py"), ("a/two", "two.py"), ("a/three", "three.py")]


@pytest.fixture
def change(monkeypatch):
    """A function that lets a change be of some paths."""
    monkeypatch.setattr(certificates, "topics", lambda: [topic for topic, _ in TOPICS])
    return lambda *paths: monkeypatch.setattr(mutants_report, "changed_files", lambda commit: set(paths))


def test_a_change_asks_for_the_mutants_of_the_topics_that_it_touches(change):
    change("derivations/a/two.py", "docs/a/one.md")
    assert mutants_report.select_affected(TOPICS, "1/3", "main") == [TOPICS[1]]


@pytest.mark.parametrize(
    "path",
    [
        "derivations/kernel/exact/nonnegativity.py",
        "derivations/kernel/attack/judge.py",
        "derivations/kernel/check/mutation_run.py",
        "requirements.txt",
    ],
)
def test_a_change_of_the_checker_or_of_its_attackers_asks_for_the_share_too(change, path):
    change("derivations/a/two.py", path)
    assert mutants_report.select_affected(TOPICS, "3/3", "main") == [TOPICS[1], TOPICS[2]]


def test_how_pages_look_changes_no_mutant(change):
    change("derivations/kernel/site/claim_html.py")
    assert mutants_report.select_affected(TOPICS, "3/3", "main") == []


def test_a_change_that_touches_no_topic_has_no_mutant(change, capsys):
    change("README.md")
    assert mutants_report.main((), as_json=False, fresh=False, jobs=1, since="main") == 0
    assert "the changes since main affect no topic" in capsys.readouterr().out
    assert mutants_report.main((), as_json=True, fresh=False, jobs=1, since="main") == 0
    assert json.loads(capsys.readouterr().out) == {"topics": {}, "totals": {}, "passes": True}


@pytest.mark.parametrize(
    "options, said",
    [
        (["--since", "nowhere"], "Not a valid object name nowhere"),
        (["--since", "HEAD", "--record"], "leave out topics, --share and --since"),
        (["--since", "HEAD", "--code"], "leave out --since, --replay and --shared"),
    ],
)
def test_the_command_says_what_it_cannot_do(command, options, said):
    result = command("mutants", *options)
    assert result.exit_code == 2 and said in result.output
