"""The site: a Python-Markdown extension that puts claims on pages, and MkDocs hooks for what surrounds the pages.

The extension (extension.py, which lists the blocks that a page may contain) reads certificates and never runs a proof. It depends on
Python-Markdown alone, so that any generator built on Python-Markdown renders the same pages. (Zensical caches rendered pages and does not
notice a changed certificate: build with `zensical build --clean`.)

  from a block to its HTML   page.py reads the blocks of a page; claim_html.py, claim_details.py and step_details.py show a claim;
                             block_handlers.py, figure_block.py and course_boxes.py show everything else
  what a page may contain    prose_checker.py rejects relations in prose, with claim_lookalikes.py, allowed_html.py and front_matter.py
  code on a page             code_imports.py adds the imports that a region needs; full_source.py ends the page with the whole file
  mistakes                   stop the build with file and line; under `mkdocs serve` they are boxes on the page (page_errors.py,
                             rejected_claims.py)
  rebuilding                 page_dependencies.py records what a page was made from; incremental_build.py tells a server which pages a
                             change affects, and page_cache.py tells a build which pages it need not render again
  around the pages           the *_hook.py files hook into MkDocs; finish_build.py does the same for a site that another generator built;
                             search_index.py makes the search from the finished site

May import: `check`, `store`, `pytorch` for the names that PyTorch has, and `printing`. Begin with `claim_html.py`, which shows a certificate's claim,
then `page.py`, which renders one page.
"""

from .extension import PagesExtension, makeExtension
from .page import Page
from .page_source import PageError, Source
from .prose_checker import Prose

__all__ = ["Page", "PageError", "PagesExtension", "Prose", "Source", "makeExtension"]
