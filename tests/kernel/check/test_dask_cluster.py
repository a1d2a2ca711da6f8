"""A Dask cluster gives the same results as this machine, and a failure on the cluster never stores a wrong result."""

import os
import time
from threading import Thread

import pytest
from distributed import LocalCluster

from derivations.kernel.check import dask_cluster, fuzz_run, mutation_run, runner
from derivations.kernel.check.dask_cluster import CheckoutMismatch, ClusterError
from derivations.kernel.store import certificates, claim_cache, dependencies, project_files
from derivations.kernel.store import store as results
from derivations.kernel.store.store import digest
from tests.kernel.common import has_code

TOPIC = "example/closed"
FOREVER = 3600  # seconds that no test waits: what sleeps so long is ended


@pytest.fixture
def store(tmp_path, monkeypatch):
    """A place for certificates that is not the project's."""
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    return tmp_path


def check(**more):
    target = (TOPIC, certificates.script_of(TOPIC))
    (result,) = runner.check_all([target], True, 1, lambda done, more: None, **more)
    assert not result.problems
    return result


@pytest.mark.nightly
def test_a_certificate_from_a_cluster_is_the_same_bytes_as_one_from_here(local, store):
    def refused_for_uses(result):
        return {r["claim"]["id"] for r in result.records if r["verdict"] != "holds"}

    here = check()
    path, claims = certificates.STORE.path(TOPIC), claim_cache.STORE.path(claim_cache.key(TOPIC))
    kept, own = claims.read_bytes(), path.read_bytes() if path.exists() else b""
    path.unlink(missing_ok=True)
    with dask_cluster.connect(local.scheduler_address) as workers:
        there = check(options=runner.Options(run=dask_cluster.make_cluster_check(workers)))
    assert workers.size == 2 and refused_for_uses(there) == refused_for_uses(here)
    assert claims.read_bytes() == kept
    assert (path.read_bytes() if path.exists() else b"") == own


@pytest.mark.slow
def test_mutants_and_random_claims_come_out_as_they_do_here(local, store):
    targets = [(TOPIC, certificates.script_of(TOPIC))]
    address = local.scheduler_address
    assert mutation_run.run(targets, True, 2, cluster=address) == mutation_run.run(targets, True, 2)
    counts = ("claims", "families", "witnesses", "faults", "faulty", "refused", "refused_listed")
    here, there = fuzz_run.run(3, 40, 2), fuzz_run.run(3, 40, 2, cluster=address)
    assert here["claims"] == 40 and {name: here[name] for name in counts} == {name: there[name] for name in counts}


def test_a_worker_with_another_checkout_is_refused(local, tree):
    with (
        pytest.raises(CheckoutMismatch, check=has_code("different-checkout"), match="derivations/"),
        dask_cluster.connect(local.scheduler_address),
    ):
        pass
    with pytest.raises(CheckoutMismatch):
        dask_cluster.run_on_worker("of something else", len, ())


def test_a_checkout_is_its_files_and_its_libraries(tree, monkeypatch):
    before = dask_cluster.describe_checkout()
    assert {"derivations/chapter/tiny.py", "python", "sympy"} <= {*before}
    tree.script.write_text(tree.script.read_text() + "# more")
    monkeypatch.setattr(dask_cluster, "library_versions", lambda: {"python": "0"})
    assert dask_cluster.find_differences(before, dask_cluster.describe_checkout())[0] == "derivations/chapter/tiny.py"
    assert {"python", "sympy"} <= set(dask_cluster.find_differences(before, dask_cluster.describe_checkout()))
    assert dask_cluster.digest(before) != digest(dask_cluster.describe_checkout())


def die_once(marker):
    """The first worker that has this dies of it."""
    if not os.path.exists(marker):
        open(marker, "w").close()
        os._exit(1)
    return "done"


def test_what_a_worker_had_that_died_is_done_by_another(local, tmp_path):
    with dask_cluster.connect(local.scheduler_address) as workers:
        tasks = [workers.submit_to_thread(die_once, str(tmp_path / "marker")), workers.submit(len, "abc")]
        assert [task.result() for task in tasks] == ["done", 3]


@pytest.mark.slow
def test_where_the_cluster_goes_the_command_says_so():
    own = LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=":0")
    with (
        pytest.raises(ClusterError, check=has_code("cluster-lost")),
        dask_cluster.connect(own.scheduler_address) as workers,
    ):
        task = workers.submit_to_thread(time.sleep, FOREVER)
        Thread(target=own.close, daemon=True).start()
        task.result()


def test_without_a_scheduler_or_a_worker_it_says_what_to_start(monkeypatch):
    monkeypatch.setattr(dask_cluster, "CONNECT_TIMEOUT", 1)
    with (
        pytest.raises(ClusterError, check=has_code("no-scheduler"), match="tcp://127.0.0.1:1"),
        dask_cluster.connect("tcp://127.0.0.1:1"),
    ):
        pass
    with (
        LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as empty,
        pytest.raises(ClusterError, check=has_code("no-worker")),
        dask_cluster.connect(empty.scheduler_address),
    ):
        pass


def test_a_worker_that_may_start_no_processes_says_so(monkeypatch):
    monkeypatch.setattr(dask_cluster.multiprocessing.current_process(), "_config", {"daemon": True})
    with pytest.raises(ClusterError, check=has_code("worker-broken"), match="--no-nanny"):
        dask_cluster.run_on_worker(digest(dask_cluster.describe_checkout()), len, ())


def test_paths_of_another_machine_become_those_of_this_one(monkeypatch, tmp_path):
    monkeypatch.setattr(project_files, "ROOT", tmp_path)
    told = {"problems": ["/app/derivations/a/b.py:3: false"], "records": [{"words": "snippets/appended n/app/x at /app/x"}], "root": "/app"}
    assert dask_cluster.replace_root("/app", told) == {
        "problems": [f"{tmp_path}/derivations/a/b.py:3: false"],
        "records": [{"words": f"snippets/appended n/app/x at {tmp_path}/x"}],
        "root": str(tmp_path),
    }


def test_what_a_worker_read_that_is_otherwise_here_is_told(monkeypatch):
    monkeypatch.setenv("SCALE", "3")
    there = {"SCALE": dependencies.hash_variable("SCALE", b"nonce")}
    libraries = {"libraries": {name: dependencies.installed_version(name) for name in ("torch", "sympy")}}
    assert dask_cluster.find_input_differences(libraries, there, b"nonce") == []
    monkeypatch.setenv("SCALE", "2")
    libraries["libraries"]["torch"] = "0"
    assert dask_cluster.find_input_differences(libraries, there, b"nonce") == ["the environment variable SCALE", "torch"]


@pytest.mark.slow
def test_the_command_checks_on_a_cluster_and_refuses_what_goes_with_no_cluster(local, store, command, tmp_path):
    done = command("check", "--fresh", "--cluster", local.scheduler_address, TOPIC)
    assert TOPIC in done.output
    assert command("check", "--watch", "--cluster", "x").exit_code == 2
    script = tmp_path / "own.py"
    script.write_text("")
    assert "the machines of the cluster do not have it" in command("check", "--cluster", local.scheduler_address, script).output
    gone = command("fuzz", "--fresh", "--claims", "1", "--cluster", "nowhere:1")
    assert gone.exit_code == 1 and "no Dask scheduler answers" in gone.output
