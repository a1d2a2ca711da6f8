"""MkDocs hook: write the files of the model for sentences that readers type."""

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig

from derivations.kernel.site import model_files


def on_post_build(*, config: MkDocsConfig) -> None:
    """Write the files, or log that the form is left out."""
    model_files.write(Path(config.site_dir))
