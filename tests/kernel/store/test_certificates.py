"""Only certificates that the checker wrote, and whose dependencies are unchanged, may be shown."""

import hashlib
import os
import platform
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from derivations.kernel.check import runner
from derivations.kernel.store import certificates, coq_results, dependencies, project_files, store
from derivations.kernel.store.certificates import CertificateError, load
from derivations.kernel.store.store import Store

TOPIC = "chapter/tiny"
CLAIM = {
    "id": "sum",
    "kind": "identity",
    "steps": [{"witnesses": ["exact"]}, {"witnesses": ["exact"]}],
    "latex": "a",
    "witnesses": [{"name": "exact", "verdict": "proved", "seconds": 0.1}],
    "scope": "every shape",
}


@pytest.fixture
def sealed(tree, certify):
    """A tree with a certificate, written as the checker writes one."""
    certify(TOPIC, tree.script, "A sum transposed", [CLAIM])
    return tree


def refusal(topic=TOPIC):
    with pytest.raises(CertificateError) as caught:
        load(topic)
    message = str(caught.value)
    assert topic in message and "python -m derivations" in message and "\n" not in message
    return message


def test_a_good_one_is_loaded(sealed):
    content = load(TOPIC)
    assert content["claims"] == [CLAIM] and content["title"] == "A sum transposed"
    assert content["script"] == "derivations/chapter/tiny.py" and content["topic"] == TOPIC


def test_the_identity_of_a_certificate_needs_it_read_once_and_its_dependencies_looked_at_each_time(sealed, monkeypatch):
    reads, require = [], Store.require
    monkeypatch.setattr(Store, "require", lambda self, key: reads.append(key) or require(self, key))
    same = certificates.certificate_digest(TOPIC)
    assert same == project_files.file_hash(sealed.certificate) and certificates.certificate_digest(TOPIC) == same and len(reads) == 1
    script = sealed.script.read_text()
    sealed.script.write_text(script + "# more\n")
    with pytest.raises(CertificateError, match="stale, since derivations/chapter/tiny.py changed; run: python -m derivations check"):
        certificates.certificate_digest(TOPIC)
    sealed.script.write_text(script)
    assert certificates.certificate_digest(TOPIC) == same and len(reads) == 1
    sealed.certificate.write_text(sealed.certificate.read_text() + " ")
    with pytest.raises(CertificateError, match="was damaged, edited, moved"):
        certificates.certificate_digest(TOPIC)
    sealed.certificate.unlink()
    with pytest.raises(CertificateError, match="has no certificate"):
        certificates.certificate_digest(TOPIC)


def aside(tree):
    """The files that may change without a certificate's falling."""
    names = (name_in(tree, p) for p in project_files.kernel_files())
    return {name for name in names if project_files.is_unloaded(Path(name))}


def name_in(tree, path):
    return path.relative_to(tree.kernel).as_posix()


def test_what_was_read_is_all_that_it_depends_on(sealed):
    inputs = set(load(TOPIC)["inputs"])
    kernel = {name_in(sealed, p) for p in sealed.kernel.rglob("*.py")} - aside(sealed)
    assert inputs == {"derivations/chapter/tiny.py"} | {f"derivations/kernel/{name}" for name in kernel}


def test_what_is_set_aside_is_there_and_is_never_loaded_where_a_script_is_checked(tree):
    assert all(any(name.startswith(part) for name in aside(tree)) for part in project_files.UNLOADED)
    said = subprocess.run(
        [sys.executable, "-c", LOADED_BY_A_CHECK.format(script=str(tree.script), root=str(tree.root))],
        cwd=tree.root,
        capture_output=True,
        text=True,
        env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"},
    )
    loaded = set(said.stdout.split())
    assert {"exact/witness.py", "sympy/witness.py", "pytorch/witness.py"} < loaded, said.stderr
    assert not loaded & aside(tree)


LOADED_BY_A_CHECK = """
import sys
from pathlib import Path
from derivations.kernel.check.worker import check_script
done = []
check_script(Path({script!r}), Path({root!r}), lambda event, **content: done.append((event, content)))
assert [event for event, _ in done] == ["loaded", "claim", "done"] and done[1][1]["verdict"] == "holds", done
print(*(name.rpartition("/kernel/")[2] for name in done[-1][1]["imported"]))
"""


def test_a_change_of_what_is_set_aside_leaves_it_standing_but_not_what_coq_said(sealed):
    content = load(TOPIC)
    before = coq_results.results_digest(content)
    for name in sorted(aside(sealed)):
        path = sealed.kernel / name
        path.write_text(path.read_text() + "\n")
        assert load(TOPIC)["claims"] == content["claims"]
        assert (coq_results.results_digest(content) != before) == name.startswith("coq/")
        before = coq_results.results_digest(content)


def test_a_missing_one(tree):
    assert "has no certificate" in refusal()


# Stale -------------------------------------------------------------------------------------------------------------------------


def test_a_change_of_the_script(sealed):
    sealed.script.write_text(sealed.script.read_text() + "\n# more\n")
    assert "is stale, since derivations/chapter/tiny.py changed" in refusal()


@pytest.mark.parametrize("name", ["exact/normal_form.py", "core/expr.py", "sympy/witness.py", "check/claim_records.py", "check/worker.py"])
def test_a_change_of_the_kernel(name, sealed):
    path = sealed.kernel / name
    path.write_text(path.read_text() + "\n")
    assert f"is stale, since derivations/kernel/{name} changed" in refusal()


def test_a_file_of_the_kernel_that_is_new_or_gone(sealed):
    new = sealed.kernel / "core" / "new.py"
    new.write_text("")
    assert "derivations/kernel/core/new.py changed" in refusal()
    new.unlink()
    assert load(TOPIC)
    (sealed.kernel / "exact" / "series_limits.py").unlink()
    assert "derivations/kernel/exact/series_limits.py changed" in refusal()


@pytest.mark.parametrize("library", ["python", "sympy", "python-flint", "quicktions", "mpmath"])
def test_a_change_of_a_library(library, sealed, monkeypatch):
    now = dependencies.installed_version
    assert library in dependencies.library_versions()
    monkeypatch.setattr(dependencies, "installed_version", lambda name: "0.0" if name == library else now(name))
    assert f"is stale, since {library} changed" in refusal()


def test_a_library_that_is_new(sealed, monkeypatch):
    now = dependencies.library_versions()
    monkeypatch.setattr(certificates, "library_versions", lambda: now | {"another": "1.0"})
    assert "is stale, since another changed" in refusal()


def test_touching_a_file_changes_nothing(sealed):
    sealed.script.touch()
    assert load(TOPIC)


def test_the_script_is_gone(sealed):
    sealed.script.unlink()
    assert "there is no derivation" in refusal()


# What Coq said ---------------------------------------------------------------------------------------------------------------------

PROVED = {
    "ok": True,
    "message": "proved",
    "scope": "every shape",
    "source": "Lemma sum.",
    "file": "coq/chapter/tiny/sum.v",
    "steps": [1, 2],
}
NOTHING = {"ok": None, "steps": []}
BESIDE = {
    "name": "coq",
    "verdict": "proved",
    "scope": "every shape",
    "note": "proved",
    "seconds": 0.0,
    "source": "Lemma sum.",
    "file": "coq/chapter/tiny/sum.v",
}


def asked(tree, claims, **more):
    """Store Coq's results for the certificate as it is."""
    content = {"certificate": coq_results.results_digest(load(TOPIC)), "coq": "8", "claims": claims}
    coq_results.STORE.put(TOPIC, content | more)


def test_what_coq_proved_stands_beside_the_other_witnesses(sealed):
    asked(sealed, {"sum": PROVED})
    (claim,) = coq_results.load(TOPIC)["claims"]
    assert claim["witnesses"] == [*CLAIM["witnesses"], BESIDE]


@pytest.mark.parametrize(
    "results, note, source",
    [
        ({"sum": PROVED | NOTHING | {"message": "no root in Coq"}}, "no root in Coq", "Lemma sum."),
        ({"sum": PROVED | NOTHING | {"ok": False, "message": "no proof"}}, "no proof", "Lemma sum."),
        ({}, "not stated in Coq", ""),
    ],
    ids=["not stated", "not proved", "no result"],
)
def test_what_coq_did_not_prove_is_not_applicable_and_has_no_file(results, note, source, sealed):
    asked(sealed, results)
    assert coq_results.load(TOPIC)["claims"][0]["witnesses"][-1] == {
        "name": "coq",
        "verdict": "not applicable",
        "scope": "",
        "note": note,
        "seconds": 0.0,
        "source": source,
        "file": "",
    }


def test_a_part_that_coq_proved_stands_beside_its_steps_and_is_no_proof_of_the_claim(sealed):
    asked(sealed, {"sum": PROVED | {"ok": None, "message": "proved for step 2 only", "steps": [2]}})
    (claim,) = coq_results.load(TOPIC)["claims"]
    assert [step["witnesses"] for step in claim["steps"]] == [["exact"], ["exact", "coq"]]
    assert claim["witnesses"][-1] == BESIDE | {"verdict": "not applicable", "scope": "", "note": "proved for step 2 only"}


def test_results_of_coq_for_another_certificate_are_not_shown(sealed):
    asked(sealed, {"sum": PROVED}, certificate="0" * 64)
    assert coq_results.load(TOPIC)["claims"] == [CLAIM]


def test_results_of_coq_that_were_edited_are_not_shown(sealed):
    asked(sealed, {"sum": PROVED | {"ok": None}})
    path = coq_results.STORE.path(TOPIC)
    path.write_text(path.read_text().replace('"ok": null', '"ok": true'))
    assert coq_results.load(TOPIC)["claims"] == [CLAIM]


def test_results_of_coq_for_claims_that_changed_are_not_shown(sealed, certify):
    asked(sealed, {"sum": PROVED})
    sealed.script.write_text(sealed.script.read_text() + "# more\n")
    certify(TOPIC, sealed.script, "A sum transposed", [CLAIM])
    assert coq_results.load(TOPIC)["claims"] == [CLAIM]


# Saving ----------------------------------------------------------------------------------------------------------------------------


def test_what_was_touched_since_a_run_began_is_named_and_nothing_is_saved(tree, certify):
    after = max(p.stat().st_mtime_ns for p in [tree.script, *project_files.checker_files()])
    os.utime(tree.script, ns=(after + 10, after + 10))
    assert certify(TOPIC, tree.script, "t", [CLAIM], [], began=after) == ["derivations/chapter/tiny.py"] and not tree.certificate.exists()
    assert "derivations/kernel/exact/normal_form.py" in certify(TOPIC, tree.script, "t", [CLAIM], [], began=1)
    assert certify(TOPIC, tree.script, "t", [CLAIM], [], began=after + 10) == [] and load(TOPIC)["claims"] == [CLAIM]


def test_an_import_that_is_gone_since_a_run_began_is_named(tree, certify):
    gone = tree.script.with_name("gone.py")
    assert certify(TOPIC, tree.script, "t", [CLAIM], [gone], began=2**63) == ["derivations/chapter/gone.py"]


def test_imports_and_libraries_are_kept_and_looked_at(tree, certify):
    helper = tree.script.with_name("helper.py")
    helper.write_text("")
    certify(TOPIC, tree.script, "t", [CLAIM], [helper], libraries={"click": dependencies.installed_version("click")})
    content = load(TOPIC)
    assert "derivations/chapter/helper.py" in content["inputs"] and content["versions"]["click"] == dependencies.installed_version("click")
    assert {*dependencies.LIBRARIES, "click"} == set(content["versions"])
    certify(TOPIC, tree.script, "t", [CLAIM], [helper], libraries={"click": "0", "none-such": "1"})
    assert "is stale, since click, none-such changed" in refusal()
    helper.unlink()
    assert "is stale, since click, derivations/chapter/helper.py, none-such changed" in refusal()


def test_a_key_that_another_process_made_first_is_used(tree, monkeypatch):
    def late(fresh, path):
        path.write_text("theirs")
        raise FileExistsError

    monkeypatch.setattr(os, "link", late)
    assert store.secret() == b"theirs" and [p.name for p in tree.store.iterdir()] == ["key"]


def test_the_kernel_is_its_modules_and_what_coq_reads(tmp_path, monkeypatch):
    for name in ("b.py", "a.v", "c.txt", "d.pyc", "V.V"):
        (tmp_path / name).write_text("")
    monkeypatch.setattr(project_files, "kernel_folder", lambda: tmp_path)
    assert project_files.kernel_files() == [tmp_path / "a.v", tmp_path / "b.py"]


def test_the_kernel_is_listed_again_where_a_folder_of_it_changed_and_only_there(tree, monkeypatch):
    for folder in [tree.kernel, *(path for path in tree.kernel.rglob("*") if path.is_dir())]:
        os.utime(folder, (1, 1))  # long ago
    walks, walk = [], os.walk
    monkeypatch.setattr(project_files.os, "walk", lambda top: walks.append(top) or walk(top))
    before = project_files.kernel_files()
    assert project_files.kernel_files() == before and len(walks) == 1
    (tree.kernel / "exact/new.py").touch()
    (tree.kernel / "exact/exact_evaluation.py").unlink()
    for _ in range(2):  # the folder was changed a moment ago, and may be again within the same tick
        now = {name_in(tree, path) for path in project_files.kernel_files()}
        assert now ^ {name_in(tree, path) for path in before} == {"exact/new.py", "exact/exact_evaluation.py"}
    assert len(walks) == 3


def test_a_hash_is_of_the_file_as_it_is(tmp_path):
    path = tmp_path / "file"
    for text, modified in (("a", 1), ("b", 2), ("bb", 2)):  # another time, the same size; then the same time, another size
        path.write_text(text)
        os.utime(path, ns=(modified, modified))
        assert project_files.file_hash(path) == hashlib.sha256(text.encode()).hexdigest()


def test_versions_are_those_that_are_installed():
    libraries = {name: metadata.version(name) for name in dependencies.LIBRARIES if name != "python"}
    assert dependencies.library_versions() == {"python": platform.python_version()} | libraries
    assert dependencies.installed_version("pytest") == metadata.version("pytest") and dependencies.installed_version("none-such") == ""


REFUSALS = {
    "missing": (
        lambda tree: tree.certificate.unlink(),
        "'chapter/tiny' has no certificate: it was not checked, or a claim failed; {again}",
    ),
    "edited": (
        lambda tree: tree.certificate.write_text(tree.certificate.read_text().replace("every shape", "everything")),
        "the certificate of 'chapter/tiny' was damaged, edited, moved, or written in another checkout or format; {again} --fresh",
    ),
    "unreadable": (
        lambda tree: (tree.certificate.unlink(), tree.certificate.mkdir()),
        "the certificate of 'chapter/tiny' cannot be read (IsADirectoryError); {again} --fresh",
    ),
    "stale": (
        lambda tree: tree.script.write_text(""),
        "the certificate of 'chapter/tiny' is stale, since derivations/chapter/tiny.py changed; {again}",
    ),
    "gone": (lambda tree: tree.script.unlink(), "there is no derivation 'chapter/tiny'; python -m derivations list shows those there are"),
}


@pytest.mark.parametrize("change, says", REFUSALS.values(), ids=REFUSALS)
def test_a_refusal_says_what_to_do(change, says, sealed):
    change(sealed)
    assert refusal() == says.format(again="run: python -m derivations check chapter/tiny")


def test_all_topics_by_chapter_and_name(sealed):
    for name in ("another/one.py", "chapter/also.py", "chapter/__init__.py", "kernel/extra.py", "top.py", "chapter/deeper/down.py"):
        path = sealed.root / "derivations" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
    assert certificates.topics() == ["another/one", "chapter/also", "chapter/tiny"]


# Names that are not topics ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "topic",
    [
        "../x",
        "../../etc/passwd",
        "/etc/passwd",
        "kernel/claims",
        "kernel/../chapter/tiny",
        "chapter/../chapter/tiny",
        "chapter",
        "chapter/",
        "/tiny",
        "",
        "chapter/tiny/",
        "chapter//tiny",
        "chapter/tiny.py",
        "chapter\\tiny",
        "chapter/tiny\0",
        "chapter/none",
        "..",
        "./tiny",
        "chapter/__init__",
    ],
    ids=repr,
)
def test_a_name_that_is_no_topic(topic, sealed):
    (sealed.root / "derivations" / "x.py").write_text("")
    (sealed.root / "x.py").write_text("")
    with pytest.raises(CertificateError, match="there is no derivation"):
        load(topic)


# By a run of the checker -----------------------------------------------------------------------------------------------------------


def check(tree, fresh=False):
    return runner.check_script(TOPIC, tree.script, fresh, lambda done, more: None)


def test_a_run_writes_one_and_a_failed_run_removes_it(tree):
    """Through a module that the script imports, whose change is noticed too."""
    helper = tree.script.with_name("helper.py")
    helper.write_text("def swap(a, b):\n    return b, a\n")
    tree.script.write_text(
        tree.script.read_text().replace(
            'derivation.identity("sum", (A + B).T, A.T + B.T)',
            'from helper import swap\nleft, right = swap(A.T, B.T)\nderivation.identity("sum", (A + B).T, left + right)',
        )
    )
    assert check(tree).holds and not check(tree, fresh=True).cached
    content = load(TOPIC)
    assert "derivations/chapter/helper.py" in content["inputs"] and [c["id"] for c in content["claims"]] == ["sum"]

    helper.write_text("def swap(a, b):\n    return 2 * b, a\n")
    assert "is stale, since derivations/chapter/helper.py changed" in refusal()
    result = check(tree)
    assert not result.holds and "false" in result.records[0]["message"]
    assert not tree.certificate.exists() and "has no certificate" in refusal()


def test_a_claim_that_fails_beside_one_that_holds_leaves_no_certificate(tree):
    tree.script.write_text(tree.script.read_text() + 'derivation.identity("wrong", A + B, A - B)\n')
    result = check(tree)
    assert [r["verdict"] for r in result.records] == ["holds", "rejected"] and not result.holds
    assert not tree.certificate.exists()


def test_a_script_outside_the_tree_gets_none(tree, tmp_path):
    outside = tmp_path / "outside.py"
    outside.write_text(tree.script.read_text())
    assert runner.check_script(str(outside), outside, False, lambda done, more: None).holds
    assert not tree.store.exists()
