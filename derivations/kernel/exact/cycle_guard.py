"""Questions that are answered by asking others: none of them may rest on itself."""

from __future__ import annotations

from functools import wraps


def not_in_a_circle(question):
    """A question that comes up again on the way to its own answer is answered no there: what rests on itself is not shown."""

    @wraps(question)
    def answer(self, p: dict) -> bool:
        asked = id(self), question.__name__, frozenset(p.items())
        if asked in self.open_questions:
            return False
        self.open_questions.add(asked)
        try:
            return question(self, p)
        finally:
            self.open_questions.remove(asked)

    return answer
