"""Tests of links to a place on a long page: the place is at the top, below the header, once nothing moves any more."""

import pytest

TARGETS = [
    ("io/flash/", "picture-moved"),
    ("io/flash/", "ratio"),
    ("softmax/jacobian/", "picture-eigenvalues"),
    ("softmax/jacobian/", "exercises"),
    ("wrong/", "you-may-round-intermediate-results"),
]
STILL = """new Promise((done) => {
    let [still, last] = [0, scrollY];
    requestAnimationFrame(function look() {
        still = scrollY === last ? still + 1 : 0;
        last = scrollY;
        if (still === 60) done();
        else requestAnimationFrame(look);
    });
})"""


def distance(page, target):
    """Return how many pixels lie between a target and its place, which the style sheet gives."""
    page.settle()
    page.run(STILL)
    found = f"document.getElementById('{target}')"
    top, place = page.run(f"[{found}.getBoundingClientRect().top, parseFloat(getComputedStyle({found}).scrollMarginTop)]")
    header = page.run("document.querySelector('.md-header').getBoundingClientRect().bottom")
    assert 0 < place - header < 40
    return top - place


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("path, target", TARGETS)
def test_target_is_at_the_top_of_a_new_page_and_after_a_link_on_it(browse, path, target, width):
    page = browse(f"{path}#{target}", width=width, phone=width < 600)
    assert abs(distance(page, target)) < 2
    page = browse(path, width=width, phone=width < 600)
    page.run(
        f"(() => {{ const link = document.createElement('a'); link.href = '#{target}'; document.body.append(link); link.click(); }})()"
    )
    assert abs(distance(page, target)) < 2


def test_reader_who_scrolls_is_not_taken_back(browse):
    page = browse("io/flash/", height=500)
    held = []
    page.page.route("**/*.woff2", lambda route: held.append(route))  # a page whose fonts are missing is not at rest
    page.page.goto(page.page.url + "?again#picture-moved", wait_until="domcontentloaded")
    page.until("scrollY > 500")
    page.page.mouse.wheel(0, -400)
    for route in held:
        route.continue_()
    assert distance(page, "picture-moved") > 200


def test_page_that_is_gone_back_to_is_where_it_was_left(browse):
    page = browse("io/flash/#picture-moved")
    assert abs(distance(page, "picture-moved")) < 2
    page.page.mouse.wheel(0, -400)
    page.run(STILL)
    page.page.reload()
    assert distance(page, "picture-moved") > 200
