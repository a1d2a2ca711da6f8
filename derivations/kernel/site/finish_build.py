"""A site that another generator built from mkdocs.yml, finished as this site's hooks finish the build of MkDocs: what search asks, the
policy's hashes, a description and a notebook for each page, and what programs take along. MkDocs reads the settings and the pages, and
builds nothing. Whoever hooks into MkDocs' own build instead (it executes the labs) is not asked.
"""

import re
from pathlib import Path

from mkdocs.config import load_config
from mkdocs.structure.files import get_files
from mkdocs.structure.nav import get_navigation

from derivations.kernel.errors import KernelError
from derivations.kernel.site import content_policy_hook, reference_css_hook, search_index, site_exports_hook

_ABOUT = re.compile(r'(<meta (?:name="description"|property="og:description") content=")[^"]*(")')
_END = re.compile(r'(?:\s*<p class="printed">[^<]*</p>)?\s*</article>')


def finish(site: Path, settings: Path) -> list[str]:
    """Finishes a built site; returns the addresses of pages that it lacks.

    KernelError if no page of the settings is there: then it is no build of them.
    """
    config = load_config(str(settings), site_dir=str(site))
    files = get_files(config)
    nav = get_navigation(files, config)
    content_policy_hook.on_config(config)
    site_exports_hook.on_config(config)
    for file in files.documentation_pages():
        if file.src_uri.endswith(".md"):
            file.page.read_source(config)
            site_exports_hook.on_page_markdown(file.page.markdown, page=file.page, config=config)
    site_exports_hook.on_nav(nav, files=files, config=config)
    lacking = [page.url for page in site_exports_hook.KEPT["pages"] if not (site / page.file.dest_uri).is_file()]
    if len(lacking) == len(site_exports_hook.KEPT["pages"]):
        raise KernelError(f"{site} holds no page of {settings.name}: build the site first, and name the folder that the build wrote")
    for page in site_exports_hook.KEPT["pages"]:
        if page.url not in lacking:
            one = site / page.file.dest_uri
            one.write_text(finished(one.read_text(encoding="utf-8"), page, config), encoding="utf-8")
    site_exports_hook.on_post_build(config=config)
    reference_css_hook.write(site)
    search_index.write(site)
    return lacking


def finished(html: str, page, config) -> str:
    """A page with its own description, the link to its notebook, and a policy that names its scripts."""
    if said := page.meta.get("description"):
        html = _ABOUT.sub(lambda found: f"{found[1]}{said}{found[2]}", html)
    end = None if site_exports_hook.LINK in html else _END.search(html)
    if end:
        html = html[: end.start()] + site_exports_hook.on_page_content("", page=page, config=config) + html[end.start() :]
    return content_policy_hook.on_post_page(html)
