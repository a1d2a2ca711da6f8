"""Following a proof: a claim names what it uses and what computes it; a link shows what it leads to; a claim copies as LaTeX and as a link.

What the scripts do is tried in a browser, on two small pages under the site's own policy."""

import functools
import http.server
import json
import queue
import re
import subprocess
import threading
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

ROOT = Path(__file__).parents[2]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
CLAIM = "/// claim | scaling/variance#{}\n///\n"
SCRIPTS = ("preview.js", "copy.js")


def used(html, name):
    section = BeautifulSoup(html, "html.parser").find(id=name)
    return [link.text for link in section.select(".claim__uses a")]


# What a claim says it uses ------------------------------------------------------------------------------------------------------------


def test_a_claim_of_the_same_page_is_used_by_its_number_and_title(page):
    html = page("/// derivation | scaling/variance\n///\n", name="scaling/variance.md")
    assert used(html, "mean") == ["(1) A score"]
    assert used(html, "variance") == ["(2) The mean is zero", "The scores are a bilinear form"]


def test_numbers_count_what_stands_on_the_page_in_its_order(page):
    html = page(CLAIM.format("variance") + "\n" + CLAIM.format("bound") + "\n" + CLAIM.format("mean"), name="scaling/variance.md")
    assert used(html, "variance")[0] == "(3) The mean is zero"
    shown = BeautifulSoup(html, "html.parser").find(id="mean")
    assert shown.select_one(".claim__number").text == "(3)"


def test_a_claim_of_another_page_is_used_by_that_pages_title_and_its_own(page, tmp_path):
    other = tmp_path / "docs/simplify/bilinear.md"
    other.parent.mkdir(parents=True)
    other.write_text("# Circuits of $Q$ & <b>more</b>\n\nText.\n")
    html = page(CLAIM.format("variance"), name="scaling/variance.md")
    assert used(html, "variance") == ["The mean is zero", "Circuits of Q & <b>more</b>, The scores are a bilinear form"]


def test_a_certificate_that_is_not_there_leaves_the_name(page, certificates):
    del certificates["simplify/bilinear"]
    assert used(page(CLAIM.format("variance"), name="scaling/variance.md"), "variance")[1] == "merged"


def test_a_claim_names_what_computes_it_and_links_to_the_file_where_a_page_shows_it(page, certificates, tmp_path):
    one = certificates["scaling/variance"]["claims"][1]
    one["code"] = ["snippets.scaling.variance.dot", "snippets.simplify.bilinear.merged", "snippets.chapter.none.f<"]
    (tmp_path / "docs/simplify").mkdir(parents=True)
    (tmp_path / "docs/simplify/bilinear.md").write_text("# Circuits\n")
    html = BeautifulSoup(page(CLAIM.format("mean"), name="scaling/variance.md"), "html.parser")
    links = [(link.text.strip(), link.get("href")) for link in html.select(".claim__code li > *")]
    assert links == [
        ("dot", "#file-scaling-variance"),
        ("merged", "../simplify/bilinear.md#file-simplify-bilinear"),
        ("f<", None),
    ]


def test_a_claim_carries_its_latex_as_data(page, certificates):
    claim = certificates["scaling/variance"]["claims"][3]
    claim["steps"][0]["latex"] = r'\frac{1}{4} \text{"<b>"}'
    html = BeautifulSoup(page("/// derivation | scaling/variance\n///\n"), "html.parser")
    found = {section["id"]: section.select_one(".claim__base")["data-latex"] for section in html.select("section.claim")}
    assert found["bound"] == r'p(1-p) \le \frac{1}{4} \text{"<b>"}'
    assert found["mean"].split("\n")[2] == r"&= 0" and found["mean"].startswith("\\begin{aligned}\n\\operatorname{E}[q\\cdot k] &= ")


def test_a_term_of_a_list_has_an_id_unless_it_says_one_and_no_two_have_the_same():
    import markdown

    from derivations.kernel import pages

    text = "# Softmax\n\nsoftmax\n:   One.\n\nKV cache (cache)\n:   Two.\n\nother { #mine }\n:   Three.\n"
    html = BeautifulSoup(markdown.markdown(text, extensions=["attr_list", "def_list", "toc", pages.makeExtension()]), "html.parser")
    assert [term.get("id") for term in html.select("dt")] == [None, "kv-cache", "mine"]  # a heading has the first one's


# In a browser -------------------------------------------------------------------------------------------------------------------------

# Looks at a page from outside of it, step by step, and sends what it saw.
DRIVER = """<!doctype html><iframe id="f" width="900" height="700"></iframe><script>
(async () => {
  const saw = {}, pause = ms => new Promise(done => setTimeout(done, ms));
  const until = async what => { for (let k = 0; k < 3000 && !what(); k++) await pause(10); return what(); };
  await new Promise(done => { f.onload = done; f.src = 'one.html'; });
  const inner = f.contentDocument, view = f.contentWindow, $ = one => inner.querySelector(one);
  await until(() => $('.preview') && $('.take__button'));
  const box = $('.preview'), fetched = () => view.performance.getEntriesByType('resource').filter(one => one.name.includes('two.html')).length;
  const point = (at, type, pointerType = 'mouse') => at.dispatchEvent(new view.PointerEvent(type, {bubbles: true, pointerType}));
  const press = key => inner.activeElement.dispatchEvent(new view.KeyboardEvent('keydown', {key, bubbles: true}));
  const link = id => $(`article p a[href$="#${id}"]`);
  saw.before = [fetched(), box.hidden];

  const later = view.setTimeout;
  let planned = 0;
  view.setTimeout = () => ++planned;
  point(link('far'), 'pointerover', 'touch');
  const touched = planned;
  point(link('far'), 'pointerover');
  saw.planned = [touched, planned];
  view.setTimeout = later;
  point(link('far'), 'pointerover');
  await until(() => !box.hidden);
  saw.hovered = [box.textContent.replace(/\\s+/g, ' ').trim(), fetched(), link('far').getAttribute('aria-describedby')];
  point(box, 'pointerover');
  press('Escape');
  saw.escaped = [box.hidden, link('far').getAttribute('aria-describedby')];

  link('mean').focus();
  await until(() => !box.hidden);
  saw.focused = {
    text: box.querySelector('.claim__title').textContent.trim(),
    math: box.querySelectorAll('math').length, ids: box.querySelectorAll('[id]').length,
    taken: box.querySelectorAll('a, button, details, summary, script, .claim__base, .claim__uses').length,
    assuming: box.querySelector('.claim__assumptions li').textContent.trim(), role: box.getAttribute('role'),
    original: inner.querySelectorAll('#mean').length,
  };
  link('mean').blur();
  saw.left = box.hidden;

  link('folded').focus();
  await until(() => !box.hidden);
  saw.folded = box.querySelectorAll('.claim__right').length;
  link('heading').focus();
  await pause(0);
  saw.heading = box.hidden;
  link('term').focus();
  await until(() => !box.hidden);
  saw.term = [box.textContent.replace(/\\s+/g, ' ').trim(), fetched()];
  inner.activeElement.blur();

  let copied = '';
  Object.defineProperty(view.navigator, 'clipboard', {value: {writeText: async text => { if (text === refuse) throw 1; copied = text; }}});
  let refuse = null;
  const [latex, address] = $('#mean').querySelectorAll('.take__button');
  saw.names = [latex, address].map(one => one.getAttribute('aria-label'));
  latex.click();
  await until(() => latex.textContent !== 'LaTeX');
  saw.latex = [copied === $('#mean .claim__base').dataset.latex, latex.textContent, $('[role=status]').textContent];
  address.click();
  await until(() => address.textContent !== 'Link');
  saw.address = copied.split('/').pop();
  await until(() => latex.textContent === 'LaTeX');
  refuse = $('#mean .claim__base').dataset.latex;
  latex.click();
  await until(() => latex.textContent !== 'LaTeX');
  saw.denied = [latex.textContent, $('[role=status]').textContent];
  await fetch('saw', {method: 'POST', body: JSON.stringify(saw)});
})();</script>"""

PAGE = """<!doctype html><html><head>{policy}<link rel="stylesheet" href="site.css"><link rel="stylesheet" href="following.css"></head>
<body data-md-color-scheme="default"><article class="md-content md-typeset">{html}</article>{scripts}</body></html>"""
LINKS = (
    "[far](two.html#far) [mean](#mean) [folded](#variance) [heading](#heading) [term](two.html#term)\n\n# Heading\n\n".replace(
        "#variance", "two.html#folded"
    )
    + "/// derivation | scaling/variance\n///\n"
)
TWO = """<article><dl><dt id="far">Far (2020)</dt><dd><p id="x">Who <a href="y">wrote</a> it.</p><script>window.ran = 1</script></dd><dd>What it says.</dd>
<dt id="term">a term</dt><dd>Its words.</dd></dl><section class="claim claim--routine" id="folded"><details class="claim__folded">
<summary class="claim__head"><span class="claim__title">Folded</span></summary><div class="claim__right">a</div><div class="claim__base">b</div>
</details></section></article>"""


@pytest.fixture
def driven(page, tmp_path, program):
    """What the driver saw of two small pages."""
    browser, told, site = program(*BROWSERS), queue.Queue(), tmp_path / "site"
    site.mkdir()
    policy = re.search(r"<meta http-equiv[^>]*>", (ROOT / "derivations/kernel/pages/theme/main.html").read_text())[0].replace(
        " 'unsafe-inline'; style", "; style"
    )
    scripts = "".join(f'<script type="module" src="{name}"></script>' for name in SCRIPTS)
    html = page(LINKS, name="scaling/variance.md")
    (site / "one.html").write_text(PAGE.format(policy=policy, html=html, scripts=scripts), encoding="utf-8")
    (site / "two.html").write_text(PAGE.format(policy=policy, html=TWO, scripts=""), encoding="utf-8")
    for name in (*(f"js/{one}" for one in SCRIPTS), "css/site.css", "css/following.css"):
        (site / Path(name).name).write_bytes((ROOT / "docs/assets" / name).read_bytes())
    (site / "driver.html").write_text(DRIVER, encoding="utf-8")

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_POST(self):
            told.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=site))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", f"--user-data-dir={tmp_path / 'browser'}"]
    options += ["--remote-debugging-port=0", "--disable-background-networking"]
    address = f"http://127.0.0.1:{server.server_address[1]}/driver.html"
    running = subprocess.Popen([browser, *options, address], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield told.get(timeout=600)
    finally:
        running.terminate()
        running.wait()
        server.shutdown()
        server.server_close()
        thread.join()


def test_a_link_shows_what_it_leads_to_and_a_claim_is_copied(driven):
    assert driven["before"] == [0, True]
    assert driven["planned"] == [0, 1]  # by a finger, and by a pointer
    assert driven["hovered"] == ["Far (2020)Who wrote it.What it says.", 1, "preview"]
    assert driven["escaped"] == [True, None]
    focused = driven["focused"]
    assert focused["text"] == "The mean is zero" and focused["math"] > 3 and focused["role"] == "tooltip"
    assert (focused["ids"], focused["taken"], focused["original"]) == (0, 0, 1)
    assert focused["assuming"] == "the entries of q and k are independent of one another"
    assert driven["left"] and driven["heading"]
    assert driven["folded"] == 1
    assert driven["term"] == ["a termIts words.", 1]  # the page was fetched once for all three
    assert driven["names"] == ["Copy this claim as LaTeX, (2)", "Copy a link to this claim, (2)"]
    assert driven["latex"] == [True, "Copied", "LaTeX: copied"]
    assert driven["address"] == "one.html#mean"
    assert driven["denied"] == ["Not copied", "LaTeX: not copied"]


def test_the_scripts_are_small_and_none_writes_markup():
    for name in SCRIPTS:
        text = (ROOT / "docs/assets/js" / name).read_text(encoding="utf-8")
        assert len(text) < 8000 and not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", text), name


# On paper -------------------------------------------------------------------------------------------------------------------------------


def test_each_colour_of_the_dark_scheme_has_another_on_paper():
    css = {name: (ROOT / f"docs/assets/css/{name}.css").read_text(encoding="utf-8") for name in ("site", "following")}
    dark = re.search(r'\[data-md-color-scheme="slate"\] \{(.*?)\}', css["site"], flags=re.S)[1]
    paper = re.search(r"@media print \{.*?\[data-md-color-scheme\] \{(.*?)\}", css["following"], flags=re.S)[1]
    assert set(re.findall(r"--([\w-]+):", dark)) - set(re.findall(r"--([\w-]+):", paper)) == set()
