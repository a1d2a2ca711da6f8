"""The command line, `python -m derivations`, and the check of a script that is run on its own.

May import: everything but `language`. Begin with `cli.py`.
"""
