"""Pictures of the bound on attention's rounding errors."""

import torch

from derivations.kernel.site.diagrams import Picture, curves
from snippets.associativity.tolerance import attention_error, attention_error_bound


def error_and_bound() -> Picture:
    generator, keys = torch.Generator().manual_seed(0), [2**power for power in range(1, 11)]
    numbers = [[torch.randn(n, 16, generator=generator) for n in (32, m, m)] for m in keys]
    found, words = [], []
    for name, dtype in (("fp16", torch.float16), ("fp32", torch.float32)):
        bounds, errors = [], []
        for triple in numbers:
            query, key, value = (number.to(dtype) for number in triple)
            bounds.append(attention_error_bound(query, key, value).max().item())
            errors.append(attention_error(query, key, value).max().item())
        found += [(f"{name}, bound", keys, bounds), (f"{name}, error", keys, errors)]
        words.append(
            f"In {name} the bound goes from {bounds[0]:.0e} to {bounds[-1]:.0e}, the error from {errors[0]:.0e} to "
            f"{errors[-1]:.0e}; the error is below the bound at {sum(e < b for e, b in zip(errors, bounds))} of {len(keys)} sizes."
        )
    return curves(
        found,
        log="xy",
        across="keys",
        up="largest over 32 queries",
        title="The error of attention and its bound, by the number of keys",
        description=f"Random attention with {keys[0]} to {keys[-1]} keys. " + " ".join(words),
    )
