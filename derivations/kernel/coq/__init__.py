"""The Coq witness: a claim as a theorem of MathComp, in a file that a reader can follow and `coqc` can check.

  what has to be right     `notation.py` and `assumptions.py` say what a claim is in Coq, in a structure of `structures.py` and without
                           the words of `words.py`; `reading.py` refuses a file that could pass without a proof
  what Coq judges          `stating.py` chooses the theorems, `proofs.py` writes their proofs, `files.py` a file of them; `prelude.v`
                           holds the lemmas that the files share
  asking Coq               `running.py`

May import: `core` and `printing`, never another witness. Begin with `witness.py`.
"""
