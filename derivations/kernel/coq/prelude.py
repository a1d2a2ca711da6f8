"""What all files share: lemmas and tactics, proved by Coq like everything else. Their text is prelude.v."""

from pathlib import Path

PRELUDE_NAME = "Prelude"
PRELUDE = Path(__file__).with_name("prelude.v").read_text(encoding="utf-8")
