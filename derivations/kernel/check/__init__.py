"""Run the checks in separate processes: the scripts, the mutants, the random claims and Coq's proofs.

Scripts: `runner.py` starts a process for each script, and `worker.py` checks the script there. `witnesses.py` lists the witnesses,
`claim_records.py` writes the record of a claim, and `shown_code.py` checks that the code that runs is the code that a page shows.

Other runs: `mutation_run.py` and `snippet_mutation.py` try mutants of claims and snippets, `fuzz_run.py` tries random claims, and
`coq_run.py` runs Coq. `process_pool.py` starts the processes for mutants and random claims, and `dask_cluster.py` runs tasks of all kinds
on other machines.

Results go to the store.

May import: `store`, `attack`, the witnesses, `traced`, `script`, `core`, `printing`, `snippet_source`. Begin with `runner.py`.
"""
