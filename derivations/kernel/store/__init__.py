"""Stored results of checks, proofs, mutants, fuzzing, pages, figures, notebooks and the search index, so that nothing is computed twice.

`store.py` writes and reads every result as a sealed file; `dependencies.py` describes what a result depends on, and finds what has changed
since; `project_files.py` names and hashes files. Each other file stores one kind of result, usually with `get` and `put`.

May import: `snippet_source`, nothing else of the kernel but its errors. Begin with `store.py`.
"""
