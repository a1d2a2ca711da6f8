"""The preludes that the files over the reals import: prelude_reals.v for refutations, prelude_slopes.v for derivatives,
prelude_limits.v for limits."""

from pathlib import Path

REALS_NAME = "PreludeReals"
REALS_PRELUDE = Path(__file__).with_name("prelude_reals.v").read_text(encoding="utf-8")
SLOPES_NAME = "PreludeSlopes"
SLOPES_PRELUDE = Path(__file__).with_name("prelude_slopes.v").read_text(encoding="utf-8")
LIMITS_NAME = "PreludeLimits"
LIMITS_PRELUDE = Path(__file__).with_name("prelude_limits.v").read_text(encoding="utf-8")
SCOPE = "the real numbers"
