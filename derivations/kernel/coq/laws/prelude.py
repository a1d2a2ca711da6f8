"""The prelude that the files about laws import. Its text is prelude_laws.v."""

from pathlib import Path

LAWS_NAME = "PreludeLaws"
LAWS_PRELUDE = Path(__file__).with_name("prelude_laws.v").read_text(encoding="utf-8")
