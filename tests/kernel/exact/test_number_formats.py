"""Claims about roundings to bf16, fp16 and the 8-bit formats; the rounding of all witnesses agrees with PyTorch's conversions."""

from fractions import Fraction
from math import inf, isinf

import pytest
import sympy as sp
import torch

from derivations.kernel import (
    Derivation,
    absolute,
    exp,
    in_range,
    nonnegative,
    nonzero,
    representable,
    rounded,
    scalars,
    vector,
    zero_or_one,
)
from derivations.kernel.attack.claim_mutants import make_mutants
from derivations.kernel.attack.judge import judge
from derivations.kernel.attack.mpmath_evaluation import evaluate_scalar
from derivations.kernel.attack.parse_latex import parse_latex
from derivations.kernel.attack.parse_plain import parse_plain
from derivations.kernel.attack.print_round_trip import parse_script
from derivations.kernel.core.expr import lift, show
from derivations.kernel.core.number_formats import FORMATS
from derivations.kernel.exact.flint_numbers import Undefined, round_to, to_fmpq, to_fraction
from derivations.kernel.exact.witness import exact
from derivations.kernel.printing.latex import latex
from derivations.kernel.printing.script_text import script
from derivations.kernel.pytorch.error_bounds import round_numbers
from derivations.kernel.pytorch.witness import Rejected
from derivations.kernel.pytorch.witness import witness as by_pytorch
from derivations.kernel.sympy.prelude.outcome import Fails
from derivations.kernel.sympy.prelude.rounding import rounded as round_with_sympy
from derivations.kernel.sympy.witness import witness as by_sympy

DTYPES = {
    "fp32": torch.float32,
    "fp16": torch.float16,
    "bf16": torch.bfloat16,
    "e4m3": torch.float8_e4m3fn,
    "e5m2": torch.float8_e5m2,
}
x, y, z = scalars("x y z")
b = vector("b", 2)


def stated(state):
    derivation = Derivation("test")
    state(derivation)
    return derivation.claims[-1]


def low(e, name="bf16"):
    return rounded(e, name)


def numbers_of_all_exponents(count):
    """Random numbers of fp32, and multiples of powers of two with few digits, many of them ties in the short formats."""
    generator = torch.Generator().manual_seed(0)
    patterns = torch.randint(-(2**31), 2**31, (count,), generator=generator).to(torch.int32).view(torch.float32)
    small = torch.randint(-4000, 4000, (count,), generator=generator) * 2.0 ** torch.randint(-24, 5, (count,), generator=generator)
    found = torch.cat([patterns, small.float()])
    return found[found.isfinite()]


def convert(v, name):
    """PyTorch's conversion from fp32. Where e4m3 overflows, PyTorch returns the largest number, and claims have no value."""
    result = v.to(DTYPES[name]).double()
    return torch.where(v.abs() > 464, v.double().sign() * inf, result) if name == "e4m3" else result


@pytest.mark.parametrize("name", FORMATS)
def test_pytorch_witness_rounds_as_pytorch_converts(name):
    v = numbers_of_all_exponents(200_000)
    assert torch.equal(round_numbers(v.double(), FORMATS[name], unbounded=False), convert(v, name))


@pytest.mark.parametrize("name", FORMATS)
def test_all_witnesses_and_the_judge_round_alike(name):
    v = numbers_of_all_exponents(300)
    for number, expected in zip(v.tolist(), convert(v, name).tolist()):
        exact = Fraction(number)
        if isinf(expected):
            with pytest.raises(Undefined):
                round_to(to_fmpq(exact), name)
            with pytest.raises(Fails):
                round_with_sympy(sp.Rational(exact.numerator, exact.denominator), name)
            continue
        assert to_fraction(round_to(to_fmpq(exact), name)) == Fraction(expected), number
        assert round_with_sympy(sp.Rational(exact.numerator, exact.denominator), name) == sp.Rational(Fraction(expected)), number
        assert evaluate_scalar(rounded(lift(exact), name), {}) == expected, number


@pytest.mark.parametrize("name", FORMATS)
def test_without_a_range_the_witnesses_round_alike(name):
    for number in (numbers_of_all_exponents(300).double() / 3).tolist():
        exact = round_to(to_fmpq(Fraction(number)), name, unbounded=True)
        assert float(to_fraction(exact)) == float(round_numbers(torch.tensor(number, dtype=torch.float64), FORMATS[name], unbounded=True))
        assert evaluate_scalar(rounded(lift(Fraction(number)), name), {"unbounded": True}) == float(to_fraction(exact))


@pytest.mark.parametrize("name", FORMATS)
def test_the_smallest_and_the_largest_number_are_pytorch_s(name):
    assert FORMATS[name].largest == Fraction(torch.finfo(DTYPES[name]).max)
    assert FORMATS[name].lowest == torch.frexp(torch.tensor(torch.finfo(DTYPES[name]).smallest_normal)).exponent - FORMATS[name].bits
    assert 2.0 ** (1 - FORMATS[name].bits) == torch.finfo(DTYPES[name]).eps


TRUE = {
    "a bf16 number in fp32": lambda D: D.identity("claim", rounded(low(x)), low(x), given=[in_range()]),
    "a product of two bf16 numbers in fp32": lambda D: D.identity("claim", rounded(low(x) * low(y)), low(x) * low(y), given=[in_range()]),
    "a product of two fp16 numbers in fp32": lambda D: D.identity(
        "claim", rounded(low(x, "fp16") * low(y, "fp16")), low(x, "fp16") * low(y, "fp16"), given=[in_range()]
    ),
    "a product of two 8-bit numbers in fp16": lambda D: D.identity(
        "claim", low(low(x, "e4m3") * low(y, "e5m2"), "fp16"), low(x, "e4m3") * low(y, "e5m2"), given=[in_range()]
    ),
    "a cube of 8-bit numbers in fp16": lambda D: D.identity(
        "claim", low(low(x, "e5m2") ** 3, "fp16"), low(x, "e5m2") ** 3, given=[in_range()]
    ),
    "an e5m2 number in e4m3, as no exponent matters": lambda D: D.identity(
        "claim", low(low(x, "e5m2"), "e4m3"), low(x, "e5m2"), given=[in_range()]
    ),
    "three times an 8-bit number": lambda D: D.identity("claim", low(3 * low(x, "e4m3")), 3 * low(x, "e4m3"), given=[in_range()]),
    "a constant": lambda D: D.identity("claim", low(lift(257)) + x, 256 + x),
    "a constant that underflows": lambda D: D.identity("claim", low(Fraction(1, 2**160)) + x, x),
    "half": lambda D: D.identity("claim", low(x / 2), low(x) / 2, given=[in_range()]),
    "rounding twice": lambda D: D.identity("claim", low(low(x)), low(x), given=[in_range()]),
    "a bit": lambda D: D.identity("claim", low(b[1], "e4m3"), b[1], given=[zero_or_one(b)], without={zero_or_one(b): {b: (2**20 + 1, 0)}}),
    "the unit of rounding": lambda D: D.inequality(
        "claim", absolute(low(x) - x), absolute(x) / 2**8, because=absolute(x) / 2**8 - absolute(low(x) - x), given=[in_range()]
    ),
    "rounding is monotone": lambda D: D.inequality(
        "claim", low(y), low(x), because=low(x) - low(y), given=[nonnegative(x - y), in_range()]
    ),
}
FALSE = {
    "fp32 in bf16": lambda D: D.identity("claim", low(rounded(x)), rounded(x), given=[in_range()]),
    "fp16 in bf16": lambda D: D.identity("claim", low(low(x, "fp16")), low(x, "fp16"), given=[in_range()]),
    "a product of three bf16 numbers in fp32": lambda D: D.identity(
        "claim", rounded(low(x) * low(y) * low(z) * 3), low(x) * low(y) * low(z) * 3, given=[in_range()]
    ),
    "a product of two bf16 numbers in fp16": lambda D: D.identity(
        "claim", low(low(x) * low(y), "fp16"), low(x) * low(y), given=[in_range()]
    ),
    "a sum of two bf16 numbers in fp32": lambda D: D.identity("claim", rounded(low(x) + low(y)), low(x) + low(y), given=[in_range()]),
    "seventeen times a bf16 number": lambda D: D.identity("claim", low(17 * low(x)), 17 * low(x), given=[in_range()]),
    "another constant": lambda D: D.identity("claim", low(lift(257)) + x, 257 + x),
    "a number of fp32": lambda D: D.identity("claim", low(x), x, given=[representable(x), in_range()]),
    "rounding to two formats in turn": lambda D: D.identity("claim", low(rounded(x)), low(x), given=[in_range()]),
    "half the unit": lambda D: D.inequality(
        "claim", absolute(low(x) - x), absolute(x) / 2**9, because=absolute(x) / 2**9 - absolute(low(x) - x), given=[in_range()]
    ),
    "two formats are not ordered": lambda D: D.inequality(
        "claim", low(y, "fp16"), low(x), because=low(x) - low(y, "fp16"), given=[nonnegative(x - y), in_range()]
    ),
}


@pytest.mark.parametrize("claim", TRUE.values(), ids=TRUE)
def test_true_claims(claim, proved):
    proved(claim)
    assert by_pytorch(stated(claim))[0] == "agrees"
    assert judge(stated(claim))[0] == "true"


def test_a_rounding_that_an_assumption_mentions_has_a_value_in_its_own_format_only(proved, rejection):
    quotient, known = low(x, "fp16") / low(x, "fp16"), [nonzero(low(x, "fp16"))]
    proved(lambda D: D.identity("claim", quotient, 1, given=known))
    proved(lambda D: D.identity("claim", low(low(x, "fp16"), "fp32") / low(x, "fp16"), 1, given=known))
    found = rejection(lambda D: D.identity("claim", quotient + low(x, "e5m2"), 1 + low(x, "e5m2"), given=known))
    assert found.code == "assumption-missing" and "in_range()" in str(found)


def test_a_constant_that_overflows_has_no_value(rejection):
    found = rejection(lambda D: D.identity("claim", 0 * low(2**200) + x, x))
    assert found.code == "assumption-missing" and "in_range()" in str(found)


def test_without_a_range_a_number_of_a_longer_format_with_a_smaller_range_is_not_one_of_it(rejection):
    """e4m3 has more digits than e5m2, but its largest number is 448."""
    large = low(x, "e5m2")
    found = rejection(lambda D: D.identity("claim", low(large, "e4m3") / large, 1, given=[nonzero(large)]))
    assert found.code == "assumption-missing" and "in_range()" in str(found)


def test_roundings_to_two_formats_are_two_constants_in_a_limit():
    gap = low(y) - rounded(y)
    claim = stated(lambda D: D.limit("claim", gap + exp(-x), x, "oo", 0 * y, given=[in_range()]))
    for witness in (exact, by_sympy):
        with pytest.raises(Rejected):
            witness(claim)


@pytest.mark.parametrize("name", FORMATS)
def test_the_format_is_printed_and_read_back(name):
    e = rounded(x + rounded(y), name)
    assert (
        parse_plain(show(e), {"x": x, "y": y}) == parse_latex(latex(e), {"x": x, "y": y}) == parse_script(script(e), {"x": x, "y": y}) == e
    )


def test_a_mutant_rounds_to_another_format():
    claim = stated(lambda D: D.identity("claim", low(x / 2), low(x) / 2, given=[in_range()]))
    assert "fl_fp16(x/2) = fl_bf16(x)/2" in {str(m.mutated.start) + " = " + str(m.mutated.steps[0].expr) for m in make_mutants(claim)}


@pytest.mark.parametrize("claim", FALSE.values(), ids=FALSE)
def test_false_claims(claim, rejection):
    found = rejection(claim)
    assert found.code == "false-claim"
    with pytest.raises(Rejected):
        by_pytorch(stated(claim))
    assert judge(stated(claim))[0] == "false"
