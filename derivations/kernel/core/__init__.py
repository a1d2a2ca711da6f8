"""What must be right for a false claim to be refused: trees and their operators, assumptions, claims, and the rule of acceptance.

A fault here can let a false claim through. A fault in one witness cannot, as long as another covers the claim. So this room is
small enough to be read in a sitting (`tests/kernel/test_size.py` holds it to 500 lines beside the table of operators), and needs no
library but the standard one.

May import: `printing`, for messages and names, and the kernel's errors. Begin with `expr.py` and its table of operators, `operators.py`,
then read `claims.py`; `acceptance.py` is the rule.
"""
