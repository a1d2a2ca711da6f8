"""What a call computes, as one expression, which a reader's browser compares with the claim again."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice

from ..core.constructors import each
from ..core.expr import Expr, symbols, walk
from ..core.operators import INDEXED
from .tracing import Trace

MADE = re.compile(r"at\d+")  # the names of indices that a trace made
INDICES = "ijklrstuvw"
MAX_NODES = 1500  # of an expression that is stored


def make_formula(entry: Expr, indices: Iterable[Expr], reading: Trace) -> Expr | None:
    """Return the tensor that has this entry at these indices, or None if the entry has an unknown number or is too long to store."""
    if reading.opaque & set(symbols(entry)) or len(list(islice(walk(entry), MAX_NODES))) == MAX_NODES:
        return None
    return name_indices(each(entry, *indices) if (indices := tuple(indices)) else entry, reading.names)


def name_indices(e: Expr, used: Iterable[str]) -> Expr:
    """Return an expression with letters for the indices that a trace made, in the order in which they occur."""
    own = [node.data[0] for node in walk(e) if node.op in INDEXED]
    made = [name for name in dict.fromkeys(own) if MADE.fullmatch(name)]
    taken = {*used, *own}
    letters = (f"{letter}{number}" for number in ("", *range(1, len(made) + len(taken))) for letter in INDICES)
    fresh = dict(zip(made, (name for name in letters if name not in taken)))
    return rename(e, fresh)


def rename(e: Expr, names: dict[str, str]) -> Expr:
    """Return an expression with other names for some of its indices."""
    data = (names.get(e.data[0], e.data[0]), *e.data[1:]) if e.op in INDEXED else e.data
    return Expr(e.op, tuple(rename(a, names) for a in e.args), e.shape, data)
