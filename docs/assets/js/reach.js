// What is wider than its column scrolls on its own. Where it does, the keyboard reaches it: some browsers leave that to the page.

const SCROLLS = [
  ".claim__left, .claim__right, .claim__value, .picture__box, .play, .trust, .trace, .lab__output, .lab__output pre, .lab__figure",
  ".md-typeset__scrollwrap, .md-typeset__table, .md-content math, .md-content pre",
].join(", ");

function reach(box) {
  const scrolls = box.scrollWidth > box.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(box).overflowX);
  if (scrolls) box.setAttribute("tabindex", "0");
  else if (box.dataset.reached !== undefined) box.removeAttribute("tabindex");
  if (scrolls) box.dataset.reached = ""; // the theme has its own care of code
}

const resized = new ResizeObserver((changes) => changes.forEach(({ target }) => reach(target)));
const boxes = () => document.querySelectorAll(SCROLLS);

for (const box of boxes()) resized.observe(box); // which looks at each once at the start
document.fonts.addEventListener("loadingdone", () => boxes().forEach(reach)); // a font may come after the page was ready once

// Far below, the browser has laid nothing out yet, so nothing there changed its size. Who goes on by Tab comes there without looking.
let isKnown = false;
const forget = () => (isKnown = false);
for (const change of ["resize", "toggle"]) addEventListener(change, forget, true);
addEventListener("keydown", ({ key }) => {
  if (key !== "Tab" || isKnown) return;
  isKnown = true;
  boxes().forEach(reach);
}, true);

// The theme puts the buttons of each piece of code into a landmark of its own. There would be dozens, and none has a name.
const unmark = () => document.querySelectorAll("nav.md-code__nav:not([role])").forEach((one) => one.setAttribute("role", "none"));
new MutationObserver(unmark).observe(document.querySelector(".md-content") ?? document.body, { childList: true, subtree: true });
unmark();
