"""Coq's verdicts, stored under a digest of everything that a verdict depends on: the source, what it imports, what judges Coq's answer, and Coq.

So a source that comes again is not proved again, whatever else changed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from .store import Differs, Store, settings

STORE = Store("proofs", by_digest=True)
Said = tuple[bool, str]  # whether Coq proved it, and its message


def prove(
    texts: dict[str, str], keys: dict[str, str], ask: Callable, is_verdict: Callable[[Said], bool], fresh: bool = False
) -> dict[str, Said]:
    """Return Coq's answer for each source: the stored one, or that of `ask`. Raise Differs if a recheck finds another one.

    `ask(texts, decided)` calls `decided(name, answer)` as each source is decided. Answers are stored at once, so that an interrupted run
    loses nothing; those that are no verdict (Coq was stopped, or is not there) are not stored.
    """
    stored = {} if fresh else {name: (found["ok"], found["message"]) for name in texts if (found := STORE.get(keys[name]))}
    picked = {name for name in stored if settings.recheck.picks(keys[name])}

    def asked(names: Collection[str]) -> dict[str, Said]:
        return ask({name: text for name, text in texts.items() if name in names}, put)

    def put(name: str, answer: Said) -> None:
        if is_verdict(answer) and name not in picked:
            STORE.put(keys[name], {"ok": answer[0], "message": answer[1]})

    found = asked(texts.keys() - stored.keys() | picked)
    for name in sorted(picked):
        if is_verdict(found[name]) and found[name][0] != stored[name][0]:
            STORE.clear()
            raise Differs(settings.recheck.difference(name))
    return stored | {name: answer for name, answer in found.items() if name not in picked}
