"""MkDocs hook for `mkdocs serve`: show mistakes as boxes on the page, rebuild pages after each round of checks, survive failed builds.

`mkdocs build` stays strict. Two things decide: the command, and that the pages are built into the server's temporary folder. No setting in
mkdocs.yml or in the environment can change that.
"""

import logging
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jinja2 import BytecodeCache, Environment
from jinja2.bccache import Bucket
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.livereload import LiveReloadServer
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page
from watchdog.observers.polling import PollingObserver

from derivations.kernel.site import PageError, incremental_build, lab_hook, page_errors
from derivations.kernel.store import rejections

log = logging.getLogger("mkdocs.derivations")
STYLES = Path(__file__).with_name("page_errors.css")
POLL_INTERVAL = 0.05  # seconds


class TemplateCache(BytecodeCache):
    """A cache of the theme's compiled templates that lasts while the server runs. Jinja recompiles a template that changes."""

    def __init__(self) -> None:
        self.codes: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """Fill a bucket from the cache, if its template is there."""
        if bucket.key in self.codes:
            bucket.bytecode_from_string(self.codes[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Store the code of a bucket's template."""
        self.codes[bucket.key] = bucket.bytecode_to_string()


template_cache = TemplateCache()


def on_startup(*, command: str, **_: Any) -> None:
    """Show mistakes as boxes if the site is served."""
    page_errors.show_errors(log_error if command == "serve" else None)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Stop showing mistakes as boxes if the pages go into a folder that could be published."""
    if page_errors.are_shown() and not is_server_folder(Path(config.site_dir)):
        page_errors.show_errors(None)
    return config


def is_server_folder(folder: Path) -> bool:
    """Return whether a folder is the temporary one that MkDocs creates for serving and removes afterwards."""
    return folder.parent.resolve() == Path(tempfile.gettempdir()).resolve() and folder.name.startswith("mkdocs_")


def on_shutdown(**_: Any) -> None:
    """Stop showing mistakes as boxes."""
    page_errors.show_errors(None)


def log_error(error: PageError) -> None:
    """Log an error that is shown as a box."""
    log.warning(error.format_message())


def on_page_read_source(*, page: Page, **_: Any) -> str | None:
    """Return a page's text, with invalid UTF-8 replaced by a character that include_errors.py rejects with its line."""
    path = page.file.abs_src_path
    return Path(path).read_text(encoding="utf-8-sig", errors="replace") if path and page.file.src_uri.endswith(".md") else None


def on_page_markdown(markdown: str, *, config: MkDocsConfig, files: Files, **_: Any) -> str:
    """Begin to record what a served page depends on."""
    if page_errors.are_shown():
        incremental_build.add_published_files(files, config)
        incremental_build.begin_page()
    return markdown


def on_page_content(html: str, *, page: Page, **_: Any) -> str:
    """Store what a served page depends on."""
    if page_errors.are_shown():
        assert page.file.abs_src_path  # pages are files, none is generated
        source = Path(page.file.abs_src_path)
        more = lab_hook.find_dependencies(source) if page.file.src_uri.startswith(incremental_build.LABS) else []
        incremental_build.end_page(page.file.src_uri, source, Path(page.file.abs_dest_path), page.url, more)
    return html


def on_env(env: Environment, *, files: Files, **_: Any) -> Environment:
    """Copy the published files, and cache compiled templates, if the site is served."""
    if page_errors.are_shown():
        incremental_build.copy_published_files(files)
        env.bytecode_cache = template_cache
    return env


def on_post_page(output: str, **_: Any) -> str:
    """Add the styles of boxes to a served page that has a box."""
    if not page_errors.are_shown() or 'class="mistake' not in output:
        return output
    return output.replace("</head>", f"<style>{STYLES.read_text(encoding='utf-8')}</style></head>", 1)


def on_serve(server: LiveReloadServer, *, config: MkDocsConfig, builder: Callable[..., Any]) -> LiveReloadServer:
    """Make the server rebuild after each round of checks and survive failed builds, except with --clean, which builds as for readers."""
    if page_errors.are_shown():
        watch_closely(server, rejections.round_file())
        server.builder = keep_serving(server, incremental_build.Rebuild(config, server.builder), Path(config.site_dir))
    return server


def watch_closely(server: LiveReloadServer, path: Path) -> None:
    """Make the server poll one file at a short interval, because the author waits for it. Polling all files that often would be slow."""
    usual, close, shutdown = server.observer, PollingObserver(timeout=POLL_INTERVAL), server.shutdown
    server.observer = close
    server.watch(str(path))
    server.observer = usual
    close.start()

    def shutdown_all(*arguments: Any, **keywords: Any) -> None:
        close.stop()
        shutdown(*arguments, **keywords)

    server.shutdown = shutdown_all  # type: ignore[method-assign]  # MkDocs has no event for it


def keep_serving(server: LiveReloadServer, build: Callable[[], Any], site: Path) -> Callable[[], None]:
    """Return a build that catches all errors. Until the next build succeeds, every address shows the error."""
    usual = server.error_handler

    def build_or_report() -> None:
        try:
            build()
        except (Exception, SystemExit) as error:
            message = error.format_message() if isinstance(error, PageError) else f"{type(error).__name__}: {error}"
            log.error(f"not built: {message}")
            for path in site.iterdir() if site.is_dir() else ():  # otherwise a partial site would look complete
                shutil.rmtree(path) if path.is_dir() else path.unlink()
            server.error_handler = lambda code: error_page(message)
        else:
            server.error_handler = usual

    return build_or_report


def error_page(message: str) -> bytes:
    """Return an HTML page that says what stopped the build, and reloads itself every second."""
    styles = STYLES.read_text(encoding="utf-8")
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f'<meta http-equiv="refresh" content="1"><title>Not built</title><style>{styles}</style></head>'
        f"<body><h1>The site is not built</h1>{page_errors.render_box(message, 'What stopped it')}</body></html>"
    ).encode()
