"""Answer readers' questions about claims in their own browser, where Python runs as WebAssembly (Pyodide).

`requests.py` answers the requests of the page's worker: `prover.py` checks the claims of a script's text by one witness, and `text_edits.py`
proposes small changes to the text of a claim, such as a flipped sign. `typed_answers.py` judges what a reader types, and `code_formulas.py`
compares a claim with what its code computes. The build packs this room and the rooms that it needs (site/prover_files.py), so that a browser
runs the same code as the build, and never a copy.

May import: `language`, `exact`, `sympy`, `script`, `core`, `printing`; nothing that needs PyTorch, math-core or the store, since none of them
exists there. Begin with `requests.py`.
"""
