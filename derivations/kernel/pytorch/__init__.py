"""The PyTorch witness: computes both sides of a claim in numbers, and the snippets that it names, with bounds on the rounding errors.

It agrees or disagrees; it proves nothing.

  what is compared      `identities.py`, `limits.py` and `refutations.py`; `comparison.py` compares two values
  the code of a page    `snippet_agreement.py` compares it, `snippet_arguments.py` builds its arguments, `snippet_calls.py` checks each call
  the values            `trial_sizes.py` chooses the sizes, `sampling.py` draws the values, with `given_values.py`, `matrices_with_products.py`,
                        `expectations.py` and `assumptions.py`; a `trial.py` holds them
  trees to numbers      `evaluation.py`, with the operations of `error_bounds.py` and `bounded_operations.py`; `evaluation_cache.py` caches values
  fp32, fp16 and bf16   `float_formats.py` derives the bounds, `low_precision.py` runs the snippets

May import: `core` and `printing`, never another witness. Begin with `witness.py`.
"""
