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
from derivations.kernel.store import certificates
from tests.kernel.browser.texts import SCRIPT

ROOT = Path(__file__).parents[2]

# The files ------------------------------------------------------------------------------------------------------------------


def test_packed_rooms_are_the_tree_and_equal_each_time():
    packed = prover_files.pack_rooms(("core", "browser"), True)
    assert packed == prover_files.pack_rooms(("core", "browser"), True)
    with zipfile.ZipFile(BytesIO(packed)) as made:
        for name in ("derivations/kernel/__init__.py", "derivations/kernel/core/claims.py", "derivations/kernel/browser/prover.py"):
            assert made.read(name) == (ROOT / name).read_bytes()
        assert {entry.date_time[0] for entry in made.infolist()} == {1980}  # the time of the build would change the file


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
    browser.until(f"{SAID}?.length >= 2")
    here, built = browser.run(f"[...{SAID}].slice(0, 2).map((row) => row.querySelector('.claim__verdict').textContent)")
    assert here.startswith(f"{built} · ") and re.search(r"\d m?s$", here)
    said = browser.run(f"({PANEL}).querySelector('.prove__status').textContent")
    assert said.startswith("The exact witness says, on your device: ") and browser.errors == []


def test_the_code_of_a_claim_is_compared_here(browse, fetched):
    browser = browse("softmax/jacobian/")
    press(browser, "backward")
    browser.until(f"{SAID}?.length === 3")
    verdict, line = browser.run(f"[...[...{SAID}].at(-1).children].map((part) => part.textContent)")
    assert verdict == "computes the left side and the right side" and re.fullmatch(r"softmax/jacobian\.py, line \d+: through_softmax", line)


def test_a_page_is_proved_again_as_a_whole(browse, fetched):
    browser = browse("softmax/jacobian/")
    press(browser)
    browser.until(f"{SAID}?.length >= 2")
    browser.page.get_by_role("button", name="Prove this whole page").click()
    browser.until(f"/says of (each )?of the/.test(({PANEL}).querySelector('.prove__status').textContent.replace('each of', 'each of'))")
    said = browser.run(f"({PANEL}).querySelector('.prove__status').textContent")
    count = browser.run("new Set([...document.querySelectorAll('.claim__base')].map((base) => base.dataset.claim)).size")
    assert f"of each of the {count} claims on this page what it said in the build" in said


def test_a_changed_claim_is_rejected_with_formulas_by_keyboard_alone(browse, fetched):
    browser = browse("softmax/jacobian/")
    browser.page.locator("#backward .prove__button").focus()
    browser.press("Enter")
    browser.until(f"{SAID}?.length >= 2")
    browser.page.locator("#backward").get_by_role("button", name="Change it").focus()
    browser.press("Enter")
    browser.until("document.querySelector('.cm-content')?.contains(document.activeElement)")
    browser.press("Tab")
    assert browser.run("document.activeElement.textContent") == "Check it"
    browser.page.locator("#backward").get_by_role("button", name="Flip a sign").focus()
    browser.press("Enter")
    browser.until("document.querySelectorAll('.prove__found math').length >= 5")
    assert "It is false" in browser.run("document.querySelector('.prove__change .prove__status').textContent")
    values = browser.run("[...document.querySelectorAll('.prove__found dd')].map((row) => row.textContent)")
    assert [value.strip() for value in values[1:3]] == ["0", "2"]
    browser.until("document.querySelector('.prove__found').textContent.includes('softmax/jacobian.py, line ')")
    browser.until(
        "document.querySelector('.prove__found').textContent.includes('through_softmax computes the left side, and not the right side')"
    )
    browser.page.get_by_role("button", name="Restore").click()
    browser.page.get_by_role("button", name="Check it").click()
    browser.until("document.querySelector('.prove__change .prove__status').dataset.verdict === 'proved'")
    browser.until(
        "document.querySelector('.prove__found').textContent.includes('through_softmax computes the left side and the right side')"
    )
    assert browser.audit() == [] and browser.errors == []


def change_claim(browser, id):
    """Prove a claim of a page, and open the editor of its lines."""
    browser.page.locator(f"#{id} .prove__button").click()
    browser.until(f"document.querySelectorAll('#{id} .prove dd').length >= 2")
    browser.page.locator(f"#{id}").get_by_role("button", name="Change it").click()
    browser.until("document.querySelector('.cm-content')?.contains(document.activeElement)")


def test_advice_is_no_value_of_a_side(browse, fetched):
    browser = browse("simplify/bilinear/")
    change_claim(browser, "gauge")
    browser.page.locator("#gauge").get_by_role("button", name="Drop an assumption").click()
    browser.until("document.querySelector('.prove__found')?.textContent.includes('State it with given=[invertible(M)]')")
    assert browser.run("document.querySelectorAll('.prove__found dd').length") == 0 and browser.errors == []


def test_a_changed_call_and_one_that_is_gone_are_not_compared(browse, fetched):
    browser = browse("softmax/jacobian/")
    change_claim(browser, "backward")
    text = browser.run("[...document.querySelectorAll('.cm-line')].map((line) => line.textContent).join('\\n')")
    code = re.search(r" *code=.*\n", text)[0]
    swapped = code.replace("softmax(z), g", "g, softmax(z)")
    for new, said in [(swapped, "the build ran it with other arguments"), ("", "names no code"), ("(", "The script stops")]:
        browser.page.locator(".cm-content").focus()
        browser.press("Control+A")
        browser.type(text.replace(code, new))
        browser.page.get_by_role("button", name="Check it").click()
        browser.until(f"document.querySelector('.prove__change').textContent.includes({said!r})")
    assert "names no code" not in browser.run("document.querySelector('.prove__change').textContent")  # nobody knows
    assert browser.errors == []


def test_what_is_typed_is_completed_from_the_language(browse, fetched):
    browser = browse("softmax/jacobian/")
    browser.page.locator("#backward .prove__button").click()
    browser.until(f"{SAID}?.length >= 2")
    browser.page.locator("#backward").get_by_role("button", name="Change it").click()
    browser.until("document.querySelector('.cm-content')?.contains(document.activeElement)")
    browser.page.keyboard.type("softm")
    browser.until("document.querySelector('.cm-tooltip-autocomplete')?.textContent.includes('softmax')")


def test_an_open_page_needs_no_connection_after_the_first_press(browse, fetched):
    browser = browse("softmax/jacobian/")
    press(browser, "backward")
    browser.until(f"{SAID}?.length >= 2")
    browser.offline(True)
    try:
        browser.page.locator("#backward .prove__button").click()  # closes the panel
        press(browser, "trace")
        browser.until(f"{SAID}?.length >= 2")
    finally:
        browser.offline(False)


def test_a_page_opens_without_a_connection_after_the_first_press(browse, fetched):
    browser = browse("softmax/jacobian/")
    press(browser, "backward")
    browser.until(f"{SAID}?.length >= 2")
    kept = "caches.open('pages').then((shelf) => shelf.keys()).then((all) => all.map(({url}) => new URL(url).pathname))"
    needed = {"/softmax/jacobian/", "/assets/prover/verdicts.json", "/assets/prover/code/softmax/jacobian.json"}
    for _ in range(6000):
        if needed <= set(browser.run(kept)):
            break
        browser.page.wait_for_timeout(100)
    assert needed <= set(browser.run(kept))
    browser.offline(True)
    try:
        browser.page.reload(wait_until="load")
        press(browser, "trace")
        browser.until(f"{SAID}?.length >= 2")
    finally:
        browser.offline(False)


@pytest.mark.parametrize("lacking, said", [("Worker", "has no workers"), ("WebAssembly", "has no WebAssembly")])
def test_a_browser_that_cannot_says_so(browse, fetched, lacking, said):
    browser = browse("softmax/jacobian/")
    browser.run(f"delete globalThis.{lacking}; 0")
    press(browser, "backward")
    browser.until(f"({PANEL})?.querySelector('.prove__status').textContent.includes('{said}')")


# Claims of the reader's own -------------------------------------------------------------------------------------------------

STATUS = "document.querySelector('.playground .prove__change .prove__status')"


def open_editor(browser, example=0):
    browser.until("document.querySelector('.playground select')?.options.length >= 12")
    browser.page.locator(".playground select").select_option(index=example)
    browser.page.get_by_role("button", name="Open the editor").click()
    browser.until("document.querySelector('.playground .cm-content')")


def test_an_example_is_checked_and_another_can_be_chosen(browse, fetched):
    browser = browse("doubt/")
    open_editor(browser)
    browser.page.get_by_role("button", name="Check it").click()
    browser.until(f"{STATUS}.dataset.verdict === 'proved'")
    browser.page.locator(".playground select").select_option(index=1)
    browser.page.get_by_role("button", name="Check it").click()
    browser.until(f"{STATUS}.dataset.verdict === 'rejected'")
    browser.until("document.querySelectorAll('.playground .prove__found dd').length === 3")
    assert browser.audit() == [] and browser.errors == []


def test_a_text_in_a_link_is_shown_and_does_not_run_before_a_press(browse, fetched):
    browser = browse("doubt/")
    text = SCRIPT.replace("A script", "Linked")
    link = browser.run(f"import('/assets/js/prover/links.js').then((module) => module.writeLink({json.dumps(text)}))")
    assert len(link) < len(text)
    browser.open("about:blank")
    browser.open(link)
    browser.until("document.querySelector('.playground .cm-content')?.textContent.includes('Linked')")
    assert "has not run" in browser.run(f"{STATUS}.textContent")
    browser.run("new Promise((done) => setTimeout(done, 500))")
    assert not any("/assets/prover/python-" in address for address in browser.requested)
    browser.page.get_by_role("button", name="Check it").click()
    browser.until(f"{STATUS}.dataset.verdict === 'proved'")
    assert any("/assets/prover/python-" in address for address in browser.requested)


def test_a_damaged_link_opens_the_page_as_usual(browse, fetched):
    browser = browse("doubt/#text=AAAA")
    open_editor(browser)
    assert browser.errors == []


def test_a_text_becomes_the_four_files_of_a_topic(browse, fetched):
    browser = browse("doubt/")
    open_editor(browser)
    browser.page.get_by_role("button", name="Make a topic of it").click()
    browser.type("No Topic")
    browser.press("Enter")
    browser.until("document.querySelector('.playground__topic').textContent.includes('lower-case')")
    browser.page.locator("#playground-topic").fill("softmax/some")
    browser.press("Enter")
    browser.until("document.querySelectorAll('.playground__topic a[download]').length === 4")
    texts = browser.run("[...document.querySelectorAll('.playground__topic a')].map((a) => [a.textContent, a.download])")
    assert ["derivations/softmax/some.py", "some.py"] in texts and ["docs/softmax/some.md", "some.md"] in texts


# Exercises that take an answer ----------------------------------------------------------------------------------------------

ANSWER = "[data-answer='scaling/variance#self-variance']"
SAYS = f'document.querySelector("{ANSWER} .prove__status")'


def test_an_answer_is_judged_and_noted_on_the_device_only(browse, fetched):
    browser = browse("scaling/variance/")
    browser.page.locator(f"{ANSWER} button").focus()
    browser.press("Enter")
    browser.until(f'document.activeElement === document.querySelector("{ANSWER} input")')
    browser.type("d^2 + ")
    browser.until(f"document.querySelector(\"{ANSWER} .answer__preview\")?.textContent.includes('not complete')")
    browser.type("d")
    browser.until(f'document.querySelector("{ANSWER} .answer__preview math")')
    browser.press("Enter")
    browser.until(f"{SAYS}.dataset.verdict === 'rejected'")
    browser.until(f'document.querySelectorAll("{ANSWER} dd").length === 3')
    browser.page.locator(f"{ANSWER} input").fill("d + d")
    assert browser.run(f'[{SAYS}.textContent, document.querySelectorAll("{ANSWER} dd").length]') == ["", 0]  # of the answer before
    browser.press("Enter")
    browser.until(f"{SAYS}.dataset.verdict === 'proved'")
    assert browser.run("document.querySelectorAll('.exercise__done').length") == 1
    assert browser.audit() == []
    assert not any("self-variance" in address or "d+d" in address for address in browser.requested)
    browser.open(browser.run("new URL('../../', location.href).href"))
    browser.until("document.querySelector('.progress')")
    assert re.match(r"You have answered 1 of \d+ exercises", browser.run("document.querySelector('.progress').textContent"))
    browser.page.get_by_role("button", name="Forget them").click()
    browser.until("!document.querySelector('.progress') && localStorage.getItem('answered exercises') === null")
    assert browser.errors == []


def test_a_missing_assumption_is_chosen_by_keyboard(browse, fetched):
    browser = browse("attention/dropout/")
    box = "[data-answer='attention/dropout#output-variance']"
    says = f'document.querySelector("{box} .prove__status")'
    assert browser.run(f'document.querySelector("{box}").previousElementSibling.querySelectorAll("li").length') == 4
    browser.page.locator(f"{box} button").focus()
    browser.press("Enter")
    browser.until(f'document.activeElement === document.querySelector("{box} input")')
    browser.press("ArrowDown")  # from the first to the second
    browser.press("Enter")
    browser.until(f"{says}.dataset.verdict === 'rejected'")
    assert browser.run(f'document.querySelectorAll("{box} dd").length') == 3
    assert "ρ" in browser.run(f'document.querySelector("{box} dd").textContent')
    browser.press("ArrowUp")
    assert browser.run(f'[{says}.textContent, document.querySelectorAll("{box} dd").length]') == ["", 0]  # of the choice before
    browser.press("Enter")
    browser.until(f"{says}.dataset.verdict === 'proved'")
    assert browser.run("localStorage.getItem('answered exercises')") == '["attention/dropout#output-variance assumption 1"]'
    names = browser.run(f"[...document.querySelectorAll(\"{box} input\")].map((one) => one.ariaLabel ?? one.closest('label').textContent)")
    assert [name.strip() for name in names][0] == "the entries of b are independent"
    assert browser.audit() == [] and browser.errors == []


def test_a_missing_line_is_typed_where_the_chain_has_a_gap(browse, fetched):
    browser = browse("simplify/bilinear/")
    box = "[data-answer='simplify/bilinear#gauge'][data-part='step 1']"
    says = f'document.querySelector("{box} .prove__status")'
    assert browser.run(f"document.querySelector(\"{box}\").previousElementSibling.querySelector('menclose').textContent") == "?"
    held: list = []
    browser.page.route("**/scripts/simplify/bilinear*", lambda route: held.append(route))
    browser.page.locator(f"{box} button").click()
    browser.page.locator(f"{box} input").fill("X W_Q (X W_K)^T")
    browser.press("Enter")  # before the script is here
    browser.until(f"{says}.textContent === 'Comparing.'")
    held[0].continue_()
    browser.until(f"{says}.textContent.includes('another line')")
    browser.page.locator(f"{box} input").fill("X W_Q (M M^-1) (X W_K)^T")
    browser.press("Enter")
    browser.until(f"{says}.dataset.verdict === 'proved'")
    assert browser.errors == []


@pytest.mark.slow
def test_the_whole_site_is_proved_again_on_the_trust_page(browse, fetched):
    browser = browse("trust/")
    browser.page.get_by_role("button", name="Prove all claims here").click()
    browser.until("document.querySelector('.prove__status').textContent.includes('That took')")
    total = sum(len(certificates.load(topic)["claims"]) for topic in certificates.topics())
    assert f"of each of the {total} claims of this site" in browser.run("document.querySelector('.prove__status').textContent")
