"""What the keyboard reaches: the drawer of a narrow page, what scrolls on its own, and what opens; and axe-core on what opens."""

import pytest

LOOKS = [{"width": width, "height": 800, "dark": dark} for width in (1280, 390) for dark in (False, True)]
AT = "document.activeElement"
IN_DRAWER = f"Boolean({AT}.closest('.md-sidebar--primary'))"
OPENER = "document.querySelector('.drawer-button')"
MOST = 60  # presses of a key


def tabbed_to(page, condition):
    """Press the Tab key until a condition holds of what has the focus; what was passed on the way."""
    passed = []
    while not page.run(condition):
        passed.append(page.run(f"{AT}.innerText?.trim() ?? ''"))
        assert len(passed) < MOST, passed
        page.press("Tab")
    return passed


@pytest.fixture
def narrow(browse):
    """A page whose drawer's button has the focus."""
    page = browse("scaling/variance/", width=390, height=800)
    page.until(OPENER)
    tabbed_to(page, f"{AT} === {OPENER}")
    return page


def expanded(page):
    return page.run(f"{OPENER}.getAttribute('aria-expanded')") == "true"


def test_a_drawer_that_is_shut_is_out_of_reach(browse):
    page = browse("scaling/variance/", width=390, height=800)
    page.until(OPENER)
    tabbed_to(page, f"{AT}.closest('.md-content')")
    assert (
        page.run("[...document.querySelectorAll('.md-sidebar--primary a')].some((one) => one.checkVisibility({visibilityProperty: true}))")
        is False
    )


@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_the_drawer_opens_and_shuts_and_the_focus_comes_back(narrow, key):
    narrow.press(key)
    assert expanded(narrow) and narrow.run(IN_DRAWER)
    assert narrow.run("document.querySelector('.md-sidebar--primary').getBoundingClientRect().left") == 0
    narrow.press("Escape")
    assert not expanded(narrow) and narrow.run(f"{AT} === {OPENER}")


def test_a_link_in_the_drawer_is_followed_by_keyboard(narrow):
    narrow.press("Enter")
    tabbed_to(narrow, f"{AT}.innerText.trim() === 'Saturation'")
    narrow.press("Enter")
    narrow.until_at("/scaling/saturation/")


def test_each_level_of_the_drawer_is_reached_and_no_other_is_in_the_way(narrow):
    narrow.press("Enter")
    below = f"{AT}.matches('.md-nav__title') && {AT}.innerText.trim() === 'Why √dk'"
    assert narrow.run(below)  # the page's own chapter is shown first, by its title, which leads back
    narrow.press("Space")
    assert narrow.run(f"{AT}.matches('.md-nav__link') && {AT}.innerText.trim() === 'Why √dk'")
    narrow.press("Tab")
    assert narrow.run(f"{AT}.innerText.trim()") == "Softmax, closely"
    narrow.press("Tab", shift=True)
    narrow.press("Enter")
    assert narrow.run(below)
    narrow.press("Tab")
    assert narrow.run(f"{AT}.htmlFor") == "__toc"
    narrow.press("Enter")
    assert narrow.run(f"{AT}.innerText.trim()") == "Table of contents"


def test_who_leaves_the_drawer_sees_the_page_again(narrow):
    narrow.press("Enter")
    tabbed_to(narrow, f"!{IN_DRAWER}")
    assert not expanded(narrow)


@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_the_colours_are_switched_by_keyboard(browse, key):
    page = browse("scaling/variance/")
    switch = f"{AT}.closest('[data-md-component=palette]')"
    tabbed_to(page, switch)
    before = page.run(f"{AT}.id")
    page.press(key)
    assert page.run(f"Boolean({switch})") and page.run(f"{AT}.id") != before
    assert page.run(f"{AT}.checked") and page.run("window.scrollY") == 0


@pytest.mark.parametrize("look", LOOKS[2:], ids=str)
def test_an_open_drawer_is_clean(browse, look):
    page = browse("scaling/variance/", **look)
    page.until(OPENER)
    page.run(f"{OPENER}.click()")
    assert page.audit() == []


@pytest.mark.parametrize("look", LOOKS, ids=str)
def test_a_search_with_hits_is_clean(browse, look):
    page = browse("scaling/variance/", **look)
    page.press("/")
    page.until("document.querySelector('dialog[open]')")
    page.type("softmax")
    page.until("document.querySelector('.find__hit')")
    assert page.audit() == []


def test_what_scrolls_is_scrolled_by_keyboard_and_what_does_not_is_no_stop(browse):
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


def test_who_goes_on_by_tab_reaches_what_scrolls_far_below(browse):
    """Where the browser has laid nothing out yet."""
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
