"""Names as LaTeX: one print for each name, and no name that is read as something else.

A letter is itself, the name of a Greek letter is that letter, and a longer word stands upright, its digits with it: `W`, `mu`, `x1`. What
follows the underscore is a subscript: `W_Q`.
"""

from __future__ import annotations

from ..errors import KernelError

LETTERS = """alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi omega
Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"""
GREEK = frozenset(LETTERS.split())
READ = {  # what a formula means by these, so that they name nothing else
    "I": "the identity matrix, or the imaginary unit",
    "e": "the base of exponentials",
    "pi": "the circle's number",
    "fl": "rounding",
    "Var": "the variance",
    **{
        word: "a function"
        for word in (*("abs", "cos", "exp", "largest", "log", "max", "norm", "rank", "sin", "softmax", "sqrt", "sum", "tanh"),)
    },
}


def name_latex(name: str) -> str:
    r"""`W_Q` as `W_{Q}`, `mu` as `\mu`; a longer word upright, so that it is not read as a product: `x1` is no `x_1`."""
    base, _, below = name.partition("_")
    shown = f"\\{base}" if base in GREEK else base if len(base) == 1 else rf"\mathrm{{{base}}}"
    return shown + (f"_{{{below}}}" if below else "")


def refuse_word(name: str) -> None:
    """Refuse a name that a formula uses for something else; of `I` the entries, too."""
    word = name.partition("_")[0] if name.startswith("I_") else name
    if word in READ:
        raise KernelError(f"the name {name} is taken by {READ[word]}, as which it would be read; call it something else")
