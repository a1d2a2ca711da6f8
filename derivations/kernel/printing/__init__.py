"""How an expression is shown: as LaTeX for pages, as plain text for messages.

It shows a tree as it is, operands in order and brackets where they matter, and knows no more of it than its nodes. `names.py` prints
names, and refuses those that are read as something else; `assumptions.py` puts assumptions in words; `maths.py` makes MathML, and
`signs.py` says what of a text or of a formula by hand states a relation; `alike.py` refuses a script in which two things would be printed
alike. What is printed can be read back (`attack/reading_back.py`, `attack/reading_latex.py`), and no mutant may be printed as its claim is.

May import: the kernel's errors, nothing else. Begin with `latex.py`.
"""
