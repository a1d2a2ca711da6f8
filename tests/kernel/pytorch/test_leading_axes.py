"""A snippet whose annotations begin with `*batch` is called with one more and one fewer leading axis than its claim has."""

from dataclasses import replace

import pytest

from derivations.kernel import each, index, matrix, ones, sizes, softmax, total, vector
from derivations.kernel.core.claims import Rejected
from derivations.kernel.pytorch import witness
from tests.kernel.common import has_code

n, m = sizes("n m")
A, x, y = matrix("A", n, m), vector("x", m), vector("y", m)
i, j, l, k = index("i", n), index("j", n), index("l", m), index("k", m)
OF_ROWS = each(softmax(each(A[i, k], k))[l], i, l)
HEAD = """import torch
from jaxtyping import Float
from torch import Tensor


def g(x: Float[Tensor, "{0}"], *more: Tensor) -> Float[Tensor, "{1}"]:
    {2}

"""


@pytest.fixture
def run(computing):
    """Return a function that runs the PyTorch witness on a claim and a snippet with annotations."""

    def check(body, arguments, want, given="*batch n m", returned="*batch n m"):
        claim = computing("return x", arguments, want, head=HEAD.format(given, returned, body))
        return witness.check_with_snippets(replace(claim, code=(("snippets.planted.g", tuple(arguments), ()),)))[0]

    return check


RIGHT = {
    "axes from the end": ("return x.softmax(-1)", [A], OF_ROWS),
    "rows as a batch": ("return x.softmax(-1)", [A], OF_ROWS, "*batch m", "*batch m"),
    "a second argument that is shared": ("return x + more[0]", [A, x], each(A[i, l] + x[l], i, l)),
    "one axis": ("return x - x.mean(-1, keepdim=True)", [x], x - total(x[l], l) / m * ones(m), "*batch m", "*batch m"),
    "no promise": ("return x.softmax(1)", [A], OF_ROWS, "n m", "n m"),
    "a promise about the argument alone": ("return x.softmax(1)", [A], OF_ROWS, "*batch n m", "n m"),
}
WRONG = {
    "the axis after the first": ("return x.softmax(1)", [A], OF_ROWS),
    "the axis after the first, of rows": ("return x.softmax(1)", [A], OF_ROWS, "*batch m", "*batch m"),
    "all entries": ("return x - x.mean()", [x], x - total(x[l], l) / m * ones(m), "*batch m", "*batch m"),
    "a sum over the first axis": ("return x.sum(0).expand(x.shape)", [A], each(total(A[j, l], j), i, l)),
    "one fewer": ("return x.softmax(-1) if x.dim() > 1 else x", [A], OF_ROWS, "*batch m", "*batch m"),
    "the size of the first axis": ("return x / x.shape[0]", [x], x / m, "*batch m", "*batch m"),
}  # fmt: skip


@pytest.mark.parametrize("case", RIGHT.values(), ids=RIGHT)
def test_a_snippet_that_is_right_with_any_leading_axes_agrees(run, case):
    assert run(*case) == "agrees"


@pytest.mark.parametrize("case", WRONG.values(), ids=WRONG)
def test_a_snippet_that_is_right_with_the_axes_of_the_claim_alone_is_rejected(run, case):
    with pytest.raises(Rejected, match="leading axis than the claim has, which its annotation") as error:
        run(*case)
    assert error.value.code in ("snippet-wrong-with-leading-axes", "snippet-stops")


def test_the_code_of_the_error_says_what_is_wrong(run):
    with pytest.raises(Rejected, check=has_code("snippet-wrong-with-leading-axes")):
        run(*WRONG["the axis after the first"])
