"""A folder that is shared: what it saves, and that nothing false comes from it, and nothing is lost, whatever it holds or does."""

import json
import os
import shutil
import sys
import time
from hashlib import sha256

import pytest
from click.testing import CliRunner

from derivations.kernel.command.cli import main, sharing
from derivations.kernel.run import certificates, earlier, fingerprints, runner
from derivations.kernel.run.certificates import load
from derivations.kernel.run.shared import NoFolder, Shared

TOPIC = "chapter/tiny"
NEVER = 10**9  # so many kept ones, of which one is checked again


@pytest.fixture(params=["a path", "a store"])
def address(request, tmp_path):
    yield str(tmp_path / "shared") if request.param == "a path" else "memory://shared"
    if request.param == "a store":
        Shared("memory://").files.store.clear()


@pytest.fixture
def check(tree, address):
    """A check on a machine that has nothing of its own yet; what of it was taken over."""

    def run(replay=NEVER, shared=None, script=None):
        shutil.rmtree(tree.store, ignore_errors=True)
        run.shared = shared or Shared(address)
        targets = [(TOPIC, tree.script), *([script] if script else [])]
        results = runner.check_all(targets, False, 1, lambda done, more: None, how=runner.How(replay=replay, shared=run.shared))
        assert all(result.holds for result in results), [result.problems or result.records for result in results]
        return [bool(record.get("taken")) for result in results for record in result.records]

    return run


@pytest.fixture
def held(check):
    """The folder after a check, and the address of the topic in it."""
    assert check() == [False]
    return Shared(check.shared.address), earlier.address(TOPIC)


def test_what_one_machine_found_another_takes(check, held):
    before = json.loads(certificates.path_of(TOPIC).read_text())
    assert check() == [True]
    after = load(TOPIC)
    assert {**after, "seal": ""} == {**before, "seal": ""} and after["claims"]


def test_a_certificate_that_stands_is_given_too(check, held, tree):
    shared, at = held
    shared.remove(at)
    runner.check_all([(TOPIC, tree.script)], False, 1, lambda done, more: None, how=runner.How(shared=shared))
    assert shared.has(at) and check() == [True]


@pytest.mark.parametrize("changed", ["kernel", "script"])
def test_nothing_is_there_of_another_checker_or_script(check, held, tree, changed):
    path = tree.kernel / "exact/exact_evaluation.py" if changed == "kernel" else tree.script
    path.write_text(path.read_text() + "\n")
    assert check() == [False]


def test_nothing_is_taken_where_what_was_read_changed(check, held):
    shared, at = held
    shared.give(at, shared.take(at) | {"inputs": {**shared.take(at)["inputs"], "data.txt": "other"}})
    assert check() == [False]


def lie(shared, at):
    text = json.dumps(shared.take(at)).replace("every shape", "some shapes")
    assert "some shapes" in text
    shared.give(at, json.loads(text))


def test_a_lie_that_is_found_out_is_taken_from_nobody_and_goes(check, held):
    shared, at = held
    lie(shared, at)
    assert check(replay=1) == [False] and check.shared.doubted == [TOPIC]
    assert "some shapes" not in certificates.path_of(TOPIC).read_text()
    assert check() == [True] and "some shapes" not in certificates.path_of(TOPIC).read_text() + json.dumps(shared.take(at))


def test_where_one_is_a_lie_nothing_is_taken_of_the_others(check, held, tree):
    other = tree.script.with_name("other.py")
    shutil.copy(tree.script, other)
    target = "chapter/other", other
    assert check(script=target) == [True, False]
    lie(*held)
    drawn = {TOPIC: 1, "chapter/other": NEVER}
    ask = lambda topic, script, progress, stop, before, replay: runner.run(topic, script, progress, stop, before, drawn[topic])  # noqa: E731
    shutil.rmtree(tree.store)
    shared = Shared(check.shared.address)
    results = runner.check_all([(TOPIC, tree.script), target], False, 1, lambda done, more: None, how=runner.How(ask, shared=shared))
    assert all(result.holds for result in results) and shared.doubted == ["chapter/other", TOPIC]
    assert not any(record.get("taken") for result in results for record in result.records)


def test_what_was_taken_is_not_believed_where_a_run_ends_before_all_is_tried(check, held, tree, monkeypatch):
    def cut_short(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(runner, "without_others", cut_short)
    with pytest.raises(KeyboardInterrupt):
        check()
    assert not certificates.path_of(TOPIC).exists() and not earlier.path_of(TOPIC).exists()


def test_another_checkout_takes_what_names_code_too(tree, tmp_path, monkeypatch):
    """What a claim's code is, is told without the checkout's own place."""

    class Claim:
        code = (("snippets.parts.f",),)

    said = []
    for place in ("one", "other"):
        monkeypatch.setattr(certificates, "ROOT", tmp_path / place)
        path = str(tmp_path / place / "snippets" / "parts.py")
        monkeypatch.setattr(fingerprints, "within_reach", lambda claim, path=path: {path: "def f(x):\n    return x\n"})
        said.append(fingerprints.code(Claim))
    assert said[0] == said[1] and said[0]["files"] == ["snippets/parts.py"] and said[0]["lines"]


def test_a_checker_that_changed_since_it_was_loaded_seals_nothing(tree):
    path = tree.kernel / "exact/exact_evaluation.py"
    how, began = runner.How(loaded=time.time_ns()), path.stat().st_mtime_ns
    os.utime(path, ns=(how.loaded + 10**6, how.loaded + 10**6))
    time.sleep(0.01)  # the topic begins after that
    result = runner.check_script(TOPIC, tree.script, True, lambda done, more: None, how=how)
    assert "exact/exact_evaluation.py changed while it was checked" in result.problems[0] and not certificates.path_of(TOPIC).exists()
    os.utime(path, ns=(began, began))
    assert runner.check_script(TOPIC, tree.script, True, lambda done, more: None, how=how).holds


@pytest.mark.parametrize("of", ["record", "stands_on", "claims", "inputs", "kept"])
def test_what_is_not_made_as_it_should_be_is_not_taken(check, held, of):
    shared, at = held
    content = shared.take(at)
    for one in content["claims"].values():
        one.pop(of, None)
    content.pop(of, None)
    shared.give(at, content)
    assert check() == [False] and not check.shared.doubted
    assert check() == [True]  # it was put right


@pytest.mark.parametrize("text", [b"", b"half of", b"[]", sha256(b"[]").hexdigest().encode() + b"\n[]", b"\xff\n{}"])
def test_what_is_damaged_is_as_good_as_not_there(check, held, text):
    shared, at = held
    shared.files.pipe_file(shared.path(at), text)
    assert shared.take(at) is None and check() == [False]


def test_a_folder_that_fails_is_left_alone_and_all_is_found_here(check, held):
    class Gone(Shared):
        asked = 0

        def path(self, of):
            self.asked += 1
            raise ConnectionError("the network is down")

    gone = Gone(held[0].address)
    assert check(shared=gone) == [False] and load(TOPIC)
    assert gone.asked == 2 and gone.faults == dict.fromkeys(("read", "write"), "ConnectionError: the network is down")


def test_what_hangs_on_a_variable_is_not_shared(check, held, tree, monkeypatch):
    shared, at = held
    content = certificates.read(earlier.path_of(TOPIC), "", "")
    content["variables"] = {"SOME_VARIABLE": certificates.inputs.variable("SOME_VARIABLE", certificates.key())}
    for value, is_there in (("1", False), (None, True)):
        monkeypatch.delenv("SOME_VARIABLE", raising=False)
        if value:
            monkeypatch.setenv("SOME_VARIABLE", value)
        content["variables"] = {"SOME_VARIABLE": certificates.inputs.variable("SOME_VARIABLE", certificates.key())}
        certificates.write(earlier.path_of(TOPIC), {part: content[part] for part in content if part != "seal"})
        shared.remove(at)
        earlier.given(TOPIC, shared)
        assert shared.has(at) == is_there


def test_an_address_that_is_none_is_told():
    with pytest.raises(NoFolder, match="no folder that can be shared"):
        Shared("nowhere://x")
    for address, words in (("nowhere://x", "nowhere://x is no folder"), ("github://a/b", "is no folder"), ("", "needs an address")):
        said = CliRunner().invoke(main, ["check", "--shared", address, "scaling/variance"])
        assert said.exit_code == 2 and words in said.output and "Traceback" not in said.output


def test_what_was_wrong_with_the_folder_is_said_however_the_command_ends(tmp_path, capsys):
    with pytest.raises(SystemExit), sharing(str(tmp_path)) as folder:
        folder.faults["write"] = "OSError: full"
        folder.doubted.append("chapter/tiny")
        sys.exit(0)
    said = capsys.readouterr().err
    assert "could not write to the folder: OSError: full" in said and "contained a wrong result" in said and "chapter/tiny" in said
