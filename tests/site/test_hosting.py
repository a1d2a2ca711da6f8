"""Test the site in a subfolder of a host, served by Python's server and by nginx, including the page for missing addresses."""

import functools
import gzip
import http.server
import json
import os
import re
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
UNDER = "sub/folder/"
PAGES = {
    "index.md": "# Home\n\nWords.\n",
    "chapter/page.md": "# A page\n\nMore words, and $x$.\n",
    "chapter/other.md": "# Another\n\nWords.\n",
}
SETTINGS = """INHERIT: {root}/mkdocs.yml
docs_dir: {docs}
theme: {{name: material, custom_dir: {root}/derivations/kernel/site/theme}}
nav: [{{Home: index.md}}, {{A chapter: [{{A page: chapter/page.md}}, {{Another: chapter/other.md}}]}}]
hooks: {hooks}
watch: []
"""
NGINX = """daemon off; worker_processes 1; pid {temp}/pid; {user}
events {{}}
http {{
  access_log off;
  client_body_temp_path {temp}/1; proxy_temp_path {temp}/2; fastcgi_temp_path {temp}/3; uwsgi_temp_path {temp}/4; scgi_temp_path {temp}/5;
  types {{
    text/html html; text/css css; text/javascript js; application/json json; image/svg+xml svg; font/woff2 woff2; text/plain txt py v md;
    application/xml xml;
  }}
  gzip on; gzip_min_length 256; gzip_types text/css text/javascript application/json image/svg+xml text/plain application/xml;
  server {{
    listen 127.0.0.1:{port};
    location /{under} {{ alias {site}/; error_page 404 /{under}404.html; }}
  }}
}}
"""
TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".json": "application/json", ".svg": "image/svg+xml"}


@pytest.fixture(scope="session")
def small(once):
    """Return the folder of a site of three pages, built for an address with a subfolder."""

    def into(folder):
        for name, text in PAGES.items():
            (folder / "docs" / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / "docs" / name).write_text(text)
        (folder / "docs/assets").symlink_to(ROOT / "docs/assets")
        hooks = [str(ROOT / hook) for hook in re.findall(r"^  - (derivations/.*\.py)$", (ROOT / "mkdocs.yml").read_text(), flags=re.M)]
        (folder / "mkdocs.yml").write_text(SETTINGS.format(root=ROOT, docs=folder / "docs", hooks=json.dumps(hooks)))
        done = subprocess.run(
            [sys.executable, "-m", "mkdocs", "build", "--quiet", "-f", str(folder / "mkdocs.yml"), "-d", str(folder / "site")],
            cwd=ROOT,
            capture_output=True,
            text=True,
            env=os.environ | {"NO_MKDOCS_2_WARNING": "1", "SITE_URL": f"https://example.org/{UNDER}"},
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return folder / "site"

    return once("small-site", into)


class Under(http.server.SimpleHTTPRequestHandler):
    """Serves a folder under the address of a subfolder, and the site's 404.html for missing files."""

    def translate_path(self, path):
        return super().translate_path(path.removeprefix(f"/{UNDER}")) if path.startswith(f"/{UNDER}") else "/nothing"

    def send_error(self, code, message=None, explain=None):
        page = Path(self.directory, "404.html").read_bytes()
        self.send_response(code)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, *_):
        pass


@pytest.fixture
def by_nginx(program, tmp_path):
    """Return a function that makes nginx serve a folder during a block and yields its address."""
    nginx = program("nginx", "/usr/sbin/nginx")

    @contextmanager
    def served(site):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        user = "user root root;" if os.getuid() == 0 else ""  # a folder of the tests is readable only by its owner
        (tmp_path / "nginx.conf").write_text(NGINX.format(temp=tmp_path, user=user, port=port, under=UNDER, site=site))
        command = [nginx, "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf"), "-e", str(tmp_path / "errors")]
        running = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        try:
            while not answers(port):
                assert running.poll() is None, (tmp_path / "errors").read_text()
            yield f"http://127.0.0.1:{port}/{UNDER}"
        finally:
            running.terminate()
            running.wait()

    return served


def answers(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(params=["Python", "nginx"])
def host(request, crawler):
    """Return a function that serves a folder under /sub/folder/ during a block."""
    if request.param == "nginx":
        return request.getfixturevalue("by_nginx")
    return lambda site: crawler.served(site, functools.partial(Under, directory=site), UNDER)


def fetched(address):
    """Return the status, the headers and the content of a file."""
    asked = urllib.request.Request(address, headers={"Accept-Encoding": "gzip"})
    try:
        answer = urllib.request.urlopen(asked)
    except urllib.error.HTTPError as error:
        answer = error
    with answer:
        body = answer.read()
        return answer.status, answer.headers, gzip.decompress(body) if answer.headers["Content-Encoding"] == "gzip" else body


def test_missing_page_is_styled_and_its_links_work(host, small, chromium, crawler):
    with host(small) as site, chromium() as browser:
        for asked in ("none", "none/", "chapter/none/deeper/none.html"):
            status, _, text = fetched(site + asked)
            assert status == 404 and b"Not found" in text
            browser.open(site + asked)
            browser.settle()
            assert [error for error in browser.errors if not error.endswith(f"({site}{asked})")] == []
            assert browser.run("getComputedStyle(document.querySelector('h1')).fontFamily").startswith('"STIX Two Text"')
            assert browser.run("document.querySelector('.md-logo img').naturalWidth") > 0
            links = browser.page.evaluate(crawler.LAYOUT)["links"]
            assert {f"{site}", f"{site}chapter/page/"} <= set(links)
            assert [link for link in links if fetched(link)[0] != 200] == []
            browser.page.click("article a[href]")
            browser.page.wait_for_url(site)


def test_site_in_subfolder_requests_nothing_outside_of_it(host, small, chromium):
    with host(small) as site, chromium() as browser:
        for page in ("", "chapter/page/", "chapter/page"):  # the server adds the slash
            browser.open(site + page)
            browser.settle()
            assert browser.errors == [] and [one for one in browser.requested if not one.startswith((site, "data:"))] == []
        assert browser.page.url == f"{site}chapter/page/"


def test_nginx_serves_correct_types_and_compresses_text(by_nginx, built):
    files = [path for path in built.rglob("*") if path.is_file()]
    with by_nginx(built) as site:
        for path in files:
            status, headers, body = fetched(site + path.relative_to(built).as_posix())
            assert status == 200 and body == path.read_bytes(), path
            if path.suffix in TYPES:
                assert headers["Content-Type"] == TYPES[path.suffix], path
                assert (headers["Content-Encoding"] == "gzip") is (len(body) >= 256), path


def test_widgets_and_search_work_with_nginx(by_nginx, built, chromium):
    with by_nginx(built) as site, chromium() as browser:
        browser.open(f"{site}softmax/temperature/")
        browser.until("document.querySelector('[data-played]')")
        browser.press("/")
        browser.until("document.querySelector('dialog[open]')")
        browser.type("layer norm")
        browser.until("document.querySelector('.find__hit')")
        assert browser.run("document.querySelector('.find__hit').href").startswith(f"{site}around/layernorm/")
        assert browser.errors == []


def test_type_missing_from_nginx_settings_is_detected(by_nginx, tmp_path):
    """A browser does not run a file of an unknown type as a module."""
    (tmp_path / "x.mjs").write_text("0")
    with by_nginx(tmp_path) as site:
        assert fetched(f"{site}x.mjs")[1]["Content-Type"] not in json.dumps(list(TYPES.values()))
        assert fetched(f"{site}none.js")[0] == 404
