"""Describe the names of the claim language, for an editor that completes them."""

from __future__ import annotations

import inspect
from typing import Any

import derivations.kernel as language
from derivations.kernel import Derivation


def describe_language() -> list[dict[str, str]]:
    """Return the name, the parameters and the first sentence of the documentation of each function that a script may use."""
    functions: dict[str, Any] = {name: getattr(language, name) for name in language.__all__}
    functions |= {
        f"derivation.{name}": method for name, method in vars(Derivation).items() if not name.startswith("_") and callable(method)
    }
    return [
        {"name": name, "signature": describe_parameters(function), "summary": (inspect.getdoc(function) or "").partition("\n")[0]}
        for name, function in functions.items()
        if callable(function)
    ]


def describe_parameters(function: Any) -> str:
    """Return the names of a function's parameters, without their types."""
    parameters = inspect.signature(function).parameters.values()
    return f"({', '.join(parameter.name for parameter in parameters if parameter.name != 'self')})"
