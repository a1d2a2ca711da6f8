"""Durations of checks have a store of their own. They change no certificate and no verdict."""

import os
import time
from threading import Event
from types import SimpleNamespace

import pytest

from derivations.kernel.check import runner
from derivations.kernel.store import durations
from derivations.kernel.store import store as results


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    return tmp_path


@pytest.fixture
def begun(store, monkeypatch):
    """The topics, in the order in which their check is begun; none is checked."""
    found = []

    def check(topic, *rest):
        found.append(topic)
        return runner.Result(topic, store / topic, stopped=True)

    monkeypatch.setattr(runner, "check_script", check)
    return found


def test_what_is_measured_is_taken_out_wherever_it_stands():
    record = {"id": "a", "seconds": 1, "witnesses": [{"name": "exact", "seconds": 0.5}], "computed": {"state": "proved", "seconds": 2}}
    assert durations.without(record) == {"id": "a", "witnesses": [{"name": "exact"}], "computed": {"state": "proved"}}


def test_the_seconds_of_claims_that_were_checked_now_are_kept_beside_those_of_others(store):
    durations.put("chapter/topic", {"a": 1.0, "b": 2.0})
    durations.put("chapter/topic", {"b": 4.0})
    assert durations.of_claims("chapter/topic") == {"a": 1.0, "b": 4.0} and durations.of_topic("chapter/topic") == 5


def test_a_topic_that_was_never_checked_may_take_longest(store):
    assert durations.of_claims("chapter/topic") == {} and durations.of_topic("chapter/topic") == durations.UNKNOWN


def test_what_took_longest_is_begun_first_and_results_come_in_the_order_asked(store, begun):
    for topic, seconds in (("a/short", 1.0), ("a/long", 9.0)):
        durations.put(topic, {"claim": seconds})
    targets = [(name, store / name) for name in ("a/short", "a/new", "a/long")]
    assert [result.topic for result in runner.check_all(targets, False, 1, None)] == ["a/short", "a/new", "a/long"]
    assert begun == ["a/new", "a/long", "a/short"]
    del begun[:]
    runner.check_all(targets, False, 1, None, options=runner.Options(urgent=frozenset({"a/short"})))
    assert begun == ["a/short", "a/new", "a/long"]


def test_of_scripts_that_were_never_checked_the_longest_is_begun_first(store, begun):
    targets = [(name, store / f"{name}.py") for name in ("short", "long", "nowhere", "middle")]
    for (_, script), size in zip(targets, (1, 9, 0, 5)):
        if size:
            script.write_text("#" * size)
    runner.check_all(targets, False, 1, None)
    assert begun == ["long", "middle", "short", "nowhere"]


def test_what_somebody_waits_for_is_done_before_the_others_begin(store, monkeypatch):
    seen = []

    def check(topic, *rest):
        seen.append(("begun", topic))
        time.sleep(0.05 * (topic == "a/first"))  # were the others begun meanwhile, they would be seen before its end
        seen.append(("done", topic))
        return runner.Result(topic, store / topic, stopped=True)

    monkeypatch.setattr(runner, "check_script", check)
    targets = [(name, store / name) for name in ("a/one", "a/first", "a/two")]
    runner.check_all(targets, False, 3, None, options=runner.Options(urgent=frozenset({"a/first"})))
    assert seen[:2] == [("begun", "a/first"), ("done", "a/first")] and len(seen) == 6


def test_what_nobody_waits_for_goes_behind_where_something_is_awaited(store, monkeypatch):
    behind = {}
    monkeypatch.setattr(runner, "check_script", lambda topic, *rest: behind.update({topic: rest[-1].run is runner.run_in_background}))
    targets = [("a/first", store / "a"), ("a/other", store / "b")]
    runner.check_each(targets, False, 1, None, None, runner.Options(urgent=frozenset({"a/first"})))
    assert behind == {"a/first": False, "a/other": True}
    runner.check_each(targets, False, 1, None, None, runner.Options())
    assert behind == {"a/first": False, "a/other": False}


@pytest.mark.parametrize("first, waits", [({"a/first"}, [runner.HEAD_START]), ({"a/first", "a/other"}, []), (set(), [])])
def test_others_wait_a_little_until_the_page_of_what_was_awaited_is_built(store, monkeypatch, first, waits):
    seen = []
    monkeypatch.setattr(runner, "check_script", lambda topic, *rest: seen.append(topic))
    stop = SimpleNamespace(wait=seen.append, is_set=lambda: False)
    runner.check_each([("a/first", store / "a"), ("a/other", store / "b")], False, 1, None, stop, runner.Options(urgent=frozenset(first)))
    assert seen == ["a/first", *waits, "a/other"]


@pytest.mark.parametrize("text", ["raise SystemExit('none')\n", "import os\nos._exit(1)\n"])  # that it ends is said, or not
def test_nobody_waits_where_nothing_is_awaited(tree, text):
    tree.script.write_text(text)
    waited = []
    stop = SimpleNamespace(wait=waited.append, is_set=lambda: False)
    runner.check_script("chapter/tiny", tree.script, False, lambda done, more: None, stop, runner.Options())
    assert waited == []


@pytest.mark.parametrize("ask, behind", [(runner.run_worker, 0), (runner.run_in_background, runner.BACKGROUND_NICENESS)])
def test_a_process_in_the_background_lets_others_go_before_it(tmp_path, ask, behind):
    script = tmp_path / "script.py"
    script.write_text("import os\nraise SystemExit(f'niceness {os.nice(0)}')\n")
    result, _ = ask("script", script, lambda done, more: None, Event(), {})
    assert f"niceness {os.nice(0) + behind}" in result.problems[0]
