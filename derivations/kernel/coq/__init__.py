"""The Coq witness: a claim as a theorem of MathComp, in a file that a reader can follow and `coqc` can check.

May import: `core` and `printing`, never another witness. Begin with `witness.py`; `notation.py` says how a tree is written in Coq,
and `prelude.v` holds the lemmas that the files share.
"""
