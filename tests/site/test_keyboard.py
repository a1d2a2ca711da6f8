"""Tests of keyboard access: the drawer of a narrow page, scrollable parts and everything that opens, which axe-core checks as well."""

import pytest

LOOKS = [{"width": width, "height": 800, "dark": dark} for width in (1280, 390) for dark in (False, True)]
AT = "document.activeElement"
IN_DRAWER = f"Boolean({AT}.closest('.md-sidebar--primary'))"
OPENER = "document.querySelector('.drawer-button')"
MOST = 60  # the most key presses


def tabbed_to(page, condition):
    """Press the Tab key until a condition holds for the focused element, and return the elements passed on the way."""
    passed = []
    while not page.run(condition):
        passed.append(page.run(f"{AT}.innerText?.trim() ?? ''"))
        assert len(passed) < MOST, passed
        page.press("Tab")
    return passed


@pytest.fixture
def narrow(browse):
    """Return a narrow page on which the drawer's button has the focus."""
    page = browse("scaling/variance/", width=390, height=800)
    page.until(OPENER)
    tabbed_to(page, f"{AT} === {OPENER}")
    return page


def expanded(page):
    return page.run(f"{OPENER}.getAttribute('aria-expanded')") == "true"


def test_closed_drawer_cannot_be_focused(browse):
    page = browse("scaling/variance/", width=390, height=800)
    page.until(OPENER)
    tabbed_to(page, f"{AT}.closest('.md-content')")
    assert (
        page.run("[...document.querySelectorAll('.md-sidebar--primary a')].some((one) => one.checkVisibility({visibilityProperty: true}))")
        is False
    )


@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_drawer_opens_and_closes_and_focus_returns(narrow, key):
    narrow.press(key)
    assert expanded(narrow) and narrow.run(IN_DRAWER)
    assert narrow.run("document.querySelector('.md-sidebar--primary').getBoundingClientRect().left") == 0
    narrow.press("Escape")
    assert not expanded(narrow) and narrow.run(f"{AT} === {OPENER}")


def test_link_in_the_drawer_works_by_keyboard(narrow):
    narrow.press("Enter")
    tabbed_to(narrow, f"{AT}.innerText.trim() === 'Saturation of softmax'")
    narrow.press("Enter")
    narrow.until_at("/scaling/saturation/")


def test_only_the_open_level_of_the_drawer_can_be_focused(narrow):
    narrow.press("Enter")
    below = f"{AT}.matches('.md-nav__title') && {AT}.innerText.trim() === 'Why √dk'"
    assert narrow.run(below)  # the page's own chapter comes first; its title leads back
    narrow.press("Space")
    assert narrow.run(f"{AT}.matches('.md-nav__link') && {AT}.innerText.trim() === 'Why √dk'")
    narrow.press("Tab")
    assert narrow.run(f"{AT}.innerText.trim()") == "Softmax"
    narrow.press("Tab", shift=True)
    narrow.press("Enter")
    assert narrow.run(below)
    narrow.press("Tab")
    assert narrow.run(f"{AT}.getAttribute('for')") == "__toc"
    narrow.press("Enter")
    assert narrow.run(f"{AT}.innerText.trim()") == "Table of contents"


@pytest.mark.parametrize("press, script", [("click", False), ("click", True), ("Enter", True)])
def test_group_of_the_sidebar_unfolds_in_place(browse, press, script):
    page = browse("scaling/variance/", script=script)
    group = page.page.locator(".md-sidebar--primary .md-nav__link[for]", has_text="Positions in practice")
    link = page.page.locator(".md-sidebar--primary a[href$='positions/yarn/']")
    address = page.page.url
    assert group.count() == 1 and not link.is_visible()
    group.click() if press == "click" else group.press(press)
    link.wait_for(state="visible")
    assert page.page.url == address
    link.click()
    page.until_at("/positions/yarn/")


@pytest.mark.parametrize("width", [1280, 390])
def test_group_is_a_button_that_says_whether_it_is_unfolded(browse, width):
    page = browse("scaling/variance/", width=width)
    page.until("document.querySelector('.md-sidebar--primary button')")
    levels = "[...document.querySelectorAll('.md-sidebar--primary :is(.md-nav__link[for], button)')]"
    told = f"{levels}.map((one) => [one.tagName, one.ariaExpanded === String(document.getElementById(one.getAttribute('for')).checked)])"
    assert len(page.run(levels)) > 10 and all(one == ["BUTTON", True] for one in page.run(told))
    group = page.page.locator(".md-sidebar--primary .md-nav__link[for]", has_text="Positions in practice")
    before = group.get_attribute("aria-expanded")
    group.dispatch_event("click")
    assert (before, group.get_attribute("aria-expanded")) == ("false", "true")
    assert all(one == ["BUTTON", True] for one in page.run(told))


@pytest.mark.parametrize("width, shown", [(1280, "A"), (390, "BUTTON")])
def test_current_page_is_marked_in_the_sidebar(browse, width, shown):
    page = browse("scaling/variance/", width=width)
    page.until(f"{OPENER} && document.querySelector('.md-sidebar--primary button')")
    page.run(f"{OPENER}.click()")
    marked = "[...document.querySelectorAll('[aria-current]')].filter((one) => one.checkVisibility())"
    assert page.run(f"{marked}.map((one) => [one.tagName, one.innerText.trim(), one.ariaCurrent])") == [
        [shown, "Variance of the scores", "page"]
    ]


def test_button_of_the_search_is_named_without_its_key(browse):
    page = browse("scaling/variance/")
    page.until("document.querySelector('.find-button')")
    assert page.page.get_by_role("button", name="Search", exact=True).count() == 1


def test_group_of_the_drawer_unfolds_at_a_touch(browse):
    page = browse("scaling/variance/", width=390, height=800, phone=True)
    page.until(OPENER)
    page.page.tap(".drawer-button")
    page.page.locator(".md-nav__title[for]", has_text="Why √d").tap()
    group = page.page.locator(".md-nav__link[for]", has_text="Many heads")
    assert group.count() == 1
    group.tap()
    page.page.locator(".md-sidebar--primary a[href$='heads/split/']").tap()
    page.until_at("/heads/split/")


def test_leaving_the_drawer_closes_it(narrow):
    narrow.press("Enter")
    tabbed_to(narrow, f"!{IN_DRAWER}")
    assert not expanded(narrow)


@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_colour_scheme_is_switched_by_keyboard(browse, key):
    page = browse("scaling/variance/")
    switch = f"{AT}.closest('[data-md-component=palette]')"
    tabbed_to(page, switch)
    before = page.run(f"{AT}.id")
    page.press(key)
    assert page.run(f"Boolean({switch})") and page.run(f"{AT}.id") != before
    assert page.run(f"{AT}.checked") and page.run("window.scrollY") == 0


@pytest.mark.parametrize("look", LOOKS[2:], ids=str)
def test_axe_finds_no_fault_in_the_open_drawer(browse, look):
    page = browse("scaling/variance/", **look)
    page.until(OPENER)
    page.run(f"{OPENER}.click()")
    assert page.audit() == []


@pytest.mark.parametrize("look", LOOKS, ids=str)
def test_axe_finds_no_fault_in_search_results(browse, look):
    page = browse("scaling/variance/", **look)
    page.press("/")
    page.until("document.querySelector('dialog[open]')")
    page.type("softmax")
    page.until("document.querySelector('.find__hit')")
    assert page.audit() == []


def test_only_scrollable_parts_are_tab_stops(browse):
    stops = "[...document.querySelectorAll('.md-content [data-reached][tabindex]')].filter((one) => one.checkVisibility())"
    page = browse("softmax/temperature/", width=390, height=800)
    page.settle()
    page.until(f"{stops}.length")
    page.run(f"{stops}[0].focus()")
    page.press("ArrowRight")
    page.until(f"{stops}[0].scrollLeft > 0")
    page = browse("softmax/temperature/", width=1280)
    page.settle()
    assert page.run(f"{stops}.filter((one) => one.scrollWidth <= one.clientWidth).length") == 0


def test_tab_reaches_scrollable_parts_far_below(browse):
    """The browser has not laid out that part yet."""
    page = browse("associativity/tolerance/")
    page.settle()
    page.press("Tab")
    below = "[...document.querySelectorAll('.claim__left, .claim__right, .claim__value')].filter((box) => box.checkVisibility())"
    wide = f"{below}.filter((box) => box.scrollWidth > box.clientWidth + 1)"
    seen = page.run(f"{wide}.length")
    assert seen > 0 and page.run(f"{wide}.every((box) => box.tabIndex === 0)")
    page.run("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    page.settle()
    page.press("Tab")
    assert page.run(f"{wide}.length") > seen and page.run(f"{wide}.every((box) => box.tabIndex === 0)")


def test_one_press_unfolds_proofs_and_code_and_another_folds_them(browse):
    page = browse("scaling/variance/")
    page.until("document.querySelector('.kind__button--ready')")
    folds = "[...document.querySelectorAll('.md-content .claim__folded, .md-content details:not([class])')].map((fold) => fold.open)"
    rest = "[...document.querySelectorAll('.claim__witnesses, .solution, .whole-file')].some((fold) => fold.open)"
    tabbed_to(page, f"{AT}.className.startsWith('kind__button')")
    assert len(page.run(folds)) >= 5 and not any(page.run(folds))
    page.press("Enter")
    assert all(page.run(folds)) and not page.run(rest)
    page.press("Enter")
    assert not any(page.run(folds))


def test_page_without_folds_has_no_button(browse):
    assert browse("").run("document.querySelector('.kind__button')") is None
