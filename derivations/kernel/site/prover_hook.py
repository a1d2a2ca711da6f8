"""MkDocs hook: write the files that prove claims in a reader's browser, and tell the theme whether there are any."""

import logging
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig

from derivations.kernel.site import prover_files

_log = logging.getLogger("mkdocs.derivations")


def on_config(config: MkDocsConfig) -> None:
    """Set `extra.prover`, on which the theme loads the script of the buttons."""
    config.extra["prover"] = not prover_files.describe_missing()


def on_post_build(*, config: MkDocsConfig) -> None:
    """Write the files, or log that the buttons are left out."""
    if missing := prover_files.describe_missing():
        _log.info(f"The buttons that prove a claim again are left out: {missing}")
        return
    prover_files.write(Path(config.site_dir))
