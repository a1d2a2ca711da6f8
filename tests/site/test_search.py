"""What people search for leads to its page: each word of the glossary, by the site's own search in a browser."""

import functools
import http.server
import json
import posixpath
import queue
import re
import subprocess
import threading
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FIRST, WORDS = 3, 60  # among so many hits; how many words there are at least

# A page that types each word into the site's search and sends what it finds.
DRIVER = """<!doctype html><iframe id="f" width="1300" height="900"></iframe><script>
(async () => {
  const found = {}, pause = ms => new Promise(done => setTimeout(done, ms));
  await new Promise(done => { f.onload = done; f.src = 'index.html'; });
  const inner = f.contentDocument, query = inner.querySelector('[data-md-component=search-query]');
  const list = inner.querySelector('.md-search-result__list');
  const type = async (word, ready) => {
    query.value = word;
    query.dispatchEvent(new KeyboardEvent('keyup', {bubbles: true}));
    for (let k = 0; k < 1000 && !ready(); k++) await pause(10);
  };
  query.focus();
  for (const word of WORDS) {
    await type('', () => !list.children.length);
    await type(word, () => list.children.length);
    found[word] = [...list.children].map(hit => new URL(hit.querySelector('a').href).pathname);
  }
  await fetch('found', {method: 'POST', body: JSON.stringify(found)});
})();</script>"""


def glossary():
    """Each word, and the page that its entry leads to."""
    text = (ROOT / "docs/glossary.md").read_text(encoding="utf-8")
    found = {}
    for word, entry in re.findall(r"^(\S.*)\n:   (.*)$", text, flags=re.M):
        page = re.search(r"\]\(([\w/-]+)\.md\)", entry)[1]
        name, _, others = word.partition(" (")
        found |= {one: page for one in (name, *filter(None, others.rstrip(")").split(", ")))}
    return found


@pytest.fixture
def search(built, program):
    """A function that says of each word which pages the site's search finds, best first."""
    browser, told = program(*BROWSERS), queue.Queue()

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_GET(self):
            if self.path != "/driver.html":
                return super().do_GET()
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(DRIVER.replace("WORDS", json.dumps(asked)).encode())

        def do_POST(self):
            told.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

    asked: list = []
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=built))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()

    def search(words, folder):
        asked[:] = words
        options = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--remote-debugging-port=0",
            f"--user-data-dir={folder}",
        ]
        address = f"http://127.0.0.1:{server.server_address[1]}/driver.html"
        running = subprocess.Popen([browser, *options, address], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            return told.get(timeout=600)
        finally:
            running.terminate()
            running.wait()

    yield search
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_word_of_the_glossary_leads_to_its_page(search, tmp_path):
    words = glossary()
    assert len(words) >= WORDS
    hits = search([*words, "qqqqqq"], tmp_path / "browser")
    assert hits.pop("qqqqqq") == []  # which is how a word without a page would look
    missed = {word: (page, hits[word][:5]) for word, page in words.items() if f"/{page}/" not in hits[word][:FIRST]}
    assert missed == {}


def test_the_glossary_is_in_order_and_calls_pages_what_they_call_themselves():
    text = (ROOT / "docs/glossary.md").read_text(encoding="utf-8")
    names = re.findall(r"^(\S.*)\n:   ", text, flags=re.M)
    assert names == sorted(names, key=str.lower)
    for called, page in re.findall(r"\[([^\]]+)\]\(([\w/-]+\.md)\)", text):
        heading = (ROOT / "docs" / posixpath.normpath(page)).read_text(encoding="utf-8").split("\n", 1)[0]
        assert heading == f"# {called}"
