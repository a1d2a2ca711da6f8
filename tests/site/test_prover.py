"""Tests of the buttons that prove a claim again in the reader's browser: the kernel there answers as the build does, and it can be stopped.

They need what `make prover` fetches.
"""

import json
import re
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from derivations.kernel.site import prover_files

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
    assert not any("/assets/prover/" in address or "/js/prover/" in address for address in browser.requested)
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


def test_an_open_page_needs_no_connection_after_the_first_press(browse, fetched):
    browser = browse("softmax/jacobian/")
    press(browser, "backward")
    browser.until(f"{SAID}?.length === 2")
    browser.offline(True)
    try:
        browser.page.locator("#backward .prove__button").click()  # closes the panel
        press(browser, "trace")
        browser.until(f"{SAID}?.length === 2")
    finally:
        browser.offline(False)


@pytest.mark.parametrize("lacking, said", [("Worker", "has no workers"), ("WebAssembly", "has no WebAssembly")])
def test_a_browser_that_cannot_says_so(browse, fetched, lacking, said):
    browser = browse("softmax/jacobian/")
    browser.run(f"delete globalThis.{lacking}; 0")
    press(browser, "backward")
    browser.until(f"({PANEL})?.querySelector('.prove__status').textContent.includes('{said}')")
