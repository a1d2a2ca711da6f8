// What a link leads to, beside the link: a claim, an entry of the bibliography, a word of the glossary. It is shown when the link is
// pointed at or reached by keyboard. A page of this site is fetched then, once, and never before.

const WAIT = 150; // milliseconds that a pointer rests before something shows
const STAYS = 250; // and after it left, so that it can move onto what is shown
const GAP = 8; // pixels between the link and what is shown
const STEP = 40; // pixels that an arrow key scrolls

const pages = new Map(); // by address: the promise of a document
const box = document.createElement("div");
box.className = "preview md-typeset";
box.tabIndex = -1; // no stop of the Tab key where it scrolls
box.setAttribute("aria-hidden", "true"); // the link leads to what it shows, which is heard better there
box.hidden = true;

let wanted = null; // the link that was pointed at last
let shown = null; // the link beside which something is shown
let timer = 0;

/** Does a link lead into a page of this site? */
function leadsInto(link) {
  return link.hash.length > 1 && link.origin === location.origin && !link.matches(".headerlink, .claim__number, .preview a");
}

function linkAt(target) {
  const link = target instanceof Element ? target.closest(".md-content a[href]:not(svg a)") : null;
  return link && leadsInto(link) ? link : null;
}

/** The page that a link leads to: this one, or another, which is fetched once. */
function pageOf(link) {
  const address = link.href.split("#")[0];
  if (address === location.href.split("#")[0]) return document;
  if (!pages.has(address)) pages.set(address, fetched(address));
  return pages.get(address);
}

async function fetched(address) {
  try {
    const answer = await fetch(address);
    return answer.ok ? new DOMParser().parseFromString(await answer.text(), "text/html") : null;
  } catch {
    pages.delete(address); // the next time may go better
    return null;
  }
}

/** What a link leads to, as it is shown beside one; nothing where that is no claim, work or word. */
export async function shownFor(link) {
  return piecesOf(await pageOf(link), decodeURIComponent(link.hash.slice(1)));
}

/** Copies of the elements that a link leads to, or none where that is nothing to show. */
function piecesOf(page, id) {
  const target = page?.getElementById(id);
  if (!target) return [];
  if (target.matches(".claim")) return [claimOf(target)];
  if (target.matches("dt")) return [target, ...described(target)].map(copyOf);
  return [];
}

/** A word, or a work, and what is said of it: the descriptions up to the next term. */
function described(term) {
  const found = [];
  for (let next = term.nextElementSibling; next?.matches("dd"); next = next.nextElementSibling) found.push(next);
  return found;
}

/** A claim without what vouches for it: its head, its steps, and what it assumes. */
function claimOf(section) {
  const copy = copyOf(section);
  for (const part of copy.querySelectorAll(".claim__base, .claim__uses, .claim__code")) part.remove();
  for (const folded of copy.querySelectorAll("details")) folded.replaceWith(...unfolded(folded));
  return copy;
}

/** Nothing opens in what is shown: a claim that is folded is laid open, and of an assumption its first line is kept. */
function unfolded(details) {
  const whole = details.matches(".claim__folded");
  const summary = details.querySelector(":scope > summary");
  const first = document.createElement(whole ? "header" : "span");
  first.className = summary.className;
  first.append(...summary.childNodes);
  summary.remove();
  return whole ? [first, ...details.childNodes] : [first];
}

/** A copy with no id, no script and nothing that takes the keyboard. */
function copyOf(element) {
  const copy = document.importNode(element, true);
  for (const part of copy.querySelectorAll("script, style, button, .headerlink, .take")) part.remove();
  for (const part of [copy, ...copy.querySelectorAll("*")]) for (const name of ["id", "tabindex"]) part.removeAttribute(name);
  for (const link of copy.querySelectorAll("a")) {
    const text = document.createElement("span");
    text.className = link.className;
    text.append(...link.childNodes);
    link.replaceWith(text);
  }
  return copy;
}

async function show(link) {
  const pieces = await shownFor(link);
  if (link !== wanted || !pieces.length) return;
  hide();
  box.replaceChildren(...pieces);
  box.hidden = false;
  shown = wanted = link;
  place(link.getClientRects()[0]);
}

const ARROWS = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };

/** On the link, the arrow keys scroll what is shown, and the page once its end is reached. */
function scroll(event) {
  const before = [box.scrollLeft, box.scrollTop];
  box.scrollBy(...ARROWS[event.key].map((step) => step * STEP));
  if (box.scrollLeft !== before[0] || box.scrollTop !== before[1]) event.preventDefault();
}

function hide() {
  clearTimeout(timer);
  shown = wanted = null;
  box.hidden = true;
}

/** Below the link, or above it where there is more room; no higher than that room, so that it covers neither the link nor the header. */
function place(at) {
  box.style.maxHeight = "";
  const width = document.documentElement.clientWidth;
  const left = Math.max(GAP, Math.min(at.left, width - box.offsetWidth - GAP));
  const head = document.querySelector(".md-header")?.offsetHeight ?? 0;
  const [above, below] = [at.top - head - 2 * GAP, innerHeight - at.bottom - 2 * GAP];
  const isAbove = box.offsetHeight > below && above > below;
  box.style.maxHeight = `${Math.min(box.offsetHeight, isAbove ? above : below)}px`;
  const top = isAbove ? at.top - GAP - box.offsetHeight : at.bottom + GAP;
  box.style.left = `${left + scrollX}px`;
  box.style.top = `${top + scrollY}px`;
}

function soon(what, wait) {
  clearTimeout(timer);
  timer = setTimeout(what, wait);
}

// A finger follows the link, as everywhere: only what can point without pressing shows anything.
document.addEventListener("pointerover", (event) => {
  if (event.pointerType === "touch") return;
  if (box.contains(event.target)) return clearTimeout(timer);
  const link = linkAt(event.target);
  if (link === shown && link) return clearTimeout(timer);
  if (link) {
    wanted = link;
    soon(() => show(link), WAIT);
  } else if (shown || wanted) {
    soon(hide, STAYS);
  }
});

document.addEventListener("focusin", (event) => {
  const link = linkAt(event.target);
  if (!link?.matches(":focus-visible")) return;
  wanted = link;
  show(link);
});
document.addEventListener("focusout", hide);
document.addEventListener("keydown", (event) => {
  if (event.key in ARROWS && shown && shown === document.activeElement) scroll(event);
  if (event.key === "Escape") hide();
});
document.addEventListener("pointerdown", (event) => {
  if (!box.contains(event.target)) hide();
});

(document.querySelector("main") ?? document.body).append(box);
