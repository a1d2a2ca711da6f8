// The map of all claims, alive: one is chosen by a click, a key, the search or the address, and what it rests on and what rests on it is
// lit. All that is said of a claim comes from its entry in the list below the map.

import { view } from "./map/view.js";
import { shownFor } from "./preview.js";

const REACH = matchMedia("(pointer: coarse)").matches ? 24 : 16; // pixels around a dot that choose it
const HITS = 8;
const RANKS = ["theorem", "claim", "routine"]; // what a search finds first
const LETTER = 6.6; // pixels, in the name beside a dot
const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

const box = document.querySelector(".map");
const stage = box.querySelector(".map__stage");
const svg = put(stage.querySelector("noscript"));
const middle = svg.viewBox.baseVal.width / 2;
const claims = new Map();
let chosen = null;

/** The picture, in the place of what holds it for those without scripts. */
function put(told) {
  const picture = document.adoptNode(new DOMParser().parseFromString(told.textContent, "text/html").querySelector("svg"));
  told.parentElement.style.aspectRatio = ""; // kept its room
  told.replaceWith(picture);
  return picture;
}

/** An element with attributes, and with what stands in it. */
function made(tag, attributes = {}, ...within) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...within);
  return element;
}

// What there is ------------------------------------------------------------------------------------------------------------------

function read() {
  for (const item of box.querySelectorAll(".map__list li")) {
    const uses = [...item.querySelectorAll(".map__uses a")].map((link) => link.hash.slice(1));
    const topic = item.parentElement;
    const link = item.firstElementChild;
    const said = item.querySelector(".map__said").textContent.trim();
    const title = link.textContent.toLowerCase();
    const text = `${title} ${topic.dataset.topic} ${said}`.toLowerCase();
    const rank = RANKS.indexOf(item.dataset.rank) + 1 || RANKS.length + 1;
    claims.set(item.id, { key: item.id, link, said, title, text, rank, page: topic.previousElementSibling.firstElementChild, uses, users: [] });
    item.removeAttribute("id"); // from here on its address leads to the map
  }
  for (const { key, uses } of claims.values()) for (const use of uses) claims.get(use).users.push(key);
  for (const dot of svg.querySelectorAll(".map__dots a")) {
    const claim = claims.get(dot.getAttribute("href").slice(1));
    Object.assign(claim, { dot, ...centre(dot.firstElementChild) });
    dot.setAttribute("aria-label", `${claim.link.textContent.trim()}, ${claim.said}`);
  }
}

/** Where a dot lies, or a diamond, whose path begins at its left: read, since to measure would have the browser lay all out. */
function centre(shape) {
  if (shape.localName === "circle") return { x: Number(shape.getAttribute("cx")), y: Number(shape.getAttribute("cy")) };
  const [left, y, half] = shape.getAttribute("d").match(/[\d.]+/g).map(Number);
  return { x: left + half, y };
}

/** All claims that one leads to, the direct ones first. */
function reached(key, way) {
  const found = new Set(claims.get(key)[way]);
  for (const one of found) for (const next of claims.get(one)[way]) found.add(next);
  return found;
}

// A choice -----------------------------------------------------------------------------------------------------------------------

/** `move` is what becomes of the view. */
function choose(key, move) {
  shown.keep();
  chosen = claims.get(key);
  const below = reached(key, "uses");
  const above = reached(key, "users");
  light(key, below, above);
  for (const one of claims.values()) one.dot.setAttribute("tabindex", one === chosen ? 0 : -1);
  panel.replaceChildren(closing, ...told(chosen, below, above));
  panel.hidden = false;
  panel.scrollTop = 0;
  panel.classList.toggle("is-left", chosen.x > middle); // away from the dot
  move();
  mark(chosen);
}

/** The chosen claim and those it uses or that use it, as large as they fit. */
function near() {
  stage.scrollIntoView({ block: getComputedStyle(panel).position === "sticky" ? "start" : "nearest", behavior: "instant" });
  shown.fit(chosen, [...chosen.uses, ...chosen.users].map((key) => claims.get(key)));
}

/** A ring about a dot, and its name on the side with more room. */
function mark({ x, y, link }) {
  const { left, right } = shown.around({ x, y });
  const [name, room] = [link.textContent.trim(), Math.floor(Math.max(left, right) / LETTER) - 3];
  ring.setAttribute("cx", x);
  ring.setAttribute("cy", y);
  for (const [attribute, value] of Object.entries({ x, y, dx: right < left ? "-1em" : "1em", dy: "-1em", "text-anchor": right < left ? "end" : "start" }))
    label.setAttribute(attribute, value);
  label.textContent = name.length > room ? `${name.slice(0, room)}…` : name;
}

function light(key, below, above) {
  svg.classList.toggle("has-choice", key !== null);
  for (const one of claims.values()) {
    one.dot.classList.toggle("is-chosen", one.key === key);
    one.dot.classList.toggle("is-below", below.has(one.key));
    one.dot.classList.toggle("is-above", above.has(one.key));
  }
  const within = (all, end) => end === key || all.has(end);
  for (const edge of svg.querySelectorAll(".map__edges path")) {
    const { from, to } = edge.dataset;
    edge.classList.toggle("is-below", within(below, from) && below.has(to));
    edge.classList.toggle("is-above", above.has(from) && within(above, to));
  }
}

function told(claim, below, above) {
  const name = made("p", { class: "map__title" }, claim.link.cloneNode(true));
  const said = made("p", { class: "map__said" }, `${claim.said}; on `, claim.page.cloneNode(true));
  return [name, said, formula(claim), ...ends("What it rests on", claim.uses, below), ...ends("What rests on it", claim.users, above)];
}

/** What a claim states, once its page is read. */
function formula({ link }) {
  const place = made("div", { class: "map__formula" });
  const put = ([claim]) => {
    for (const reason of claim?.querySelectorAll(".claim__reason") ?? []) reason.remove();
    place.append(...(claim?.querySelectorAll(".claim__steps") ?? []));
    if (place.scrollWidth > place.clientWidth || place.scrollHeight > place.clientHeight) place.setAttribute("tabindex", "0");
  };
  if (link.hash) shownFor(link).then(put);
  return place;
}

/** Claims at the other ends of uses, as links that choose them; those further away are folded. */
function ends(title, direct, all) {
  const further = [...all].filter((key) => !direct.includes(key));
  const parts = [made("h2", {}, title), direct.length ? links(direct) : made("p", { class: "map__said" }, "No other claim.")];
  if (further.length) parts.push(made("details", {}, made("summary", {}, `and through these, ${further.length} more`), links(further)));
  return parts;
}

function links(keys) {
  return made("ul", {}, ...keys.map((key) => made("li", {}, made("a", { href: `#${key}` }, ...copied(claims.get(key))))));
}

function copied({ link, page }) {
  const where = made("small", {}, page.textContent);
  return [...[...link.childNodes].map((node) => node.cloneNode(true)), " ", where];
}

function clear() {
  if (panel.contains(document.activeElement)) chosen.dot.focus({ preventScroll: true });
  chosen = null;
  light(null, new Set(), new Set());
  panel.hidden = true;
  shown.back();
}

function close() {
  clear();
  history.replaceState(null, "", location.pathname + location.search);
}

/** What the address says is chosen; a reader who came by a link goes on where it led, in what is told. */
function follow(event) {
  const key = decodeURIComponent(location.hash.slice(1));
  if (!claims.has(key)) return chosen && clear();
  const stays = !event || stage.contains(document.activeElement);
  choose(key, near);
  if (!stays) panel.focus({ preventScroll: true });
}

// Pointers and keys --------------------------------------------------------------------------------------------------------------

function nearest(event) {
  const { x, y } = shown.at(event);
  const far = (one) => Math.hypot(one.x - x, one.y - y);
  const best = [...claims.values()].reduce((a, b) => (far(b) < far(a) ? b : a));
  return far(best) <= REACH * shown.unit() ? best : null;
}

/** The next dot in a direction: near, and not far to the side. */
function beside(from, [right, down]) {
  const cost = (one) => {
    const along = (one.x - from.x) * right + (one.y - from.y) * down;
    const aside = Math.abs((one.x - from.x) * down) + Math.abs((one.y - from.y) * right);
    return along > 0.5 ? along + 3 * aside : Infinity;
  };
  const best = [...claims.values()].reduce((a, b) => (cost(b) < cost(a) ? b : a));
  return cost(best) < Infinity ? best : from;
}

function step(direction) {
  const next = beside(chosen ?? claims.values().next().value, direction);
  history.replaceState(null, "", `#${next.key}`);
  choose(next.key, () => shown.show(next));
  next.dot.focus({ preventScroll: true });
}

function press(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const direction = STEPS[event.key];
  const onDot = event.target.closest(".map__dots");
  const around = onDot && chosen ? chosen : undefined;
  if (direction && onDot && !event.shiftKey) step(direction);
  else if (direction) shown.move(direction[0] * 60, direction[1] * 60);
  else if (event.key === "+" || event.key === "=") shown.zoom(1.3, around);
  else if (event.key === "-") shown.zoom(1 / 1.3, around);
  else if (event.key === "0") shown.home();
  else return;
  event.preventDefault();
}

// The search of the map ----------------------------------------------------------------------------------------------------------

function search() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  const all = words.length ? [...claims.values()].filter(({ text }) => words.every((word) => text.includes(word))) : [];
  const elsewhere = ({ title }) => words.some((word) => !title.includes(` ${word}`)); // a title says more than a page
  const hits = all.sort((a, b) => elsewhere(a) - elsewhere(b) || a.rank - b.rank || a.text.indexOf(words[0]) - b.text.indexOf(words[0]));
  svg.classList.toggle("has-hits", words.length > 0);
  for (const one of claims.values()) one.dot.classList.toggle("is-hit", hits.includes(one));
  found.replaceChildren(...(hits.length ? [links(hits.slice(0, HITS).map(({ key }) => key))] : []));
  status.textContent = words.length ? `${hits.length} claim${hits.length === 1 ? "" : "s"}` : "";
  if (hits.length) {
    shown.keep();
    shown.fit(hits[0], hits.slice(1));
  }
}

function searchKey(event) {
  const all = [field, ...found.querySelectorAll("a")];
  const at = all.indexOf(document.activeElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1 }[event.key];
  if (all[to]) all[to].focus();
  else if (event.key === "Enter" && at === 0) all[1]?.click();
  else if (event.key === "Escape") endSearch();
  else return;
  event.preventDefault();
}

function endSearch() {
  field.value = "";
  search();
  if (!chosen) shown.back();
}

// Begin --------------------------------------------------------------------------------------------------------------------------

const panel = made("div", { class: "map__panel", role: "region", "aria-label": "The chosen claim", tabindex: "-1", hidden: "" });
const closing = made("button", { type: "button", class: "map__close", "aria-label": "Close" }, "×");
const field = made("input", { type: "search", placeholder: "Find a claim", "aria-label": "Find a claim on the map", autocomplete: "off" });
const status = made("span", { class: "map__status", role: "status" });
const found = made("div", { class: "map__hits" });
const drawn = (tag, css, within) => {
  const one = document.createElementNS(svg.namespaceURI, tag);
  one.setAttribute("class", css);
  return within.appendChild(one);
};
const button = (sign, name, act) => {
  const one = made("button", { type: "button", "aria-label": name }, sign);
  one.addEventListener("click", act);
  return one;
};

read();
svg.removeAttribute("aria-hidden");
svg.setAttribute("role", "group");
svg.setAttribute("aria-label", "Map of claims. Arrow keys move it, plus and minus zoom. From a claim, arrow keys lead to the next.");
svg.setAttribute("tabindex", "0");
claims.values().next().value.dot.setAttribute("tabindex", "0");

const finder = made("div", { class: "map__finder" }, field, status, found);
const zooming = [
  button("+", "Zoom in", () => shown.zoom(1.4)),
  button("−", "Zoom out", () => shown.zoom(1 / 1.4)),
  button("All", "Show all", () => shown.home()),
];
const marks = drawn("g", "map__marks", svg);
marks.setAttribute("aria-hidden", "true"); // the panel says the same
const ring = drawn("circle", "map__ring", marks);
const label = drawn("text", "map__label", marks);
stage.after(panel);
box.querySelector(".map__bar").append(finder, ...zooming);

box.classList.add("is-alive");
const shown = view(svg, stage, () => (found.firstChild ? found : panel));

closing.addEventListener("click", close);
field.addEventListener("input", search);
finder.addEventListener("keydown", searchKey);
found.addEventListener("click", endSearch);
stage.addEventListener("keydown", press);
box.addEventListener("keydown", (event) => event.key === "Escape" && chosen && !finder.contains(event.target) && close());
svg.addEventListener("click", (event) => {
  event.preventDefault();
  const one = event.detail ? nearest(event) : claims.get(document.activeElement.getAttribute("href")?.slice(1)); // a key has no place
  if (one) location.hash = one.key;
  else if (chosen) close();
});
svg.addEventListener("pointerover", ({ target }) => {
  const dot = target.closest(".map__dots a:not(:has(title))");
  if (dot) dot.append(document.createElementNS(svg.namespaceURI, "title"));
  if (dot) dot.lastChild.textContent = dot.getAttribute("aria-label"); // what a pointer that rests is told
});
addEventListener("hashchange", follow);
follow();
