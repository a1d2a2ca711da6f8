"""What the process has done before that the scripts' processes are forked from: what takes long, and is the same for all of them."""

from ..pytorch import witness as pytorch  # noqa: F401
from ..sympy import witness as sympy  # noqa: F401
from ..traced import witness as traced  # noqa: F401
from . import worker

worker.homes()
worker.files_of_modules()
