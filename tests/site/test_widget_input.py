"""Each interactive figure reaches the same state by mouse, by touch and by keyboard. test_widgets.py compares the keyboard's numbers with the snippets'."""

import random
import re
from itertools import pairwise
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {
    name: path.relative_to(DOCS).with_suffix("").as_posix() + "/"
    for path in sorted(DOCS.rglob("*.md"))
    for name in re.findall(r"^/// figure \| \S+ play=(\w+)$", path.read_text(encoding="utf-8"), flags=re.M)
}
SETTINGS = 3

# The controls in the order of the document, each with the number of its group. A slider and a list have the places 0 to `last`.
CONTROLS = """(stage) => {
  const groups = [];
  return [...stage.querySelectorAll("input, select, button")].map((one, place) => {
    const box = one.matches("[type=range], select") ? one : one.closest("[role=group], [role=radiogroup], .play__buttons");
    if (!groups.includes(box)) groups.push(box);
    const last = one.options ? one.options.length - 1 : Number(one.max || 0);
    const free = !one.disabled && one.checkVisibility() && !(one.type === "radio" && one.checked);
    return { place, kind: one.type, last, now: Number(one.value), group: groups.indexOf(box), free };
  });
}"""
# The numbers that a reader sees, in the figure and in its controls. Announcements are left out, since they come a moment later.
STATE = """(stage) => [...stage.querySelectorAll("*")].filter((one) => !one.children.length && !one.matches("[role=status]"))
  .map((one) => one.type === "radio" || one.type === "checkbox" ? one.checked : one.value || one.textContent)"""
# The middle of a control, or the middles of a slider's thumb at some places.
POINTS = """(stage, [place, values]) => {
  const one = stage.querySelectorAll("input, select, button")[place];
  one.scrollIntoView({ block: "center" });
  const { left, top, width, height } = one.getBoundingClientRect();
  const thumb = 0.8 * parseFloat(getComputedStyle(document.documentElement).fontSize);
  const along = (value) => thumb / 2 + ((width - thumb) * value) / one.max;
  return (values.length ? values.map(along) : [width / 2]).map((x) => [left + x, top + height / 2]);
}"""


class Keyboard:
    """A figure on its page, operated by keyboard."""

    look = {}

    def __init__(self, browse, name):
        self.browser = browse(PAGES[name], **self.look)
        self.browser.until(f"document.querySelector('[data-play={name}][data-played]')")
        self.browser.run("document.fonts.ready.then(() => 0)")
        self.page = self.browser.page
        self.stage = self.page.query_selector(f"[data-play={name}] .play")

    def control(self, place):
        return self.stage.query_selector_all("input, select, button")[place]

    def points(self, place, *values):
        """Scroll to a control until the page stands still, and return where a pointer finds it."""
        found = None
        while found != (found := self.stage.evaluate(POINTS, [place, values])):
            self.browser.settle()
        return found

    def now(self, place):
        return int(self.control(place).input_value())

    def press(self, place):
        self.control(place).focus()
        self.browser.press("Space")

    def enter(self, place, value):
        self.control(place).focus()
        self.type(value)

    def type(self, value):
        for key in str(value):
            self.browser.press(key)

    def slide(self, place, value):
        steps = value - self.now(place)
        self.control(place).focus()
        self.browser.press("ArrowRight" if steps > 0 else "ArrowLeft", times=abs(steps))

    select = slide


class Mouse(Keyboard):
    """The same, operated by mouse. A number is typed where the mouse clicked."""

    def press(self, place):
        self.page.mouse.click(*self.points(place)[0])

    def enter(self, place, value):
        self.press(place)
        self.type(value)

    def slide(self, place, value):
        start, end = self.points(place, self.now(place), value)
        self.page.mouse.move(*start)
        self.page.mouse.down()
        self.page.mouse.move(*end, steps=3)
        self.page.mouse.up()

    def select(self, place, value):
        self.control(place).select_option(str(value))  # the list is the system's, outside of the page


class Touch(Mouse):
    """The same on a phone, operated by a finger. It slides askew, as fingers do."""

    look = {"width": 390, "height": 844, "phone": True}

    def __init__(self, browse, name):
        super().__init__(browse, name)
        self.finger = self.page.context.new_cdp_session(self.page)

    def press(self, place):
        self.page.touchscreen.tap(*self.points(place)[0])

    def slide(self, place, value):
        (x, y), (end, _), (first, _) = self.points(place, self.now(place), value, 0)
        away = x + (60 if x < first + 60 else -60)  # the browser takes a path of less than 15 pixels for a tap
        self.touch("touchStart", x, y)
        for along in (away, end):
            self.touch("touchMove", along, y + 6)
        self.touch("touchEnd")

    def touch(self, kind, *point):
        points = [dict(zip("xy", point))] if point else []
        self.finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})


def operate(figure, choose):
    """Operate one control of each group, chosen at random, and give it another value, chosen at random."""
    for group in sorted({one["group"] for one in figure.stage.evaluate(CONTROLS)}):
        free = [one for one in figure.stage.evaluate(CONTROLS) if one["group"] == group and one["free"]]
        if not free:
            continue
        one = choose.choice(free)
        values = [value for value in range(-one["last"] if one["kind"] == "number" else 0, one["last"] + 1) if value != one["now"]]
        if act := {"number": figure.enter, "range": figure.slide, "select-one": figure.select}.get(one["kind"]):
            act(one["place"], choose.choice(values))
        else:
            figure.press(one["place"])


@pytest.mark.parametrize("name", PAGES)
def test_mouse_and_touch_reach_the_same_states_as_the_keyboard(browse, name):
    states = []
    for kind in (Keyboard, Mouse, Touch):
        figure, choose = kind(browse, name), random.Random(name)
        states.append([figure.stage.evaluate(STATE)])
        for _ in range(SETTINGS):
            operate(figure, choose)
            states[-1].append(figure.stage.evaluate(STATE))
        assert states[-1] == states[0], kind.__name__
    assert all(one != other for one, other in pairwise(states[0]))  # each setting changes what the figure shows
