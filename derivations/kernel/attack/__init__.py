"""The checkers under attack: claims corrupted as a slip would corrupt them, and a judge who says which of those are false.

`mutants.py` corrupts, `judge.py` decides by evaluation of its own, `trying.py` puts a mutant before the witnesses.

May import: the witnesses, `core`, `printing`. Begin with `mutants.py`.
"""
