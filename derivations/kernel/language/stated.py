"""A SymPy relation where a method of a derivation expects two sides: `identity("id", Eq(a, b))` as `identity("id", a, b)`."""

from __future__ import annotations

from typing import Any

from ..errors import KernelError
from .readers import is_relation, knows

SIGNS = {"identity": ("=",), "inequality": ("<=",), "refute": ("=", "!=", "<="), "limit": ("->",)}
WANTED = {
    "identity": "an identity is stated by Eq(a, b); inequality(...) takes Le, refute(...) takes Ne",
    "inequality": "an inequality is stated by Le(a, b) or Ge(a, b), with because=...",
    "refute": "what is refuted is Eq(a, b), which may also be written Ne(a, b), or Le(a, b)",
    "limit": "a limit is stated by Eq(Limit(e, x, oo), value)",
}


def spread(method: str, args: tuple, more: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
    """The arguments of a method with SymPy's relation, the first after the id, taken apart; all others as they are."""
    if method == "limit" and len(args) > 3 and knows(args[3]):
        from .from_sympy import end_of_limit

        return (*args[:3], end_of_limit(args[3]), *args[4:]), more
    if method not in SIGNS or len(args) < 2 or not is_relation(args[1]):
        return args, more
    from .from_sympy import end_of_limit, relation

    id, said, *others = args
    found = relation(said)
    if found.sign not in SIGNS[method]:
        raise KernelError(f"{said} says {found.sign}: {WANTED[method]}")
    if method == "limit":
        variable, to = found.towards
        return (id, found.left, variable, end_of_limit(to), found.right, *others), more
    if method == "refute":
        more = {**more, "relation": "<=" if found.sign == "<=" else "="}
    return (id, found.left, found.right, *others), more
