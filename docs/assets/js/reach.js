// What is wider than its column scrolls on its own. Where it does, the keyboard reaches it: some browsers leave that to the page.

const SCROLLS = [
  ".claim__left, .claim__right, .claim__value, .picture__box, .play, .trust, .trace, .lab__output, .lab__output pre, .lab__figure",
  ".md-typeset__scrollwrap, .md-typeset__table, .md-content math, .md-content pre, .md-content pre > code",
].join(", ");

// What is folded is not laid out, and is asked again once it is open: to ask now would have the browser lay it out.
const scrolls = (box) => box.checkVisibility() && box.scrollWidth > box.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(box).overflowX);

/** All are measured before one is changed: else the browser would lay the page out anew for each. */
function reach(boxes) {
  const found = boxes.map((box) => [box, scrolls(box)]);
  for (const [box, isWide] of found) {
    if (isWide) box.setAttribute("tabindex", "0");
    else if (box.dataset.reached !== undefined) box.removeAttribute("tabindex");
    if (isWide) box.dataset.reached = ""; // the theme has its own care of code
  }
}

const resized = new ResizeObserver((changes) => reach(changes.map(({ target }) => target)));
const boxes = () => [...document.querySelectorAll(SCROLLS)];

for (const box of boxes()) resized.observe(box); // which looks at each once at the start
document.fonts.addEventListener("loadingdone", () => reach(boxes())); // a font may come after the page was ready once

// Far below, the browser has laid nothing out yet, so nothing there changed its size. Who goes on by Tab comes there without looking.
let isKnown = false;
const forget = () => (isKnown = false);
for (const change of ["resize", "toggle"]) addEventListener(change, forget, true);
addEventListener("keydown", ({ key }) => {
  if (key !== "Tab" || isKnown) return;
  isKnown = true;
  reach(boxes());
}, true);

// The theme puts the buttons of each piece of code into a landmark of its own. There would be dozens, and none has a name.
const unmark = (bar) => bar.setAttribute("role", "none");
const bars = (added) => (added.matches?.("nav.md-code__nav") ? [added] : (added.querySelectorAll?.("nav.md-code__nav") ?? []));
new MutationObserver((changes) => {
  for (const { addedNodes } of changes) for (const added of addedNodes) for (const bar of bars(added)) unmark(bar);
}).observe(document.querySelector(".md-content") ?? document.body, { childList: true, subtree: true });
document.querySelectorAll("nav.md-code__nav").forEach(unmark);

// Of the theme's switch of colours one button of a group is shown, the one that is pressed: the space bar would press it again.
document.querySelector("[data-md-component=palette]")?.addEventListener("keydown", (event) => {
  if (event.key !== " ") return;
  event.preventDefault();
  event.target.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
});
