"""The Coq witness: write a claim as a theorem of MathComp, in a file that a reader can follow and `coqc` can check.

  has to be right          `notation.py` and `assumptions.py` translate a claim into Coq, over a structure of `algebraic_structures.py`, with
                           names that avoid the words of `reserved_words.py`; `file_audit.py` rejects a file that could pass without a proof
  checked by Coq           `theorems.py` chooses the theorems, `proof_scripts.py` writes their proofs, `theorem_files.py` writes a file of
                           them; `prelude.v` holds the lemmas and tactics that all files import
  running Coq              `coq_process.py` runs `coqc` and reads its verdicts; `combined_files.py` joins files that one run checks

May import: `core` and `printing`, never another witness. Begin with `witness.py`.
"""
