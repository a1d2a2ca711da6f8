"""The code witness: a snippet that a claim names, read as mathematics and compared with the claim by the exact witness.

The snippet is called on tensors that have symbols for sizes and no numbers. Each operation that reaches PyTorch's dispatcher has a rule here,
which says what an entry of its result is, as a tree. The tree of the result and the claim's own have to have one normal form.

  one call              `witness.py` asks, at every shape or at the shapes that it says; `call_arguments.py` makes what the snippet is given
  what is read          `python_subset.py` lists the statements and names that a snippet may use; other code is compared in numbers alone
  what runs             `tracing.py` meets each operation, `symbolic_sizes.py` holds the sizes, `size_conditions.py` what was asked of them, and
                        `size_queries.py` which sizes the code itself asked about
  what it is read as    `axes.py` says how far an axis runs, `index_positions.py` which place is which, `entries.py` what stands in one, `tensor_values.py`
                        what a tensor is
  operations            `operation_rules.py` holds them by name: `pointwise_rules.py`, `boolean_values.py`, `reshape_rules.py`, `split_concat.py`, `reduction_rules.py`,
                        `matmul_rules.py`, `gather_rules.py`, `creation_rules.py`, `autograd_rules.py`
  numbers               `float_constants.py` reads a float as the number that it is nearest to
  the verdict           `comparison.py` asks the normal form

What no rule knows is an error that names the operation and the line. It shares the normal form with the exact witness, and so is no witness of
a formula: it says of code that it computes one.

May import: `core`, `exact` and `snippet_source`. Begin with `witness.py`.
"""
