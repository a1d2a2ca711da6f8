"""The trusted core: expression trees, operators, assumptions, claims, and the rule of acceptance.

A fault in one witness cannot make the checker accept a false claim as long as another witness covers that claim. A fault here can.
Therefore this room is small enough to read in one sitting, and needs only the standard library. `tests/kernel/test_code_size.py` limits it to
500 lines of code, not counting the table of operators.

May import: `printing`, for messages and names, and the kernel's errors. Begin with `expr.py` and its table of operators, `operators.py`;
`constructors.py` has the functions that scripts call. Then read `claims.py` and `acceptance.py`.
"""
