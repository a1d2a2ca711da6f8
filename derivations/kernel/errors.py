"""The one error that every room may raise."""


class KernelError(Exception):
    """Something the kernel refuses; the message says what, and what to do next."""
