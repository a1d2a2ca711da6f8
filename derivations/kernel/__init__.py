"""The kernel: claims, their witnesses, certificates and how they are shown. It knows no topic.

A script imports what it needs from here. What is here is all that a script may use; it loads no algebra system, so that reading
certificates, which is all that rendering a page takes, stays quick.
"""

import sys

from .core.assumptions import (
    gaussian,
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
from .core.expr import (
    E,
    I,
    Var,
    absolute,
    array,
    diff,
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
    zeros,
)
from .errors import VOCABULARY
from .language import readers as readers  # SymPy's expressions can be read
from .language.errors import plain
from .language.script import Derivation

sys.excepthook = plain

__all__ = [
    "Derivation",
    "E",
    "I",
    "Var",
    "absolute",
    "array",
    "diff",
    "exp",
    "eye",
    "gaussian",
    "in_range",
    "independent",
    "index",
    "inverse",
    "invertible",
    "log",
    "matrix",
    "mean",
    "nonnegative",
    "nonzero",
    "ones",
    "paren",
    "positive",
    "product_is",
    "random",
    "rank",
    "representable",
    "rounded",
    "scalars",
    "sizes",
    "softmax",
    "sqrt",
    "total",
    "variance",
    "vector",
    "zeros",
]

VOCABULARY[:] = __all__
