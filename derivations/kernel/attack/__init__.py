"""The checkers under attack: claims corrupted as a slip would corrupt them, and a judge who says which of those are false.

`mutants.py` corrupts claims by the slips of `slips.py`, `controls.py` changes nothing that matters, `judge.py` decides by an evaluation of
its own, `trying.py` puts a mutant before the witnesses. `reading_back.py` and `reading_latex.py` read what is printed, so that a test can
ask whether it is the tree that was printed.

May import: the witnesses, `core`, `printing`. Begin with `mutants.py`.
"""
