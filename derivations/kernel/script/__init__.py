"""Load scripts, and write their claims as LaTeX and as data.

`loading.py` runs a script and finds out which of its lines is at fault if it fails. `tree_data.py` writes expressions as data for a reader's
browser. The room needs neither PyTorch nor a witness, so that it also runs there.

May import: `core`, `printing`, and the kernel's errors. Begin with `loading.py`.
"""
