"""The kernel: claims, their witnesses, certificates and how they are shown. It knows no topic.

A script imports what it needs from here. Names are looked up on first use, so that reading certificates, which is all
that rendering a page takes, loads no algebra system.
"""

import sys
from importlib import import_module

from .errors import plain

sys.excepthook = plain

_HOME = {name: module for module, names in {
    "expr": "E I Var absolute array diff exp eye index inverse log matrix ones paren random rank rounded scalars sizes softmax sqrt total vector zeros",
    "claims": "Derivation gaussian in_range independent invertible mean nonnegative nonzero positive product_is representable variance",
}.items() for name in names.split()}
__all__ = sorted(_HOME)


def __getattr__(name):
    if name not in _HOME:
        raise AttributeError(f"the kernel offers no '{name}'; it offers {', '.join(__all__)}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
