"""A message proposes assumptions only if the claim is accepted with them."""

import re
from fractions import Fraction

import pytest

from derivations import kernel
from derivations.kernel import (
    Derivation,
    E,
    Var,
    absolute,
    diff,
    exp,
    eye,
    has_moment,
    index,
    inverse,
    log,
    matrix,
    mean,
    nonnegative,
    norm,
    random,
    scalars,
    sizes,
    softmax,
    sqrt,
    tanh,
    total,
    variance,
    vector,
)
from derivations.kernel.core.claims import Rejected
from derivations.kernel.exact.witness import exact

n, d = sizes("n d")
x, y, a, b = scalars("x y a b")
z = vector("z", n)
i, l = index("i", n), index("l", n)
A, B = matrix("A", n, n), matrix("B", n, n)
u, v, q, k = random("u"), random("v"), random("q", d), random("k", d)
IN_SCRIPT = vars(kernel) | {"Fraction": Fraction} | globals()


def message_of(state, *given):
    """Return why the exact witness rejects a claim with more assumptions, '' if it accepts it."""
    derivation = Derivation("Case")
    state(derivation, list(given))
    try:
        exact(derivation.claims[-1])
    except Rejected as error:
        return error.message
    return ""


def proposed(message):
    """Return the assumptions that a message proposes, as a script writes them."""
    found = re.search(r"(?:State it|It is accepted) with given=\[(.*?)\](?:, where \w = index\(.*\))?(?:, or avoid needing it)?$", message)
    return found[1] if found else ""


# Claims that lack an assumption, and the assumptions that are enough.
LACKING = {
    "nonzero(y)": lambda D, given: D.identity("c", x / y * y, x, given=given),
    "nonzero(x), nonzero(y)": lambda D, given: D.identity("c", (x * y) ** -2, x**-2 * y**-2, given=given),
    "nonnegative(x), nonnegative(y)": [
        lambda D, given: D.identity("c", sqrt(x * y), sqrt(x) * sqrt(y), given=given),
        lambda D, given: D.inequality("c", sqrt(x * y), (x + y) / 2, because=(sqrt(x) - sqrt(y)) ** 2 / 2, given=given),
        lambda D, given: D.inequality("c", x * y, 2 * x * y, because=x * y, given=given),
    ],
    "positive(x), positive(y)": lambda D, given: D.identity("c", log(x * y), log(x) + log(y), given=given),
    "positive(x)": [
        lambda D, given: D.identity("c", log(x**2), 2 * log(x), given=given),
        lambda D, given: D.identity("c", x ** Fraction(3, 2) / sqrt(x), x, given=given),
        lambda D, given: D.identity("c", diff(sqrt(x), x), 1 / (2 * sqrt(x)), given=given),
    ],
    "positive(y)": lambda D, given: D.inequality("c", x / y, (x + 1) / y, because=1 / y, given=given),
    "nonnegative(x)": lambda D, given: D.inequality("c", 1 / (1 + x), 1, because=x / (1 + x), given=given),
    "nonnegative(z[i])": lambda D, given: D.inequality("c", 0, total(z[i], i), because=total(z[i], i), given=given),
    "nonnegative(n - 2)": lambda D, given: D.inequality("c", n, n**2 / 2, because=n * (n - 2) / 2, given=given),
    "nonzero(sqrt(total(z[i]**2, i)))": lambda D, given: D.identity("c", norm(z / norm(z)), 1, given=given),
    "invertible(B), invertible(A)": lambda D, given: D.identity("c", inverse(A @ B), inverse(B) @ inverse(A), given=given),
    "independent(u, v), has_moment(u, 1), has_moment(v, 1)": lambda D, given: D.identity("c", E(u * v), E(u) * E(v), given=given),
    "independent(k, q)": lambda D, given: D.identity(
        "c", Var(q @ k), d, given=[mean(q, 0), mean(k, 0), variance(q, 1), variance(k, 1), *given]
    ),
    "positive(a)": lambda D, given: D.limit("c", exp(-a * n), n, "oo", 0, given=given),
}


def test_an_index_that_the_claim_does_not_name_is_defined():
    state = LACKING["nonzero(sqrt(total(z[i]**2, i)))"]
    assert 'nonzero(sqrt(total(z[i]**2, i)))], where i = index("i", n), or avoid' in message_of(state)
    assert "index(" not in message_of(lambda D, given: D.identity("c", total(z[i], i) * x / total(z[i], i), x, given=given))


@pytest.mark.parametrize("wanted", LACKING)
def test_a_claim_is_accepted_with_what_its_message_proposes(wanted):
    for state in LACKING[wanted] if isinstance(LACKING[wanted], list) else [LACKING[wanted]]:
        assert proposed(message_of(state)) == wanted
        assert message_of(state, *eval(f"[{wanted}]", dict(IN_SCRIPT))) == ""


# Claims that no proposal helps, and what the message says about them with the assumptions that were tried.
BEYOND_HELP = {
    r"^(?!.*Even with).*false: at .*, where x/y \+ a/b was to be": lambda D, given: D.identity(
        "c", x / y + a / b, (x + a) / (y + b), given=given
    ),
    r"^(?!.*Even with).*false: at x = 1, y = 1: .*, where log\(x \+ y\) was to be": lambda D, given: D.identity(
        "c", log(x + y), log(x) + log(y), given=given
    ),
    r"^(?!.*Even with).*false: at A = .* was to be equal to B @ ": lambda D, given: D.identity(
        "c", inverse(A) @ B, B @ inverse(A), given=given
    ),
    r"Even with given=\[positive\(x\)\] it is rejected: the certificate repeats": lambda D, given: D.inequality(
        "c", log(x), x, because=x - log(x), given=given
    ),
    r"Even with given=\[independent\(u, v\)\] it is rejected: the certificate": lambda D, given: D.inequality(
        "c", 0, E(u * v), because=E(u * v), given=[has_moment(u, 2), has_moment(v, 2), *given]
    ),
    r"Even with given=\[.*\] it is rejected: the assumption 'x \+ y is not zero' is stated but not shown": lambda D, given: D.identity(
        "c", 1 / (x**2 - y**2) * (x - y), 1 / (x + y), given=given
    ),
    r"false: at x = 0, y = -2: ": lambda D, given: D.inequality("c", x, y, because=y - x, given=given),
    r"that part as a sum or a product of squares, .* what is stated$": lambda D, given: D.inequality(
        "c", softmax(z)[i], 1, because=total(softmax(z)[l] * (1 - eye(n)[i, l]), l), given=given
    ),
    "repeats the difference of the two sides; write it as something visibly not negative$": lambda D, given: D.inequality(
        "c", tanh(x), 1, because=1 - tanh(x), given=given
    ),
}


@pytest.mark.parametrize("wanted, state", BEYOND_HELP.items())
def test_a_message_proposes_nothing_with_which_the_claim_is_rejected(wanted, state):
    message = message_of(state)
    assert re.search(wanted, message) and not proposed(message), message


def test_an_assumption_that_is_what_is_to_be_proved_is_not_proposed():
    assert message_of(lambda D, given: D.inequality("c", x + 1, y + 1, because=y - x, given=given)).endswith("to be at most y + 1")


RARE = [
    (absolute(x - Fraction(17, 3)), x - Fraction(17, 3), nonnegative(x - Fraction(17, 3))),
    (absolute(x - 100), 100 - x, nonnegative(100 - x)),
    (absolute(x**3 - 50), 50 - x**3, nonnegative(50 - x**3)),
    (absolute(x + y - 30), x + y - 30, nonnegative(x + y - 30)),
]


@pytest.mark.parametrize("left, right, assumption", RARE)
def test_numbers_near_the_constants_of_a_claim_are_tried(left, right, assumption):
    assert message_of(lambda D, given: D.identity("c", left, right, given=[assumption])) == ""
    assert message_of(lambda D, given: D.identity("c", left, right)).startswith("false: ")


@pytest.mark.parametrize("given", [[mean(u, a), variance(u, 1)], [variance(u, a**2), mean(u, 0)]])
def test_a_true_derivative_by_a_parameter_of_a_distribution_is_not_called_false(given):
    assert "false" not in message_of(lambda D, more: D.identity("c", diff(E(u**2), a), 2 * a, given=given))
