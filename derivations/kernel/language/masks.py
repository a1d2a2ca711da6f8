"""The assumption that entries are 0 or 1, as in a mask that keeps or drops keys, or in dropout."""

from __future__ import annotations

from ..core.assumptions import Assumption, symbol_of
from ..core.expr import Expr, show
from ..errors import KernelError


def zero_or_one(x: Expr) -> Assumption:
    """Assume that every entry of the symbol `x` is 0 or 1. `x` must be a symbol, and not a size.

    A random 0 or 1 is a coin: its mean is the probability of 1, and all its moments exist and equal the mean.

    Examples:
        >>> from derivations.kernel import Derivation, Var, exp, index, mean, ones, random, scalars, sizes, vector, zero_or_one
        >>> n = sizes("n")
        >>> k, z, c, i = vector("k", n), vector("z", n), scalars("c"), index("i", n)
        >>> derivation = Derivation("A mask")
        >>> derivation.identity("twice", k * (k * z), k * z, given=[zero_or_one(k)])
        >>> masked = exp(z - c * (ones(n) - k))[i]
        >>> derivation.identity("masked", masked, k[i] * exp(z[i]) + (1 - k[i]) * exp(z[i] - c), given=[zero_or_one(k)])
        >>> print(zero_or_one(k))
        each entry of k is 0 or 1
        >>> b, p = random("b"), scalars("p")
        >>> derivation.identity("coin", Var(b), p * (1 - p), given=[zero_or_one(b), mean(b, p)])
    """
    if (x := symbol_of(x)).data[1] == "size":
        raise KernelError(f"{show(x)} is a size, and not a symbol that one may take to be 0 or 1", code="not-zero-or-one")
    return Assumption("zero_or_one", (x,))
