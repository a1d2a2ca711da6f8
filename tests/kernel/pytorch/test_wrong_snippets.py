"""Wrong snippets that agree in ordinary numbers: each is rejected, with the reason."""

import random as python_random
import re
from collections import deque
from collections.abc import Callable
from itertools import count

import numpy
import pytest
import torch

from derivations.kernel import (
    Derivation,
    E,
    exp,
    index,
    matrix,
    mean,
    ones,
    paren,
    random,
    scalars,
    sizes,
    total,
    variance,
    vector,
)
from derivations.kernel.core.claims import Rejected
from derivations.kernel.pytorch import witness as tw
from tests.kernel.common import has_code
from tests.nightly import nightly_after

n, m, d = sizes("n m d")
A, B, F, S = matrix("A", n, m), matrix("B", m, n), matrix("F", n, n), matrix("S", n, n)
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


def one_buffer(A, B, C, buffers={}):  # noqa: B006
    made = right(A, B, C)
    return buffers.setdefault((*A.shape, A.dtype), torch.empty_like(made)).copy_(made)


CALLS = 0
CACHE: dict = {}
QUEUE: deque = deque()


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


def queued(A, B, C):
    QUEUE.append(A.shape)
    return right(A, B, C)


def cached(A, B, C):
    """The key lacks the dtype, so that the first call decides in how many digits the factor is computed."""
    if A.shape not in CACHE:
        CACHE[A.shape] = torch.ones(A.shape, dtype=A.dtype)
    return right(A, B, C) * CACHE[A.shape].to(A.dtype)


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
    "nothing": (lambda A, B, C: (), "snippet-wrong-result"),
    "none": (lambda A, B, C: None, "snippet-wrong-result"),
    "some and none": (lambda A, B, C: (right(A, B, C), None), "snippet-wrong-result"),
    "empty list": (lambda A, B, C: [], "snippet-wrong-result"),
    "list": (lambda A, B, C: right(A, B, C).tolist(), "snippet-wrong-result"),
    "numpy": (lambda A, B, C: right(A, B, C).numpy() if A.dtype != torch.bfloat16 else right(A, B, C), "snippet-wrong-result"),
    "imaginary": (imaginary, "snippet-wrong-value"),
    "imaginary where fewer digits": (
        lambda A, B, C: right(A, B, C).to(torch.complex64) if A.dtype == torch.float32 else right(A, B, C),
        "snippet-wrong-dtype",
    ),
    "fp64 for less": (wide, "snippet-wrong-dtype"),
    "fp32 for half": (wider_than_half, "snippet-wrong-dtype"),
    "fp16 for bf16": (narrow_half, "snippet-wrong-dtype"),
    "an axis more": (lambda A, B, C: right(A, B, C)[None], "snippet-wrong-shape"),
    "one row": (lambda A, B, C: right(A, B, C)[:1], "snippet-wrong-shape"),
    "large": (large, "snippet-wrong-value", "at m = 8, n = 9"),
    "large columns": (large_columns, "snippet-wrong-value", "at m = 8, n = 9"),
    "large rows": (large_rows, "snippet-wrong-value", "at m = 8, n = 9"),
    "large, not square": (large_and_square, "snippet-wrong-value", "at m = 8, n = 9"),
    "overwritten": (overwritten, "snippet-changes-arguments"),
    "a row overwritten": (overwritten_row, "snippet-changes-arguments"),
    "overwritten by a view": (overwritten_view, "snippet-changes-arguments"),
    "an entry overwritten": (overwritten_entry, "snippet-changes-arguments"),
    "overwritten by the result": (overwritten_by_what_it_returns, "snippet-changes-arguments"),
    "an axis added": (grown, "snippet-changes-arguments"),
    "one buffer": (one_buffer, "snippet-keeps-state"),
    "counted": (counted, "snippet-keeps-state"),
    "counted by default": (counted_by_default, "snippet-keeps-state"),
    "counted by an attribute": (counted_by_attribute, "snippet-keeps-state"),
    "queued": (queued, "snippet-keeps-state"),
    "cached": (cached, "snippet-keeps-state"),
    "drawn": (drawn, "snippet-draws-at-random"),
    "drawn by Python": (drawn_by_python, "snippet-draws-at-random"),
    "drawn by NumPy": (drawn_by_numpy, "snippet-draws-at-random"),
    "seeded": (seeded, "snippet-draws-at-random"),
    "not twice the same": (in_another_order(), "snippet-not-repeatable"),
    "raises for fp32": (raises_for_single, "snippet-stops", "ValueError: not for me, given A of shape"),
    "raises for fp16": (raises_for_half, "snippet-stops", "RuntimeError: nor for me, given A of shape"),
    "exits": (exits, "snippet-stops", "SystemExit: 0, given A of shape"),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_snippet_is_refused(monkeypatch, name):
    wrong, code, *facts = PLANTED[name]
    monkeypatch.setattr(PRODUCT, wrong)
    with pytest.raises(Rejected, check=has_code(code), match=".*".join([re.escape(PRODUCT), *facts])):
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


@pytest.mark.parametrize(
    "result, code",
    [
        *((result, "snippet-wrong-result") for result in (True, None, (), "one", [0.5])),
        (torch.tensor([0.5]), "snippet-wrong-dtype"),
        (torch.tensor(True), "snippet-wrong-dtype"),
    ],
    ids=repr,
)
def test_a_number_is_a_number(monkeypatch, result, code):
    half = claim("identity", x - x + 1, 1 + 0 * x, code=[(NUMBER, x)])
    monkeypatch.setattr(NUMBER, lambda gap: 0 * gap + 1)
    assert tw.witness(half)[0] == "agrees"
    monkeypatch.setattr(NUMBER, lambda gap: result)
    with pytest.raises(Rejected, check=has_code(code), match=re.escape(NUMBER)):
        tw.witness(half)


def test_one_of_several_results_is_not_a_row_of_one(monkeypatch):
    row = claim("identity", A + 0 * A, A * 1, code=[(f"{PRODUCT}[0]", A, B, A)])
    monkeypatch.setattr(PRODUCT, lambda A, B, C: (A, B))
    assert tw.witness(row)[0] == "agrees"
    for wrong in (lambda A, B, C: A[0, 0], lambda A, B, C: (), lambda A, B, C: {0: A}):
        monkeypatch.setattr(PRODUCT, wrong)
        with pytest.raises(Rejected, check=has_code("snippet-wrong-result")):
            tw.witness(row)


# Points that the bounds of the formula leave open

OPEN = (x * 10**10 + y) - x * 10**10  # y, where x is small, and little more than nothing where it is large


@pytest.mark.parametrize(
    "what, code",
    [
        (torch.nan, "snippet-wrong-value"),
        (torch.inf, "snippet-wrong-value"),
        (-torch.inf, "snippet-wrong-value"),
        ("raise", "snippet-stops"),
    ],
)
def test_where_the_formula_has_a_value_the_snippet_has_one(monkeypatch, what, code):
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
    with pytest.raises(Rejected, check=has_code(code), match=re.escape(NUMBER)):
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
    with pytest.raises(Rejected, check=has_code("invalid-argument")):
        tw.witness(refuted([call, (SCORES, F, F, F), call]))


@pytest.mark.parametrize("there", [lambda Q, K, V: Q.shape == (2, 2), lambda Q, K, V: Q.sum() == 4], ids=["there", "at these numbers"])
def test_a_snippet_of_a_refutation_is_right_elsewhere_too(monkeypatch, there):
    own = __import__("snippets.simplify.attempts", fromlist=["x"]).unscaled_scores
    monkeypatch.setattr(SCORES, lambda *given: own(*given) if there(*given) else own(*given) + 1)
    with pytest.raises(Rejected, check=has_code("snippet-wrong-value"), match=re.escape(SCORES)):
        tw.witness(refuted([(SCORES, F, F.T, F.T)]))


def law(code):
    return claim("refute", E(q @ q), 2 * d, {d: 3}, given=[mean(q, 0), variance(q, 1)], code=code)


@pytest.mark.parametrize("wrong", [lambda gap: 17.0, lambda gap: torch.nan, lambda gap: (), lambda gap: 3.0], ids=list("abcd"))
def test_the_snippets_of_a_refuted_law_run(monkeypatch, wrong):
    monkeypatch.setattr(NUMBER, lambda gap: gap)
    assert tw.witness(law([(NUMBER, d)]))[0] == "agrees"
    monkeypatch.setattr(NUMBER, wrong)
    with pytest.raises(Rejected, check=lambda error: error.code.startswith("snippet-wrong-"), match=re.escape(NUMBER)):
        tw.witness(law([(NUMBER, d)]))


def test_a_law_whose_outcomes_are_too_many_has_its_snippet_tried_at_large_sizes(monkeypatch):
    from derivations.kernel import Var, independent

    k = random("k", d)
    given = [independent(q, k), mean(q, 0), mean(k, 0), variance(q, 1), variance(k, 1)]
    stated = claim("identity", Var(q @ k), d, given=given, code=[(NUMBER, d)])
    monkeypatch.setattr(NUMBER, lambda gap: gap)
    assert tw.witness(stated)[0] == "agrees"
    monkeypatch.setattr(NUMBER, lambda gap: gap if gap < 6 else 0)
    with pytest.raises(Rejected, check=has_code("snippet-wrong-value"), match="0 .* 8"):
        tw.witness(stated)


# What the note says


def test_the_note_counts_the_points_that_are_left_out():
    note = tw.witness(claim("identity", OPEN + 0, OPEN * 1))[2]
    assert "left out, where the rounding bounds tell nothing" in note


def test_the_note_says_how_large_the_sizes_were():
    assert "sizes up to 9" in tw.witness(product())[2]


# Sizes, values and settings that small points do not show


def summed():
    n = sizes("n")
    entries, i = vector("x", n), index("i", n)
    return claim("identity", total(entries[i], i), entries @ ones(n), code=[(PRODUCT, entries)])


def tree_sum(x):
    """Right where halves are even all the way down."""
    rest = x[len(x) - len(x) % 2 :].sum()
    x = x[: len(x) - len(x) % 2]
    while len(x) > 1:
        half = len(x) // 2
        x = x[:half] + x[half : 2 * half]
    return x.sum() + rest


def blocks(x, block=16):
    """The last entries are left out where they fill no block."""
    return x[: max(len(x) - len(x) % block, min(len(x), block))].sum()


def one_block(x, block=32):
    return x[:block].sum()


def odd(x):
    return x.sum() * (len(x) < 12 or len(x) % 2 == 0)


def few_alike(x):
    found, counts = x.unique(return_counts=True)
    return (found * counts.clamp(max=8)).sum()


def of_strides(x):
    return torch.as_strided(x, x.shape, (1,)).sum()


def wide_sum(x):
    return x.sum() * (1 + 2 * (torch.get_default_dtype() == torch.float64))


class Store:
    """Where calls are counted."""

    calls = 0
    seen: list = []  # noqa: RUF012


def counted_in_a_class(x):
    Store.calls += 1
    return x.sum() * (Store.calls < 10**5)


def seen_in_a_class(x):
    Store.seen.append(len(x))
    return x.sum() * (len(Store.seen) < 10**5)


def counting(seen=[]):  # noqa: B006
    seen.append(0)
    return len(seen)


def counted_by_a_helper(x):
    return x.sum() * (counting() < 10**5)


FURTHER = {
    "in pairs": (tree_sum, "snippet-wrong-value", "at n = 6"),
    "in blocks": (blocks, "snippet-wrong-value", "at n = (17|33)"),
    "one block": (one_block, "snippet-wrong-value", "at n = (33|64)"),
    "ten": (lambda x: x[:10].sum(), "snippet-wrong-value", "at n = 1[06]"),
    "five": (lambda x: x.sum() * (len(x) != 5), "snippet-wrong-value", "at n = 5"),
    "seven": (lambda x: x.sum() * (len(x) != 7), "snippet-wrong-value", "at n = 7"),
    "sixty-four": (lambda x: x[:64].sum(), "snippet-wrong-value", "at n = 65"),
    "a hundred and twenty-eight": (lambda x: x[:128].sum(), "snippet-wrong-value", "at n = (129|257|1025)"),
    "a thousand and twenty-four": (lambda x: x[:1024].sum(), "snippet-wrong-value", "at n = 1025"),
    "not a hundred": (lambda x: x.sum() * (len(x) != 100), "snippet-wrong-value", "at n = 100"),
    "odd": (odd, "snippet-wrong-value", "at n = 17"),
    "alike": (few_alike, "snippet-wrong-value", "at n = (9|1[067]|33)"),
    "from ten thousand on": (lambda x: x.sum() * (float(x.abs().max()) < 1e4), "snippet-wrong-value"),
    "up to a million": (lambda x: (x.clamp(-1e6, 1e6) if x.dtype == torch.float64 else x).sum(), "snippet-wrong-value"),
    "tiny ones dropped": (lambda x: torch.where(x.abs() < 1e-7, 0 * x, x).sum(), "snippet-wrong-value"),
    "hidden by an absolute tolerance": (lambda x: x.sum() * (float(x.abs().max()) > 1e-6), "snippet-wrong-value"),
    "as though in one piece": (of_strides, "snippet-wrong-value", "strided"),
    "wrong if not in one piece": (lambda x: x.sum() * x.is_contiguous(), "snippet-wrong-value", "strided"),
    "stops if not in one piece": (lambda x: x.view(torch.uint8).view(x.dtype).sum(), "snippet-stops", "strided"),
    "wrong with a gradient": (lambda x: x.sum() * (1 + x.requires_grad), "snippet-wrong-value", "a gradient is asked for"),
    "wrong inside of a network": (lambda x: x.sum() * (1 + (x.grad_fn is not None)), "snippet-wrong-value", "a gradient goes through"),
    "wrong for a parameter": (lambda x: x.sum() * (1 + isinstance(x, torch.nn.Parameter)), "snippet-wrong-value", "parameters"),
    "none with a gradient": (lambda x: torch.tensor(float(x.numpy().sum()), dtype=x.dtype) if x.dtype != torch.bfloat16 else x.sum(),
                             "snippet-stops", "a gradient is asked for"),
    "wrong with another default": (wide_sum, "snippet-wrong-value", "fp64"),
    "in a class": (counted_in_a_class, "snippet-keeps-state"),
    "in a class's list": (seen_in_a_class, "snippet-keeps-state"),
    "by a helper": (counted_by_a_helper, "snippet-keeps-state"),
}  # fmt: skip


@pytest.mark.parametrize("name", nightly_after(10, FURTHER))
def test_a_snippet_that_is_wrong_almost_everywhere_is_refused(monkeypatch, name):
    wrong, code, *facts = FURTHER[name]
    monkeypatch.setattr(PRODUCT, lambda x: x.sum())
    assert tw.witness(summed())[0] == "agrees"
    monkeypatch.setattr(PRODUCT, wrong)
    with pytest.raises(Rejected, check=has_code(code), match=".*".join([re.escape(PRODUCT), *facts])):
        tw.witness(summed())


def doubled_in_place(A):
    copy = A.clone()
    copy.flatten().mul_(2)
    return copy / 2


def ones_in_place(A):
    made = torch.zeros_like(A)
    made.reshape(-1).add_(1)
    return made * A


@pytest.mark.parametrize("wrong", [doubled_in_place, ones_in_place])
def test_what_is_written_through_a_copy_where_numbers_lie_by_columns_is_refused(monkeypatch, wrong):
    one = claim("identity", A + 0 * A, 1 * A, code=[(PRODUCT, A)])
    monkeypatch.setattr(PRODUCT, lambda A: 1 * A)
    assert tw.witness(one)[0] == "agrees"
    monkeypatch.setattr(PRODUCT, wrong)
    with pytest.raises(Rejected, check=has_code("snippet-wrong-value"), match="columns"):
        tw.witness(one)


@pytest.mark.parametrize("result", [numpy.float64(1.0), True], ids=["NumPy's", "a truth"])
def test_a_number_is_one_of_pythons(monkeypatch, result):
    one = claim("identity", d - d + 1, 1 + 0 * d, code=[(NUMBER, d)])
    monkeypatch.setattr(NUMBER, lambda gap: 1.0)
    assert tw.witness(one)[0] == "agrees"
    monkeypatch.setattr(NUMBER, lambda gap: result)
    with pytest.raises(Rejected, check=has_code("snippet-wrong-result"), match=re.escape(NUMBER)):
        tw.witness(one)


def test_a_size_that_no_tensor_has_is_tried_as_a_number_far_on(monkeypatch):
    one = claim("identity", d - d + d, 1 * d + 0 * d, code=[(NUMBER, d)])
    for last in (50, 99, 900, 4000):
        monkeypatch.setattr(NUMBER, lambda gap, last=last: gap if gap <= last else 0)
        with pytest.raises(Rejected, check=has_code("snippet-wrong-value"), match=re.escape(NUMBER)):
            tw.witness(one)


@pytest.mark.parametrize("wrong", [5, 6, 7, 16, 17, 33])
@pytest.mark.parametrize("axis", [0, 1])
def test_each_of_several_sizes_is_tried(monkeypatch, wrong, axis):
    monkeypatch.setattr(PRODUCT, lambda A, B, C: right(A, B, C) * (A.shape[axis] != wrong))
    with pytest.raises(Rejected, check=has_code("snippet-wrong-value"), match=f"at m = .*{wrong}|n = {wrong}"):
        tw.witness(product())


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("last", [64, 128, 256])
def test_each_of_several_sizes_is_long_once(monkeypatch, last, axis):
    monkeypatch.setattr(PRODUCT, lambda A, B, C: right(A, B, C) * (A.shape[axis] <= last))
    with pytest.raises(Rejected, check=has_code("snippet-wrong-value"), match="[mn] = (257|1025)"):
        tw.witness(product())


def test_a_matrix_is_as_long_as_can_be_borne(monkeypatch):
    """1025 rows and columns are too many, and 257 of them are not."""
    one = claim("identity", paren(F @ F) @ F, F @ paren(F @ F), code=[(PRODUCT, F, F, F)])
    monkeypatch.setattr(PRODUCT, lambda A, B, C: right(A, B, C) * (len(A) <= 256))
    with pytest.raises(Rejected, check=has_code("snippet-wrong-value"), match="at n = 257"):
        tw.witness(one)


@pytest.mark.parametrize("wrong", [lambda Q, K, V: max(Q.shape) > 12, lambda Q, K, V: float(Q.abs().max()) > 1e5], ids=["size", "entries"])
def test_the_snippets_of_a_refutation_are_tried_as_far(monkeypatch, wrong):
    own = __import__("snippets.simplify.attempts", fromlist=["x"]).unscaled_scores
    monkeypatch.setattr(SCORES, lambda *given: own(*given) * (1 + wrong(*given)))
    with pytest.raises(Rejected, check=has_code("snippet-wrong-value"), match=re.escape(SCORES)):
        tw.witness(refuted([(SCORES, F, F.T, F.T)]))


def test_the_note_says_how_large_the_sizes_of_the_snippets_were():
    assert f"also {PRODUCT}(A, B, A), with sizes up to 257" in tw.witness(product())[2]
