"""The store: what it returns is what was stored, and anything damaged, edited, moved or foreign counts as missing."""

import json
import time
from multiprocessing import get_context

import pytest

from derivations.kernel.store import store
from derivations.kernel.store.store import Differs, Folder, InvalidFolder, Missing, Recheck, Store, StoreError, digest
from tests.kernel.common import has_code

VALUE = {"a": 1, "b": ["é", None, 1.5]}
KEY = "chapter/tiny"


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """A store of this test with one result."""
    monkeypatch.setattr(store, "FOLDER", tmp_path / "store")
    found = Store("things")
    found.put(KEY, VALUE)
    return found


def test_what_was_stored_is_returned(stored):
    assert stored.get(KEY) == VALUE and stored.keys() == [KEY]
    stored.put(KEY, {})
    assert stored.get(KEY) == {}
    stored.delete(KEY)
    assert stored.get(KEY) is None and stored.keys() == []
    with pytest.raises(Missing):
        stored.require(KEY)


def rewrite(path, change):
    path.write_bytes(change(path.read_bytes()))


DAMAGES = {
    "edited": lambda data: data.replace(b'"a": 1', b'"a": 2'),
    "half written": lambda data: data[: len(data) // 2],
    "empty": lambda data: b"",
    "without its seal": lambda data: data.partition(b"\n")[2],
    "with an empty seal": lambda data: b"\n" + data.partition(b"\n")[2],
    "with a seal that is not ASCII": lambda data: "é".encode() + b"\n" + data.partition(b"\n")[2],
    "plain JSON": lambda data: json.dumps(VALUE).encode(),
    "nested too deep": lambda data: b"[" * 100_000,
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_result_counts_as_missing(stored, damage):
    rewrite(stored.path(KEY), damage)
    assert stored.get(KEY) is None
    with pytest.raises(StoreError, check=has_code("unusable-result")):
        stored.require(KEY)
    stored.put(KEY, VALUE)
    assert stored.get(KEY) == VALUE


@pytest.mark.parametrize("kind, key", [("things", "chapter/other"), ("others", KEY)])
def test_a_result_that_was_moved_counts_as_missing(stored, kind, key):
    moved = Store(kind).path(key)
    moved.parent.mkdir(parents=True, exist_ok=True)
    stored.path(KEY).rename(moved)
    assert Store(kind).get(key) is None


def test_a_result_of_another_checkout_counts_as_missing(stored):
    (store.FOLDER / "key").unlink()
    assert stored.get(KEY) is None


def test_a_result_in_another_format_counts_as_missing(stored, monkeypatch):
    monkeypatch.setattr(store, "FORMAT", store.FORMAT + 1)
    assert stored.get(KEY) is None


def test_a_folder_in_the_place_of_a_file_counts_as_missing(stored):
    stored.path("folder").mkdir()
    assert stored.get("folder") is None
    with pytest.raises(StoreError, check=has_code("unusable-result")):
        stored.require("folder")


def test_the_key_is_for_its_owner_alone(stored):
    assert (store.FOLDER / "key").stat().st_mode & 0o077 == 0


def test_storing_the_same_again_leaves_the_file_alone(stored):
    before = stored.path(KEY).stat().st_mtime_ns
    time.sleep(0.01)
    stored.put(KEY, VALUE)
    assert stored.path(KEY).stat().st_mtime_ns == before
    stored.put(KEY, VALUE | {"a": 2})
    assert stored.path(KEY).stat().st_mtime_ns > before


def write_often(folder, value):
    store.FOLDER = folder
    for _ in range(40):
        Store("things").put(KEY, value)


def test_two_writers_leave_a_whole_file(stored):
    """A reader sees one value or the other at every moment, and no partial file is left."""
    values = [{"who": k, "text": str(k) * 50_000} for k in (1, 2)]
    stored.put(KEY, values[0])
    writers = [get_context("fork").Process(target=write_often, args=(store.FOLDER, value)) for value in values]
    for writer in writers:
        writer.start()
    seen = [stored.get(KEY) for _ in range(50)]
    while any(writer.is_alive() for writer in writers):
        seen.append(stored.get(KEY))
    assert all(writer.exitcode == 0 for writer in writers)
    assert all(value in values for value in seen) and {value["who"] for value in seen} == {1, 2}
    assert [path.name for path in stored.files()] == ["tiny"]


def test_digests_differ_where_any_part_differs():
    parts = [("a", "b"), ("ab",), ("a", ["b"]), ({"a": "b"},), ({"a": 1},), ({"a": "1"},), ()]
    assert len({digest(*part) for part in parts}) == len(parts)
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})


def test_pruning_deletes_what_was_used_longest_ago(stored):
    few = Store("few", by_digest=True, max_results=2)
    for key in "abc":
        few.put(key, VALUE)
        time.sleep(0.01)
    assert few.get("a") == VALUE  # used now
    few.prune()
    assert few.keys() == ["a", "c"]


# Computing again ----------------------------------------------------------------------------------------------------------------


def test_a_stored_result_is_used_again_while_it_holds(stored):
    calls = []
    compute = lambda: calls.append(1) or {"n": len(calls)}  # noqa: E731
    assert [stored.reuse("new", compute)["n"] for _ in range(3)] == [1, 1, 1]
    assert stored.reuse("new", compute, holds=lambda value: value["n"] > 1)["n"] == 2
    assert stored.reuse("other", compute, may_be_stored=lambda value: False)["n"] == 3 and stored.get("other") is None


def test_a_recheck_finds_a_result_that_differs_and_deletes_its_kind(stored, monkeypatch):
    other = Store("others")
    other.put(KEY, VALUE)
    compute = lambda: VALUE | {"a": 2}  # noqa: E731
    assert stored.reuse(KEY, compute) == VALUE
    monkeypatch.setattr(store.settings, "recheck", Recheck(1, "seed"))
    assert stored.reuse(KEY, lambda: VALUE) == VALUE
    with pytest.raises(Differs, check=has_code("different-result"), match="^chapter/tiny: .*1 in 1, seed seed"):
        stored.reuse(KEY, compute)
    assert stored.keys() == [] and other.get(KEY) == VALUE
    assert stored.reuse(KEY, compute) == compute()


def test_a_recheck_does_not_compare_what_results_depend_on(stored, monkeypatch):
    monkeypatch.setattr(store.settings, "recheck", Recheck(1))
    for depends in ("one file", "two files"):
        assert stored.reuse("new", lambda depends=depends: {"made": 1, "depends": depends})["made"] == 1


def test_a_recheck_picks_the_same_results_for_the_same_seed_and_about_as_many_as_asked():
    names = [str(k) for k in range(2000)]
    picked = [{name for name in names if Recheck(20, seed).picks(name)} for seed in ("a", "a", "b")]
    assert picked[0] == picked[1] != picked[2]
    assert all(60 < len(one) < 140 for one in picked)
    assert not any(Recheck().picks(name) for name in names)
    assert all(Recheck(1).picks(name) for name in names)


# A folder that a team shares -----------------------------------------------------------------------------------------------------

MANY = Store("many", by_digest=True)


@pytest.fixture(params=["path", "object store"])
def shared(request, tmp_path, monkeypatch):
    """A shared folder in use, with a result of another machine."""
    folder = Folder(str(tmp_path / "shared") if request.param == "path" else "memory://shared")
    monkeypatch.setattr(store.settings, "shared", folder)
    on_another_machine(tmp_path, monkeypatch)
    MANY.put("key", VALUE)
    on_another_machine(tmp_path, monkeypatch)
    yield folder
    if request.param != "path":
        folder.files.store.clear()


def on_another_machine(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "FOLDER", tmp_path / f"machine{len(list(tmp_path.glob('machine*')))}")
    store.FOLDER.mkdir()


def test_a_result_of_another_machine_is_used_and_stored_here(shared, monkeypatch):
    assert MANY.keys() == [] and MANY.get("key") == VALUE and MANY.keys() == ["key"]
    monkeypatch.setattr(store.settings, "shared", None)
    assert MANY.get("key") == VALUE


def test_what_is_named_by_a_topic_stays_on_this_machine(shared, tmp_path, monkeypatch):
    Store("things").put("key", VALUE)
    on_another_machine(tmp_path, monkeypatch)
    assert Store("things").get("key") is None and not shared.files.exists(f"{shared.root}/things")


@pytest.mark.parametrize("data", [b"", b"half of", b"\xff\n{}", b"{}"])
def test_a_damaged_file_in_the_shared_folder_counts_as_missing(shared, data):
    shared.files.pipe_file(f"{shared.root}/many/key", data)
    assert MANY.get("key") is None and not shared.faults
    MANY.put("key", VALUE)
    assert shared.read("many/key") == store.seal_result("many/key", VALUE, b"")


def test_a_shared_folder_that_fails_is_left_alone(shared, monkeypatch):
    asked = []

    def fail(*arguments):
        asked.append(arguments[0])
        raise ConnectionError("the network is down\nand more")

    monkeypatch.setattr(shared, "read", fail)
    monkeypatch.setattr(shared, "write", fail)
    assert [MANY.get(key) for key in ("key", "other")] == [None, None]
    for key in ("key", "other"):
        MANY.put(key, VALUE)
    assert MANY.get("other") == VALUE and asked == ["many/key", "many/key"]
    assert shared.faults == dict.fromkeys(("read", "write"), "ConnectionError: the network is down")


def test_an_address_that_is_none_is_rejected():
    with pytest.raises(InvalidFolder, check=has_code("not-a-folder"), match="^nowhere://x "):
        Folder("nowhere://x")
