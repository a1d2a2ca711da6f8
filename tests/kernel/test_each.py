"""What is given entry by entry: its index is its own. What each witness makes of it, and claims in which one index is taken for another."""

import pytest

from derivations.kernel import (
    Derivation,
    E,
    Var,
    absolute,
    array,
    diff,
    each,
    exp,
    eye,
    gaussian,
    has_moment,
    independent,
    index,
    inverse,
    invertible,
    log,
    matrix,
    mean,
    nonnegative,
    nonzero,
    norm,
    ones,
    positive,
    random,
    scalars,
    sizes,
    softmax,
    sqrt,
    total,
    variance,
    vector,
    zeros,
)
from derivations.kernel.core.claims import Refused
from derivations.kernel.pytorch.witness import witness as pytorch

n, m = sizes("n m")
x = scalars("x")
z, v, b, t = vector("z", n), vector("v", n), vector("b", m), vector("t", 3)
A, S = matrix("A", n, m), matrix("S", n, n)
q, k, w = random("q", n), random("k", n), random("w")
i, j, l, r, s = index("i", n), index("j", n), index("l", n), index("r", m), index("s", 3)
one = 1 + 0 * x

TRUE = {
    "softmax": (softmax(z), each(exp(z[i]) / total(exp(z[l]), l), i), []),
    "an entry": (each(z[i] ** 2, i)[j], z[j] ** 2, []),
    "an entry at a number": (each(z[i] ** 2 * v[j], i)[1], z[1] ** 2 * v[j], []),
    "an entry at the same index outside": (each(z[i] * v[j], i)[i], z[i] * v[j], []),
    "an entry at what stands open inside": (each(z[i] * v[j], i)[j], z[j] * v[j], []),
    "what does not depend on the index": (each(z[j], i) @ v, z[j] * total(v[l], l), []),
    "a matrix": (each(z[i] * b[r], i, r) @ b, (b @ b) * z, []),
    "a matrix, its indices turned": (each(z[i] * b[r], i, r).T, each(z[i] * b[r], r, i), []),
    "the entries of a matrix": (each(A[i, r], i, r), A + zeros(n, m), []),
    "a diagonal": (each(each(S[i, l], l)[i], i), each(S[j, j], j), []),
    "a sum inside over the same index": (each(total(z[i], i) * z[i], i), total(z[l], l) * z, []),
    "a sum around over the same index": (total(each(z[i] ** 2, i)[i], i), z @ z, []),
    "one within another, over the same index": (each(each(z[i], i), i), each(z[l], j, l) * one, []),
    "one within another, at the outer index": (each(each(z[l] * v[i], l)[i], i), z * v, []),
    "vectors as rows": (each(z, r), each(z[i], r, i) * one, []),
    "matrices side by side": (each(A, j)[j, i, r], A[i, r] * one, []),
    "a fixed size": (each(t[s] ** 2, s), array([t[1] ** 2, t[2] ** 2, t[3] ** 2]), []),
    "an index as a number": (each(i * z[i], i) @ ones(n), total(l * z[l], l), []),
    "a delta": (each(eye(n)[i, j] * v[i], i), v[j] * each(eye(n)[j, i], i), []),
    "a length": (norm(each(x * z[i], i)), absolute(x) * norm(z), []),
    "softmax of one number": (softmax(each(z[j], i))[l], one / n, []),
    "a gradient": (each(diff(total(exp(z[l]), l), z[i]), i), exp(z) * one, []),
    "a slope by an entry at the same index": (diff(each(z[i] ** 2, i) @ v, z[i]), 2 * z[i] * v[i], []),
    "a slope of an entry": (diff(each(z[i] ** 2, i)[j], z[l]), 2 * z[j] * eye(n)[j, l], []),
    "a slope of what is the same at each entry": (diff(each(z[j] ** 2, i)[l], z[l]), 2 * z[j] * eye(n)[j, l], []),
    "moduli away from their corners": (diff(each(absolute(z[i]), i) @ v, z[j]), z[j] / absolute(z[j]) * v[j], [nonzero(z[i])]),
    "a mean": (E(each(q[i] * k[i], i) @ v), 0 * x, [independent(q, k), mean(q, 0), has_moment(k, 1)]),
    "a variance": (Var(total(each(q[i] * v[i], i)[l], l)), v @ v, [independent(q), variance(q, 1)]),
    "a variance of copies": (Var(each(q[1], i) @ ones(n)), n**2 * one, [variance(q, 1)]),
    "a variance at each entry": (each(Var(q[i]) * z[i], i), 3 * z, [variance(q, 3)]),
    "of what is Gaussian": (E(exp(each(w * i, i)[j])), exp(j**2 / 2), [mean(w, 0), variance(w, 1), gaussian(w)]),
    "in an assumption": (exp(log(each(z[i], i)[j])), z[j], [positive(each(z[i], i)[j])]),
    "in an assumption, of one entry": (z[1] * x / z[1], x, [nonzero(each(z[i], i)[1])]),
    "an inverse": (each(inverse(S)[i, l], i, l) @ S, eye(n) * one, [invertible(S)]),
}


@pytest.mark.parametrize("left, right, given", TRUE.values(), ids=TRUE)
def test_what_holds_is_accepted_by_three_witnesses(left, right, given, checked):
    ((verdict, by_sympy),) = checked(lambda D: D.identity("claim", left, right, given=given)).values()
    assert (verdict.verdict, by_sympy[0]) == ("proved", "proved")
    assert pytorch(only(left, right, given))[0] == "agrees"


def only(left, right, given=()):
    derivation = Derivation("test")
    derivation.identity("claim", left, right, given=list(given))
    return derivation.claims[0]


FALSE = {
    "an open index taken for the bound one": (each(z[j], i), z, []),
    "an open index summed": (each(z[j], i) @ v, z @ v, []),
    "the bound index left as it is": (each(z[i] * v[j], i)[j], z[i] * v[i], []),
    "the place where the open index stands": (each(z[i] * v[j], i)[j], z[j] * v[i], []),
    "an outer index that reaches in": (each(z[i] * v[j], i)[i], z[j] * v[i], []),
    "a matrix for its transpose": (each(S[i, l], l, i), S, []),
    "rows for columns": (each(z[i], j, i), each(z[i], i, j), []),
    "the inner index for the outer one": (each(each(z[i], i), i), each(z[i], i, j), []),
    "a row for a diagonal": (each(each(S[i, l], l)[i], i), each(S[i, j], i), []),
    "a sum whose index is the outer one": (each(total(z[i], i) * z[i], i), each(total(z[i] * z[i], i), i), []),
    "a sum that an index inside escapes": (total(each(z[i], i)[i], i), n * z[j], []),
    "an entry that a sum catches": (total(each(z[i] * v[l], i)[j], l), total(z[l] * v[l], l), []),
    "two factors exchanged": (each(z[i] * v[l], i, l), each(v[i] * z[l], i, l), []),
    "a delta at the wrong place": (each(eye(n)[i, j] * v[i], i), each(eye(n)[i, j], i) * v[1], []),
    "a fixed size, turned": (each(t[s], s), array([t[1], t[3], t[2]]), []),
    "an index that counts from 0": (each(i * z[i], i) @ ones(n), total((l - 1) * z[l], l), []),
    "a length of copies": (norm(each(z[j], i)), norm(z), []),
    "softmax of copies": (softmax(each(z[j], i)), softmax(z), []),
    "what vanishes at small sizes": (each(z[i] * (n - 1) * (n - 2) * (n - 3) * (n - 4), i), zeros(n) * one, []),
    "a gradient at one place": (each(diff(z @ z, z[i]), i), each(2 * z[j], i), []),
    "a slope that reaches every entry": (diff(each(z[i] ** 2, i) @ v, z[i]), 2 * z[i] * total(v[l], l), []),
    "a slope of an entry by another": (diff(each(z[i], i)[j], z[i]), one, []),
    "a slope of copies": (diff(each(z[j], i) @ v, z[j]), v[j], []),
    "a slope that misses its own index": (each(diff(each(z[i] ** 2, i)[j], z[i]), i), 2 * each(z[i], i), []),
    "a mean of a product": (E(each(q[i] * k[i], i)[1]), 0 * x, [mean(q, 0), has_moment(k, 1)]),
    "a variance of copies": (Var(each(q[1], i) @ ones(n)), n * one, [independent(q), variance(q, 1)]),
    "a mean of a square": (E(each(q[i], i)[j] * each(q[i], i)[l]), 0 * x, [independent(q), mean(q, 0), has_moment(q, 2)]),
    "a square of copies": (E(each(q[j], i) @ each(q[i], i)), 0 * x, [independent(q), mean(q, 0), variance(q, 1)]),
    "an assumption of another entry": (absolute(z[j]), z[j], [positive(each(z[i], i)[1])]),
    "an assumption of another vector": (absolute(z[i]), z[i], [positive(each(v[i], i)[i])]),
    "a modulus by an assumption about another": (absolute(z[i]), z[i], [nonnegative(each(z[1], i)[i])]),
    "moduli at their corners": (diff(each(absolute(z[i]), i) @ v, z[j]), z[j] / absolute(z[j]) * v[j], []),
    "a root at its corner": (diff(each(sqrt(z[i] ** 2), i)[j], z[j]), one, [nonnegative(z[i])]),
}


@pytest.mark.parametrize("left, right, given", FALSE.values(), ids=FALSE)
def test_what_is_false_is_refused_by_each_of_three_witnesses(left, right, given, refused, sympy_refuses):
    def state(D):
        D.identity("claim", left, right, given=given)

    assert refused(state)
    sympy_refuses(state)
    with pytest.raises(Refused):
        pytorch(only(left, right, given))
