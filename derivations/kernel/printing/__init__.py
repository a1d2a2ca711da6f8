"""How an expression is shown: as LaTeX for pages, as plain text for messages.

It shows a tree as it is, operands in order and brackets where they matter, and knows no more of it than its nodes. That no two things
look alike is attacked with the claims: no mutant may be printed as its claim is.

May import: the kernel's errors, nothing else. Begin with `latex.py`.
"""
