"""The recipes of the page "The claim language": each claim is accepted, and each mistake gets the message that the page shows."""

import re
from pathlib import Path

import pytest

from derivations.kernel import (
    absolute,
    cos,
    diff,
    each,
    exp,
    eye,
    index,
    inverse,
    invertible,
    largest,
    log,
    matrix,
    nonnegative,
    nonzero,
    norm,
    ones,
    positive,
    scalars,
    sin,
    sizes,
    softmax,
    sqrt,
    tanh,
    total,
    vector,
    zero_or_one,
)
from derivations.kernel.check.worker import load_script
from derivations.kernel.core.claims import LOADED
from derivations.kernel.errors import KernelError
from derivations.kernel.exact.witness import exact
from derivations.kernel.sympy.witness import witness

HERE = Path(__file__).parent
PAGE = (HERE.parents[2] / "docs/contributing/language.md").read_text(encoding="utf-8")
n, m, d = sizes("n m d")
x, y, c = scalars("x y c")
z, w = vector("z", n), vector("w", n)
q, k = vector("q", d), vector("k", d)
A = matrix("A", n, n)
i, l = index("i", n), index("l", n)


def recipes():
    before = LOADED[:]
    try:
        assert load_script(HERE / "recipes.py") is None
        return LOADED[0].claims
    finally:
        LOADED[:] = before


CLAIMS = recipes()


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_a_recipe_holds(claim):
    expected = {"refutation": "refuted", "definition": "not applicable"}.get(claim.kind, "proved")
    assert exact(claim).verdict == expected
    assert witness(claim)[0] in (expected, "not applicable")


def test_every_recipe_stands_on_the_page():
    sections = re.findall(r"--8<-- \[start:([\w-]+)\]", (HERE / "recipes.py").read_text(encoding="utf-8"))
    assert sections and sorted(sections) == sorted(re.findall(r'--8<-- "tests/kernel/language/recipes.py:([\w-]+)"', PAGE))


# What the page says is refused, with the words that it quotes.
REFUSED = {
    "a delta that is not squared": (
        lambda D: D.inequality("claim", softmax(z)[i], 1, because=total((1 - eye(n)[i, l]) * softmax(z)[l], l)),
        "is not visibly non-negative",
    ),
    "a dot product of a difference": (
        lambda D: D.inequality("claim", 2 * (q @ k), q @ q + k @ k, because=(q - k) @ (q - k)),
        "is not visibly non-negative",
    ),
    "the difference itself": (
        lambda D: D.inequality("claim", softmax(z)[i], 1, because=1 - softmax(z)[i]),
        "the certificate repeats the difference of the two sides",
    ),
    "the sum alone is said not to be zero": (
        lambda D: D.identity("claim", (c + y) * x / c, x + x * y / c, given=[nonzero(c + y)]),
        "used but not stated: c is not zero",
    ),
    "an assumption that nothing needs": (
        lambda D: D.identity("claim", c * (x + y), c * x + c * y, given=[nonzero(c)]),
        "is stated but not shown to be needed",
    ),
    "a limit in the size of a sum": (
        lambda D: D.limit("claim", total(index("b", n), index("b", n)) / n**2, n, "oo", x),
        "which is the size of a sum or a tensor here",
    ),
    "one expression on both sides": (lambda D: D.identity("claim", x + y, x + y), "vacuous"),
    "a limit to a number": (lambda D: D.limit("claim", exp(x) + x, x, 1, 1), "'oo' and 0 are known"),
    "a size that goes to zero": (lambda D: D.limit("claim", x * n, n, 0, 0), "a size does not go to 0"),
}


@pytest.mark.parametrize("state, says", REFUSED.values(), ids=REFUSED)
def test_what_the_page_says_is_rejected_is_rejected_in_these_words(state, says, rejection):
    assert says in rejection(state).message and says in " ".join(PAGE.split())


CANNOT_BE_SAID = {
    "0.5": lambda: x * 0.5,
    "z / w": lambda: z / w,
    "z**2": lambda: z**2,
    "z + 1": lambda: z + 1,
    "comparing `x` and `y` by a sign": lambda: x < y,
    "z[n]": lambda: z[n],
    "z[i + 1]": lambda: z[i + 1],
}


@pytest.mark.parametrize("text, write", CANNOT_BE_SAID.items(), ids=CANNOT_BE_SAID)
def test_what_cannot_be_said_is_refused_when_it_is_written(text, write):
    assert f"\n| `{text}` |" in PAGE or f"\n| {text} |" in PAGE
    with pytest.raises(KernelError):
        write()


# Ways round, as the page says them: an expression, and another with the same meaning.
WAYS_ROUND = {
    "entries divided one by one": (lambda: each(z[i] / w[i], i)[l] * w[l], lambda: z[l], [nonzero(w[i])]),
    "entries squared": (lambda: each(z[i] ** 2, i), lambda: z * z, []),
    "entries at other places": (lambda: each(A[l, i], i, l), lambda: A.T, []),
    "a number added to every entry": (lambda: (z + x * ones(n))[i], lambda: z[i] + x, []),
    "a hyperbolic sine": (lambda: tanh(x) * (exp(x) + exp(-x)) / 2, lambda: (exp(x) - exp(-x)) / 2, []),
    "a hyperbolic cosine": (lambda: ((exp(x) + exp(-x)) / 2) * tanh(x), lambda: (exp(x) - exp(-x)) / 2, []),
    "half of an angle": (lambda: 2 * sin(x / 2) * cos(x / 2), lambda: sin(x), []),
    "a product as a sum of logarithms": (lambda: log(exp(x) * exp(y)), lambda: x + y, []),
    "a derivative by all entries": (lambda: diff(z @ z, z[i]), lambda: 2 * z[i], []),
    "an inverse of a product": (lambda: inverse(A) @ (A @ z), lambda: z, [invertible(A)]),
    "a length": (lambda: sqrt(z @ z) ** 2, lambda: z @ z, []),
}


@pytest.mark.parametrize("left, right, given", WAYS_ROUND.values(), ids=WAYS_ROUND)
def test_a_way_round_means_what_the_page_says(left, right, given, proved):
    proved(lambda D: D.identity("claim", left(), right(), given=given))


# What counts as visibly not negative, and what does not though it is so.
SEEN = {
    "a size": (n, []),
    "a size less one": (n - 1, []),
    "an even power": (x**4, []),
    "an absolute value": (absolute(x), []),
    "an absolute value beside what it is of": (absolute(x) + x, []),
    "an exponential": (exp(x), []),
    "an entry of softmax": (softmax(z)[i], []),
    "a delta": (eye(n)[i, l], []),
    "a sum of squares": (total(z[l] ** 2, l), []),
    "what is assumed": (x - y, [nonnegative(x - y)]),
    "more than what is assumed": (x - y + 1, [nonnegative(x - y)]),
    "a product": (n * x**2 * exp(y), []),
    "a quotient": (x**2 / (n + exp(y)), []),
    "a power of one": (absolute(x) ** 3, []),
    "a root of a size": (sqrt(n), []),
    "a length": (norm(z - w), []),
    "a root": (sqrt(x), [nonnegative(x)]),
    "a rise of an exponential": (exp(x) - exp(y), [nonnegative(x - y)]),
    "a rise of a logarithm": (log(x) - log(y), [nonnegative(x - y), positive(y)]),
    "a rise of a square": (x**2 - y**2, [nonnegative(x - y), nonnegative(y)]),
    "an exponential less one": (exp(x) - 1, [nonnegative(x)]),
    "a logarithm of one and more": (log(1 + x), [nonnegative(x)]),
    "the largest entry less another": (largest(z) - z[i], []),
    "a size less a sum of what is at most one": (n - total(exp(z[l] - largest(z)), l), []),
    "a difference of two sums": (total(exp(z[l] + x**2), l) - total(exp(z[l]), l), []),
    "one less what is 0 or 1": (1 - w[i], [zero_or_one(w)]),
    "an index": (total(l * exp(z[l]), l), []),
    "a dot product with itself": (z @ z, []),
    "a dot product of a multiple with itself": ((2 * z) @ (2 * z), []),
    "a product of two assumptions": ((x - 1) * (y - 1), [nonnegative(x - 1), nonnegative(y - 1)]),
}
NOT_SEEN = {
    "a square written out": (x**2 - 2 * x * y + y**2, []),
    "one less a delta": (1 - eye(n)[i, l], []),
    "a dot product of a difference with itself": ((z - w) @ (z - w), []),
    "one less a probability": (1 - softmax(z)[i], []),
}


@pytest.mark.parametrize("certificate, given", SEEN.values(), ids=SEEN)
def test_what_is_seen_not_to_be_negative(certificate, given, checked):
    ((verdict, _),) = checked(
        lambda D: D.inequality("claim", x - certificate, x + certificate, because=2 * certificate, given=given)
    ).values()
    assert verdict.verdict == "proved"


@pytest.mark.parametrize("certificate, given", NOT_SEEN.values(), ids=NOT_SEEN)
def test_what_is_not_seen_though_it_may_be_so(certificate, given, rejection):
    error = rejection(lambda D: D.inequality("claim", x - certificate, x + certificate, because=2 * certificate, given=given))
    assert error.code == "sign-not-visible"
