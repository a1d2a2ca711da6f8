"""What runs the checks: a process for each script, and processes for mutants, random claims and Coq.

`worker.py` checks one script, and `shown_code.py` asks whether the code that its claims name is what a page shows; `runner.py` starts
workers; `mutation_run.py`, `fuzz_run.py` and `coq_run.py` do the same for mutants, for random claims and for Coq. Their results go to the store.

May import: `store`, `attack`, the witnesses, `traced`, `core`, `printing`. Begin with `runner.py`.
"""
