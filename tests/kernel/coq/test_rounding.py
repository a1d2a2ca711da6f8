"""The Coq witness: refutations about rounding, over the reals, with the numbers of a binary format."""

from fractions import Fraction

import pytest

from derivations.kernel import Derivation, exp, index, rounded, scalars, sizes, softmax, total, vector
from derivations.kernel.coq import coq_process, file_audit
from derivations.kernel.coq import witness as coq
from tests.kernel.coq.sources import written

a, b = scalars("a b")
m = sizes("m")
z = vector("z", m)
j = index("j", m)


def wrong(of):
    of.refute("tie", rounded(a), a, at={a: 2**24 + 1})
    of.refute("negative", rounded(a), a, at={a: -(2**24 + 1)})
    of.refute("third", rounded(a / 3), a / 3, at={a: 1})
    of.refute("next-power", rounded(a), a, at={a: 2**25 - 1})
    of.refute("vanishes", rounded(a * b) / b, a, at={a: 1, b: Fraction(1, 2**150)})
    of.refute("subnormal", rounded(3 * a), 3 * a, at={a: Fraction(1, 2**150)})
    of.refute("inside", exp(rounded(a) - a), 1, at={a: 2**24 + 1})
    of.refute("sum", total(rounded(softmax(z)[j]), j), 1, at={z: [0, 0, 0]})
    of.refute("up", rounded(a), a, relation="<=", at={a: 2**24 + 3})


def right(of):
    of.refute("even", rounded(a), a, at={a: 2**24 + 2})
    of.refute("zero", rounded(a), a, at={a: 0})
    of.refute("smallest", rounded(a), a, at={a: Fraction(1, 2**149)})
    of.refute("down", rounded(a), a, relation="<=", at={a: 2**24 + 1})


def test_that_nothing_overflows_is_a_premise():
    text = written(wrong)["tie"]
    assert f"Rabs (rounded_fp32 a) < {2**128} ->\n    rounded_fp32 a =\n    a)" in text
    assert "rounds_near (8388608)%Z (1)%Z (2)." in text


def test_every_source_is_read_before_coq_reads_it():
    assert {id: file_audit.find_loophole(text) for id, text in written(wrong).items()} == dict.fromkeys(written(wrong), "")


def test_rounding_what_is_no_fraction_says_so():
    derivation = Derivation("test")
    derivation.refute("c", rounded(exp(a)), exp(a), at={a: 1})
    source = coq.source(derivation.claims[0])
    assert source.text is None and "no fraction" in source.reason


@pytest.mark.coq
def test_what_rounding_refutes_is_proved_not_to_hold(program, tmp_path):
    program("coqc")
    results = coq_process.prove(written(wrong), tmp_path)
    assert {id: message for id, (ok, message) in results.items() if not ok} == {}
    assert all("axioms of Coq's reals" in message for _, message in results.values()), results


@pytest.mark.coq
def test_what_rounding_leaves_as_it_is_is_not_refuted(program):
    program("coqc")
    results = coq_process.prove(written(right))
    assert all(not ok and message.startswith(coq_process.NO_PROOF) for ok, message in results.values()), results
