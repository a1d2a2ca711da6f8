"""Expressions and assumptions as text: LaTeX for pages, plain text for messages, Python for advice.

A tree is printed as it is, operands in order, with brackets where they matter. What is printed can be read back
(`attack/parse_plain.py`, `attack/parse_latex.py`), and no mutant of a claim may be printed like the claim itself.

| module | contents |
|---|---|
| `latex.py`, `plain_text.py`, `script_text.py` | the three printers |
| `name_latex.py` | names, and the rejection of names that readers would misread |
| `print_collisions.py` | the rejection of different things that are printed alike |
| `assumptions.py` | assumptions in words |
| `mathml.py` | LaTeX to MathML |
| `handwritten_relations.py` | the detection of relations in text and in formulas that are typed by hand |

May import: the kernel's errors, nothing else. Begin with `latex.py`.
"""
