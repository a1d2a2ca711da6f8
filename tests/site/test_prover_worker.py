"""Tests of the worker in which the kernel runs in a reader's browser: it answers as the kernel does here, and it can be stopped.

They need what `make prover` fetches.
"""

import json
import re
import shutil
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from derivations.kernel.browser import prover, text_edits
from derivations.kernel.site import prover_files
from derivations.kernel.store import certificates
from tests.kernel.browser.texts import SCRIPT, check, exact_verdicts, script_of

ROOT = Path(__file__).parents[2]

ASK = """async ([name, arguments_]) => {
  const asking = await import("/assets/js/prover/ask.js");
  return asking[name](...arguments_);
}"""


@pytest.fixture(scope="module")
def worker_site(once, fetched):
    """Return a folder with only the scripts and the prover's files of the site."""

    def into(folder):
        shutil.copytree(ROOT / "docs/assets/js", folder / "assets/js")
        prover_files.write(folder)
        (folder / "index.html").write_text("<!doctype html><title>The prover</title>")
        return folder

    return once("prover", into)


@pytest.fixture(scope="module")
def blank(worker_site, chromium, crawler):
    """Yield a page of a browser in which questions can be asked."""
    with crawler.served(worker_site) as address, chromium() as browser:
        browser.open(address)
        yield browser.page


def ask(page, topic, text, **wanted):
    return page.evaluate(ASK, ["check", [{"topic": topic, "text": text, **wanted}]])


@contextmanager
def served_with_policy(folder, policy):
    """Yield the address of a server that sends a policy with each file."""

    class Handler(SimpleHTTPRequestHandler):
        def end_headers(self):
            self.send_header("Content-Security-Policy", policy)
            super().end_headers()

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=folder)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.mark.parametrize("more, failed", [(" 'wasm-unsafe-eval'", None), ("", "policy")])
def test_a_policy_in_a_header_must_allow_webassembly(worker_site, chromium, more, failed):
    policy = f"default-src 'none'; connect-src 'self'; worker-src 'self'; script-src 'self'{more}"
    with served_with_policy(worker_site, policy) as address, chromium() as browser:
        browser.open(address)
        found = ask(browser.page, "chapter/topic", SCRIPT, ids=["mean"])
    assert found.get("failed") == failed and (failed or found["claims"][0]["verdict"] == "proved")


TRUE_EDITS = [  # of SCRIPT: each keeps all claims true
    ("(a + b) ** 2", "(b + a) ** 2"),
    ("a**2 + 2 * a * b + b**2", "b**2 + a * b + a**2 + b * a"),
    ("(a + b) ** 2, a**2", "(a + b) * (a + b), a**2"),
    ("2 * a * b, a**2 + b**2", "a * b + b * a, a**2 + b**2"),
    ("because=(a - b) ** 2", "because=(b - a) ** 2"),
    ("W.T @ X.T", "(1 * W.T) @ X.T"),
    ("(X @ W).T, W.T @ X.T", "(X @ W).T.T, X @ W * 1"),
    ("/ sqrt(d) * sqrt(d)", "* sqrt(d) / sqrt(d)"),
    ("/ sqrt(d) * sqrt(d)", "/ d * d"),
    ("(a + b) ** 2, a**2 + 2 * a * b + b**2", "(a - b) ** 2, a**2 - 2 * a * b + b**2"),
]
FALSE_EDITS = [
    ("+ 2 * a * b + b**2", "- 2 * a * b + b**2"),
    ("(a + b) ** 2", "(a + b) ** 3"),
    ("2 * a * b + b**2", "a * b + b**2"),
    ("W.T @ X.T", "2 * W.T @ X.T"),
    ("(X @ W).T, W.T @ X.T", "(X @ W).T, (X @ W.T).T"),
    ("/ sqrt(d) * sqrt(d)", "* sqrt(d)"),
    ("/ sqrt(d) * sqrt(d)", "/ d * sqrt(d)"),
    ("X @ W, title='A scale'".replace("'", '"'), 'X @ W.T, title="A scale"'),
    ("2 * a * b, a**2 + b**2, because=(a - b) ** 2", "3 * a * b, a**2 + b**2, because=(a - b) ** 2"),
    ("b**2, because=(a - b) ** 2", "b**2, because=(a + b) ** 2"),
]


def answers(found):
    return [(one["id"], one["verdict"], one["scope"], one["note"], one["message"]) for one in found["claims"]], found["problem"]


def test_edits_get_the_answers_that_the_kernel_gives_here(blank, tmp_path):
    for edits, is_true in ((TRUE_EDITS, True), (FALSE_EDITS, False)):
        for old, new in edits:
            text = SCRIPT.replace(old, new, 1)
            assert text != SCRIPT, old
            found = ask(blank, "chapter/topic", text)
            assert answers(found) == answers(check(tmp_path, text)), new
            assert all(one["verdict"] == "proved" for one in found["claims"]) == is_true, (new, found)


def test_another_topic_and_sympy_are_answered(blank):
    topic = "scaling/variance"  # its script imports SymPy
    found = ask(blank, topic, script_of(topic), ids=["scaled"])
    assert found["claims"][0]["verdict"] == "proved" and found["claims"][0]["scope"] == "every shape"
    found = ask(blank, topic, script_of(topic), ids=["scaled"], witness="sympy")
    record = next(one for one in certificates.load(topic)["claims"] if one["id"] == "scaled")
    sympy = next(w for w in record["witnesses"] if w["name"] == "sympy")
    assert (found["claims"][0]["verdict"], found["claims"][0]["scope"]) == (sympy["verdict"], sympy["scope"])
    assert found["claims"][0]["source"] == sympy["source"]


@pytest.mark.parametrize(
    "planted, failed",
    [
        ("while True: pass\n", ("slow",)),
        ("held = []\nwhile True: held.append(bytes(2**24))\n", ("slow", "compute", "broken", "stopped")),
    ],
    ids=["endless", "memory"],
)
def test_a_script_that_loops_or_grows_is_stopped_and_the_page_goes_on(blank, planted, failed):
    """The page's own timer goes on all the time, and the next question is answered."""
    blank.evaluate(ASK, ["check", [{"topic": "chapter/topic", "text": SCRIPT}]])  # Python has started
    said = blank.evaluate(
        """async ([text]) => {
          const asking = await import("/assets/js/prover/ask.js");
          let ticks = 0;
          const timer = setInterval(() => ticks++, 10);
          const said = await asking.check({topic: "chapter/topic", text});
          clearInterval(timer);
          const next = await asking.check({topic: "chapter/topic", text: text.split("#")[0]});
          return {said, ticks, next};
        }""",
        [SCRIPT + "#\n" + planted],
    )
    assert said["said"].get("failed") in failed or "MemoryError" in str(said["said"]), said["said"]
    assert said["ticks"] > 20
    assert [one["verdict"] for one in said["next"]["claims"]] == ["proved"] * 4


def test_deep_nesting_is_an_answer(blank):
    deep = SCRIPT + "x = a\nfor _ in range(20000): x = exp(x)\nderivation.identity('deep', x, x + 0)\n"
    found = ask(blank, "chapter/topic", deep)
    text = json.dumps(found)
    assert "RecursionError" in text or "nested too deeply" in text or found.get("failed") == "broken", found
    assert ask(blank, "chapter/topic", SCRIPT, ids=["mean"])["claims"][0]["verdict"] == "proved"


@pytest.mark.slow
def test_every_claim_gets_the_verdict_of_the_build(blank):
    other, count = [], 0
    for topic in certificates.topics():
        found = ask(blank, topic, script_of(topic), limit=False)
        assert found.get("problem") is None and "claims" in found, (topic, found)
        expected = exact_verdicts(topic)
        lines = {one["id"]: one["line"] for one in certificates.load(topic)["claims"]}
        count += len(found["claims"])
        for one in found["claims"]:
            built = expected[one["id"]]
            if (one["verdict"], one["scope"], one["note"], one["line"]) != (
                built["verdict"],
                built["scope"],
                built["note"],
                lines[one["id"]],
            ):
                other.append((topic, one, built))
    assert other == [] and count == sum(len(certificates.load(topic)["claims"]) for topic in certificates.topics())


@pytest.mark.slow
def test_five_hundred_changed_claims_get_the_same_answers(blank, tmp_path):
    """Changes to the text of claims, at even distances among those of all topics."""
    edits = []
    for topic in certificates.topics():
        text = script_of(topic)
        for id in re.findall(r'derivation\.\w+\(\s*"([\w-]+)"', text):
            edits += [(topic, id, text[: e["start"]] + e["new"] + text[e["end"] :]) for e in text_edits.propose_edits(text, id)]
    chosen = edits[:: len(edits) // 500][:500]
    assert len(chosen) == 500
    rejected = 0
    for topic, id, text in chosen:
        found = ask(blank, topic, text, ids=[id], limit=False)
        here = prover.check_text(str(tmp_path / f"{topic}.py"), text, ids=[id])
        assert answers(found) == answers(here), (topic, id)
        rejected += any(one["verdict"] == "rejected" for one in here["claims"]) or here["problem"] is not None
    assert rejected > 250
