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
}
BIG = {"Sigma": "a sum", "Pi": "a product"}
RAISED = {"T": "a transpose", "H": "a conjugate transpose"}  # as an exponent, alone
IMAGINARY = ("i", "j")  # in an exponent of e
# Before a letter: its differential, derivative or difference, its mean, its probability, the order of its size.
OPERATORS = ("d", "delta", "D", "Delta", "E", "O", "P")
# Words that a reader takes for a function or for a part of a sentence, however they are spelt, be they known here or not.
FUNCTIONS = """abs arccos arcsin arctan arg argmax argmin ceil cos cosh cot coth cov csc deg det diag diff dim div each erf erfc exp floor gcd
gelu grad hom im inf ker largest lg lim liminf limsup ln log max maximum mean min minimum mod norm pr prod rank re relu round sec sgn sigmoid sign silu
sin sinh softmax softplus span sqrt std sum sup tan tanh tr trace var vec"""
SPOKEN = "and as at by else equals false for if iff in is not of or then true with without"
WORDS = {word: "a function" for word in FUNCTIONS.split()} | {word: "a word of sentences" for word in SPOKEN.split()}


def name_latex(name: str) -> str:
    r"""`W_Q` as `W_{Q}`, `mu` as `\mu`; a longer word upright, so that it is not read as a product: `x1` is no `x_1`."""
    base, _, below = name.partition("_")
    shown = f"\\{base}" if base in GREEK else base if len(base) == 1 else rf"\mathrm{{{base}}}"
    return shown + (f"_{{{below}}}" if below else "")


def names_word(name: str) -> bool:
    """Is a name read as a word, and so as a function of what stands after it? One of several letters is; `x1` is a letter."""
    base = name.partition("_")[0]
    return sum(map(str.isalpha, base)) > 1 and base not in GREEK


def names_matrix(name: str) -> bool:
    """Is it what matrices are called: one capital letter, whatever its subscript?"""
    base = name.partition("_")[0]
    return base.isupper() and len(base) == 1 or base in GREEK and base[0].isupper()


def names_operator(name: str) -> bool:
    """Is it read as an operator on what stands after it? Of `d` and `delta` alone; `d_k` is a width to everyone."""
    base = name.partition("_")[0]
    return base in OPERATORS and (base == name or base[0].isupper())


def refuse_word(name: str) -> None:
    """Refuse a name that a formula uses for something else, or that a reader would; of `I` the entries, too."""
    base = name.partition("_")[0]
    word = base if name.startswith("I_") else name
    if base in BIG and base != name:
        raise KernelError(f"the name {name} looks like {BIG[base]} over {name.partition('_')[2]}; call it something else")
    read = READ.get(word) or WORDS.get(base[:1].lower() + base[1:] if len(base) > 1 else "")
    if read:
        raise KernelError(f"the name {name} is taken by {read}, as which it would be read; call it something else")
