"""Every matrix identity and every polynomial or rational identity of the site has a theorem in Coq.

Which claims these are is decided here by their trees alone, with nothing of what writes the theorems.
"""

import pytest

from derivations.kernel import absolute, exp, index, log, scalars, sizes, softmax, total, vector
from derivations.kernel.check import coq_open_claims
from derivations.kernel.coq import algebraic_structures, file_audit, notation, theorems
from derivations.kernel.coq import witness as coq
from derivations.kernel.core import claims
from derivations.kernel.script.loading import load_script
from derivations.kernel.store import certificates, project_files

RATIONAL = {
    "const",
    "paren",
    "defined",
    "index",
    "add",
    "neg",
    "mul",
    "div",
    "pow",
    "sum",
    "entry",
    "matmul",
    "transpose",
    "inverse",
    "eye",
    "fill",
    "array",
}
BEYOND = {"function", "softmax", "derivative", "imaginary", "rounded", "each", "where"}
NO_THEOREM = {"attention/packing#either": "it rests on entries that are zero or one"}  # topic#claim: why MathComp cannot state it


@pytest.fixture(scope="module")
def site():
    """Every claim of the site, by topic#id."""
    found = {}
    for topic in certificates.topics():
        assert load_script(project_files.ROOT / "derivations" / f"{topic}.py") is None
        found |= {f"{topic}#{claim.id}": claim for claim in claims.LOADED[0].claims}
    return found


def nodes(claim):
    def walk(e):
        yield e
        for argument in e.args:
            yield from walk(argument)

    for end in (claim.start, *(s.expr for s in claim.steps)):
        yield from walk(end)


def rational(e) -> bool:
    """Whether a tree is made of real numbers, sizes and matrices by sums, products, quotients, integer powers and inverses."""
    if e.op == "symbol":
        return e.data[1] in ("real", "size")
    if e.op == "pow" and not (e.args[1].op == "const" and e.args[1].data.denominator == 1):
        return False
    return e.op in RATIONAL and all(map(rational, e.args))


def every(site):
    return {
        key: claim
        for key, claim in site.items()
        if claim.kind in ("identity", "chain") and rational(claim.start) and all(rational(step.expr) for step in claim.steps)
    }


def without_theorem(found) -> list:
    """Those for which no whole theorem is written, or one of which Coq would not be asked what it assumes."""
    missing = []
    for key, claim in found.items():
        source = coq.source(claim, key.split("#")[0])
        good = source.whole and source.steps == tuple(range(1, len(claim.steps) + 1)) and not file_audit.find_loophole(source.text)
        if not good or "claim" not in file_audit.theorem_names(source.text):
            missing.append(key)
    return missing


def test_every_rational_identity_of_the_site_has_a_theorem(site):
    found = every(site)
    assert len(found) > 100 and len({claim.kind for claim in found.values()}) == 2
    assert sorted(without_theorem(found)) == sorted(NO_THEOREM)


def test_the_site_has_rational_identities_of_every_sort(site):
    """What the test above could not see: a classifier that forgets a sort."""
    found = every(site)
    assert {node.op for claim in found.values() for node in nodes(claim)} == RATIONAL | {"symbol"}
    for key, claim in site.items():
        if claim.kind in ("identity", "chain") and key not in found:
            assert any(
                node.op in BEYOND or node.op == "pow" and getattr(node.args[1].data, "denominator", 0) != 1 for node in nodes(claim)
            ), key


@pytest.mark.parametrize("fault", ["matmul", "sum", "div", "inverse", "array", "entry_of_more", "number"])
def test_one_that_cannot_be_written_is_missed(site, monkeypatch, fault):
    def refuse(*_):
        raise algebraic_structures.NotForCoq("planted")

    if fault in notation.RULES:
        monkeypatch.setitem(notation.RULES, fault, refuse)
    else:
        monkeypatch.setattr(notation, fault, refuse)
    assert without_theorem(every(site))


def test_part_of_a_chain_is_not_the_claim(site, monkeypatch):
    chain = next(c for c in every(site).values() if len(c.steps) > 1)
    monkeypatch.setattr(theorems, "statable", lambda ends, notation_of: ([1], ["step 2 has planted"]))
    assert without_theorem({"topic#chain": chain})


def test_a_theorem_of_another_name_is_not_the_claim(site, monkeypatch):
    found = dict(list(every(site).items())[:5])
    as_it_was = theorems.Theorem
    monkeypatch.setattr(theorems, "Theorem", lambda name, *more: as_it_was("other" if name == "claim" else name, *more))
    assert without_theorem(found) == list(found)


def test_what_is_open_is_a_claim_that_coq_can_state(site):
    for key in coq_open_claims.read_reasons():
        assert key in site and coq.source(site[key], key.split("#")[0]).text, key


def test_every_claim_of_the_site_has_a_theorem_or_a_reason(site):
    for key, claim in site.items():
        source = coq.source(claim, key.split("#")[0])
        assert bool(source.text) == bool(source.steps) and (source.text or source.reason), key
        assert source.whole or source.reason, key
        assert not source.text or not file_audit.find_loophole(source.text), key


n = sizes("n")
x, y = scalars("x y")
z, w, i = vector("z", n), vector("w", n), index("i", n)
GAPS = {
    "a relative entropy": total(softmax(w)[i] * (log(softmax(w)[i]) - log(softmax(z)[i])), i),
    "an entropy below its bound": log(n) + total(softmax(z)[i] * log(softmax(z)[i]), i),
    "a tangent": exp(x) - 1 - x,
    "a tangent of the logarithm": x - 1 - log(x),
    "a triangle": absolute(x) + absolute(y) - absolute(x + y),
}
NO_GAPS = {
    "an increase": exp(x) - exp(y),
    "an exponential from one": exp(x) - 1,
    "exponentials in a sum": total(exp(z[i]) * (exp(x) - exp(y)), i),
    "a modulus and its argument": absolute(x) - x,
    "the logarithm of a sum": log(total(exp(z[i]), i)),
}


@pytest.mark.parametrize("form", GAPS.values(), ids=GAPS)
def test_standard_inequalities_are_not_for_coq(form):
    with pytest.raises(algebraic_structures.NotForCoq, match="rests on"):
        theorems.reject_standard_gaps(form)


@pytest.mark.parametrize("form", NO_GAPS.values(), ids=NO_GAPS)
def test_other_forms_are(form):
    theorems.reject_standard_gaps(form)
