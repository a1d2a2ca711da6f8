"""The prelude that all files import: lemmas and tactics, which Coq checks like everything else. Its text is prelude.v."""

from pathlib import Path

PRELUDE_NAME = "Prelude"
PRELUDE = Path(__file__).with_name("prelude.v").read_text(encoding="utf-8")
