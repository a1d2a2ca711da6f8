"""What runs the checks and keeps their results: a process for each script, certificates under a seal, and what stands of them.

`worker.py` checks one script, and `shown_code.py` asks whether the code that its claims name is what a page shows; `runner.py` starts
workers, `certificates.py` stores and trusts; `mutation.py`, `fuzz.py` and `coq.py` do the same for mutants, for random claims and
for Coq.

May import: `attack`, the witnesses, `traced`, `core`, `printing`. Begin with `runner.py`.
"""
