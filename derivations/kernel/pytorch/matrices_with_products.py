"""Draw matrices whose products are exactly 0 or a multiple of the identity, as a claim assumes."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from ..core.assumptions import Assumption
from .errors import CannotDecide
from .trial import Trial


def put_products(t: Trial, products: Sequence[Assumption], random: torch.Generator, points: int) -> bool:
    """Put values for the matrices of the assumed products into a trial; return False if there are none at these sizes."""
    return all(
        put_group(t, group, random, points) if needs_joint_draw(group) else put_product(t, group[0], random)
        for group in group_products(products)
    )


def group_products(products: Sequence[Assumption]) -> list[list[Assumption]]:
    """Return the assumptions about products in groups; no two groups have a matrix in common."""
    groups: list[list[Assumption]] = []
    for a in products:
        touching = [g for g in groups if {x for b in g for x, _ in factors(b)} & {x for x, _ in factors(a)}]
        groups = [g for g in groups if g not in touching] + [sum(touching, []) + [a]]
    return groups


def needs_joint_draw(group: list) -> bool:
    """Return whether a group is more than one product of two different matrices."""
    return len(group) > 1 or factors(group[0])[0][0] == factors(group[0])[1][0]


def factors(a: Assumption) -> list:
    """Return (matrix, whether it is transposed) for both factors of an assumed product."""
    return [(x.args[0] if x.op == "transpose" else x, x.op == "transpose") for x in a.args[:2]]


def put_group(t: Trial, group: list[Assumption], random: torch.Generator, points: int) -> bool:
    """Put signed partial permutation matrices for a group of several products into a trial.

    At most points these do not satisfy the assumptions, and are discarded later. At every second point, each axis that products sum along is
    rotated, for all matrices that share it, by an orthogonal matrix with blocks of 4 x 4 entries of +-1/2. This changes no product, and every
    entry is exact.
    """
    matrices = {x: t.shape(x) for a in group for x, _ in factors(a)}
    if any(len(shape) != 2 for shape in matrices.values()):
        raise CannotDecide("several products of which one is of a vector")
    drawn = {}
    for x, (rows, columns) in matrices.items():
        images = torch.rand(points, max(rows, columns), generator=random).argsort(-1)[:, : min(rows, columns)]
        v = torch.eye(max(rows, columns), dtype=torch.float64)[images]  # (points, smaller, larger)
        v = v * (1 - 2 * torch.randint(0, 2, (*v.shape[:2], 1), generator=random))
        kept = torch.randint(0, 2, (*v.shape[:2], 1), generator=random)
        v = torch.where(torch.arange(points).reshape(-1, 1, 1) % 4 == 3, v * kept, v)
        drawn[x] = v if rows <= columns else v.mT
    block = torch.tensor([[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]], dtype=torch.float64) / 2
    inner: list[set] = []  # sets of (matrix, axis) that products sum along
    for a in group:
        (x, transposed), (y, other_transposed) = factors(a)
        pair = {(x, 0 if transposed else 1), (y, 1 if other_transposed else 0)}
        touching = [c for c in inner if c & pair]
        inner = [c for c in inner if c not in touching] + [pair.union(*touching)]
    for shared in inner:
        size = next(matrices[x][axis] for x, axis in shared)
        rotation = torch.eye(size, dtype=torch.float64)
        for k in range(0, size - 3, 4):
            rotation[k : k + 4, k : k + 4] = block
        for x, axis in shared:
            v = drawn[x] @ rotation if axis else rotation.mT @ drawn[x]
            drawn[x] = torch.where(torch.arange(points).reshape(-1, 1, 1) % 2 == 0, v, drawn[x])
    for x, v in drawn.items():
        t.put(x, v)
    return True


def put_product(t: Trial, a: Assumption, random: torch.Generator) -> bool:
    """Put two matrices whose product is exactly 0 or a multiple of the identity into a trial.

    They are a simple pair with this product, times an integer change of basis and its inverse.
    """
    matrices = factors(a)
    left_shape, right_shape = (t.shape(x) for x in a.args[:2])
    (n, m), (_, p) = (1, *left_shape)[-2:], (*right_shape, 1)[:2]  # a vector is a row on the left, and a column on the right
    basis, inverse_basis = torch.eye(m, dtype=torch.float64), torch.eye(m, dtype=torch.float64)
    for _ in range(2 * (m - 1)):
        i, j = torch.randperm(m, generator=random)[:2]
        shear = torch.zeros(m, m, dtype=torch.float64)
        shear[i, j] = 1 - 2 * torch.randint(0, 2, (), generator=random)
        basis, inverse_basis = basis + shear @ basis, inverse_basis - inverse_basis @ shear
    points = max(len(x.value) for x in t.values.values())
    left, right = (torch.randint(-3, 4, (points, *shape), generator=random).double() for shape in ((n, m), (m, p)))
    if a.args[2].data:
        if m < n:
            return False
        scales = 2.0 ** torch.randint(-3, 4, (points, n), generator=random).double()
        left[..., :n], left[..., n:] = torch.diag_embed(scales * float(a.args[2].data)), 0
        right[..., :n, :] = torch.diag_embed(1 / scales)
    else:
        split = int(torch.randint(0, m + 1, (), generator=random))
        left[..., split:], right[..., :split, :] = 0, 0
    for (x, transposed), v in zip(matrices, (left @ inverse_basis, basis @ right)):
        t.put(x, v.mT if transposed else v.reshape(points, *t.shape(x)))
    return True
