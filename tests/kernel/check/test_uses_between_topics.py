"""A claim may use only accepted claims of another topic, and topics may not use each other in a cycle."""

import pytest

from derivations.kernel import Derivation, matrix, sizes
from derivations.kernel.exact.witness import exact
from derivations.kernel.sympy import witness as sympy_witness
from tests.kernel.common import GOOD, HEAD, certified_claims, verdicts_by_script

pytestmark = pytest.mark.slow

n = sizes("n")
A = matrix("A", n, n)

BAD = HEAD + 'derivation.identity("bad", (A + B).T, A.T - B.T)\n'


def using(*uses):
    return GOOD.replace("A.T + B.T)", f"A.T + B.T, uses={list(uses)!r})")


@pytest.mark.parametrize("asked", [(), ("chapter/a",), ("chapter/a", "chapter/b")], ids=["all", "one", "both"])
@pytest.mark.parametrize("length", [2, 3])
def test_topics_that_use_each_other_in_a_circle_are_refused(asked, length, scripts, records):
    names = "abc"[:length]
    scripts(**{name: GOOD for name in names})
    assert records()[0] == 0
    for name, following in zip(names[1:], names[2:] + names[:1]):
        scripts(**{name: using(f"chapter/{following}#good")})
        assert records(f"chapter/{name}")[0] == 0
    scripts(a=using("chapter/b#good"))
    code, found = records(*asked)
    assert code == 1 and any(record.get("error_code") == "circular-uses" for record in found)
    assert certified_claims("chapter/a") is None


def test_a_claim_that_uses_itself_by_its_full_name_is_refused(scripts, records):
    scripts(a=using("chapter/a#good"))
    assert records()[0] == 1 and certified_claims("chapter/a") is None


def test_a_claim_that_uses_one_that_does_not_hold_is_refused(scripts, records):
    scripts(a=using("chapter/b#bad"), b=BAD)
    code, found = records()
    assert code == 1 and verdicts_by_script(found)["b"] == "rejected" and certified_claims("chapter/b") is None
    assert records("chapter/a")[0] == 1


@pytest.mark.parametrize("uses", [["good"], ["chapter/b#good"], ["good", "chapter/b#good"]], ids=["an earlier one", "another's", "both"])
def test_a_false_claim_gains_nothing_by_what_it_cites(uses, scripts, records):
    scripts(a=GOOD + f'derivation.identity("bad", (A + B).T, A.T - B.T, uses={uses})\n', b=GOOD)
    code, found = records()
    assert code == 1 and [r["verdict"] for r in found if r["id"] == "bad"] == ["rejected"] and certified_claims("chapter/a") is None


def test_a_true_claim_owes_nothing_to_what_it_cites():
    """The proof is of the claim alone: another citation in the place of one changes no verdict."""

    def said(uses):
        D = Derivation("test")
        D.identity("first", (A @ A).T, A.T @ A.T)
        D.identity("second", (2 * A).T, 2 * A.T)
        D.identity("claim", (A + A).T, 2 * A.T, uses=uses)
        return exact(D.claims[-1]), sympy_witness.witness(D.claims[-1])

    assert said([]) == said(["first"]) == said(["second"])


@pytest.mark.parametrize(
    "use, code",
    [
        ("chapter/other#sum", "unchecked-topic"),
        ("chapter/b#goood", "unknown-claim"),
        ("chapter/b#wrong", "unknown-claim"),  # it is refuted
    ],
)
def test_a_claim_must_not_use_what_does_not_hold(use, code, scripts, records):
    refuted = 'derivation.refute("wrong", A, 2 * A, at={A: [[1]]})\n'
    scripts(a=GOOD.replace("A.T + B.T)", f"A.T + B.T, uses=[{use!r}])"), b=GOOD + refuted)
    _, found = records()
    assert next(r["error_code"] for r in found if r["topic"] == "chapter/a" and r["verdict"] == "rejected") == code
