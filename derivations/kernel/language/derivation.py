"""The derivation that a script makes: its methods state claims, with every keyword by name, and hand them to core's one door."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, wraps
from typing import Any, Literal, ParamSpec, TypeVar

from ..core import claims
from ..core.assumptions import Assumption
from ..core.claims import Claim, Refused, Value, bindings, caller
from ..core.expr import Expr, Term, lift, named, symbol
from ..errors import KernelError, nearest, scripts
from .sympy_assumptions import Origins, Taken, renamed, settled, with_parameters
from .sympy_relations import spread

P = ParamSpec("P")
R = TypeVar("R")
Code = Sequence[tuple[Any, ...]]
Needed = Mapping[Assumption, Mapping[Expr, Value]]
UNSAID: Any = None  # to be said, but for what a relation of SymPy's says already: `identity(id, Eq(a, b))`


def stating(method: Callable[P, R]) -> Callable[P, R]:
    """A method that states a claim: an error names the claim, and the line of the script that states it."""
    signature = demanding(inspect.signature(method))
    names = list(signature.parameters)[1:]

    @wraps(method)
    def stated(*args: P.args, **more: P.kwargs) -> R:
        try:
            told, named = spread(method.__name__, args, more)
            refuse_misfit(method.__name__, signature, told, named)
            return method(*told, **named)
        except KernelError as error:
            if method.__name__ == "__init__":  # no claim yet
                raise
            raise Refused(*caller(), claim_of(dict(zip(names, args[1:])) | more), str(error)) from None

    return stated


def demanding(signature: inspect.Signature) -> inspect.Signature:
    """The signature with what is UNSAID as something that has to be said."""
    return signature.replace(
        parameters=[
            p.replace(default=p.empty) if p.kind is p.POSITIONAL_OR_KEYWORD and p.default is UNSAID else p
            for p in signature.parameters.values()
        ]
    )


def claim_of(given: Mapping[str, Any]) -> str:
    """The id of the claim that a method is told to state."""
    return str(given.get("id") or (define_id(given["name"]) if "name" in given else ""))


def define_id(name: object) -> str:
    return "define-" + re.sub(r"[^a-z0-9]+", "-", str(name).lower())


def refuse_misfit(name: str, signature: inspect.Signature, args: tuple, more: Mapping[str, Any]) -> None:
    """What Python would call a TypeError: a keyword that does not exist, an argument too many or too few."""
    name = "Derivation" if name == "__init__" else name
    parameters = [p for p in list(signature.parameters.values())[1:] if p.kind is not p.VAR_POSITIONAL]
    strangers = [key for key in more if key not in (p.name for p in parameters)]
    if strangers:
        raise KernelError(f"{name} takes no keyword {strangers[0]}; {nearest(strangers[0], [p.name for p in parameters], 'it takes')}")
    try:
        signature.bind(*args, **more)
    except TypeError as error:
        raise KernelError(f"{name}(...): {error}; it is {name}{shown_parameters(signature)}") from None


def shown_parameters(signature: inspect.Signature) -> str:
    """(id, left, right, *, reason=...), without hints."""
    plain = [p.replace(annotation=p.empty) for p in list(signature.parameters.values())[1:]]
    return str(signature.replace(parameters=plain, return_annotation=signature.empty))


NUMBERS = 1000  # of one symbol in a counterexample: the sides are computed exactly, and nested sums take the square of that


def refuse_values(claim: Claim) -> None:
    """Refuse counterexamples that cannot be computed with: of a law, or too long."""
    if claim.kind == "law" and claim.without:
        raise KernelError(
            "without={...} compares the two sides of a claim at values, and what is random has none; a law is tried without each of its "
            "assumptions at distributions of a few numbers: leave without={...} out"
        )
    for values in [claim.at, *(hint for _, hint in claim.without)]:
        for name, value in values:
            if (count := numbers_in(value)) > NUMBERS:
                raise KernelError(
                    f"a counterexample gives {count:,} numbers to {name}, and it is computed exactly, which would take too long; give one with "
                    f"at most {NUMBERS:,}, at a smaller size"
                )


def numbers_in(value: Any) -> int:
    return sum(map(numbers_in, value)) if isinstance(value, tuple) else 1


class Derivation(claims.Derivation):
    """A named chain of claims: one script, one page. Its methods state claims, each with an id of its own.

    An id is lower-case words joined by hyphens. A claim is checked when the script has run; what cannot even be stated is refused at
    once, with the file, the line and the claim. Keywords that all methods that state a claim take:

    | keyword | what it is |
    |---|---|
    | `title` | the claim's heading; `$...$` in it names mathematics |
    | `reason` | why the relation holds, in words; `define` takes none, and in a chain each step has its own |
    | `given` | a list of assumptions, each of which is needed: without it a counterexample appears |
    | `uses` | ids of earlier claims that it rests on; `chapter/topic#id` names one of another topic |
    | `without` | for an assumption, a counterexample that shows that it is needed, where none is found, but not of a law: `{nonzero(x): {x: 0, y: 1}}` |
    | `code` | snippets that compute the sides, one after the other: `("snippets.chapter.topic.function", argument, ..., {keyword: value})` |

    Examples:
        >>> from derivations.kernel import Derivation, matrix, sizes
        >>> n, m = sizes("n m")
        >>> A, B = matrix("A", n, m), matrix("B", n, m)
        >>> derivation = Derivation("A sum transposed")
        >>> derivation.identity("sum", (A + B).T, A.T + B.T, title="Each is transposed")
        >>> derivation.identity("not-transposed", (A + B).T, A + B)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        derivations.kernel.core.claims.Refused: ... claim 'not-transposed': the two sides have different shapes: (A + B)ᵀ and A + B
    """

    @stating
    def __init__(self, title: str):
        super().__init__(title)

    @stating
    def define(
        self,
        name: str,
        body: Term,
        title: str = "",
        id: str = "",
        *,
        given: Sequence[Assumption] = (),
        uses: Sequence[str] = (),
        without: Needed | None = None,
        code: Code = (),
    ) -> Expr:
        """A name for an expression. The name stands in formulas; every witness works with the expression.

        `given` lists what the expression needs to make sense. The id is made from the name where none is given.

        Examples:
            >>> from derivations.kernel import Derivation, nonzero, scalars
            >>> x, y = scalars("x y")
            >>> derivation = Derivation("A ratio")
            >>> ratio = derivation.define("r", x / y, given=[nonzero(y)])
            >>> derivation.identity("back", ratio * y, x, given=[nonzero(y)])
            >>> print(ratio * y)
            r*y
        """
        body = lift(body)
        result = Expr("defined", (body,), body.shape, symbol(name, "defined").data)
        steps = [(":=", body, "")]
        self._state("definition", id or define_id(name), result, steps, given=given, title=title, uses=uses, without=without, code=code)
        return result

    @stating
    def identity(
        self,
        id: str,
        left: Term,
        right: Term = UNSAID,
        reason: str = "",
        *,
        title: str = "",
        given: Sequence[Assumption] = (),
        uses: Sequence[str] = (),
        without: Needed | None = None,
        code: Code = (),
    ) -> None:
        """Both sides are equal, for all values at which the assumptions hold; or one equation of another system, such as SymPy's Eq.

        Both sides have one shape. An identity between tensors is one between all their entries.

        Examples:
            >>> from derivations.kernel import Derivation, scalars
            >>> x, y = scalars("x y")
            >>> derivation = Derivation("A square")
            >>> derivation.identity("square", (x + y) ** 2, x**2 + 2 * x * y + y**2)
        """
        steps = [("=", right, reason)]
        self._state("identity", id, left, steps, given=given, title=title, uses=uses, without=without, code=code)

    @stating
    def chain(
        self,
        id: str,
        start: Term,
        *steps: tuple[Term, str],
        title: str = "",
        given: Sequence[Assumption] = (),
        uses: Sequence[str] = (),
        without: Needed | None = None,
        code: Code = (),
    ) -> None:
        """A chain of equal expressions, from the first on, each step a pair: the expression, and the reason for it in words. Each step is checked on its own.

        Examples:
            >>> from derivations.kernel import Derivation, matrix, sizes
            >>> n, d, d_k = sizes("n d d_k")
            >>> X, W_Q, W_K = matrix("X", n, d), matrix("W_Q", d, d_k), matrix("W_K", d, d_k)
            >>> derivation = Derivation("Scores")
            >>> derivation.chain(
            ...     "merged",
            ...     (X @ W_Q) @ (X @ W_K).T,
            ...     ((X @ W_Q) @ (W_K.T @ X.T), "a transpose reverses a product"),
            ...     (X @ (W_Q @ W_K.T) @ X.T, "regroup"),
            ... )
        """
        if not steps or not all(isinstance(step, tuple) and len(step) == 2 and str(step[1]).strip() for step in steps):
            raise KernelError("each step of a chain is a pair: the expression, and the reason for it in words; a chain needs a step")
        stated = [("=", e, reason) for e, reason in steps]
        self._state("chain", id, start, stated, given=given, title=title, uses=uses, without=without, code=code)

    @stating
    def inequality(
        self,
        id: str,
        left: Term,
        right: Term = UNSAID,
        because: Term | tuple[Term, ...] = UNSAID,
        reason: str = "",
        *,
        title: str = "",
        given: Sequence[Assumption] = (),
        uses: Sequence[str] = (),
        without: Needed | None = None,
        code: Code = (),
    ) -> None:
        """The left side is at most the right one, because `right - left` is `because`, which is visibly not negative.

        What is visibly not negative is made of such parts by sums, products, quotients and powers: sizes, numbers that are not
        negative, even powers, absolute values, exponentials, a vector's product with itself, and what an assumption says. Of a rank,
        `because` is a factorisation, `(A, B)`.

        Examples:
            >>> from derivations.kernel import Derivation, scalars
            >>> x, y = scalars("x y")
            >>> derivation = Derivation("Means")
            >>> derivation.inequality("means", 2 * x * y, x**2 + y**2, because=(x - y) ** 2)
        """
        because = because if isinstance(because, tuple) else (because,)
        certificate, steps = tuple(map(lift, because)), [("<=", right, reason)]
        self._state("inequality", id, left, steps, because=certificate, given=given, title=title, uses=uses, without=without, code=code)

    @stating
    def limit(
        self,
        id: str,
        expr: Term,
        variable: Term = UNSAID,
        to: Literal["oo", 0] = UNSAID,
        value: Term = UNSAID,
        reason: str = "",
        *,
        title: str = "",
        given: Sequence[Assumption] = (),
        uses: Sequence[str] = (),
        without: Needed | None = None,
        code: Code = (),
    ) -> None:
        """expr goes to value as a size or a scalar symbol goes to "oo" or to 0, from above.

        What is so of the variable near the limit is known, and not stated. What shows in `without` that an assumption is needed gives values
        to everything else, and none to the variable.

        Examples:
            >>> from derivations.kernel import Derivation, sizes
            >>> n, d = sizes("n d")
            >>> derivation = Derivation("Long texts")
            >>> derivation.limit("ratio", 2 + 2 * n / (n + 2 * d), n, "oo", 4)
        """
        variable = variable if isinstance(variable, str) else lift(variable)
        if isinstance(variable, str) or variable.op != "symbol" or variable.shape:
            raise KernelError("a limit is taken in a size or a scalar symbol")
        towards, steps = (variable, to), [("->", value, reason)]
        self._state("limit", id, expr, steps, towards=towards, given=given, title=title, uses=uses, without=without, code=code)

    @stating
    def refute(
        self,
        id: str,
        left: Term,
        right: Term = UNSAID,
        at: Mapping[Expr, Value] = UNSAID,
        reason: str = "",
        relation: Literal["=", "<="] = "=",
        *,
        title: str = "",
        given: Sequence[Assumption] = (),
        uses: Sequence[str] = (),
        without: Needed | None = None,
        code: Code = (),
    ) -> None:
        """That both sides are equal, or that the left is at most the right, is false: `at` is an exact counterexample, symbol to value.

        A value is a number, or nested lists of numbers. Sizes follow from the lists, or are given themselves. An index that no sum binds
        is given one too, counted from 1.

        Examples:
            >>> from derivations.kernel import Derivation, matrix, sizes
            >>> n = sizes("n")
            >>> A, B = matrix("A", n, n), matrix("B", n, n)
            >>> derivation = Derivation("Order matters")
            >>> derivation.refute("commute", A @ B, B @ A, at={A: [[0, 1], [0, 0]], B: [[0, 0], [1, 0]]})
        """
        if relation not in ("=", "<="):
            raise KernelError(f'the relation refuted is "=" or "<=", not {relation!r}')
        values, steps = bindings(at), [("!" + relation, right, reason)]
        self._state("refutation", id, left, steps, at=values, given=given, title=title, uses=uses, without=without, code=code)

    @cached_property
    def _origins(self) -> Origins:
        """The SymPy symbols that stand for its names."""
        return Origins()

    @cached_property
    def _chosen(self) -> dict[str, Expr]:
        """The indices that only carried assumptions use, by name: a claim that uses the name for its own takes it from them."""
        return {}

    def _settled(self, claim: Claim) -> Claim:
        refuse_values(claim)
        self._origins.refuse_two(claim.trees)
        trees = with_parameters(claim.trees)
        self._make_way(trees)
        self._check_names(claim)
        result = settled(claim, Taken(self.names, trees, self._chosen.values()))
        self._origins.refuse_two(result.trees)
        printed = {s.data[0]: s for s in named(*result.trees) if s.op == "index"}
        self._chosen.update({name: s for name, s in printed.items() if name not in self.names})
        return result

    def _make_way(self, trees: tuple[Expr, ...]) -> None:
        """Where a claim's trees use a name that was chosen for an index of a carried assumption, that index gets another."""
        for name in sorted({s.data[0] for s in named(*trees)}):
            if name in self._chosen:
                old = self._chosen.pop(name)
                new = Taken(self.names, trees).index(old.data[1])
                del self.names[name]
                self.names[new.data[0]] = self._chosen[new.data[0]] = new
                self.claims[:] = [renamed(earlier, old, new) for earlier in self.claims]

    def main(self) -> None:
        """Check this derivation and print its steps, when its script is run on its own. The exit code is 0 if every claim holds."""
        from ..command.run_script import run_alone  # loads every witness, which stating a claim does not need

        scripts.watched = False
        run_alone(self)
