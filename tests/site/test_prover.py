"""Tests of the buttons that prove a claim again in the reader's browser: the kernel there answers as the build does, and it can be stopped.

They need what `make prover` fetches.
"""

import json
import os
import re
import shutil
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from derivations.kernel.browser import prover, text_edits
from derivations.kernel.site import prover_files
from derivations.kernel.store import certificates
from tests.kernel.browser.texts import SCRIPT, check, exact_verdicts, script_of

ROOT = Path(__file__).parents[2]

# The files ------------------------------------------------------------------------------------------------------------------


def test_packed_rooms_are_the_tree_and_equal_each_time():
    packed = prover_files.pack_rooms(("core", "browser"), True)
    assert packed == prover_files.pack_rooms(("core", "browser"), True)
    with zipfile.ZipFile(BytesIO(packed)) as made:
        for name in ("derivations/kernel/__init__.py", "derivations/kernel/core/claims.py", "derivations/kernel/browser/prover.py"):
            assert made.read(name) == (ROOT / name).read_bytes()


def test_a_build_without_python_for_browsers_says_what_it_leaves_out(monkeypatch, tmp_path):
    monkeypatch.setattr(prover_files, "SOURCE", tmp_path)
    assert "`make prover` fetches it" in prover_files.describe_missing()


@pytest.fixture(scope="session")
def fetched():
    """Skip the test if what `make prover` fetches is not here; in CI, fail."""
    if missing := prover_files.describe_missing():
        if os.environ.get("CI") == "true":
            pytest.fail(f"{missing}, and CI requires it", pytrace=False)
        pytest.skip(f"NOT TESTED: {missing}")


def test_versions_fit_each_other(fetched):
    """Those of Pyodide, of the wheels, and of what the wheels are made for: package.json has them, and requirements.txt those of FLINT and SymPy."""
    settings = json.loads((ROOT / ".ci/prover/package.json").read_text())["config"]
    pyodide = prover_files.SOURCE / "node_modules" / "pyodide"
    info = json.loads((pyodide / "pyodide-lock.json").read_text())["info"]
    assert info["python"].startswith(settings["python"] + ".") and settings["abi"] == "cp" + settings["python"].replace(".", "")
    assert settings["platform"] == f"pyemscripten_{info['abi_version']}_wasm32"
    pins = dict(re.findall(r"^([\w.-]+)==(\S+)", (ROOT / "requirements.txt").read_text(), re.M))
    wheels = {path.name for path in (prover_files.SOURCE / "wheels").iterdir()}
    assert f"python_flint-{pins['python-flint']}-{settings['abi']}-{settings['abi']}-{settings['platform']}.whl" in wheels
    assert {f"sympy-{pins['sympy']}-py3-none-any.whl", f"mpmath-{pins['mpmath']}-py3-none-any.whl"} < wheels


def test_licences_stand_beside_what_is_shipped(fetched):
    licences = prover_files._read_licences()
    assert any("Lesser" in text.decode() or "LESSER" in text.decode() for text in licences.values())
    for package in ("python_flint", "sympy", "mpmath", "temml", "@codemirror/view"):
        assert any(name.startswith(f"{package}/") for name in licences), package
    assert all((ROOT / "docs/assets" / name).is_file() for name in re.findall(r"\.\./([\w.-]+\.txt)", prover_files.NOTICE))


# In a browser ---------------------------------------------------------------------------------------------------------------

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
        found = ask(blank, topic, script_of(topic))
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
        found = ask(blank, topic, text, ids=[id])
        here = prover.check_text(str(tmp_path / f"{topic}.py"), text, ids=[id])
        assert answers(found) == answers(here), (topic, id)
        rejected += any(one["verdict"] == "rejected" for one in here["claims"]) or here["problem"] is not None
    assert rejected > 250


# On the pages ---------------------------------------------------------------------------------------------------------------

CLAIMS = {  # pages of different kinds, with a claim that is not folded
    "scaling/variance/": "scaled",
    "softmax/jacobian/": "backward",
    "wrong/": None,
    "positions/rope/": None,
    "serving/speculative/": None,
}
PANEL = "[...document.querySelectorAll('.prove')].find((panel) => !panel.hidden)"
SAID = f"({PANEL})?.querySelectorAll('.prove__rows dd')"


def press(browser, claim=None):
    place = f"#{claim} .prove__button" if claim else ".claim:not(.claim--definition) .prove__button:visible"
    browser.page.locator(place).first.click()


@pytest.mark.parametrize("page", CLAIMS)
def test_button_shows_the_verdict_here_beside_that_of_the_build(browse, fetched, page):
    browser = browse(page)
    assert not any("/prover/" in address for address in browser.requested)
    press(browser, CLAIMS[page])
    browser.until(f"{SAID}?.length === 2")
    here, built = browser.run(f"[...{SAID}].map((row) => row.querySelector('.claim__verdict').textContent)")
    assert here.startswith(f"{built} · ") and re.search(r"\d m?s$", here)
    said = browser.run(f"({PANEL}).querySelector('.prove__status').textContent")
    assert said.startswith("The exact witness says, on your device: ") and browser.errors == []


def test_a_page_is_proved_again_as_a_whole(browse, fetched):
    browser = browse("softmax/jacobian/")
    press(browser)
    browser.until(f"{SAID}?.length === 2")
    browser.page.get_by_role("button", name="Prove this whole page").click()
    browser.until(f"/says of (each )?of the/.test(({PANEL}).querySelector('.prove__status').textContent.replace('each of', 'each of'))")
    said = browser.run(f"({PANEL}).querySelector('.prove__status').textContent")
    count = browser.run("new Set([...document.querySelectorAll('.claim__base')].map((base) => base.dataset.claim)).size")
    assert f"of each of the {count} claims on this page what it said in the build" in said


def test_a_changed_claim_is_rejected_with_formulas_by_keyboard_alone(browse, fetched):
    browser = browse("softmax/jacobian/")
    browser.page.locator("#backward .prove__button").focus()
    browser.press("Enter")
    browser.until(f"{SAID}?.length === 2")
    browser.page.locator("#backward").get_by_role("button", name="Change it").focus()
    browser.press("Enter")
    browser.until("document.querySelector('.cm-content')?.contains(document.activeElement)")
    browser.press("Tab")
    assert browser.run("document.activeElement.textContent") == "Check it"
    browser.page.locator("#backward").get_by_role("button", name="Flip a sign").focus()
    browser.press("Enter")
    browser.until("document.querySelectorAll('.prove__found math').length >= 5")
    assert "rejects it" in browser.run("document.querySelector('.prove__change .prove__status').textContent")
    values = browser.run("[...document.querySelectorAll('.prove__found dd')].map((row) => row.textContent)")
    assert [value.strip() for value in values[1:]] == ["0", "2"]
    browser.page.get_by_role("button", name="Restore").click()
    browser.page.get_by_role("button", name="Check it").click()
    browser.until("document.querySelector('.prove__change .prove__status').dataset.verdict === 'proved'")
    assert browser.audit() == [] and browser.errors == []


def test_what_is_typed_is_completed_from_the_language(browse, fetched):
    browser = browse("softmax/jacobian/")
    browser.page.locator("#backward .prove__button").click()
    browser.until(f"{SAID}?.length === 2")
    browser.page.locator("#backward").get_by_role("button", name="Change it").click()
    browser.until("document.querySelector('.cm-content')?.contains(document.activeElement)")
    browser.page.keyboard.type("softm")
    browser.until("document.querySelector('.cm-tooltip-autocomplete')?.textContent.includes('softmax')")


def test_it_works_without_a_connection_after_the_first_time(browse, fetched):
    browser = browse("softmax/jacobian/")
    press(browser, "backward")
    browser.until(f"{SAID}?.length === 2")
    browser.offline(True)
    try:
        browser.run('import("/assets/js/prover/ask.js").then((module) => module.stop())')  # the next press starts Python anew
        press(browser, "backward")
        press(browser, "backward")
        browser.until(f"{SAID}?.length === 2")
    finally:
        browser.offline(False)


@pytest.mark.parametrize("lacking, said", [("Worker", "has no workers"), ("WebAssembly", "has no WebAssembly")])
def test_a_browser_that_cannot_says_so(browse, fetched, lacking, said):
    browser = browse("softmax/jacobian/")
    browser.run(f"delete globalThis.{lacking}; 0")
    press(browser, "backward")
    browser.until(f"({PANEL})?.querySelector('.prove__status').textContent.includes('{said}')")
