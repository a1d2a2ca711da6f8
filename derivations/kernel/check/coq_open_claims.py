"""Read the list of claims that Coq can state but does not prove.

The file gives the reason for each of them. Coq must prove all other claims that it can state.
"""

from __future__ import annotations

import tomllib

from ..printing.handwritten_relations import find_text_fault
from ..store.certificates import CertificateError
from ..store.project_files import ROOT

NAME = "derivations/coq_open.toml"
FILE = ROOT / NAME


def read_reasons(topic: str = "") -> dict[str, str]:
    """Return {topic#claim: reason} for one topic, or for all topics. Raise CertificateError if the file is malformed."""
    try:
        found = tomllib.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CertificateError(f"{NAME} is not TOML: {error}; write lines such as \"chapter/topic#claim\" = 'why'") from None
    for key, reason in found.items():
        if not isinstance(reason, str) or not reason.strip() or key.count("#") != 1 or find_text_fault(reason):
            raise CertificateError(
                f"{NAME}: expected \"chapter/topic#claim\" = 'why Coq does not prove it', in words, found {key!r} = {reason!r}"
            )
    return {key: reason for key, reason in found.items() if key.startswith(f"{topic}#" if topic else "")}
