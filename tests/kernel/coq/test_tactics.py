"""The tactics of the Coq witness at their edges: what is true is proved, and its false neighbours are not.

A neighbour differs by a factor, a sign, an index, a bound, or an assumption that was dropped. All that is true stands in one file
for coqc, all that is false in another.
"""

import re
from fractions import Fraction

import pytest

from derivations.kernel import (
    Derivation,
    absolute,
    array,
    each,
    exp,
    eye,
    index,
    matrix,
    nonnegative,
    nonzero,
    ones,
    positive,
    product_is,
    scalars,
    sizes,
    softmax,
    sqrt,
    total,
    vector,
)
from derivations.kernel.coq import coq_process, file_audit
from derivations.kernel.coq import witness as coq
from derivations.kernel.coq.prelude import PRELUDE, PRELUDE_NAME
from derivations.kernel.coq.reals import axioms
from derivations.kernel.core.expr import lift, symbol

n, m, p, d = sizes("n m p d")
A, B = matrix("A", n, m), matrix("B", m, p)
S, T = matrix("S", n, n), matrix("T", n, n)
K = symbol("K", "real", (p, n, m))
u, v, z = vector("u", n), vector("v", n), vector("z", n)
x, y, c, g = scalars("x y c g")
i, j, k = index("i", n), index("j", n), index("k", n)
a, l, q = index("a", m), index("l", m), index("q", p)
r, s = index("r", 2), index("s", 2)
one = ones(n)
w, f = vector("w", 1), index("f", 1)
zero = lift(0)


def equal(left, right, *wrong, given=(), unstated=True):
    """left = right; but not left = w for a wrong w, nor for a pair w = (left, right), nor, unless told otherwise, without `given`."""
    pairs = [w if isinstance(w, tuple) else (left, w) for w in wrong]
    false = [(pair, given) for pair in pairs] + ([((left, right), ())] if given and unstated else [])
    return ((left, right), given), false


EQUALITIES = {
    "nested sums": equal(
        total(x * total(u[i] * T[i, j], i), j),
        x * total(u[i] * total(T[i, j], j), i),
        x * total(u[i] * total(T[j, i], j), i),
        total(u[i] * total(T[i, j], j), i),
        -x * total(u[i] * total(T[i, j], j), i),
    ),
    "swapped sums": equal(
        total(u[i] * T[i, j] * v[j], i, j),
        total(total(T[i, j] * u[i], i) * v[j], j),
        total(total(T[i, j] * u[j], i) * v[j], j),
        total(total(T[j, i] * u[i], i) * v[j], j),
    ),
    "triple sums": equal(
        total(S[i, j] * T[j, k] * u[k], i, j, k),
        total(S[i, j] * T[j, k] * u[k], k, i, j),
        total(S[i, j] * T[k, j] * u[k], k, i, j),
        total(S[i, j] * T[j, k] * u[j], k, i, j),
    ),
    "triple sums turned": equal(
        total(S[i, j] * T[j, k] * u[k], i, j, k), total(S[i, j] * T[j, k] * u[k], j, k, i), total(S[j, i] * T[j, k] * u[k], j, k, i)
    ),
    "product of sums": equal(
        total(u[i], i) * total(v[i], i), total(u[i] * v[j], i, j), total(u[i] * v[i], i), 2 * total(u[i] * v[j], i, j)
    ),
    "square of a sum": equal(total(u[i], i) ** 2, total(u[i] * u[j], j, i), total(u[i] ** 2, i), total(u[i] * v[j], i, j)),
    "sum of what is constant": equal(total(x * y, l), m * x * y, n * x * y, (m + 1) * x * y, m * x),
    "sum of numbers": equal(total(x * i, i), x * n * (n + 1) / 2, x * n * (n - 1) / 2, x * n**2 / 2, n * x * i),
    "sum of squares": equal(
        total((i - (n + 1) / 2) ** 2 / n, i), (n**2 - 1) / 12, n**2 / 12, (n**2 + 1) / 12, (total((i - n / 2) ** 2 / n, i), (n**2 - 1) / 12)
    ),
    "sum of cubes": equal(total(i**3, i), total(i, i) ** 2, total(i, i) ** 3, total(i**2, i) ** 2, total(i * j, i) ** 2),
    "numbers beside entries": equal(total(i * (u[i] + x), i), total(i * u[i], i) + x * n * (n + 1) / 2, total(i * u[i], i) + x * n),
    "two axes counted": equal(total(x, i, l), n * m * x, n * n * x),
    "softmax by rows": equal(total(softmax(S)[i, j], j), 1, n, 0, (total(softmax(S)[i, j], i), 1)),
    "softmax of a column": equal(total(c * softmax(z)[k], k), c, c * n, -c),
    "softmax shifted": equal(softmax(z + c * one), softmax(z), softmax(c * z), softmax(-z)),
    "softmax of rows shifted": equal(softmax(S + u @ one * ones(n, n)), softmax(S), softmax(S.T)),
    "ratio of weights": equal(softmax(z)[i] / softmax(z)[j], exp(z[i] - z[j]), exp(z[j] - z[i]), exp(z[i] + z[j])),
    "exp of a multiple": equal(exp(2 * x), exp(x) ** 2, exp(x) ** 3, 2 * exp(x)),
    "exp of a negative": equal(exp(-x) * exp(2 * x), exp(x), 1, exp(-x), exp(3 * x)),
    "exp of a part": equal(exp(x / 2) ** 2 * exp(y / 3), exp(x) * exp(y / 6) ** 2, exp(2 * x) * exp(y / 3), exp(x) * exp(y / 6) ** 3),
    "exp of zero": equal(exp(x - x) + exp(zero), 2, 1, 2 * x),
    "exp in a sum": equal(total(exp(u[k] + c), k), exp(c) * total(exp(u[k]), k), exp(-c) * total(exp(u[k]), k), c * total(exp(u[k]), k)),
    "exp of a sum": equal(
        exp(total(u[k] + v[k], k)),
        exp(total(u[k], k)) * exp(total(v[k], k)),
        exp(total(u[k], k)) / exp(total(v[k], k)),
        exp(total(u[k], k)) + exp(total(v[k], k)),
    ),
    "root above": equal(sqrt(d) * sqrt(d) * x, d * x, d**2 * x, sqrt(d) * x),
    "root below": equal(x / sqrt(d), x * sqrt(d) / d, x * sqrt(d), x / d),
    "root of a product": equal(sqrt(n * d), sqrt(n) * sqrt(d), sqrt(n) + sqrt(d), n * sqrt(d)),
    "roots of numbers": equal(sqrt(x) ** 2 * sqrt(y) / sqrt(x * y), sqrt(x), sqrt(y), x, given=[positive(x), positive(y)], unstated=False),
    "root squared": equal(sqrt(x) ** 2, x, -x, (sqrt(x**2 + 1), x + 1), given=[nonnegative(x)]),
    "root of a sum": equal(
        (n + d) * sqrt(x * n / (n + d)) + x * n / sqrt(x * n / (n + d)),
        2 * sqrt(x * (n + d) * n),
        2 * sqrt(x * (n - d) * n),
        sqrt(x * (n + d) * n),
        given=[positive(x)],
    ),
    "square of roots": equal(
        (sqrt(n / d) - sqrt(d)) ** 2, n / d + d - 2 * sqrt(n), n / d + d, n / d + d - sqrt(n), n / d + d - 2 * sqrt(d)
    ),
    "root of a number": equal(x / sqrt(16 * d), x / (4 * sqrt(d)), x / (16 * sqrt(d)), x / (8 * sqrt(d)), (sqrt(lift(17)), 4)),
    "root in a sum": equal(total(u[k] / sqrt(d), k) * sqrt(d), total(u[k], k), total(u[k], k) * d, total(u[k], k) * sqrt(d)),
    "fourth roots": equal(x / d ** Fraction(1, 4) * (y / d ** Fraction(1, 4)), x * y / sqrt(d), x * y / d, x * y * sqrt(d)),
    "absolute values": equal(total(absolute(v[k]) * c, k), c * total(absolute(v[k]), k), -c * total(absolute(v[k]), k), c * total(v[k], k)),
    "inside an absolute value": equal(
        2 * absolute(x + y), absolute(y + x) * 2, 2 * absolute(x) + 2 * absolute(y), 2 * absolute(x - y), 2 * (x + y)
    ),
    "absolute value of known sign": equal(
        absolute(x - y) + c, y - x + c, x - y + c, x + y + c, (absolute(x + y) + c, x + y + c), given=[nonnegative(y - x)]
    ),
    "absolute value of a sum": equal(
        absolute(x - y) - absolute(x - c), y - c, c - y, x - c, (absolute(x + y), -x - y), given=[nonnegative(c - x), positive(y - c)]
    ),
    "array": equal(
        array([[1, x], [0, 1]]) @ array([[1, y], [0, 1]]),
        array([[1, x + y], [0, 1]]),
        array([[1, x * y], [0, 1]]),
        array([[1, 0], [x + y, 1]]),
        array([[1, x + y], [0, 2]]),
    ),
    "dot product of arrays": equal(array([x, y, 1]) @ array([y, x, c]), 2 * x * y + c, 2 * x * y, 2 * x * y - c),
    "sum over an array": equal(total(array([[x, y], [c, g]])[r, s], r, s), x + y + c + g, x + y + c, x * y * c * g),
    "Kronecker delta": equal(total(eye(n)[i, k] * u[k] * v[k], k), u[i] * v[i], u[i] * v[j], u[j] * v[j], n * u[i] * v[i]),
    "delta turned": equal(total(eye(n)[k, i] * T[k, j] * x, k), x * T[i, j], x * T[j, i], x * T[j, j], T[i, j]),
    "two deltas": equal(total(eye(n)[i, k] * eye(n)[j, k], k), eye(n)[i, j], 1, 0, eye(n)[i, i]),
    "deltas at places": equal(eye(2)[1, 1] * x + eye(2)[1, 2] * y, x, y, x + y, 0),
    "all deltas": equal(total(eye(n)[i, j], i, j), n, n * n, 1),
    "trace": equal(total(eye(n)[k, k], k), n, 1, n - 1),
    "fractions": equal(1 / x + 1 / y, (x + y) / (x * y), (x - y) / (x * y), 1 / (x + y), given=[nonzero(x), nonzero(y)]),
    "shares": equal(x / (x + y) + y / (x + y), 1, 2, x, given=[nonzero(x + y)]),
    "a multiple of what is not zero": equal(x / (3 * x - 3 * y), x / (x - y) / 3, x / (x - y), x / (y - x) / 3, given=[nonzero(x - y)]),
    "a sum that is not zero": equal(
        total(u[i] * x / total(2 * u[k] * v[j], k), i) * v[j],
        x / 2,
        x,
        u[i] / 2,
        (x / v[i] * v[i], x),
        given=[nonzero(total(u[k] * v[j], k))],
    ),
    "weights that are not zero": equal(
        total(v[i] * exp(z[i]), i) / total(v[i] * softmax(z)[i], i),
        total(exp(z[i]), i),
        1,
        total(v[i] * exp(z[i]), i),
        (total(u[i] * softmax(z)[i], i) / total(u[i] * softmax(z)[i], i), 1),
        given=[nonzero(total(v[i] * softmax(z)[i], i))],
    ),
    "cancelled": equal(c * x / x, c, x, c * x, given=[positive(x)]),
    "sizes cancelled": equal(x / n * n + y / m * m, x + y, x - y, (x / n * m, x)),
    "two exponentials below": equal(
        exp(x) / (exp(x) + exp(y)) + exp(y) / (exp(x) + exp(y)), 1, 2, exp(x), (exp(x) / (exp(x) - exp(y)) - exp(y) / (exp(x) - exp(y)), 1)
    ),
    "sign as it is written": equal(
        x / (1 + (n - 1) * exp(c)) * (1 - exp(c) + n * exp(c)),
        x,
        2 * x,
        x * exp(c),
        (x / (1 - (n + 1) * exp(c)) * (1 - (n + 1) * exp(c)), x),
    ),
    "sigmoid": equal(1 / (1 + exp(-x)), exp(x) / (1 + exp(x)), exp(-x) / (1 + exp(x)), exp(x) / (1 - exp(x)), 1 - 1 / (1 + exp(-x))),
    "sigmoids in a sum": equal(
        total(1 / (1 + exp(u[k])), k), total(1 / (exp(u[k]) + 1), k), total(1 / (1 + exp(v[k])), k), total(1 / (1 + exp(-u[k])), k)
    ),
    "quotients in a sum": equal(
        total(x / (u[k] + v[k]), k), total(x / (v[k] + u[k]), k), total(x / (u[k] - v[k]), k), total(1 / (u[k] + v[k]), k)
    ),
    "sums below": equal(
        total(exp(u[k]) * v[k] / total(exp(u[i]), i), k) * total(exp(u[j]), j),
        total(v[k] * exp(u[k]), k),
        total(v[k], k),
        total(v[k] * exp(u[k]), k) / n,
    ),
    "each cancelled": equal(total(u[k] / u[k], k), n, 1, n * n, given=[nonzero(u[k])]),
    "known product": equal(
        total(A[i, l] * A[i, a] * x * B[l, q], i, l),
        x * B[a, q],
        x * B[l, q],
        -x * B[a, q],
        (total(A[i, l] * A[j, l] * u[i], l, i), u[j]),
        given=[product_is(A.T, A, 1)],
    ),
    "known product is zero": equal(
        total(c * B[l, q] * A[i, l], l), 0, c, (total(c * B[l, q] * A[i, a], l), 0), given=[product_is(A, B, 0)]
    ),
    "three axes": equal(
        total(K[q, i, l] * A[i, l], i, l), total(A[i, l] * K[q, i, l], l, i), total(A[i, a] * K[q, i, l], l, i), total(A[i, l], l, i)
    ),
    "softmax of three axes": equal(
        total(softmax(K)[q, i, l], l), 1, m, (total(softmax(K)[q, i, l], i), 1), (total(softmax(K)[q, i, l], q), 1)
    ),
    "entry by entry": equal(each(u[i] * v[j], i)[k], u[k] * v[j], u[i] * v[j], u[k] * v[k], u[j] * v[k]),
    "an index bound twice": equal(each(u[i] * v[j], i)[i], u[i] * v[j], u[j] * v[i], u[i] * v[i]),
    "a matrix entry by entry": equal(each(S[i, j], i, j) @ u, S @ u, S.T @ u, (each(S[i, j], j, i) @ u, S @ u)),
    "one index within itself": equal(each(each(u[i], i), i), each(u[j], i, j), each(u[i], i, j)),
    "rows that are vectors": equal(each(u, a), each(u[j], a, j), each(u[j], a, j) * x),
    "a sum of entries": equal(total(each(u[i] * v[i], i)[i], i), u @ v, total(u[i], i) * total(v[i], i), total(u[i] * v[j], i)),
    "softmax entry by entry": equal(
        each(exp(z[i]) / total(exp(z[j]), j), i), softmax(z), softmax(-z), (each(exp(z[i]) / total(exp(z[i]), j), i), softmax(z))
    ),
    "the only place": equal(total(w[f], f) * x, x * w[1], w[1], -x * w[1]),
    "the first place": equal(total(eye(n)[k, 1] * u[k], k), u[1], u[i], n * u[1]),
}
# left, right, what right - left is; and whether it is the difference ("certificate") or its sign ("claim") that fails
INEQUALITIES = {
    "square": (2 * x * y, x**2 + y**2, (x - y) ** 2, ()),
    "sum of squares": (2 * u @ v, u @ u + v @ v, total((u[k] - v[k]) ** 2, k), ()),
    "absolute value": (-x, absolute(x), absolute(x) + x, ()),
    "norm": (0, absolute(x) * c**2, absolute(x) * c**2, ()),
    "each term": (0, total(u[k], k), total(u[k], k), [nonnegative(u[k])]),
    "sizes": (x**2, n * x**2, (n - 1) * x**2, ()),
    "product": (0, x * y, x * y, [nonnegative(x), nonnegative(y)]),
    "through another": (0, x, x, [nonnegative(x - y), nonnegative(y)]),
    "weights": (0, softmax(z)[i] * c**2, softmax(z)[i] * c**2, ()),
    "root": (0, sqrt(d) * exp(x), sqrt(d) * exp(x), ()),
    "exp grows": (exp(x), exp(y), exp(y) - exp(x), [nonnegative(y - x)]),
    "exp grows in a sum": (
        total(exp(u[k] - v[j]), k),
        n * exp(2 * c),
        total(exp(2 * c) - exp(u[k] - v[j]), k),
        [nonnegative(c - u[k]), nonnegative(c + v[k])],
    ),
    "exp from 1": (1, exp(n * x), exp(n * x) - 1, [nonnegative(x)]),
}
FALSE_INEQUALITIES = {
    "square": ("certificate", 2 * x * y, x**2 + y**2, (x + y) ** 2, ()),
    "square turned": ("claim", x**2 + y**2, 2 * x * y, -((x - y) ** 2), ()),
    "odd power": ("claim", 0, x**3, x**3, ()),
    "sum of products": ("claim", 0, u @ v, total(u[k] * v[k], k), ()),
    "absolute value turned": ("claim", absolute(x), x, x - absolute(x), ()),
    "absolute value of another": ("claim", -y, absolute(x), absolute(x) + y, ()),
    "terms of another": ("claim", 0, total(u[k], k), total(u[k], k), [nonnegative(v[k])]),
    "size 1 forgotten": ("claim", 2 * x**2, n * x**2, (n - 2) * x**2, ()),
    "one sign unstated": ("claim", 0, x * y, x * y, [nonnegative(x)]),
    "through what is unstated": ("claim", 0, x, x, [nonnegative(x - y)]),
    "sign of a difference": ("claim", y, x, x - y, [nonnegative(x), nonnegative(y)]),
    "weights turned": ("claim", softmax(z)[i] * c**2, 0, -softmax(z)[i] * c**2, ()),
    "exp of what is not known to be more": ("claim", exp(x), exp(y), exp(y) - exp(x), [nonnegative(y)]),
    "exp turned": ("claim", exp(y), exp(x), exp(x) - exp(y), [nonnegative(y - x)]),
    "exp from 1 downwards": ("claim", 1, exp(-x), exp(-x) - 1, [nonnegative(x)]),
    "root turned": ("claim", sqrt(d) * exp(x), 0, -sqrt(d) * exp(x), ()),
}


def text(state) -> str:
    derivation = Derivation("test")
    state(derivation)
    source = coq.source(derivation.claims[0])
    assert source.whole, source.reason
    assert not file_audit.find_loophole(source.text)
    return source.text


def texts_of_equalities(chosen: int) -> list:
    found = []
    for name, sides in EQUALITIES.items():
        samples = [sides[0]] if not chosen else sides[1]
        found += [(name, text(lambda of: of.identity("claim", *pair, given=list(given)))) for pair, given in samples]
    return found


def of_inequality(left, right, because, given) -> str:
    return text(lambda of: of.inequality("claim", left, right, because=because, given=list(given)))


def section(source: str) -> str:
    return source[source.index("Section Claim.") : source.index("Print Assumptions")]


def in_one_file(sections: list) -> str:
    """Each section in a module of its own; and, of each theorem that has a proof, what it assumes."""
    parts = [f"From Derivations Require Import {PRELUDE_NAME}.", "Local Open Scope ring_scope."]
    for number, content in enumerate(sections):
        parts += [f"Module M{number}.", content, f"End M{number}."]
    names = [
        f"M{number}.{name}"
        for number, content in enumerate(sections)
        for name in file_audit.theorem_names(content)
        if "Abort." not in content
    ]
    return "\n".join([*parts, *(f"Print Assumptions {name}." for name in names)]) + "\n"


def fails(content: str, theorem: str = "claim") -> str:
    """The section, in which the proof of the theorem has to fail. What is behind that theorem is left out."""
    start = content.index(f"Theorem {theorem} :")
    statement, proof = re.match(r"(Theorem .*?\.\n)Proof\.\s(.*?)\sQed\.", content[start:], re.DOTALL).groups()
    tactics = "; ".join(f"({tactic})" for tactic in re.split(r"\.(?:\s+|$)", proof) if tactic)
    return f'{content[:start]}{statement}Proof.\ntryif solve [{tactics}] then idtac "a proof" else idtac "no proof".\nAbort.\nEnd Claim.\n'


@pytest.fixture
def coqc(program, tmp_path):
    program("coqc")
    (tmp_path / f"{PRELUDE_NAME}.v").write_text(PRELUDE)
    assert coq_process.coqc(tmp_path / f"{PRELUDE_NAME}.v", tmp_path, 60)[0] == 0

    def run(sections):
        path = tmp_path / "all.v"
        path.write_text(in_one_file(sections))
        code, said, errors = coq_process.coqc(path, tmp_path, 240)
        return code, said, f"{errors}\n{path.read_text()}"

    return run


@pytest.mark.coq
def test_what_is_true_is_proved(coqc):
    sections = [section(source) for _, source in texts_of_equalities(0)] + [
        section(of_inequality(*sample)) for sample in INEQUALITIES.values()
    ]
    code, said, errors = coqc(sections)
    assert code == 0, errors
    assert said.splitlines() == [axioms.CLOSED] * sum(len(file_audit.theorem_names(content)) for content in sections)


@pytest.mark.coq
def test_a_false_neighbour_is_not_proved(coqc):
    sections = [fails(section(source)) for _, source in texts_of_equalities(1)]
    sections += [fails(section(of_inequality(*sample)), theorem) for theorem, *sample in FALSE_INEQUALITIES.values()]
    assert len(sections) > 120
    code, said, errors = coqc(sections)
    assert code == 0, errors
    assert said.splitlines() == ["no proof"] * len(sections)


@pytest.mark.coq
@pytest.mark.parametrize("name", ["nested sums", "exp of a part", "array", "known product"])
def test_a_proof_that_should_fail_and_does_not_is_noticed(coqc, name):
    ((left, right), given), _ = EQUALITIES[name]
    content = section(text(lambda of: of.identity("claim", left, right, given=list(given))))
    code, said, errors = coqc([fails(content)])
    assert (code, said) == (0, "a proof\n"), errors


def test_no_sample_is_its_own_neighbour():
    for name, (((left, right), given), false) in EQUALITIES.items():
        assert false and ((left, right), tuple(given)) not in [(pair, tuple(g)) for pair, g in false], name
    assert not {tuple(map(repr, sample)) for sample in INEQUALITIES.values()} & {
        tuple(map(repr, sample[1:])) for sample in FALSE_INEQUALITIES.values()
    }
