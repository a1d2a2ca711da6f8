"""MkDocs hook: while `mkdocs serve` runs, a mistake is a box in its place, a round of checks that ends has the pages rebuilt, and the
server outlives whatever stops a build.

`mkdocs build` and all that publishes stay strict: it is the command that decides, and that the pages are built into a folder of the
server's own. Nothing in mkdocs.yml or in the environment is asked.
"""

import logging
import shutil
import tempfile
from pathlib import Path

from jinja2 import BytecodeCache
from watchdog.observers.polling import PollingObserver

from derivations.kernel.site import PageError, incremental_build, lab_hook, page_errors
from derivations.kernel.store import rejections

log = logging.getLogger("mkdocs.derivations")
LOOKS = Path(__file__).with_name("page_errors.css")
CLOSELY = 0.05  # seconds
TELLS = "while it is served, a mistake is a box on its page; `mkdocs build --strict` refuses it"


class Compiled(BytecodeCache):
    """The theme's templates, compiled once for as long as the server runs. A template that changes is compiled again."""

    def __init__(self):
        self.codes: dict[str, bytes] = {}

    def load_bytecode(self, bucket):
        if bucket.key in self.codes:
            bucket.bytecode_from_string(self.codes[bucket.key])

    def dump_bytecode(self, bucket):
        self.codes[bucket.key] = bucket.bytecode_to_string()


compiled = Compiled()


def on_startup(*, command, **_):
    page_errors.shown(tell if command == "serve" else None)


def on_config(config):
    """Whatever was said at the start: what goes into a folder that somebody may publish is strict."""
    if page_errors.are_shown() and not is_the_servers(Path(config.site_dir)):
        page_errors.shown(None)
    return config


def is_the_servers(folder: Path) -> bool:
    """Whether this is the folder that MkDocs makes for serving, and removes afterwards."""
    return folder.parent.resolve() == Path(tempfile.gettempdir()).resolve() and folder.name.startswith("mkdocs_")


def on_shutdown(**_):
    page_errors.shown(None)


def tell(error: PageError) -> None:
    log.warning(error.format_message())


def on_page_read_source(*, page, **_):
    """Bytes that are no text are read as such a mark as the extension refuses, with its line."""
    path = page.file.abs_src_path
    return Path(path).read_text(encoding="utf-8-sig", errors="replace") if path and page.file.src_uri.endswith(".md") else None


def on_page_markdown(markdown, *, config, files, **_):
    if page_errors.are_shown():
        incremental_build.published(files, config)
        incremental_build.begin()
    return markdown


def on_page_content(html, *, page, **_):
    if page_errors.are_shown():
        source = Path(page.file.abs_src_path)
        more = lab_hook.dependencies(source) if page.file.src_uri.startswith(incremental_build.LABS) else []
        incremental_build.end(page.file.src_uri, source, Path(page.file.abs_dest_path), page.url, more)
    return html


def on_env(env, *, files, **_):
    if page_errors.are_shown():
        incremental_build.copy_published(files)
        env.bytecode_cache = compiled
    return env


def on_post_page(output, **_):
    """Only a page with a box carries the look of a box."""
    if not page_errors.are_shown() or 'class="mistake' not in output:
        return output
    return output.replace("</head>", f"<style>{LOOKS.read_text(encoding='utf-8')}</style></head>", 1)


def on_serve(server, *, config, builder):
    if page_errors.are_shown():  # not with --clean, which builds as for readers
        watch_closely(server, rejections.round_file())
        server.builder = outliving(server, incremental_build.Rebuild(config, server.builder), Path(config.site_dir))
    return server


def watch_closely(server, path: Path) -> None:
    """Have the server look at one file more often than at all others, which would be dear: who edits waits for it."""
    usual, close, shutdown = server.observer, PollingObserver(timeout=CLOSELY), server.shutdown
    server.observer = close
    server.watch(str(path))
    server.observer = usual
    close.start()

    def shutdown_all(*arguments, **keywords):
        close.stop()
        shutdown(*arguments, **keywords)

    server.shutdown = shutdown_all


def outliving(server, build, site: Path):
    """The build, of which no error stops the server: until the next one goes well, every address shows the error."""
    usual = server.error_handler

    def build_or_say():
        try:
            build()
        except (Exception, SystemExit) as error:
            said = error.format_message() if isinstance(error, PageError) else f"{type(error).__name__}: {error}"
            log.error(f"not built: {said}")
            for path in site.iterdir() if site.is_dir() else ():  # half a site would pass for a whole one
                shutil.rmtree(path) if path.is_dir() else path.unlink()
            server.error_handler = lambda code: notice(said)
        else:
            server.error_handler = usual

    return build_or_say


def notice(said: str) -> bytes:
    """A page that says what stopped the build, and looks again by itself."""
    looks = LOOKS.read_text(encoding="utf-8")
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f'<meta http-equiv="refresh" content="1"><title>Not built</title><style>{looks}</style></head>'
        f"<body><h1>The site is not built</h1>{page_errors.box(said, 'What stopped it')}</body></html>"
    ).encode()
