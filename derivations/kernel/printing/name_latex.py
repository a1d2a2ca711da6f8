"""Names as LaTeX, and the rejection of names that a reader would take for something else.

A single letter is printed in italics, the name of a Greek letter as that letter, and any other name upright, including its digits: `W`,
`mu`, `x1`. The part after an underscore is a subscript: `W_Q`.
"""

from __future__ import annotations

from ..errors import KernelError

LETTERS = """alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi omega
Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"""
GREEK = frozenset(LETTERS.split())
READ = {  # names with a fixed meaning in formulas
    "I": "the identity matrix, or the imaginary unit",
    "e": "the base of exponentials",
    "pi": "the circle's number",
    "fl": "rounding",
}
BIG = {"Sigma": "a sum", "Pi": "a product"}
RAISED = {"T": "a transpose", "H": "a conjugate transpose"}  # as a bare exponent
IMAGINARY = ("i", "j")  # as a factor in an exponent of e
# Before another letter these are read as operators: differential, derivative, difference, mean, order, probability.
OPERATORS = ("d", "delta", "D", "Delta", "E", "O", "P")
# Words that a reader takes for a function or for a part of a sentence, in lower or upper case, whether or not the kernel has them.
FUNCTIONS = """abs arccos arcsin arctan arg argmax argmin ceil cos cosh cot coth cov csc deg det diag diff dim div each erf erfc exp floor gcd
gelu grad hom im inf ker largest lg lim liminf limsup ln log max maximum mean min minimum mod norm pr prod rank re relu round sec sgn sigmoid sign silu
sin sinh softmax softplus span sqrt std sum sup tan tanh tr trace var vec"""
SPOKEN = "and as at by else equals false for if iff in is not of or then true with without"
WORDS = {word: "a function" for word in FUNCTIONS.split()} | {word: "a word of sentences" for word in SPOKEN.split()}


def name_latex(name: str) -> str:
    r"""Return a name in LaTeX: `W_Q` as `W_{Q}`, `mu` as `\mu`. Longer names are upright, since italics would look like a product."""
    base, _, below = name.partition("_")
    shown = f"\\{base}" if base in GREEK else base if len(base) == 1 else rf"\mathrm{{{base}}}"
    return shown + (f"_{{{below}}}" if below else "")


def names_word(name: str) -> bool:
    """Return whether a name looks like a word, and so like a function: it has several letters. `x1` does not."""
    base = name.partition("_")[0]
    return sum(map(str.isalpha, base)) > 1 and base not in GREEK


def names_matrix(name: str) -> bool:
    """Return whether a name looks like that of a matrix: one capital letter, with or without a subscript."""
    base = name.partition("_")[0]
    return base.isupper() and len(base) == 1 or base in GREEK and base[0].isupper()


def names_operator(name: str) -> bool:
    """Return whether a name looks like an operator, such as `d` or `delta`. A lower-case letter with a subscript does not: `d_k` is a width."""
    base = name.partition("_")[0]
    return base in OPERATORS and (base == name or base[0].isupper())


def check_name(name: str) -> None:
    """Raise KernelError for a name with another meaning in formulas, such as `e`, `exp`, `I` or an entry of it, or `Sigma_i`."""
    base = name.partition("_")[0]
    word = base if name.startswith("I_") else name
    if base in BIG and base != name:
        raise KernelError(
            f"the name {name} looks like {BIG[base]} over {name.partition('_')[2]}; call it something else", code="reads-as-sum-or-product"
        )
    read = READ.get(word) or WORDS.get(base[:1].lower() + base[1:] if len(base) > 1 else "")
    if read:
        raise KernelError(f"the name {name} is taken by {read}, as which it would be read; call it something else", code="reserved-name")
