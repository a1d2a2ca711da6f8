"""Pictures of rounding."""

import torch

from derivations.kernel.site.diagrams import Picture, curves
from snippets.associativity.rounding import grouping_gap, rounding_bound


def gap_and_bound() -> Picture:
    generator, sizes = torch.Generator().manual_seed(0), [2**power for power in range(1, 9)]
    triples = [[torch.randn(n, n, generator=generator) for _ in range(3)] for n in sizes]
    gaps = [grouping_gap(*triple).max().item() for triple in triples]
    bounds = [rounding_bound(*triple).max().item() for triple in triples]
    smaller = sum(gap < bound for gap, bound in zip(gaps, bounds))
    return curves(
        [("bound", sizes, bounds), ("gap", sizes, gaps, True)],
        log="xy",
        across="rows and columns",
        up="largest entry, single precision",
        title="The difference between two groupings of a product, and its bound",
        description=f"Random square matrices of {sizes[0]} to {sizes[-1]} rows. The bound grows from {bounds[0]:.0e} to "
        f"{bounds[-1]:.0e}, the gap from {gaps[0]:.0e} to {gaps[-1]:.0e}. At {smaller} of {len(sizes)} sizes the gap "
        "is below the bound.",
    )
