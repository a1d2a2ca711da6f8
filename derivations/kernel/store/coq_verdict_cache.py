"""Store Coq's verdicts under a digest of what a verdict depends on: the source, its imports, the code that reads Coq's output, and Coq.

A source with a stored verdict is not proved again, even if other things have changed.
"""

from __future__ import annotations

from collections.abc import Callable

from .store import Differs, Store, settings

STORE = Store("proofs", by_digest=True)
Answer = tuple[bool, str]  # whether Coq proved it, and its message


def prove(
    texts: dict[str, str], keys: dict[str, str], run: Callable, is_verdict: Callable[[Answer], bool], fresh: bool = False
) -> dict[str, Answer]:
    """Return the verdict on each source by name, from the store or from `run`. Raise Differs if a recheck gives a different verdict.

    `texts` maps names to sources, `keys` maps names to digests. `run(texts, on_answer)` returns answers by name and calls
    `on_answer(name, answer)` for each as soon as it is known. Each answer is stored at once, so that an interrupted run loses nothing.
    Answers that are not verdicts (Coq was stopped, or is not installed) are not stored.
    """
    stored = {} if fresh else {name: (found["ok"], found["message"]) for name in texts if (found := STORE.get(keys[name]))}
    picked = {name for name in stored if settings.recheck.picks(keys[name])}

    def put(name: str, answer: Answer) -> None:
        if is_verdict(answer) and name not in picked:
            STORE.put(keys[name], {"ok": answer[0], "message": answer[1]})

    missing = texts.keys() - stored.keys() | picked
    found = run({name: text for name, text in texts.items() if name in missing}, put)
    for name in sorted(picked):
        if is_verdict(found[name]) and found[name][0] != stored[name][0]:
            STORE.clear()
            raise Differs(settings.recheck.difference(name))
    return stored | {name: answer for name, answer in found.items() if name not in picked}
