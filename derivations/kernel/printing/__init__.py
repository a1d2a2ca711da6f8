"""How an expression is shown: as LaTeX for pages, as plain text for messages.

It shows a tree as it is, operands in order and brackets where they matter, and knows no more of it than its nodes. `name_latex.py` prints
names, and refuses those that are read as something else; `assumptions.py` puts assumptions in words; `mathml.py` makes MathML, and
`relation_signs.py` says what of a text or of a formula by hand states a relation; `print_collisions.py` refuses a script in which two things would be printed
alike. What is printed can be read back (`attack/parse_plain.py`, `attack/parse_latex.py`), and no mutant may be printed as its claim is.

May import: the kernel's errors, nothing else. Begin with `latex.py`.
"""
