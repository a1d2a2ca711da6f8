"""SymPy relations as arguments of a derivation's methods: `identity("id", Eq(a, b))` means `identity("id", a, b)`."""

from __future__ import annotations

from typing import Any

from ..core.expr import lift
from ..errors import KernelError
from .lazy_sympy import is_relation, knows

SIGNS = {"identity": ("=",), "inequality": ("<=",), "refute": ("=", "!=", "<="), "limit": ("->",)}
WANTED = {
    "identity": "an identity is stated by Eq(a, b); inequality(...) takes Le, refute(...) takes Ne",
    "inequality": "an inequality is stated by Le(a, b) or Ge(a, b), with because=...",
    "refute": "what is refuted is Eq(a, b), which may also be written Ne(a, b), or Le(a, b)",
    "limit": "a limit is stated by Eq(Limit(e, x, oo), value)",
}


def split_relation(method: str, args: tuple, more: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
    """Return the positional and keyword arguments of a method with SymPy's objects converted.

    The argument after the id may be a relation, which is split into its sides. Arguments of snippets become trees. The end of a limit may
    be SymPy's oo.
    """
    more = {key: argument(value) if key == "code" else end(value) if key == "to" else value for key, value in more.items()}
    if method == "limit":
        args = (*args[:4], *map(end, args[4:5]), *args[5:])
    if method not in SIGNS or len(args) < 3 or not is_relation(args[2]):
        return args, more
    from .from_sympy import relation

    derivation, id, stated, *others = args
    found = relation(stated)
    if found.sign not in SIGNS[method]:
        raise KernelError(f"{stated} says {found.sign}: {WANTED[method]}", code="wrong-relation")
    if method == "refute":
        more = {**more, "relation": "<=" if found.sign == "<=" else "="}
    towards = tuple(map(end, found.towards))
    return (derivation, id, found.left, *towards, found.right, *others), more


def end(to: Any) -> Any:
    """Return where the variable of a limit tends to, "oo" or a number. Return anything else unchanged."""
    if not knows(to):
        return to
    from .from_sympy import end_of_limit

    return end_of_limit(to)


def argument(value: Any) -> Any:
    """Convert the SymPy expressions in a snippet's argument to trees, also those inside lists, tuples and dictionaries."""
    if isinstance(value, (tuple, list)):
        return type(value)(map(argument, value))
    if isinstance(value, dict):
        return {key: argument(inside) for key, inside in value.items()}
    return lift(value) if knows(value) else value
