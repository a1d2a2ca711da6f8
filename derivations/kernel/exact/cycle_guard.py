"""A guard against circular reasoning between questions that are answered by asking other questions."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any


def guard_against_cycles(question: Callable[..., bool]) -> Callable[..., bool]:
    """Decorate a method that answers a question, so that circular reasoning ends.

    If the same question is asked again before it is answered, the inner call returns False. An answer therefore never relies on itself.
    """

    @wraps(question)
    def answer(self: Any, p: dict) -> bool:
        key = id(self), question.__name__, frozenset(p.items())
        if key in self.open_questions:
            return False
        self.open_questions.add(key)
        try:
            return question(self, p)
        finally:
            self.open_questions.remove(key)

    return answer
