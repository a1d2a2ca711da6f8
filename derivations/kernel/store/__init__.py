"""Stored results: of checks, proofs, mutants, fuzzing, pages, figures, notebooks and search, so that nothing is computed twice.

`store.py` writes and reads every result as a sealed file; `dependencies.py` says what a result depends on, and what of it changed;
`project_files.py` names and hashes files. Each other file stores one kind of result, with `get` and `put`.

May import: nothing of the kernel but its errors. Begin with `store.py`.
"""
