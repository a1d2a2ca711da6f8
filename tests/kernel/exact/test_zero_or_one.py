"""Quantities that are 0 or 1: they equal their squares, their exponentials are linear in them, and masks are built from them."""

from contextlib import suppress
from fractions import Fraction

import pytest

from derivations.kernel import (
    Derivation,
    diff,
    exp,
    index,
    matrix,
    nonzero,
    ones,
    positive,
    rounded,
    scalars,
    sizes,
    softmax,
    total,
    vector,
    zero_or_one,
)
from derivations.kernel.attack import judge
from derivations.kernel.attack.claim_script import claim_to_script
from derivations.kernel.check.witnesses import WITNESSES
from derivations.kernel.coq.witness import source
from derivations.kernel.core.acceptance import collect_verdicts
from derivations.kernel.core.assumptions import describe_assumption
from derivations.kernel.core.claims import Rejected
from derivations.kernel.errors import KernelError
from derivations.kernel.exact import normal_form
from derivations.kernel.pytorch.witness import witness as pytorch
from derivations.kernel.sympy.program import write_program
from derivations.kernel.sympy.witness import witness as sympy
from tests.kernel.common import has_code

n, m = sizes("n m")
k, z, K, S = vector("k", n), vector("z", n), matrix("K", n, m), matrix("S", n, m)
c, x, b = scalars("c x b")
i, j, l = index("i", n), index("j", n), index("l", n)
bits, bit = zero_or_one(k), zero_or_one(b)
kept = total(k[l] * exp(z[l]), l)
masked = softmax(z - c * (ones(n) - k))[i]

TRUE = {
    "its own square": ("identity", k * (k * z), k * z, [bits]),
    "of a scalar": ("identity", (2 * b - 1) ** 2, 1, [bit]),
    "of a matrix": ("identity", K * K, K, [zero_or_one(K)]),
    "an exponential": ("identity", exp(x * k[i]), 1 + k[i] * (exp(x) - 1), [bits]),
    "a masked exponential": ("identity", exp(z[i] - c * (1 - k[i])), k[i] * exp(z[i]) + (1 - k[i]) * exp(z[i] - c), [bits]),
    "masked twice": ("identity", k * (k * exp(z) / kept), k * exp(z) / kept, [bits, nonzero(kept)]),
    "all the weight": ("identity", total(k[i] * (k * exp(z) / kept)[i], i), 1, [bits, nonzero(kept)]),
    "at most one": ("inequality", k[i], 1, [bits], 1 - k[i]),
    "no more than all": ("inequality", total(k[i] * exp(z[i]), i), total(exp(z[i]), i), [bits], total((1 - k[i]) * exp(z[i]), i)),
    "a mask, in the limit": ("limit", masked, k[i] * exp(z[i]) / kept, [bits, nonzero(kept)]),
    "a mask that keeps something": ("limit", masked, k[i] * exp(z[i]) / kept, [bits, positive(kept)]),
}
FALSE = {
    "its own square": ("identity", k * (k * z), k * z, []),
    "it is one": ("identity", k * k, ones(n), [bits]),
    "all are alike": ("identity", k[i] * k[j], k[i], [bits]),
    "a product of scores": ("identity", softmax(z * k)[i], k[i] * exp(z[i]) / kept, [bits, nonzero(kept)]),
    "one of them is one": ("inequality", 1, total(k[i], i), [bits], total(k[i], i) - 1),
    "none is one": ("inequality", k[i], 0, [bits], -k[i]),
    "its slope": ("identity", diff(b**2, b), 1, [bit]),
    "a slope of an entry": ("identity", diff(k[i] ** 2, k[i]), 1, [bits]),
    "a mask of any numbers": ("limit", masked, k[i] * exp(z[i]) / kept, [nonzero(kept)]),
    "a mask that leaves nothing": ("limit", masked, k[i] * exp(z[i]) / kept, [bits]),
    "a size that matters when it is large": (
        "limit",
        masked + (n - 1) * (n - 2) * (n - 3) * (n - 4),
        k[i] * exp(z[i]) / kept,
        [bits, nonzero(kept)],
    ),
    "no mask at all": ("limit", masked, softmax(z)[i], [bits, nonzero(kept)]),
}


def stated(kind, left, right, given, certificate=None):
    derivation = Derivation("Tests")
    if kind == "limit":
        derivation.limit("c", left, c, "oo", right, given=given)
    else:
        getattr(derivation, kind)("c", left, right, given=given, **({"because": certificate} if certificate is not None else {}))
    return derivation.claims[-1]


@pytest.mark.parametrize("name", TRUE)
def test_what_follows_is_proved_by_two_and_seen_by_a_third(name):
    assert [v.verdict for v in collect_verdicts(stated(*TRUE[name]), WITNESSES)] == ["proved", "proved", "agrees"]


@pytest.mark.parametrize("name", FALSE)
def test_what_does_not_follow_is_refused(name):
    claim = stated(*FALSE[name])
    assert judge.judge(claim)[0] == "false"
    with pytest.raises(Rejected):
        WITNESSES["exact"](claim)


@pytest.mark.parametrize("name", sorted(FALSE.keys() - {"a mask that leaves nothing"}))
def test_no_other_witness_vouches_for_what_does_not_follow(name):
    claim = stated(*FALSE[name])
    with pytest.raises(Rejected):
        pytorch(claim)
    with suppress(Rejected):
        assert sympy(claim)[0] == "not applicable"


def test_a_limit_shows_where_it_goes_without_the_assumption():
    found = WITNESSES["exact"](stated(*TRUE["a mask, in the limit"]))
    assert found.needed[0] == "at k = [1, 2], z = [0, 0], i = 2 the series gives 1 as c -> oo, and 2/3 is stated"
    assert "division by zero" in found.needed[1]


def test_sympy_tries_every_mask_of_two_keys_and_leaves_out_the_one_without_any():
    text = write_program(stated(*TRUE["a mask, in the limit"])).text
    for mask in ("k=(0, 0)", "k=(0, 1)", "k=(1, 0)", "k=(1, 1)", "k=(1,)"):
        assert f"dict(n={1 if mask.endswith(',)') else 2}, {mask})" in text
    assert "possible(SIZES, assumed)" in text


def test_without_the_masks_that_no_assumption_allows_sympy_would_divide_by_zero(monkeypatch):
    claim = stated(*TRUE["a mask, in the limit"])
    assert sympy(claim)[0] == "proved"
    monkeypatch.setattr("derivations.kernel.sympy.program.sizes_argument", lambda t: "SIZES")
    with pytest.raises(Rejected):
        sympy(claim)


def test_the_exact_witness_needs_the_rule_for_powers(monkeypatch):
    monkeypatch.setattr(normal_form, "is_bit", lambda head, facts: False)
    with pytest.raises(Rejected):
        WITNESSES["exact"](stated(*TRUE["its own square"]))


def test_a_refutation_keeps_to_it():
    derivation = Derivation("Tests")
    derivation.refute("c", k * k, 2 * k, at={k: [3]}, given=[bits])
    with pytest.raises(Rejected, check=has_code("broken-assumption")):
        WITNESSES["exact"](derivation.claims[-1])


def test_what_moves_is_not_taken_to_be_zero_or_one():
    derivation = Derivation("Tests")
    derivation.limit("c", x * b / b, b, "oo", x, given=[bit])
    with pytest.raises(Rejected, check=has_code("assumption-about-limit-variable")):
        WITNESSES["exact"](derivation.claims[-1])


@pytest.mark.parametrize(
    "wrong, code",
    [
        (n, "not-zero-or-one"),
        (k[i], "not-a-symbol"),
        (k + z, "not-a-symbol"),
        (3, "not-a-symbol"),
    ],
)
def test_it_is_about_a_symbol_that_is_no_size(wrong, code):
    with pytest.raises(KernelError, check=has_code(code)):
        zero_or_one(wrong)


def test_it_is_said_in_words_and_written_as_a_script_writes_it():
    assert (describe_assumption(bits), describe_assumption(bit)) == ("each entry of k is 0 or 1", "b is 0 or 1")
    assert "given=[zero_or_one(k)]" in claim_to_script(stated(*TRUE["its own square"]))


def test_coq_says_that_it_cannot_state_it():
    found = source(stated(*TRUE["its own square"]))
    assert found.text is None and "it assumes what has no counterpart: 'zero_or_one'" in found.reason


def test_a_bit_is_a_floating_point_number(proved):
    third = {zero_or_one(b): {b: Fraction(1, 3)}}
    proved(lambda D: D.identity("claim", rounded(b), b, given=[zero_or_one(b)], without=third))
