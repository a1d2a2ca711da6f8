"""The functions with which scripts build expressions. `Expr` of `expr.py` adds Python's operators.

Each function checks its arguments and makes a node; none simplifies.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from ..errors import KernelError
from .expr import Condition, Expr, Term, lift, lift_size, node, require_scalar, show, symbol
from .number_formats import FORMATS

Rows = Term | list | tuple  # nested lists


if TYPE_CHECKING:

    class Symbols(Expr):
        """One symbol or a tuple of symbols, depending on the number of names. A type checker accepts both uses."""

        def __iter__(self) -> Iterator[Expr]: ...  # type: ignore[override]


def make_symbols(names: str, kind: str) -> Symbols:
    """Return a tuple with a symbol for each of the names, which are separated by blanks. For one name return the symbol itself."""
    if not isinstance(names, str) or not names.split():
        raise KernelError(
            f"names are written in one text with blanks between them, as in scalars('x y'), not {names!r}", code="invalid-name"
        )
    made = tuple(symbol(name, kind) for name in names.split())
    return made if len(made) > 1 else made[0]  # type: ignore[return-value]


def sizes(names: str) -> Symbols:
    """Return symbols for sizes, which are positive integers: a tuple for several names, one symbol for one name.

    A size is the length of an axis or the range of an index. It is also a number in formulas. A name starts with a letter, followed by
    letters and digits, and may have one subscript after an underscore: `n`, `n2`, `d_k`. A name must not be a word that formulas use
    (`e`, `I`, `pi`, `exp`, ...), and must not look like an entry of a vector or matrix of the claim, as `z_1` does next to `z`.

    Examples:
        >>> from derivations.kernel import matrix, sizes
        >>> n, d_k = sizes("n d_k")
        >>> W = matrix("W", n, d_k)
        >>> print(W / d_k)
        W/d_k
    """
    return make_symbols(names, "size")


def scalars(names: str) -> Symbols:
    """Return symbols for arbitrary real numbers: a tuple for several names, one symbol for one name.

    The name of a Greek letter is printed as that letter: `sigma`, `mu_q`. Other names of several characters are printed upright: `loss`, `x1`.

    Examples:
        >>> from derivations.kernel import scalars
        >>> x, y = scalars("x y")
        >>> c = scalars("c")
        >>> print((x + y)**2 / c)
        (x + y)^2/c
    """
    return make_symbols(names, "real")


def matrix(name: str, rows: Term, columns: Term) -> Expr:
    """Return a symbol for a real matrix with arbitrary entries. On this site, rows are tokens.

    The numbers of rows and columns are positive integers or come from `sizes`.

    Examples:
        >>> from derivations.kernel import matrix, sizes
        >>> n, d = sizes("n d")
        >>> X, W = matrix("X", n, d), matrix("W", d, 3)
        >>> print((X @ W).T)
        (X @ W)ᵀ
    """
    return symbol(name, "real", (rows, columns))


def vector(name: str, size: Term) -> Expr:
    """Return a symbol for a real vector with arbitrary entries.

    A vector is neither a row nor a column: `q @ k` is a dot product, and `A @ z` and `z @ A` are vectors.

    Examples:
        >>> from derivations.kernel import sizes, vector
        >>> d = sizes("d")
        >>> q, k = vector("q", d), vector("k", d)
        >>> print(q @ k, "and the first entry", q[1])
        q @ k and the first entry q[1]
    """
    return symbol(name, "real", (size,))


def random(name: str, *shape: Term) -> Expr:
    """Return a symbol for a random number, vector or tensor whose entries all have the same distribution.

    Only what a claim assumes is known about it: see `independent`, `mean`, `variance`, `has_moment` and `gaussian`. Use it inside `E` and `Var`.

    Examples:
        >>> from derivations.kernel import E, random, sizes
        >>> d = sizes("d")
        >>> q, noise = random("q", d), random("noise")
        >>> print(E(q[1] * noise))
        E[q[1]*noise]
    """
    return symbol(name, "random", shape)


def index(name: str, size: Term) -> Expr:
    """Return an index variable that runs over 1, ..., `size`. Use it to select entries, to sum with `total`, or to build a vector with `each`.

    A claim with an open index, which neither `total` nor `each` binds, holds for each of its values. An index fits only axes of its own size.

    Examples:
        >>> from derivations.kernel import index, matrix, sizes
        >>> n, m = sizes("n m")
        >>> A, i, l = matrix("A", n, m), index("i", n), index("l", m)
        >>> print(A[i, l])
        A[i, l]
        >>> A[l, i]
        Traceback (most recent call last):
            ...
        derivations.kernel.errors.KernelError: index l runs to m, but the axis has size n
    """
    return Expr("index", (), (), (symbol(name, "index").data[0], lift_size(size)))  # symbol() checks the name


def inverse(matrix_: Expr) -> Expr:
    """Return the inverse of a square matrix. The claim must assume `invertible(M)`, which says that it exists.

    Examples:
        >>> from derivations.kernel import inverse, matrix, sizes
        >>> n = sizes("n")
        >>> M = matrix("M", n, n)
        >>> print(M @ inverse(M))
        M @ M⁻¹
    """
    return node("inverse", matrix_)


def eye(n: Term) -> Expr:
    """Return the identity matrix with `n` rows. Its entry `eye(n)[i, l]` is the Kronecker delta: 1 if `i` equals `l`, else 0.

    Examples:
        >>> from derivations.kernel import eye, index, sizes, total, vector
        >>> n = sizes("n")
        >>> z, i, l = vector("z", n), index("i", n), index("l", n)
        >>> print(total(eye(n)[i, l] * z[l], l))
        sum(eye(n)[i, l]*z[l], l = 1..n)
    """
    return node("eye", stated=(lift_size(n),) * 2)


def zeros(*shape: Term) -> Expr:
    """Return a tensor of zeros with the given shape.

    Examples:
        >>> from derivations.kernel import matrix, sizes, zeros
        >>> n, m = sizes("n m")
        >>> print(matrix("A", n, m) + zeros(n, m))
        A + zeros(n, m)
    """
    return node("fill", data=Fraction(0), stated=tuple(map(lift_size, shape)))


def ones(*shape: Term) -> Expr:
    """Return a tensor of ones with the given shape. `A @ ones(m)` sums each row of a matrix `A` with `m` columns.

    Examples:
        >>> from derivations.kernel import matrix, ones, sizes
        >>> n, m = sizes("n m")
        >>> print(matrix("A", n, m) @ ones(m))
        A @ ones(m)
    """
    return node("fill", data=Fraction(1), stated=tuple(map(lift_size, shape)))


def array(rows: Rows) -> Expr:
    """Return a tensor with the given entries: nested lists of equal lengths that contain numbers or scalar expressions.

    Examples:
        >>> from derivations.kernel import array, scalars
        >>> c, s = scalars("c s")
        >>> print(array([[c, -s], [s, c]]))
        [[c, -s], [s, c]]
    """
    if not isinstance(rows, (list, tuple)):
        return require_scalar(rows)
    parts = [array(row) for row in rows]
    if not parts or any(p.shape != parts[0].shape for p in parts):
        raise KernelError("a tensor is written as nested lists of equal lengths, none of them empty", code="not-an-array")
    entries = tuple(entry for p in parts for entry in (p.args if p.shape else (p,)))
    return node("array", *entries, stated=(lift(len(parts)), *parts[0].shape))


def total(body: Term, *indices: Expr, where: Condition | Sequence[Condition] = ()) -> Expr:
    """Return the sum of a scalar over one or more indices, which `index` makes. With `where`, only terms that satisfy the conditions count.

    A condition compares sums of indices, sizes and integers by order. It may exclude every term: the sum is then 0. The
    body needs no value where a condition fails.

    Examples:
        >>> from derivations.kernel import index, sizes, total, vector
        >>> d = sizes("d")
        >>> q, k, i = vector("q", d), vector("k", d), index("i", d)
        >>> print(total(q[i] * k[i], i))
        sum(q[i]*k[i], i = 1..d)
        >>> j = index("j", d)
        >>> print(total(q[j], j, where=j <= i), "and", total(q[j], j, where=[j <= i, i - j < 2]))
        sum(q[j], j = 1..d, j <= i) and sum(q[j], j = 1..d, j <= i, i - j < 2)
    """
    return bind("sum", "a sum runs", restrict(body, [where] if isinstance(where, Condition) else where), indices)


def where(body: Term, *conditions: Condition) -> Expr:
    """Return a scalar where all conditions hold, and 0 elsewhere. The scalar needs no value there.

    Examples:
        >>> from derivations.kernel import each, index, sizes, vector, where
        >>> n = sizes("n")
        >>> i, j = index("i", n), index("j", n)
        >>> print(each(where(1, j <= i), i, j), "and", where(vector("z", n)[j], j < i))
        each([j <= i], i = 1..n, j = 1..n) and where(z[j], j < i)
    """
    if not conditions:
        raise KernelError("where(body, condition) needs a condition, such as j <= i", code="not-a-condition")
    return restrict(body, conditions)


def restrict(body: Term, conditions: Sequence[Condition]) -> Expr:
    """Return `body` under conditions, the first of them outermost. Raise KernelError if one is no comparison."""
    for condition in reversed(list(conditions)):
        if not isinstance(condition, Condition):
            raise KernelError(f"{condition} is no condition; write a comparison of indices, such as j <= i", code="not-a-condition")
        body = node("where", body, condition.left, condition.right, data=condition.relation)
    return lift(body)


def each(body: Term, *indices: Expr) -> Expr:
    """Return the vector whose entry at an index is `body`. With two indices, return a matrix: the first index counts rows, the second columns.

    If `body` is itself a tensor, the tensors are stacked along a new first axis. The index is bound, like that of a sum: an index of the
    same name outside is a different variable.

    Examples:
        >>> from derivations.kernel import Derivation, each, exp, index, sizes, softmax, total, vector
        >>> n, m = sizes("n m")
        >>> z, v, a, b = vector("z", n), vector("v", n), vector("a", n), vector("b", m)
        >>> i, l, r = index("i", n), index("l", n), index("r", m)
        >>> weights = each(exp(z[i]) / total(exp(z[l]), l), i)
        >>> print(weights @ v)
        each(exp(z[i])/sum(exp(z[l]), l = 1..n), i = 1..n) @ v
        >>> print(each(a[i] * b[r], i, r).T, "and an entry", each(a[i] ** 2, i)[l])
        each(a[i]*b[r], i = 1..n, r = 1..m)ᵀ and an entry each(a[i]^2, i = 1..n)[l]
        >>> derivation = Derivation("Softmax, entry by entry")
        >>> derivation.identity("softmax", softmax(z), weights)
    """
    return bind("each", "entries run", body, indices)


def bind(op: str, says: str, body: Term, indices: tuple[Term, ...]) -> Expr:
    """Bind indices in `body`, the first of them outermost. Raise KernelError, with a message that starts with `says`, if one is no index."""
    body, over = lift(body), list(map(lift, indices))
    if not over:
        raise KernelError(f"{says} over what index(name, size) made, not nothing: name its index", code="not-an-index")
    for i in over:
        if i.op != "index":
            raise KernelError(f"{says} over what index(name, size) made, not {show(i)}", code="not-an-index")
        if over.count(i) > 1:
            raise KernelError(f"{says} over what index(name, size) made, not {show(i)} twice", code="repeated-index")
    for index_ in reversed(over):
        body = node(op, body, data=index_.data)
    return body


def function(name: str, argument: Term) -> Expr:
    """Return a function of `core.operators.FUNCTIONS`, given by its name, applied to a number, to each entry, or to a vector."""
    return node("function", argument, data=name)


def exp(x: Term) -> Expr:
    """Return the exponential of a number, or of each entry of a tensor.

    Examples:
        >>> from derivations.kernel import exp, matrix, sizes
        >>> n, m = sizes("n m")
        >>> print(exp(matrix("S", n, m)))
        exp(S)
    """
    return function("exp", x)


def log(x: Term) -> Expr:
    """Return the natural logarithm of a number, or of each entry of a tensor. The argument must be positive, if necessary by assumption.

    Examples:
        >>> from derivations.kernel import exp, log, scalars
        >>> x = scalars("x")
        >>> print(log(exp(x) + 1))
        log(exp(x) + 1)
    """
    return function("log", x)


def absolute(x: Term) -> Expr:
    """Return the absolute value of a number, or of each entry of a tensor.

    Examples:
        >>> from derivations.kernel import absolute, scalars
        >>> x, y = scalars("x y")
        >>> print(absolute(x * y))
        abs(x*y)
    """
    return function("abs", x)


def sqrt(x: Term) -> Expr:
    """Return the square root of a scalar. The scalar must not be negative, if necessary by assumption. Sizes are positive.

    Examples:
        >>> from derivations.kernel import sizes, sqrt, vector
        >>> d = sizes("d")
        >>> q, k = vector("q", d), vector("k", d)
        >>> print(q @ k / sqrt(d))
        (q @ k)/sqrt(d)
    """
    return lift(x) ** Fraction(1, 2)


def softmax(scores: Expr) -> Expr:
    """Return the softmax over the last axis: of a vector, or of each row of a matrix.

    Each entry is the exponential of a score divided by the sum of the exponentials along the axis.

    Examples:
        >>> from derivations.kernel import matrix, sizes, softmax
        >>> n, m = sizes("n m")
        >>> print(softmax(matrix("S", n, m))[1, 1])
        softmax(S)[1, 1]
    """
    return node("softmax", scores)


def E(x: Term) -> Expr:
    """Return the expectation of a scalar over all random entries in it. State what is known about their distributions in `given`.

    Examples:
        >>> from derivations.kernel import E, random, sizes
        >>> d = sizes("d")
        >>> q, k = random("q", d), random("k", d)
        >>> print(E(q @ k))
        E[q @ k]
    """
    return node("expectation", x)


def Var(x: Term) -> Expr:
    """Return the variance of a scalar: the expectation of its square minus the square of its expectation.

    Examples:
        >>> from derivations.kernel import Var, random, sizes
        >>> d = sizes("d")
        >>> q, k = random("q", d), random("k", d)
        >>> print(Var(q @ k))
        Var(q @ k)
    """
    return node("variance", x)


def diff(body: Term, by: Expr) -> Expr:
    """Return the derivative of a scalar with respect to a real scalar symbol or one entry of a real symbol.

    With an entry at an open index, the claim is about every entry of the gradient. `by` must not be a size or random.

    Examples:
        >>> from derivations.kernel import diff, index, matrix, sizes, vector
        >>> n = sizes("n")
        >>> z, A, i = vector("z", n), matrix("A", n, n), index("i", n)
        >>> print(diff(z @ (A @ z), z[i]))
        d(z @ (A @ z))/d(z[i])
    """
    return node("derivative", body, by)


def rounded(x: Term, format_: str = "fp32") -> Expr:
    """Return a real scalar rounded to the nearest number of a floating-point format, ties to even.

    The formats are `fp32`, `fp16`, `bf16`, and the two 8-bit formats `e4m3` and `e5m2`. To state a claim about numbers of a format, round
    them: the product of two bf16 numbers is `rounded(x, "bf16") * rounded(y, "bf16")`.

    Examples:
        >>> from derivations.kernel import rounded, scalars
        >>> x, y = scalars("x y")
        >>> print(rounded(x + y))
        fl(x + y)
        >>> print(rounded(x + y, "bf16"))
        fl_bf16(x + y)
    """
    if format_ not in FORMATS:
        raise KernelError(f"{format_!r} is not a format; {', '.join(FORMATS)} are known", code="unknown-format")
    return node("rounded", x, data=format_)


def rank(matrix_: Expr) -> Expr:
    """Return the rank of a matrix, a number. Prove an upper bound with `inequality` and a factorisation: `because=(A, B)`.

    Examples:
        >>> from derivations.kernel import matrix, rank, sizes
        >>> d, d_k = sizes("d d_k")
        >>> print(rank(matrix("W_Q", d, d_k) @ matrix("W_K", d, d_k).T))
        rank(W_Q @ W_Kᵀ)
    """
    return node("rank", matrix_)


def paren(x: Expr) -> Expr:
    """Return `x` in brackets that the reader sees. They do not change the value: a step that only adds or drops them is vacuous.

    Examples:
        >>> from derivations.kernel import paren, scalars
        >>> x, y = scalars("x y")
        >>> print(paren(x * y) * x, "and without them", (x * y) * x)
        (x*y)*x and without them x*y*x
    """
    return node("paren", x)


I = Expr("imaginary")
"""The imaginary unit. Complex numbers are not ordered, so it cannot occur in an inequality.

Examples:
    >>> from derivations.kernel import I, scalars
    >>> x = scalars("x")
    >>> print((1 + I * x) * (1 - I * x))
    (1 + I*x)*(1 - I*x)
"""
