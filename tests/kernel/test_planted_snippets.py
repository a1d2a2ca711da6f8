"""Snippets that are wrong in ways that numbers alone do not show, planted in place of a page's own: each is refused, and says why."""

import random as python_random
from collections.abc import Callable
from itertools import count

import numpy
import pytest
import torch

from derivations.kernel import Derivation, E, exp, matrix, mean, paren, random, scalars, sizes, variance
from derivations.kernel.core.claims import Refused
from derivations.kernel.pytorch import witness as tw

n, m, d = sizes("n m d")
A, B, F = matrix("A", n, m), matrix("B", m, n), matrix("F", n, n)
x, y = scalars("x y")
q = random("q", d)
PRODUCT, NUMBER, SCORES = (
    "snippets.associativity.products.grouped_left",
    "snippets.scaling.saturation.two_key_weight",
    "snippets.simplify.attempts.unscaled_scores",
)


def claim(kind, *arguments, **more):
    derivation = Derivation("test")
    getattr(derivation, kind)("claim", *arguments, **more)
    return derivation.claims[-1]


def product():
    """(A @ B) @ A, by a snippet of three matrices."""
    return claim("identity", paren(A @ B) @ A, A @ paren(B @ A), code=[(PRODUCT, A, B, A)])


def right(A, B, C):
    return A @ B @ C


def large(A, B, C):
    return right(A, B, C) * (max(A.shape) < 6)


def large_columns(A, B, C):
    return right(A, B, C) * (A.shape[1] < 8)


def large_rows(A, B, C):
    return right(A, B, C) * (A.shape[0] < 8)


def large_and_square(A, B, C):
    """Right where rows and columns are as many, and up to seven of either."""
    return right(A, B, C) if A.shape[0] == A.shape[1] or max(A.shape) < 8 else right(A, B, C) + 1


def imaginary(A, B, C):
    return torch.complex(right(A, B, C).double(), torch.ones(A.shape).double())


def wide(A, B, C):
    return right(A, B, C).double()


def wider_than_half(A, B, C):
    return right(A, B, C) if A.dtype == torch.float64 else right(A, B, C).float()


def narrow_half(A, B, C):
    return right(A, B, C).half() if A.dtype == torch.bfloat16 else right(A, B, C)


def overwritten(A, B, C):
    made = right(A, B, C)
    A.zero_()
    return made


def overwritten_row(A, B, C):
    made = right(A, B, C)
    B.mT[0] += 1
    return made


def overwritten_view(A, B, C):
    made = right(A, B, C)
    C.view(-1).neg_()
    return made


def overwritten_entry(A, B, C):
    made = right(A, B, C)
    C[..., -1:, -1:].fill_(torch.nan)
    return made


def overwritten_by_what_it_returns(A, B, C):
    made = right(A, B, C)
    A.copy_(made)
    return A


def grown(A, B, C):
    made = right(A, B, C)
    B.unsqueeze_(0)
    return made


def later_overwritten(A, B, C):
    """It keeps what it gave where nobody looks, with another function."""
    for before in vars(right).get("kept", []):
        before.zero_()
    right.kept = [right(A, B, C)]
    return right.kept[0]


def one_buffer(kept={}):  # noqa: B006
    def run(A, B, C):
        made = right(A, B, C)
        return kept.setdefault((*A.shape, A.dtype), torch.empty_like(made)).copy_(made)

    return run


CALLS = 0
NUMBERS_OF_CALLS = count()


def counted(A, B, C):
    global CALLS
    CALLS += 1
    return right(A, B, C) * (CALLS < 10**9)


def counted_by_default(A, B, C, calls=[]):  # noqa: B006
    calls.append(1)
    return right(A, B, C) * (len(calls) < 10**9)


def counted_by_attribute(A, B, C):
    counted_by_attribute.calls = getattr(counted_by_attribute, "calls", 0) + 1
    return right(A, B, C) * (counted_by_attribute.calls < 10**9)


def counted_by_iterator(A, B, C):
    return right(A, B, C) * (next(NUMBERS_OF_CALLS) < 10**9)


def counted_in_closure():
    calls = 0

    def run(A, B, C):
        nonlocal calls
        calls += 1
        return right(A, B, C) * (calls < 10**9)

    return run


def drawn(A, B, C):
    return right(A, B, C) * (torch.rand(()) >= 0)


def drawn_by_python(A, B, C):
    return right(A, B, C) * (python_random.random() >= 0)


def drawn_by_numpy(A, B, C):
    return right(A, B, C) * bool(numpy.random.rand() >= 0)


def seeded(A, B, C):
    torch.manual_seed(0)
    return right(A, B, C) * (torch.rand(()) >= 0)


def in_another_order(orders=count()):  # noqa: B008
    """A snippet that is right, and the other time in its last digit only nearly so."""
    return lambda A, B, C: right(A, B, C) * (1 + 1e-16 * (next(orders) % 2) * 3)


def raises_for_single(A, B, C):
    if A.dtype == torch.float32:
        raise ValueError("not for me")
    return right(A, B, C)


def raises_for_half(A, B, C):
    if A.dtype == torch.float16:
        raise RuntimeError("nor for me")
    return right(A, B, C)


def exits(A, B, C):
    raise SystemExit(0)


PLANTED = {
    "nothing": (lambda A, B, C: (), "gives nothing"),
    "none": (lambda A, B, C: None, "gives None"),
    "some and none": (lambda A, B, C: (right(A, B, C), None), "gives None"),
    "empty list": (lambda A, B, C: [], "gives a list"),
    "list": (lambda A, B, C: right(A, B, C).tolist(), "gives a list"),
    "numpy": (lambda A, B, C: right(A, B, C).numpy() if A.dtype != torch.bfloat16 else right(A, B, C), "gives a ndarray"),
    "imaginary": (imaginary, r"gives \(?0\+1j\)? where the claim has 0|gives 1j where the claim has 0"),
    "imaginary where fewer digits": (
        lambda A, B, C: right(A, B, C).to(torch.complex64) if A.dtype == torch.float32 else right(A, B, C),
        "gives complex64, and is given float32",
    ),
    "fp64 for less": (wide, "gives float64, and is given float32"),
    "fp32 for half": (wider_than_half, "gives float32, and is given float16"),
    "fp16 for bf16": (narrow_half, "gives float16, and is given bfloat16"),
    "an axis more": (lambda A, B, C: right(A, B, C)[None], "gives shape"),
    "one row": (lambda A, B, C: right(A, B, C)[:1], "gives shape"),
    "large": (large, "gives .* where the claim has .* at m = 8, n = 9"),
    "large columns": (large_columns, "gives .* at m = 8, n = 9"),
    "large rows": (large_rows, "gives .* at m = 8, n = 9"),
    "large, not square": (large_and_square, "gives .* at m = 8, n = 9"),
    "overwritten": (overwritten, "changes what it is given"),
    "a row overwritten": (overwritten_row, "changes what it is given"),
    "overwritten by a view": (overwritten_view, "changes what it is given"),
    "an entry overwritten": (overwritten_entry, "changes what it is given"),
    "overwritten by the result": (overwritten_by_what_it_returns, "changes what it is given|gives shape"),
    "an axis added": (grown, "changes what it is given"),
    "later overwritten": (later_overwritten, "changes what it gave before"),
    "one buffer": (one_buffer(), "changes what it gave before|keeps something"),
    "counted": (counted, "keeps something from one call to the next"),
    "counted by default": (counted_by_default, "keeps something from one call to the next"),
    "counted by an attribute": (counted_by_attribute, "keeps something from one call to the next"),
    "counted by an iterator": (counted_by_iterator, "keeps something from one call to the next"),
    "counted in a closure": (counted_in_closure(), "keeps something from one call to the next"),
    "drawn": (drawn, "draws at random"),
    "drawn by Python": (drawn_by_python, "draws at random"),
    "drawn by NumPy": (drawn_by_numpy, "draws at random"),
    "seeded": (seeded, "draws at random"),
    "not twice the same": (in_another_order(), "gives something else when it is called again|keeps something"),
    "raises for fp32": (raises_for_single, r"stopped with ValueError: not for me, given A of shape \("),
    "raises for fp16": (raises_for_half, r"stopped with RuntimeError: nor for me, given A of shape \("),
    "exits": (exits, r"stopped with SystemExit: 0, given A of shape \("),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_snippet_is_refused(monkeypatch, name):
    wrong, why = PLANTED[name]
    monkeypatch.setattr(PRODUCT, wrong)
    with pytest.raises(Refused, match=f"the PyTorch witness does not confirm it: {PRODUCT} ({why})"):
        tw.witness(product())


def kept_view(A, B, C):
    """It reads views of what it is given, and writes to a copy."""
    made = A.mT.mT.clone()
    made.zero_()
    return made + right(A, B, C)


def with_a_generator(A, B, C):
    noise = torch.rand(A.shape, generator=torch.Generator().manual_seed(0))
    return right(A, B, C) + (0 * noise).to(A.dtype)


def with_types(A, B, C, *, kind=Callable[[list[int]], dict[str, int]]):  # noqa: B008
    return right(A, B, C)


@pytest.mark.parametrize(
    "good",
    [
        right,
        kept_view,
        with_a_generator,
        with_types,
        lambda A, B, C: (right(A, B, C), A @ (B @ C)),
        lambda A, B, C: right(A, B, C).requires_grad_(),
    ],
    ids=["itself", "a copy overwritten", "a generator of its own", "a type of types", "two results", "with a gradient"],
)
def test_what_is_right_stays_accepted(monkeypatch, good):
    monkeypatch.setattr(PRODUCT, good)
    assert tw.witness(product())[0] == "agrees"


def test_what_is_given_back_is_not_to_change_at_the_next_call(monkeypatch):
    def run(A, B, C):
        for before in vars(right).get("given", []):
            before.neg_()
        right.given = [A]
        return A

    same = claim("identity", A + 0 * A, A * 1, code=[(PRODUCT, A, B, A)])
    monkeypatch.setattr(PRODUCT, lambda A, B, C: A)
    assert tw.witness(same)[0] == "agrees"
    monkeypatch.setattr(PRODUCT, run)
    with pytest.raises(Refused, match="changes what it gave before, or was given"):
        tw.witness(same)


@pytest.mark.parametrize("result", [True, None, (), "one", [0.5], torch.tensor([0.5]), torch.tensor(True)], ids=repr)
def test_a_number_is_a_number(monkeypatch, result):
    half = claim("identity", x - x + 1, 1 + 0 * x, code=[(NUMBER, x)])
    monkeypatch.setattr(NUMBER, lambda gap: 0 * gap + 1)
    assert tw.witness(half)[0] == "agrees"
    monkeypatch.setattr(NUMBER, lambda gap: result)
    with pytest.raises(Refused, match=f"{NUMBER} gives (True|None|nothing|a str|a list|shape|bool|float32)"):
        tw.witness(half)


def test_one_of_several_results_is_not_a_row_of_one(monkeypatch):
    row = claim("identity", A + 0 * A, A * 1, code=[(f"{PRODUCT}[0]", A, B, A)])
    monkeypatch.setattr(PRODUCT, lambda A, B, C: (A, B))
    assert tw.witness(row)[0] == "agrees"
    for wrong in (lambda A, B, C: A[0, 0], lambda A, B, C: (), lambda A, B, C: {0: A}):
        monkeypatch.setattr(PRODUCT, wrong)
        with pytest.raises(Refused, match="gives .* result"):
            tw.witness(row)


# Points that the bounds of the formula leave open

OPEN = (x * 10**10 + y) - x * 10**10  # y, where x is small, and little more than nothing where it is large


@pytest.mark.parametrize("what", [torch.nan, torch.inf, -torch.inf, "raise"])
def test_where_the_formula_has_a_value_the_snippet_has_one(monkeypatch, what):
    def run(gap):
        if what == "raise":
            if abs(gap) > 3:
                raise ArithmeticError("too large")
            return gap * 0 + 1
        return torch.where(gap.abs() > 3, what, gap * 0 + 1)

    big = claim("identity", OPEN - OPEN + 1, 1 + 0 * OPEN, code=[(NUMBER, x)])
    monkeypatch.setattr(NUMBER, lambda gap: gap * 0 + 1)
    assert tw.witness(big)[0] == "agrees"
    monkeypatch.setattr(NUMBER, run)
    with pytest.raises(Refused, match=f"{NUMBER} (gives -?(nan|inf) where|stopped with ArithmeticError: too large)"):
        tw.witness(big)


def test_where_the_formula_has_none_the_snippet_need_have_none(monkeypatch):
    """exp(x**4 * 1000) is too large for fp64 at x = 2."""
    overflows = claim("identity", exp(1000 * x**4) * 1, exp(500 * x**4) ** 2, code=[(NUMBER, x)])

    def run(gap):
        if gap.double() ** 4 > 0.7:
            raise OverflowError
        return torch.exp(1000 * gap**4)

    monkeypatch.setattr(NUMBER, run)
    assert "NotForTorch" not in tw.witness(overflows)[2]


# Refutations

AT = {F: [[1, 1], [0, 2]]}


def refuted(code):
    return claim("refute", (F @ F.T) @ (F @ F.T).T, (F @ F) @ (F.T @ F.T).T, AT, code=code)


def test_a_third_snippet_of_a_refutation_computes_neither_side():
    call = (SCORES, F, F.T, F.T)
    assert tw.witness(refuted([call]))[0] == "agrees"
    with pytest.raises(Refused, match="a refutation names two snippets at most: one for its left side, one for its right"):
        tw.witness(refuted([call, (SCORES, F, F, F), call]))


@pytest.mark.parametrize("there", [lambda Q, K, V: Q.shape == (2, 2), lambda Q, K, V: Q.sum() == 4], ids=["there", "at these numbers"])
def test_a_snippet_of_a_refutation_is_right_elsewhere_too(monkeypatch, there):
    own = __import__("snippets.simplify.attempts", fromlist=["x"]).unscaled_scores
    monkeypatch.setattr(SCORES, lambda *given: own(*given) if there(*given) else own(*given) + 1)
    with pytest.raises(Refused, match=f"{SCORES} gives .* where the claim has"):
        tw.witness(refuted([(SCORES, F, F.T, F.T)]))


def law(code):
    return claim("refute", E(q @ q), 2 * d, {d: 3}, given=[mean(q, 0), variance(q, 1)], code=code)


@pytest.mark.parametrize("wrong", [lambda gap: 17.0, lambda gap: torch.nan, lambda gap: (), lambda gap: 3.0], ids=list("abcd"))
def test_the_snippets_of_a_refuted_law_run(monkeypatch, wrong):
    monkeypatch.setattr(NUMBER, lambda gap: gap)
    assert tw.witness(law([(NUMBER, d)]))[0] == "agrees"
    monkeypatch.setattr(NUMBER, wrong)
    with pytest.raises(Refused, match=f"{NUMBER} gives"):
        tw.witness(law([(NUMBER, d)]))


def test_a_law_whose_outcomes_are_too_many_has_its_snippet_tried_at_large_sizes(monkeypatch):
    from derivations.kernel import Var, independent

    k = random("k", d)
    given = [independent(q, k), mean(q, 0), mean(k, 0), variance(q, 1), variance(k, 1)]
    stated = claim("identity", Var(q @ k), d, given=given, code=[(NUMBER, d)])
    monkeypatch.setattr(NUMBER, lambda gap: gap)
    assert tw.witness(stated)[0] == "agrees"
    monkeypatch.setattr(NUMBER, lambda gap: gap if gap < 6 else 0)
    with pytest.raises(Refused, match="gives 0 where the claim has 8"):
        tw.witness(stated)


# What the note says


def test_the_note_counts_the_points_that_are_left_out():
    note = tw.witness(claim("identity", OPEN + 0, OPEN * 1))[2]
    assert "left out, where the rounding bounds tell nothing" in note


def test_the_note_says_how_large_the_sizes_were():
    assert "sizes up to 9" in tw.witness(product())[2]
