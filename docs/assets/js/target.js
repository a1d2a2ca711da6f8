// What a link leads to: a folded claim is unfolded, and the target stays below the header until the page around it has its final sizes.
// What is far below is laid out only when it comes near, and fonts come late.

const QUIET = 30; // frames in a row that move nothing

const find = () => document.getElementById(decodeURIComponent(location.hash.slice(1)));

// The theme opens the box that contains a link's target. A folded claim is itself the target, and its box lies inside it.
function unfoldTarget() {
  const folded = find()?.querySelector(":scope > .claim__folded");
  if (folded) folded.open = true;
}

/** Scroll to the target in every frame, until that has changed nothing for a while, or until the reader does something. */
function stayAtTarget() {
  const target = find();
  const reader = new AbortController();
  for (const act of ["wheel", "touchstart", "pointerdown", "keydown"]) {
    addEventListener(act, () => reader.abort(), { capture: true, passive: true, signal: reader.signal });
  }
  let quiet = 0;
  const look = () => {
    if (!target || target !== find() || quiet === QUIET) reader.abort();
    if (reader.signal.aborted) return;
    const before = scrollY;
    target.scrollIntoView({ behavior: "instant" });
    const isReady = document.readyState === "complete" && document.fonts.status === "loaded";
    quiet = isReady && scrollY === before ? quiet + 1 : 0;
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}

// Who goes back to a place, or loads the page again, finds it where it was left: only a link leads to its target.
let pressed = null;
document.addEventListener("click", ({ target }) => (pressed = target.closest("a")?.hash));
addEventListener("hashchange", () => {
  unfoldTarget();
  if (pressed === location.hash) stayAtTarget();
  pressed = null;
});

unfoldTarget();
if (performance.getEntriesByType("navigation")[0].type === "navigate") stayAtTarget();
