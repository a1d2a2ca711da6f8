"""What the files over the reals share. Its text is prelude_reals.v."""

from pathlib import Path

REALS_NAME = "PreludeReals"
REALS_PRELUDE = Path(__file__).with_name("prelude_reals.v").read_text(encoding="utf-8")
SCOPE = "the real numbers"
