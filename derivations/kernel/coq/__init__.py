"""The Coq witness: a claim as a theorem of MathComp, in a file that a reader can follow and `coqc` can check.

  what has to be right     `notation.py` and `assumptions.py` say what a claim is in Coq, in a structure of `algebraic_structures.py` and without
                           the words of `reserved_words.py`; `file_audit.py` refuses a file that could pass without a proof
  what Coq judges          `theorems.py` chooses the theorems, `proof_scripts.py` writes their proofs, `theorem_files.py` a file of them; `prelude.v`
                           holds the lemmas that the files share
  asking Coq               `coq_process.py`

May import: `core` and `printing`, never another witness. Begin with `witness.py`.
"""
