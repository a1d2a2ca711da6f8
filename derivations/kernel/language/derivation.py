"""The class Derivation that scripts use. Its methods take the keywords of each kind of claim and pass them to `core.claims`."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, wraps
from typing import Any, Literal, ParamSpec, TypeVar

from ..core import claims
from ..core.assumptions import Assumption
from ..core.claims import Claim, Rejected, Value, calling_line, read_values
from ..core.expr import Expr, Term, lift, named_nodes, symbol
from ..errors import KernelError, scripts, suggest_names
from .sympy_assumptions import Origins, UsedNames, rename_index, with_carried, with_parameters
from .sympy_relations import split_relation

P = ParamSpec("P")
R = TypeVar("R")
Code = Sequence[tuple[Any, ...]]
Needed = Mapping[Assumption, Mapping[Expr, Value]]
UNSAID: Any = None  # the default of required arguments that a SymPy relation may replace, as in `identity(id, Eq(a, b))`


def states_claim(method: Callable[P, R]) -> Callable[P, R]:
    """Decorate a method that states a claim: check its arguments, and raise errors that name the claim and the line of the script."""
    signature = with_required(inspect.signature(method))
    names = list(signature.parameters)[1:]

    @wraps(method)
    def stated(*args: P.args, **more: P.kwargs) -> R:
        try:
            positional, keywords = split_relation(method.__name__, args, more)
            check_signature(method.__name__, signature, positional, keywords)
            return method(*positional, **keywords)
        except KernelError as error:
            if method.__name__ == "__init__":  # there is no claim yet
                raise
            raise Rejected(*calling_line(), id_of(dict(zip(names, args[1:])) | more), str(error), code=error.code) from None

    return stated


def with_required(signature: inspect.Signature) -> inspect.Signature:
    """Return the signature with the parameters whose default is UNSAID as required ones."""
    return signature.replace(
        parameters=[
            p.replace(default=p.empty) if p.kind is p.POSITIONAL_OR_KEYWORD and p.default is UNSAID else p
            for p in signature.parameters.values()
        ]
    )


def id_of(arguments: Mapping[str, Any]) -> str:
    """Return the id of the claim that a method states, or "" if there is none."""
    return str(arguments.get("id") or (define_id(arguments["name"]) if "name" in arguments else ""))


def define_id(name: object) -> str:
    """Return the id of a definition that has none of its own."""
    return "define-" + re.sub(r"[^a-z0-9]+", "-", str(name).lower())


def check_signature(name: str, signature: inspect.Signature, args: tuple, keywords: Mapping[str, Any]) -> None:
    """Raise KernelError, where Python would raise TypeError, for an unknown keyword or a wrong number of arguments."""
    name = "Derivation" if name == "__init__" else name
    parameters = [p for p in list(signature.parameters.values())[1:] if p.kind is not p.VAR_POSITIONAL]
    unknown = [key for key in keywords if key not in (p.name for p in parameters)]
    if unknown:
        raise KernelError(
            f"{name} takes no keyword {unknown[0]}; {suggest_names(unknown[0], [p.name for p in parameters], 'it takes')}",
            code="unknown-keyword",
        )
    try:
        signature.bind(*args, **keywords)
    except TypeError as error:
        raise KernelError(f"{name}(...): {error}; it is {name}{shown_parameters(signature)}", code="wrong-arguments") from None


def shown_parameters(signature: inspect.Signature) -> str:
    """Return the parameters without type hints, as "(id, left, right, *, reason=...)"."""
    plain = [p.replace(annotation=p.empty) for p in list(signature.parameters.values())[1:]]
    return str(signature.replace(parameters=plain, return_annotation=signature.empty))


MAX_NUMBERS = 1000  # in the value of one symbol of a counterexample, since exact evaluation of nested sums takes quadratic time


def check_counterexamples(claim: Claim) -> None:
    """Raise KernelError if a counterexample cannot be evaluated: one for a law, or one with too many numbers."""
    if claim.kind == "law" and claim.without:
        raise KernelError(
            "without={...} compares the two sides of a claim at values, and what is random has none; a law is tried without each of its "
            "assumptions at distributions of a few numbers: leave without={...} out",
            code="without-for-law",
        )
    for values in [claim.at, *(hint for _, hint in claim.without)]:
        for name, value in values:
            if (count := numbers_in(value)) > MAX_NUMBERS:
                raise KernelError(
                    f"a counterexample gives {count:,} numbers to {name}, and it is computed exactly, which would take too long; give one with "
                    f"at most {MAX_NUMBERS:,}, at a smaller size",
                    code="counterexample-too-large",
                )


def numbers_in(value: Any) -> int:
    """Return how many numbers a value consists of."""
    return sum(map(numbers_in, value)) if isinstance(value, tuple) else 1


class Derivation(claims.Derivation):
    """A named sequence of claims: one script, one page. Each method states a claim and gives it an id.

    An id consists of lower-case words joined by hyphens. Claims are checked after the script has run. A claim that is malformed, for
    example because its sides differ in shape, raises an error at once that names the file, the line and the claim. All methods that state
    a claim take these keywords:

    | keyword | meaning |
    |---|---|
    | `title` | the heading of the claim; `$...$` may contain symbols, but no relation |
    | `reason` | why the relation holds, in words; `define` has none, and `chain` has one for each step |
    | `given` | a list of assumptions; each must be needed, so that the claim has a counterexample without it |
    | `uses` | ids of earlier claims that this claim rests on; `chapter/topic#id` names a claim of another topic |
    | `without` | counterexamples that show that an assumption is needed, if the checker finds none: `{nonzero(x): {x: 0, y: 1}}`; not for laws |
    | `code` | snippets that compute the sides, in order: `("snippets.chapter.topic.function", argument, ..., {keyword: value})` |

    Examples:
        >>> from derivations.kernel import Derivation, matrix, sizes
        >>> n, m = sizes("n m")
        >>> A, B = matrix("A", n, m), matrix("B", n, m)
        >>> derivation = Derivation("A sum transposed")
        >>> derivation.identity("sum", (A + B).T, A.T + B.T, title="Each is transposed")
        >>> derivation.identity("not-transposed", (A + B).T, A + B)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        derivations.kernel.core.claims.Rejected: ... claim 'not-transposed': the two sides have different shapes: (A + B)ᵀ and A + B
    """

    @states_claim
    def __init__(self, title: str):
        super().__init__(title)

    @states_claim
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
        """Define a name for an expression and return it. Formulas show the name; the witnesses use the expression.

        `given` lists the assumptions under which the expression is defined. Without an `id`, the claim gets one made from the name.

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
        self._add_claim("definition", id or define_id(name), result, steps, given=given, title=title, uses=uses, without=without, code=code)
        return result

    @states_claim
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
        """State that both sides are equal for all values at which the assumptions hold. One SymPy equation, `Eq(a, b)`, may replace the sides.

        Both sides must have the same shape. Tensors are equal if all their entries are.

        Examples:
            >>> from derivations.kernel import Derivation, scalars
            >>> x, y = scalars("x y")
            >>> derivation = Derivation("A square")
            >>> derivation.identity("square", (x + y) ** 2, x**2 + 2 * x * y + y**2)
        """
        steps = [("=", right, reason)]
        self._add_claim("identity", id, left, steps, given=given, title=title, uses=uses, without=without, code=code)

    @states_claim
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
        """State that expressions are equal, step by step. Each step is a pair of an expression and a reason in words, and is checked on its own.

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
            raise KernelError(
                "each step of a chain is a pair: the expression, and the reason for it in words; a chain needs a step", code="invalid-step"
            )
        stated = [("=", e, reason) for e, reason in steps]
        self._add_claim("chain", id, start, stated, given=given, title=title, uses=uses, without=without, code=code)

    @states_claim
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
        """State that the left side is at most the right side, because `right - left` equals `because`, which is visibly not negative.

        `because` is called the nonnegative form. Sizes, numbers that are not negative, even powers, absolute values, exponentials, a
        vector's product with itself, and what an assumption says are visibly not negative; so are sums, products, quotients and powers of
        these. For a bound on a rank, `because` is a factorisation, `(A, B)`.

        Examples:
            >>> from derivations.kernel import Derivation, scalars
            >>> x, y = scalars("x y")
            >>> derivation = Derivation("Means")
            >>> derivation.inequality("means", 2 * x * y, x**2 + y**2, because=(x - y) ** 2)
        """
        because = because if isinstance(because, tuple) else (because,)
        form, steps = tuple(map(lift, because)), [("<=", right, reason)]
        self._add_claim("inequality", id, left, steps, because=form, given=given, title=title, uses=uses, without=without, code=code)

    @states_claim
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
        """State that `expr` tends to `value` as a size or a scalar symbol tends to "oo", or to 0 from above.

        Do not assume the sign of the variable: it is known near the limit. A counterexample in `without` gives a value to every symbol
        except the variable.

        Examples:
            >>> from derivations.kernel import Derivation, sizes
            >>> n, d = sizes("n d")
            >>> derivation = Derivation("Long texts")
            >>> derivation.limit("ratio", 2 + 2 * n / (n + 2 * d), n, "oo", 4)
        """
        variable = variable if isinstance(variable, str) else lift(variable)
        if isinstance(variable, str) or variable.op != "symbol" or variable.shape:
            raise KernelError("a limit is taken in a size or a scalar symbol", code="invalid-limit-variable")
        towards, steps = (variable, to), [("->", value, reason)]
        self._add_claim("limit", id, expr, steps, towards=towards, given=given, title=title, uses=uses, without=without, code=code)

    @states_claim
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
        """State that an equality, or with `relation="<="` an inequality, is false. `at` is an exact counterexample that maps symbols to values.

        A value is a number or nested lists of numbers. Sizes follow from the lengths of the lists, or are given themselves. Open indices
        need values, too; they count from 1.

        Examples:
            >>> from derivations.kernel import Derivation, matrix, sizes
            >>> n = sizes("n")
            >>> A, B = matrix("A", n, n), matrix("B", n, n)
            >>> derivation = Derivation("Order matters")
            >>> derivation.refute("commute", A @ B, B @ A, at={A: [[0, 1], [0, 0]], B: [[0, 0], [1, 0]]})
        """
        if relation not in ("=", "<="):
            raise KernelError(f'the relation refuted is "=" or "<=", not {relation!r}', code="unknown-relation")
        values, steps = read_values(at), [("!" + relation, right, reason)]
        self._add_claim("refutation", id, left, steps, at=values, given=given, title=title, uses=uses, without=without, code=code)

    @cached_property
    def _origins(self) -> Origins:
        """The SymPy symbols from which the names of the derivation were read."""
        return Origins()

    @cached_property
    def _chosen(self) -> dict[str, Expr]:
        """The indices that were chosen for carried assumptions, by name. A later claim that uses such a name takes precedence."""
        return {}

    def _complete(self, claim: Claim) -> Claim:
        """Check the counterexamples, and return the claim with the assumptions that its SymPy symbols carry and that it needs."""
        check_counterexamples(claim)
        self._origins.record(claim.trees)
        trees = with_parameters(claim.trees)
        self._rename_chosen(trees)
        self._check_names(claim)
        result = with_carried(claim, UsedNames(self.names, trees, self._chosen.values()))
        self._origins.record(result.trees)
        printed = {s.data[0]: s for s in named_nodes(*result.trees) if s.op == "index"}
        self._chosen.update({name: s for name, s in printed.items() if name not in self.names})
        return result

    def _rename_chosen(self, trees: tuple[Expr, ...]) -> None:
        """Rename the indices of carried assumptions whose names these trees use."""
        for name in sorted({s.data[0] for s in named_nodes(*trees)}):
            if name in self._chosen:
                old = self._chosen.pop(name)
                new = UsedNames(self.names, trees).index(old.data[1])
                del self.names[name]
                self.names[new.data[0]] = self._chosen[new.data[0]] = new
                self.claims[:] = [rename_index(earlier, old, new) for earlier in self.claims]

    def main(self) -> None:
        """Check the derivation and print its claims. Call this when the script is run on its own. The exit code is 0 if every claim holds."""
        from ..command.run_script import run_script  # imported here because it loads every witness

        scripts.watched = False
        run_script(self)
