"""Load scripts, and write their claims as LaTeX.

`loading.py` runs a script and finds out which of its lines is at fault if it fails. It needs neither PyTorch nor a witness, so that it also
runs in a reader's browser.

May import: `core`, `printing`, and the kernel's errors. Begin with `loading.py`.
"""
