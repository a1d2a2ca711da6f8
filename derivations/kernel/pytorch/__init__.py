"""The PyTorch witness: both sides in numbers, and the snippets that a claim names, within bounds on rounding that are carried along.

It agrees or it does not; it proves nothing.

  what is compared      `identities.py`, `limits.py`, `refutations.py`; how, in `comparison.py`
  the code of a page    `snippet_agreement.py` compares it, `snippet_arguments.py` gives it its arguments, `snippet_calls.py` watches each call
  at which values       `sampling.py`, with `given_values.py`, `matrix_sampling.py`, `expectations.py` and `assumptions.py`; a `trial.py` holds them
  trees in numbers      `evaluation.py`, with the operations of `error_bounds.py` and `tensor_operations.py`; each once, `evaluation_cache.py`
  fp32, fp16 and bf16   `float_formats.py` derives the bounds, `low_precision.py` runs the snippets

May import: `core` and `printing`, never another witness. Begin with `witness.py`.
"""
