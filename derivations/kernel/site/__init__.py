"""The site: a Python-Markdown extension that renders claims on pages, and MkDocs hooks for everything around the pages.

The extension (extension.py lists the blocks that a page may contain) reads certificates and never runs a proof. It needs only
Python-Markdown, so any generator that is built on Python-Markdown renders the same pages. (Zensical caches rendered pages and does not
notice a changed certificate: build with `zensical build --clean`.)

  from a block to its HTML   page.py reads the blocks of a page; claim_html.py, claim_details.py and step_details.py show a claim;
                             block_handlers.py, figure_block.py and course_boxes.py show everything else
  what a page may contain    prose_checker.py rejects relations in prose, with claim_lookalikes.py, allowed_html.py and front_matter.py
  page checks                page_lint.py checks one topic and returns findings (findings.py): rendered_page_lint.py renders the page,
                             snippet_text_lint.py reads the comments, docstrings and strings of its code, and code_fence_lint.py,
                             example_rules.py, hardcoded_numbers.py and unshown_code_lint.py check the rest
  code on a page             added_imports.py adds the imports that a region needs; full_source.py adds the whole file at the end of the page;
                             page_notebooks.py and standalone_code.py write the files that readers can download with a page
  mistakes                   stop the build with file and line; `mkdocs serve` shows them in boxes on the page (page_errors.py,
                             rejected_claim_boxes.py)
  rebuilding                 page_dependencies.py records what a page depends on; incremental_build.py finds the pages that a change
                             affects while the site is served; page_cache.py stores rendered pages for later builds; imported_files.py finds
                             the files that a figure or a lab imports
  around the pages           the *_hook.py files hook into MkDocs; finish_build.py does the same work for a site that another generator
                             built; search_index.py makes the search index from the finished site

May import: `check`, `store`, `pytorch` for the names that PyTorch has, `snippet_source`, and `printing`. Begin with `claim_html.py`, which
renders a claim from its certificate, then read `page.py`, which renders one page.
"""

from .extension import PagesExtension, makeExtension
from .page import Page
from .page_source import PageError, Source
from .prose_checker import ProseChecker

__all__ = ["Page", "PageError", "PagesExtension", "ProseChecker", "Source", "makeExtension"]
