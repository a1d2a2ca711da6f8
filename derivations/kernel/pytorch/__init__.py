"""The PyTorch witness: both sides in numbers, and the snippets that a claim names, within bounds on rounding that are carried along.

It agrees or it does not; it proves nothing.

  what is compared      `equalities.py`, `limits.py`, `refutations.py`; how, in `comparing.py`
  the code of a page    `agreeing.py` compares it, `snippets.py` gives it its arguments, `snippet_calls.py` watches each call
  at which values       `drawing.py`, with `bindings.py`, `products.py`, `laws.py` and `assumptions.py`; a `trial.py` holds them
  trees in numbers      `evaluate.py`, with the operations of `rounding.py` and `tensors.py`; each once, `remembered.py`
  fp32, fp16 and bf16   `formats.py` derives the bounds, `ledger.py` runs the snippets

May import: `core` and `printing`, never another witness. Begin with `witness.py`.
"""
