"""The claim language: all the names that a script may use. The kernel depends on no topic.

| what | names |
|---|---|
| a derivation and its claims | `Derivation` |
| numbers and tensors | `scalars`, `vector`, `matrix`, `random`, `array`, `zeros`, `ones`, `eye`, `I` |
| sizes and indices | `sizes`, `index`, `total`, `each`, `where` |
| functions | `exp`, `log`, `sqrt`, `absolute`, `cos`, `sin`, `tanh`, `softmax`, `norm`, `largest`, `inverse`, `rank`, `diff`, `rounded`, `E`, `Var` |
| assumptions | `positive`, `nonnegative`, `nonzero`, `invertible`, `product_is`, `zero_or_one` |
| assumptions about random quantities | `independent`, `mean`, `variance`, `has_moment`, `gaussian` |
| assumptions about rounding | `representable`, `in_range` |
| brackets that a reader should see | `paren` |

A script makes one derivation, states its claims, and can be run on its own:

Examples:
    >>> from derivations.kernel import Derivation, matrix, sizes
    >>> n, d = sizes("n d")
    >>> X, W = matrix("X", n, d), matrix("W", d, d)
    >>> derivation = Derivation("Two products")
    >>> derivation.identity("transposed", (X @ W).T, W.T @ X.T, title="A transpose reverses a product")
    >>> if __name__ == "__main__":
    ...     derivation.main()

Importing this package loads no algebra system, so that rendering a page, which only reads certificates, stays fast.
"""

import sys

from .core.assumptions import (
    gaussian,
    has_moment,
    in_range,
    independent,
    invertible,
    mean,
    nonnegative,
    nonzero,
    positive,
    product_is,
    representable,
    variance,
)
from .core.constructors import (
    E,
    I,
    Var,
    absolute,
    array,
    diff,
    each,
    exp,
    eye,
    index,
    inverse,
    log,
    matrix,
    ones,
    paren,
    random,
    rank,
    rounded,
    scalars,
    sizes,
    softmax,
    sqrt,
    total,
    vector,
    where,
    zeros,
)
from .errors import VOCABULARY
from .language import lazy_sympy as lazy_sympy  # registers the reader of SymPy expressions
from .language.derivation import Derivation
from .language.functions import cos, largest, norm, sin, tanh
from .language.masks import zero_or_one
from .language.script_errors import print_error

sys.excepthook = print_error

__all__ = [
    "Derivation",
    "E",
    "I",
    "Var",
    "absolute",
    "array",
    "cos",
    "diff",
    "each",
    "exp",
    "eye",
    "gaussian",
    "has_moment",
    "in_range",
    "independent",
    "index",
    "inverse",
    "invertible",
    "largest",
    "log",
    "matrix",
    "mean",
    "nonnegative",
    "nonzero",
    "norm",
    "ones",
    "paren",
    "positive",
    "product_is",
    "random",
    "rank",
    "representable",
    "rounded",
    "scalars",
    "sin",
    "sizes",
    "softmax",
    "sqrt",
    "tanh",
    "total",
    "variance",
    "vector",
    "where",
    "zero_or_one",
    "zeros",
]

VOCABULARY[:] = __all__
