"""Test our attention against PyTorch's own over shapes, masks and flags, including gradients and a rounding bound for low precision.

PyTorch's math backend performs the operations of the formula in every precision. Its result is called the peer's.
"""

import math
from dataclasses import dataclass, field

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.autograd import gradcheck
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

from snippets.associativity.rounding import gamma
from snippets.attention.formula import attention, attention_weights, share_heads

varied = settings(derandomize=True, deadline=None, max_examples=60)
LOW = [torch.float32, torch.float16, torch.bfloat16]


@dataclass
class Problem:
    """Inputs in fp64 and the flags, for our function and for the peer."""

    query: torch.Tensor
    key: torch.Tensor
    value: torch.Tensor
    mask: torch.Tensor | None = None
    flags: dict = field(default_factory=dict)  # scale, is_causal, enable_gqa

    def to(self, dtype):
        mask = self.mask if self.mask is None or self.mask.dtype == torch.bool else self.mask.to(dtype)
        return Problem(self.query.to(dtype), self.key.to(dtype), self.value.to(dtype), mask, self.flags)

    def ours(self, **changed):
        return attention(self.query, self.key, self.value, attn_mask=self.mask, **self.flags | changed)

    def peer(self):
        # PyTorch needs leading axes that are already broadcast; groups of heads stay as they are.
        keep = 3 if self.flags.get("enable_gqa") else 2
        leading = torch.broadcast_shapes(*(x.shape[:-keep] for x in (self.query, self.key, self.value)))
        expanded = [x.expand(*leading, *x.shape[-keep:]) for x in (self.query, self.key, self.value)]
        with sdpa_kernel(SDPBackend.MATH):
            return scaled_dot_product_attention(*expanded, attn_mask=self.mask, **self.flags)

    def bound(self, dtype):
        """How far from the exact output one evaluation of the formula in dtype can be, entry by entry, for these inputs.

        A score is a sum of d products and up to six more roundings, for the scale and where it is put. A weight changes by
        at most the exponential of twice the largest error of a score; an exponential may err by 4u, and so may the sum of m
        of them by gamma_m, and subtracting the largest score by u times the difference. The output is a sum of m products.
        Whatever is smaller than the smallest number of dtype may be lost, once at each operation.
        """
        query, key, value = (x.double().abs() for x in (self.query, self.key, self.value))
        if self.flags.get("enable_gqa"):
            key, value = share_heads(query, key), share_heads(query, value)
        (d, m), info, exact = (key.shape[-1], key.shape[-2]), torch.finfo(dtype), self.to(torch.float64)
        lost, u = info.tiny * info.eps, info.eps / 2
        scale = d**-0.5 if self.flags.get("scale") is None else abs(self.flags["scale"])
        score = scale * (
            gamma(d + 6, dtype) * query @ key.mT + (2 * d + 3) * lost * (1 + query.sum(-1, keepdim=True) + key.sum(-1).unsqueeze(-2))
        )
        size = scale * query @ key.mT + score
        if self.mask is not None and self.mask.dtype != torch.bool:
            added = self.mask.double().abs()
            score, size = score + u * (size + added.nan_to_num(posinf=0)), size + added.nan_to_num(posinf=0)
        spread = 2 * size.amax(-1, keepdim=True)
        off = torch.expm1(2 * score.amax(-1, keepdim=True) + 8 * u + u * (2 * spread + m) + gamma(m + 2, dtype))
        weights = exact.weights()
        error = weights * off + lost * (2 * m + 2)  # of each weight
        result = error @ value + gamma(m + 2, dtype) * ((weights + error) @ value) + (m + 1) * lost
        return 1.01 * result

    def weights(self):
        return attention_weights(self.query, self.key, attn_mask=self.mask, **self.flags)


def normal(seed, *shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@st.composite
def problems(draw, sizes=st.integers(1, 5), batches=st.lists(st.integers(0, 3), max_size=2), powers=st.integers(-8, 8)):
    n, m, d, v = (draw(sizes) for _ in range(4))
    batch, seed = tuple(draw(batches)), draw(st.integers(0, 2**20))
    flags = {"scale": draw(st.sampled_from([None, 1.0, 0.3, -2.0]))}
    heads = ((), (), ())
    if draw(st.booleans()):
        groups, shared = draw(st.integers(1, 3)), draw(st.integers(1, 2))
        heads, flags["enable_gqa"] = ((groups * shared,), (shared,), (shared,)), True

    def leading():
        """The batch's axes, some of them of size one to be broadcast; those before may be missing."""
        cut = draw(st.integers(0, len(batch))) if not heads[0] else 0
        return tuple(1 if draw(st.booleans()) else size for size in batch[cut:])

    shapes = [(*(batch if k == 0 else leading()), *heads[k], *last) for k, last in enumerate([(n, d), (m, d), (m, v)])]
    # Very small and very large scores: those of size 10^16 leave all weight to one key, or share it where two scores tie.
    query, key, value = (normal(seed + k, *shape) * 10.0 ** draw(powers) for k, shape in enumerate(shapes))
    kind = draw(st.sampled_from(["none", "causal", "boolean", "added", "infinite"]))
    if kind == "causal":
        flags["is_causal"] = True
    if kind in ("none", "causal"):
        return Problem(query, key, value, None, flags)
    shape = draw(st.sampled_from([(n, m), (1, m), (m,), (*batch, *heads[0], n, m)]))
    kept = normal(seed + 3, *shape) > draw(st.sampled_from([-0.5, 0.5, 9.0]))  # the last masks everything
    mask = kept if kind == "boolean" else 3 * normal(seed + 4, *shape)
    return Problem(query, key, value, torch.where(kept, mask, -torch.inf) if kind == "infinite" else mask, flags)


def within(left, right, bound):
    assert left.shape == right.shape and left.isfinite().all()
    assert ((left.double() - right.double()).abs() <= bound).all(), (left, right, bound)


# The same function


@given(problems())
@varied
def test_output_agrees_with_pytorch(problem):
    within(problem.ours(), problem.peer(), 2 * problem.bound(torch.float64))


@pytest.mark.parametrize("power", [-1000, -500, 20, 400])
def test_very_small_and_very_large_scores(power):
    """With whole numbers times a power of two every score is exact, so the weights are too: all equal, or shared by the largest."""
    query = torch.tensor([[1.0, 0.0], [0.0, 1.0]], dtype=torch.float64) * 2.0**power
    key = torch.tensor([[3.0, 1.0], [3.0, 2.0], [-2.0, 2.0], [1.0, 2.0]], dtype=torch.float64)
    problem = Problem(query, key, torch.eye(4, dtype=torch.float64), None, {"scale": 1.0})
    weights = [[1 / 2, 1 / 2, 0, 0], [0, 1 / 3, 1 / 3, 1 / 3]] if power > 0 else [[1 / 4] * 4] * 2
    expected = torch.tensor(weights, dtype=torch.float64)
    assert torch.equal(problem.ours(), expected) and torch.equal(problem.peer(), expected)


def test_batches_may_be_empty_and_there_may_be_one_token():
    empty = Problem(normal(0, 0, 2, 3, 4), normal(1, 0, 2, 5, 4), normal(2, 0, 2, 5, 6))
    assert empty.ours().shape == empty.peer().shape == (0, 2, 3, 6)
    one = Problem(normal(0, 1, 4), normal(1, 1, 4), normal(2, 1, 6))
    assert torch.equal(one.ours(), one.value) and torch.equal(one.peer(), one.value)


@pytest.mark.parametrize(("n", "m"), [(2, 5), (5, 2), (4, 4)])
def test_the_causal_triangle_starts_at_the_upper_left(n, m):
    problem = Problem(normal(0, n, 3), normal(1, m, 3), torch.eye(m, dtype=torch.float64), None, {"is_causal": True})
    kept = torch.ones(n, m, dtype=torch.bool).tril()
    assert torch.equal(problem.ours() > 0, kept) and torch.equal(problem.peer() > 0, kept)
    assert torch.equal(problem.ours(), Problem(problem.query, problem.key, problem.value, kept).ours())


def test_true_in_a_mask_keeps_the_key():
    query, key, value = normal(0, 3, 2), normal(1, 3, 2), torch.eye(3, dtype=torch.float64)
    mask = torch.tensor([[True, False, True]]).expand(3, 3)
    problem = Problem(query, key, value, mask)
    assert torch.equal(problem.ours() > 0, mask) and torch.equal(problem.peer() > 0, mask)


@pytest.mark.parametrize("added", [False, True])
def test_a_row_masked_throughout_gives_zero_and_no_gradient(added):
    kept = torch.tensor([[True, True], [False, False]])
    mask = torch.zeros(2, 2, dtype=torch.float64).masked_fill(~kept, -torch.inf) if added else kept
    tensors = [x.requires_grad_() for x in (normal(0, 2, 3), normal(1, 2, 3), normal(2, 2, 4))]
    problem = Problem(*tensors, mask)
    for output in (problem.ours(), problem.peer()):
        assert torch.equal(output[1], torch.zeros(4, dtype=torch.float64)) and (output[0] != 0).all()
        query, key, value = torch.autograd.grad(output.sum(), tensors)
        assert torch.equal(query[1], torch.zeros(3, dtype=torch.float64)) and (query[0] != 0).any()
        assert key.isfinite().all() and value.isfinite().all()
    assert torch.softmax(torch.full((2,), -torch.inf), -1).isnan().all()  # what it would be otherwise


def test_heads_in_groups_repeat_each_head_in_place():
    query, key, value = normal(0, 2, 6, 3, 4), normal(1, 2, 2, 5, 4), normal(2, 2, 2, 5, 4)
    by_hand = attention(query, key.repeat_interleave(3, 1), value.repeat_interleave(3, 1))
    assert torch.equal(attention(query, key, value, enable_gqa=True), by_hand)
    assert not torch.allclose(by_hand, attention(query, key.repeat(1, 3, 1, 1), value.repeat(1, 3, 1, 1)))


@pytest.mark.parametrize(("query", "key"), [((4, 3, 2), (3, 3, 2)), ((2, 3, 2), (0, 3, 2))])
def test_heads_that_do_not_divide_are_refused(query, key):
    with pytest.raises(ValueError, match=f"{key[0]} heads of keys do not divide {query[0]} of queries"):
        attention(normal(0, *query), normal(1, *key), normal(2, *key), enable_gqa=True)


# Gradients

SMALL = [
    ({}, None),
    ({"scale": 0.7}, None),
    ({"is_causal": True}, None),
    ({}, "boolean"),
    ({}, "empty row"),
    ({}, "added"),
    ({"enable_gqa": True}, None),
    ({"enable_gqa": True, "is_causal": True}, None),
]


def small(flags, kind):
    heads = (4, 2) if flags.get("enable_gqa") else (2, 2)
    mask = {
        None: None,
        "boolean": normal(5, 3, 4) > -0.5,
        "added": normal(5, 3, 4),
        "empty row": torch.tensor([[True], [False], [True]]).expand(3, 4),
    }[kind]
    tensors = normal(0, heads[0], 3, 2), normal(1, heads[1], 4, 2), normal(2, heads[1], 4, 3)
    return Problem(*(x.requires_grad_() for x in tensors), mask, flags)


@pytest.mark.parametrize(("flags", "kind"), SMALL)
def test_gradients_are_those_of_finite_differences(flags, kind):
    problem = small(flags, kind)
    assert gradcheck(lambda q, k, v: attention(q, k, v, attn_mask=problem.mask, **flags), (problem.query, problem.key, problem.value))


@pytest.mark.parametrize(("flags", "kind"), SMALL)
def test_gradients_are_those_of_pytorch(flags, kind):
    problem = small(flags, kind)
    inputs = problem.query, problem.key, problem.value
    output = problem.ours()
    along = normal(9, *output.shape)
    ours, peers = (torch.autograd.grad(x, inputs, along) for x in (output, problem.peer()))
    for left, right in zip(ours, peers):
        assert (left != 0).any()
        torch.testing.assert_close(left, right, rtol=1e-12, atol=1e-12)


# Low precision


@pytest.mark.parametrize("dtype", LOW)
@given(problem=problems(powers=st.integers(-1, 0), batches=st.lists(st.integers(1, 3), max_size=1)))
@varied
def test_low_precision_stays_within_the_rounding_bound(dtype, problem):
    low = problem.to(dtype)
    exact = low.to(torch.float64)  # the numbers that dtype holds, without any further rounding
    bound = exact.bound(dtype)
    for output in (low.ours(), low.peer()):
        assert output.dtype == dtype
        within(output, exact.peer(), bound)


@pytest.mark.parametrize("dtype", LOW)
def test_the_rounding_bound_is_small_enough_to_tell_a_slip(dtype):
    exact = Problem(normal(0, 6, 4), normal(1, 5, 4), normal(2, 5, 3)).to(dtype).to(torch.float64)
    bound = exact.bound(dtype)
    for slip in (exact.ours(scale=1.0), exact.ours(is_causal=True), exact.ours().flip(-1)):
        assert ((slip - exact.peer()).abs() > bound).any()
    assert bound.max() < 400 * torch.finfo(dtype).eps * exact.value.abs().max()


@pytest.mark.parametrize("dtype", LOW)
def test_low_precision_rounds(dtype):
    exact = Problem(normal(0, 6, 4), normal(1, 5, 4), normal(2, 5, 3)).to(dtype).to(torch.float64)
    off = (exact.to(dtype).ours().double() - exact.ours()).abs()
    assert (off > 0).any() and math.isfinite(off.max())
