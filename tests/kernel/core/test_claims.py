"""The fields of a claim, given and by default."""

import sys
from fractions import Fraction

import pytest

from derivations.kernel import (
    Derivation,
    E,
    Var,
    index,
    matrix,
    mean,
    nonnegative,
    nonzero,
    positive,
    product_is,
    random,
    scalars,
    sizes,
    vector,
)
from derivations.kernel.command import run_script
from derivations.kernel.core.assumptions import Assumption
from derivations.kernel.core.claims import LOADED, Rejected, Step, read_values, snippets
from derivations.kernel.core.expr import Expr, lift
from derivations.kernel.errors import KernelError
from derivations.kernel.language.script_errors import print_error
from tests.kernel.common import has_code

n, d = sizes("n d")
x, y = scalars("x y")
z, q = vector("z", n), random("q", d)
A = matrix("A", n, n)

WAYS = {
    "identity": (lambda D, **more: D.identity("claim", x * y, y * x, **more), [("=", y * x)]),
    "chain": (
        lambda D, reason="why", **more: D.chain("claim", x * y, (y * x, reason), (x * y * 1, reason), **more),
        [("=", y * x), ("=", x * y * 1)],
    ),
    "inequality": (lambda D, **more: D.inequality("claim", x, x + y**2, because=y**2, **more), [("<=", x + y**2)]),
    "limit": (lambda D, **more: D.limit("claim", x / d, d, "oo", 0, **more), [("->", lift(0))]),
    "refutation": (lambda D, **more: D.refute("claim", x, y, at={x: 1, y: 2}, **more), [("!=", y)]),
}


def stated(state, **more):
    derivation = Derivation("test")
    derivation.identity("first", x * (y + 1), x * y + x)
    state(derivation, **more)
    return derivation.claims[-1]


@pytest.mark.parametrize("state, steps", WAYS.values(), ids=WAYS)
def test_a_claim_holds_what_it_was_told(state, steps):
    hint = {nonzero(x): {x: 0}}
    claim = stated(
        state,
        reason="why",
        title="A title",
        given=[nonzero(x), positive(y)],
        uses=["first"],
        without=hint,
        code=[("snippets.a.b", x, 2, {"k": y, "a": 1})],
    )
    assert claim.steps == tuple(Step(relation, e, "why") for relation, e in steps)
    assert (claim.id, claim.title, claim.uses, claim.given) == ("claim", "A title", ("first",), (nonzero(x), positive(y)))
    assert claim.without == ((nonzero(x), (("x", lift(0)),)),) and claim.code == (("snippets.a.b", (x, 2), (("a", 1), ("k", y))),)
    assert claim.file == __file__ and claim.line == state.__code__.co_firstlineno


@pytest.mark.parametrize("kind", WAYS)
def test_a_claim_that_is_told_nothing_more_holds_nothing_more(kind):
    claim = stated(WAYS[kind][0])
    assert (claim.kind, claim.title, claim.given, claim.uses, claim.without, claim.code) == (kind, "", (), (), (), ())
    assert kind == "chain" or {step.reason for step in claim.steps} == {""}
    assert claim.because == ((y**2,) if kind == "inequality" else ()) and claim.towards == ((d, "oo") if kind == "limit" else ())
    assert claim.at == ((("x", lift(1)), ("y", lift(2))) if kind == "refutation" else ())


def test_a_claim_about_an_expectation_is_a_law_whichever_way_it_is_stated():
    assert stated(lambda D: D.identity("claim", E(q[1]), 0, given=[mean(q, 0)])).kind == "law"
    assert stated(lambda D: D.identity("claim", 0 * x, x * E(q[1]))).kind == "law"
    assert stated(lambda D: D.identity("claim", Var(q[1]), x)).kind == "law"
    assert stated(lambda D: D.chain("claim", x * y, (y * x, "swap"), (y * x + E(q[1]), "add"))).kind == "law"
    assert stated(lambda D: D.inequality("claim", x, x + E(q[1]) ** 2, because=E(q[1]) ** 2)).kind == "inequality"


def test_a_definition():
    derivation = Derivation("test")
    name = derivation.define("W_Q", x + 1)
    assert name == Expr("defined", (x + 1,), (), ("W_Q", "defined")) and derivation.define("v", z).shape == (n,)
    first, second = derivation.claims
    assert (first.id, second.id, first.kind, first.title, first.given, first.code) == ("define-w-q", "define-v", "definition", "", (), ())
    assert first.start == name and first.steps == (Step(":=", x + 1, ""),)
    derivation.define("s", 1 / x, title="A title", id="own", given=[nonzero(x)], code=[("snippets.a.b", x)])
    own = derivation.claims[-1]
    assert (own.id, own.title, own.given, own.code) == ("own", "A title", (nonzero(x),), (("snippets.a.b", (x,), ()),))
    with pytest.raises(KernelError, check=has_code("invalid-name")):
        derivation.define("2p", x)


def test_a_derivation_knows_where_it_was_made_and_is_found():
    before = len(LOADED)
    derivation, line = Derivation("A title"), sys._getframe().f_lineno
    assert (derivation.title, derivation.file, derivation.line, derivation.claims) == ("A title", __file__, line, [])
    assert LOADED[before:] == [derivation]


def test_a_derivation_is_what_its_script_checks_when_it_runs_on_its_own(monkeypatch):
    ran, derivation = [], Derivation("test")
    monkeypatch.setattr(run_script, "run_script", ran.append)
    derivation.main()
    assert len(ran) == 1 and ran[0] is derivation


def test_the_trees_of_a_claim_are_all_that_it_speaks_of():
    claim = stated(lambda D: D.inequality("claim", x, x + y**2 * d, because=y**2 * d, given=[nonnegative(y)]))
    assert claim.trees == (x, x + y**2 * d, y, y**2 * d)
    assert stated(lambda D: D.refute("claim", x, y, at={x: 1, y: 0}, relation="<=")).refuted == "<="


def test_values_are_exact_and_nested_as_they_were_given():
    assert read_values({x: Fraction(1, 2), A: [[1, 2], (3, x)]}) == (("x", lift(Fraction(1, 2))), ("A", ((lift(1), lift(2)), (lift(3), x))))


def test_what_a_snippet_is_given():
    assert snippets([("snippets.a.b",), ["snippets.a.c", {"k": 1}], ("snippets.a.d", {"z": 1, "b": 2}, 3)]) == (
        ("snippets.a.b", (), ()),
        ("snippets.a.c", (), (("k", 1),)),
        ("snippets.a.d", ({"z": 1, "b": 2}, 3), ()),
    )
    assert snippets(()) == ()


STATED = {
    "a product": (lambda: product_is(A, A.T, 2), Assumption("product", (A, A.T, lift(2)))),
    "a zero product": (lambda: product_is(z, A, 0), Assumption("product", (z, A, lift(0)))),
    "a mean": (lambda: mean(q, x + 1), Assumption("mean", (q, x + 1))),
}


@pytest.mark.parametrize("state, made", STATED.values(), ids=STATED)
def test_what_an_assumption_holds(state, made):
    assert state() == made


@pytest.mark.parametrize(
    "name", ["I", "I_1", "e", "fl", "pi", "ln", "det", "Tr", "tr_A", "Max", "argmax", "Softmax_1", "Re", "and", "if", "Not"]
)
def test_a_name_that_formulas_need_is_taken_for_whatever_it_is_declared(name, rejection):
    for declare in (lambda: index(name, n), lambda: scalars(name), lambda: sizes(name), lambda: vector(name, n)):
        with pytest.raises(KernelError, check=has_code("reserved-name")):
            declare()
    assert rejection(lambda D: D.define(name, x * y, id="claim")).code == "reserved-name"


@pytest.mark.parametrize("name", ["E", "Pi", "LN", "loss", "i", "e_1", "d_in", "pi_1", "cost", "logit"])
def test_a_name_that_is_like_one_of_those_is_free(name):
    assert scalars(name).data == (name, "real")


def test_a_name_is_one_thing_in_certificates_and_hints_too(rejection):
    assert rejection(lambda D: D.inequality("claim", scalars("n"), scalars("n") + z[1] ** 2, because=(z[1] ** 2,))).code == "ambiguous-name"


def test_the_size_of_an_index_has_one_meaning_too(rejection):
    assert rejection(lambda D: D.identity("claim", index("i", n) * scalars("n"), scalars("n") * index("i", n))).code == "ambiguous-name"


def test_one_topic_may_use_claims_of_another():
    assert stated(WAYS["identity"][0], uses=["first", "chapter/topic#claim"]).uses == ("first", "chapter/topic#claim")


def test_an_id_is_text():
    with pytest.raises(Rejected, check=has_code("invalid-id")):
        Derivation("test").identity(3, x * y, y * x)


def test_an_error_of_the_kernel_ends_a_script_with_its_place_and_its_message_alone(capsys):
    try:
        Derivation("test").identity("claim", x, A)
    except Rejected as error:
        print_error(Rejected, error, error.__traceback__)
        assert capsys.readouterr() == ("", f"{error}\n") and str(error).startswith(f"{__file__}:{error.line}: claim 'claim': ")

    def multiplied():
        return A @ x

    try:
        multiplied()
    except KernelError as error:
        print_error(KernelError, error, error.__traceback__)
        assert capsys.readouterr() == ("", f"{__file__}:{multiplied.__code__.co_firstlineno + 1}: {error}\n")


def test_any_other_error_is_shown_as_python_shows_it(capsys):
    try:
        raise ValueError("other")
    except ValueError as error:
        print_error(ValueError, error, error.__traceback__)
    out, err = capsys.readouterr()
    assert not out and err.startswith("Traceback") and err.endswith("ValueError: other\n")
