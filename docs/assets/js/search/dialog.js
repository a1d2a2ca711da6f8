// The dialog in which one searches: a field, how much was found, and hits, of which the arrows choose one.

import { find, folded, words } from "./index.js";

const ABOUT = 170; // letters of a hit's text

const element = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
};

const field = element("input", {
  type: "text", role: "combobox", "aria-label": "Search", "aria-controls": "find-hits", "aria-expanded": "false", "aria-autocomplete": "list",
  placeholder: "A name, a word, a formula: QK^T", autocomplete: "off", autocapitalize: "off", spellcheck: "false", enterkeyhint: "go", maxlength: "200",
});
const close = element("button", { type: "button", class: "find__close", "aria-keyshortcuts": "Escape" }, "Close");
const said = element("p", { class: "find__said", role: "status" });
const list = element("div", { id: "find-hits", class: "find__hits", role: "listbox", "aria-label": "Hits" });
const dialog = element("dialog", { class: "find", "aria-label": "Search" }, element("div", { class: "find__field" }, field, close), said, list);

const looks = element("link", { rel: "stylesheet", href: new URL("../../css/search.css", import.meta.url).href });
const arrived = new Promise((done) => ["load", "error"].forEach((name) => looks.addEventListener(name, done, { once: true })));
document.head.append(looks);
document.body.append(dialog);

/** `typed()` is what was typed ahead. */
export async function open(typed) {
  await arrived; // not without its looks
  dialog.showModal();
  if (!typed()) return field.select();
  field.value = typed();
  search();
}

// Hits -------------------------------------------------------------------------------------------------------------------

// The words and formulas of a text, and what stands between them.
const pieces = (text) => text.split(/([\p{L}\p{N}][\p{L}\p{N}_·ᵀ²³’'-]*|_[\p{L}\p{Nd}]+)/u);

function isFound(piece, terms, isFormula) {
  const made = words(folded(piece)).concat(isFormula ? [] : words(piece));
  return made.some((word) => [...terms].some((term) => term === word || (term.length > 1 && (word.startsWith(term) || (isFormula && word.includes(term))))));
}

// An index stands low, of x_ij², ij; and the sign of a transpose is a T that stands high, which not every font has.
const script = (part) => (part === "ᵀ" ? element("sup", {}, "T") : element("sub", {}, part.slice(1)));
const typeset = (piece) => piece.split(/(ᵀ|_(?:(?!ᵀ)[\p{L}\p{Nd}])+)/u).map((part, k) => (k % 2 ? script(part) : part));

// What is in brackets, or one letter, after ^ stands high, and in brackets after _ low: e^(ts), x_(i+1).
const RAISED = /([_^]\((?:[^()]|\([^()]*\))*\)|\^[\p{L}\p{Nd}](?:_[\p{L}\p{Nd}]+)?)/u;

export function marked(text, terms, isFormula = false) {
  const word = (piece, k) => (k % 2 && isFound(piece, terms, isFormula) ? element("mark", {}, ...typeset(piece)) : typeset(piece));
  const inner = (part) => marked(part.slice(1).replace(/^\((.*)\)$/u, "$1"), terms, isFormula);
  return text.split(RAISED).flatMap((part, k) => (k % 2 ? element(part[0] === "_" ? "sub" : "sup", {}, ...inner(part)) : pieces(part).flatMap(word)));
}

// Of a text, the sentence in which most of the words are; from the first of them on, where it is long.
function excerpt(text, terms) {
  const found = (part) => new Set(pieces(part).filter((piece, k) => k % 2 && isFound(piece, terms)).map((piece) => piece.toLowerCase())).size;
  const sentences = text.match(/[^.?!]+[.?!]*\s*/g) ?? [];
  const best = sentences.reduce((so, part) => (found(part) > found(so) ? part : so), sentences[0] ?? "").trim();
  if (best.length <= ABOUT) return best;
  const at = pieces(best).reduce((so, piece, k) => (so.done || (k % 2 && isFound(piece, terms)) ? { ...so, done: true } : { at: so.at + piece.length }), { at: 0 }).at;
  const from = at > ABOUT - 40 ? best.indexOf(" ", at - 60) + 1 : 0;
  const part = best.slice(from, from + ABOUT);
  return `${from ? "… " : ""}${part.slice(0, part.lastIndexOf(" "))} …`;
}

function option(hit, number, terms, before) {
  const isClaim = !["page", "section"].includes(hit.kind);
  const link = element("a", { id: `find-${number}`, class: `find__hit find__hit--${isClaim ? "claim" : hit.kind}`, role: "option", "aria-selected": "false", tabindex: "-1", href: hit.href });
  if (before?.page === hit.page && hit.kind !== "page") link.classList.add("find__hit--inner");
  else if (hit.kind !== "page") link.append(element("span", { class: "find__where" }, ...typeset(hit.page)));
  link.append(element("span", { class: "find__title" }, ...marked(hit.title, terms)));
  if (isClaim) link.append(element("span", { class: `find__kind find__kind--${hit.kind}` }, hit.kind));
  if (hit.statement) link.append(element("span", { class: "find__statement" }, ...marked(hit.statement, terms, true)));
  else if (hit.text) link.append(element("span", { class: "find__text" }, ...marked(excerpt(hit.text, terms), terms)));
  return link;
}

const count = (number, one) => `${number} ${one}${number === 1 ? "" : "s"}`;

function told(hits, places, pages) {
  const all = `${count(places, "hit")} on ${count(pages, "page")}`;
  return hits.length < places ? `${all}, of which the first ${hits.length} are here` : all;
}

function show({ hits, count: places, pages, terms }) {
  list.replaceChildren(...hits.map((hit, number) => option(hit, number, terms, hits[number - 1])));
  list.removeAttribute("aria-busy");
  list.scrollTop = 0;
  field.setAttribute("aria-expanded", String(hits.length > 0));
  choose(0);
  said.textContent = !field.value.trim() ? "" : hits.length ? told(hits, places, pages) : "Nothing was found. Try another word, a name, or a formula.";
}

const NOTHING = { hits: [], count: 0, pages: 0, terms: new Set() };
const FAILED = "The index could not be fetched. Are you offline? Enter tries again.";
let latest = 0;

async function search() {
  const mine = ++latest;
  const isAwaited = () => mine === latest;
  list.setAttribute("aria-busy", "true");
  try {
    const found = await find(field.value, isAwaited);
    if (isAwaited()) show(found);
  } catch {
    if (!isAwaited()) return;
    show(NOTHING);
    said.textContent = FAILED;
  }
}

// The keyboard -----------------------------------------------------------------------------------------------------------

const chosen = () => list.querySelector("[aria-selected=true]");

function choose(number) {
  const options = [...list.children];
  chosen()?.setAttribute("aria-selected", "false");
  const next = options[(number + options.length) % options.length];
  if (!next) return field.removeAttribute("aria-activedescendant");
  next.setAttribute("aria-selected", "true");
  next.scrollIntoView({ block: "nearest" });
  field.setAttribute("aria-activedescendant", next.id);
}

function move(by) {
  choose([...list.children].indexOf(chosen()) + by);
}

const KEYS = {
  ArrowDown: () => move(1),
  ArrowUp: () => move(-1),
  Escape: () => dialog.close(), // by itself it would first empty the field
  Enter: () => (chosen() ? chosen().click() : search()),
};

field.addEventListener("input", search);
field.addEventListener("keydown", (event) => {
  if (!KEYS[event.key] || event.isComposing) return;
  event.preventDefault();
  KEYS[event.key]();
});
list.addEventListener("click", (event) => {
  if (event.target.closest("a") && !event.ctrlKey && !event.metaKey && !event.shiftKey) dialog.close(); // it may lead to a place on this page
});
dialog.addEventListener("click", (event) => {
  if (event.target === dialog) dialog.close(); // beside it
});
close.addEventListener("click", () => dialog.close());
