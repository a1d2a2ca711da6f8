"""Coq gives the same verdicts on a cluster as on this machine."""

import pytest

from derivations.kernel import matrix, sizes
from derivations.kernel.check import coq_run, dask_cluster
from derivations.kernel.check.dask_cluster import CheckoutMismatch
from tests.kernel.common import has_code
from tests.kernel.coq.sources import written

n = sizes("n")
S, T = matrix("S", n, n), matrix("T", n, n)


def claims(of):
    of.identity("right", (S @ T).T, T.T @ S.T)
    of.identity("wrong", (S @ T).T, S.T @ T.T)
    of.identity("more", (S + T).T, T.T + S.T)


@pytest.mark.coq
def test_what_coq_says_on_a_cluster_is_what_it_says_here(local, program):
    program("coqc")
    sources, told, decided = written(claims), [], {}
    with dask_cluster.connect(local.scheduler_address) as workers:
        said = coq_run.make_cluster_prover(workers, told.append)(sources, decided.__setitem__)
    assert told == [3, 3, 3] and list(said) == list(sources) and [ok for ok, _ in said.values()] == [True, False, True]
    assert said == decided == coq_run.make_local_prover(1, lambda n: None)(sources, lambda key, said: None)


def test_a_worker_with_another_coq_is_refused(monkeypatch):
    monkeypatch.setattr(coq_run.coq_witness, "version", lambda: "8.16")
    with pytest.raises(CheckoutMismatch, check=has_code("different-checkout"), match="8.16, not 8.20"):
        coq_run.prove_on_worker({}, frozenset(), "8.20")
