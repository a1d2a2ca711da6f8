"""Matrices drawn so that the products that a claim assumes are exactly 0 or the identity."""

from __future__ import annotations

import torch

from ..core.assumptions import Assumption
from .errors import NotForTorch
from .trial import Trial


def put_products(t: Trial, products, random: torch.Generator, points: int) -> bool:
    """Values for the matrices of the assumed products; False where these sizes admit none."""
    return all(put_tied(t, group, random, points) if is_tied(group) else put_product(t, group[0], random) for group in tied(products))


def tied(products) -> list:
    """The assumptions about products in groups; no two groups have a matrix in common."""
    groups = []
    for a in products:
        near = [g for g in groups if {x for b in g for x, _ in factors(b)} & {x for x, _ in factors(a)}]
        groups = [g for g in groups if g not in near] + [sum(near, []) + [a]]
    return groups


def is_tied(group: list) -> bool:
    """Is there more to a group than two matrices and their one product?"""
    return len(group) > 1 or factors(group[0])[0][0] == factors(group[0])[1][0]


def factors(a: Assumption) -> list:
    """(matrix, is it transposed) of a product that is assumed."""
    return [(x.args[0] if x.op == "transpose" else x, x.op == "transpose") for x in a.args[:2]]


def put_tied(t: Trial, group: list, random, points: int) -> bool:
    """Matrices with several products among them: each takes rows or columns to other ones, with a sign, at some points to none.

    At most points these do not have the products assumed; the others are kept. An axis along which products sum is turned, for
    all matrices that share it, by one matrix of fours, of halves and signs: that changes no product, and every entry is exact.
    """
    matrices = {x: t.shape(x) for a in group for x, _ in factors(a)}
    if any(len(shape) != 2 for shape in matrices.values()):
        raise NotForTorch("several products of which one is of a vector")
    made = {}
    for x, (rows, columns) in matrices.items():
        chosen = torch.rand(points, max(rows, columns), generator=random).argsort(-1)[:, : min(rows, columns)]
        v = torch.eye(max(rows, columns), dtype=torch.float64)[chosen]  # (points, smaller, larger)
        v = v * (1 - 2 * torch.randint(0, 2, (*v.shape[:2], 1), generator=random))
        some = torch.randint(0, 2, (*v.shape[:2], 1), generator=random)
        v = torch.where(torch.arange(points).reshape(-1, 1, 1) % 4 == 3, v * some, v)
        made[x] = v if rows <= columns else v.mT
    half = torch.tensor([[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]], dtype=torch.float64) / 2
    inner = []  # sets of (matrix, axis) that products sum along
    for a in group:
        (x, turned), (y, other) = factors(a)
        pair = {(x, 0 if turned else 1), (y, 1 if other else 0)}
        near = [c for c in inner if c & pair]
        inner = [c for c in inner if c not in near] + [pair.union(*near)]
    for shared in inner:
        size = next(matrices[x][axis] for x, axis in shared)
        turn = torch.eye(size, dtype=torch.float64)
        for k in range(0, size - 3, 4):
            turn[k : k + 4, k : k + 4] = half
        for x, axis in shared:
            v = made[x] @ turn if axis else turn.mT @ made[x]
            made[x] = torch.where(torch.arange(points).reshape(-1, 1, 1) % 2 == 0, v, made[x])
    for x, v in made.items():
        t.put(x, v)
    return True


def put_product(t: Trial, a, random) -> bool:
    """Two matrices whose product is exactly 0 or the identity: such a pair with a simple form, and a change of basis of whole numbers."""
    ends = factors(a)
    left_shape, right_shape = (t.shape(x) for x in a.args[:2])
    (n, m), (_, p) = (1, *left_shape)[-2:], (*right_shape, 1)[:2]  # a vector is a row on the left, and a column on the right
    change, back = torch.eye(m, dtype=torch.float64), torch.eye(m, dtype=torch.float64)
    for _ in range(2 * (m - 1)):
        i, j = torch.randperm(m, generator=random)[:2]
        shear = torch.zeros(m, m, dtype=torch.float64)
        shear[i, j] = 1 - 2 * torch.randint(0, 2, (), generator=random)
        change, back = change + shear @ change, back - back @ shear
    points = max(len(x.v) for x in t.values.values())
    left, right = (torch.randint(-3, 4, (points, *shape), generator=random).double() for shape in ((n, m), (m, p)))
    if a.args[2].data:
        if m < n:
            return False
        scales = 2.0 ** torch.randint(-3, 4, (points, n), generator=random).double()
        left[..., :n], left[..., n:] = torch.diag_embed(scales * float(a.args[2].data)), 0
        right[..., :n, :] = torch.diag_embed(1 / scales)
    else:
        part = int(torch.randint(0, m + 1, (), generator=random))
        left[..., part:], right[..., :part, :] = 0, 0
    for (x, turned), v in zip(ends, (left @ back, change @ right)):
        t.put(x, v.mT if turned else v.reshape(points, *t.shape(x)))
    return True
