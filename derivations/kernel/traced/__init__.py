"""The code witness: reads a snippet that a claim names as mathematics, and compares it with the claim by the normal form.

The snippet is called on tensors that have symbols for sizes and no numbers. Each operation that reaches PyTorch's dispatcher has a rule here,
which gives an entry of the operation's result as a tree. The tree of the snippet's result and the claim's own tree must have the same normal
form.

  one call              `witness.py` decides whether it is proved at every shape, or at which shapes; `call_arguments.py` builds the arguments
  what is read          `python_subset.py` lists the statements and names that a snippet may use; other code is compared in numbers alone
  running it            `tracing.py` intercepts each operation, `symbolic_sizes.py` holds the sizes, `size_conditions.py` the conditions on
                        them, and `size_queries.py` records which sizes the code itself inspects
  tensors as trees      `axes.py` gives the length of an axis, `position_conversion.py` the positions along it, `entries.py` the entry at a
                        position, `tensor_values.py` the whole tensor
  operations            `operation_rules.py` registers the rules by name: `pointwise_rules.py`, `boolean_values.py`, `reshape_rules.py`,
                        `axis_part_rules.py`, `reduction_rules.py`, `matmul_rules.py`, `gather_rules.py`, `creation_rules.py`, `autograd_rules.py`
  numbers               `float_constants.py` reads a float as the number nearest to it
  the verdict           `comparison.py` compares the normal forms, and `computed_formula.py` makes one expression of what a call computes

An operation without a rule is an error that names the operation and the line. This room shares the normal form with the exact witness, so it
is not an independent witness of a formula: it shows that code computes the formula.

May import: `core`, `exact`, `script` and `snippet_source`. Begin with `witness.py`.
"""
