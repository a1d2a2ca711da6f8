"""Finish a site that another generator built from mkdocs.yml, as the MkDocs hooks finish a build of MkDocs.

This adds the search index, the hashes of the content security policy, a description and a notebook for each page, and the exports. MkDocs
only reads the settings and the pages here. The hooks that work inside MkDocs' build, such as the one that executes the labs, do not run.
"""

import re
from pathlib import Path

from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import get_files
from mkdocs.structure.nav import get_navigation
from mkdocs.structure.pages import Page

from derivations.kernel.errors import KernelError
from derivations.kernel.site import content_policy_hook, model_files, reference_css_hook, search_index, site_exports_hook

_DESCRIPTION = re.compile(r'(<meta (?:name="description"|property="og:description") content=")[^"]*(")')
# What the theme writes below a page's content: a link to the next page, and a line for print.
_END = re.compile(r'(?:\s*<p [^>]*class="route">(?:(?!</p>).)*</p>)?(?:\s*<p class="printed">[^<]*</p>)?\s*</article>')


def finish(site: Path, settings: Path) -> list[str]:
    """Finish the site in a folder, and return the addresses of the pages that are missing in it. `settings` is the path of mkdocs.yml.

    Raise KernelError if the folder has no page of mkdocs.yml, since it is then not a build of it.
    """
    config = load_config(str(settings), site_dir=str(site))
    files = get_files(config)
    nav = get_navigation(files, config)
    content_policy_hook.on_config(config)
    site_exports_hook.on_config(config)
    for file in files.documentation_pages():
        if file.page and file.src_uri.endswith(".md"):
            file.page.read_source(config)
            site_exports_hook.on_page_markdown(file.page.markdown or "", page=file.page, config=config)
    site_exports_hook.on_nav(nav, files=files, config=config)
    missing = [page.url for page in site_exports_hook.BUILD["pages"] if not (site / page.file.dest_uri).is_file()]
    if len(missing) == len(site_exports_hook.BUILD["pages"]):
        raise KernelError(
            f"{site} contains no page of {settings.name}; build the site first, and name the folder that the build wrote", code="not-a-site"
        )
    for page in site_exports_hook.BUILD["pages"]:
        if page.url not in missing:
            path = site / page.file.dest_uri
            path.write_text(_finish_page(path.read_text(encoding="utf-8"), page, config), encoding="utf-8")
    content_policy_hook.on_post_build(config=config)
    site_exports_hook.on_post_build(config=config)
    reference_css_hook.write(site)
    model_files.write(site)
    search_index.write(site)
    return missing


def _finish_page(html: str, page: Page, config: MkDocsConfig) -> str:
    """Return a page with its own description, the links to its files, and a policy with the hashes of its scripts."""
    if description := page.meta.get("description"):
        html = _DESCRIPTION.sub(lambda match: f"{match[1]}{description}{match[2]}", html)
    end = None if site_exports_hook.DOWNLOADS in html else _END.search(html)
    if end:
        html = site_exports_hook.on_page_content(html[: end.start()], page=page, config=config) + html[end.start() :]
    return content_policy_hook.on_post_page(html)
