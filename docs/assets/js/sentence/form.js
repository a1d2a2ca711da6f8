// A form in which a reader types a sentence and sees the heads of the model on it. Nothing is fetched before the reader asks for it: the worker
// then fetches the model, computes, and sends the weights of a layer as soon as it has them.

import { arcs } from "./arcs.js";
import { headView } from "../play/head_grid.js";
import { entropy, make, readout, shown, sum } from "../play/parts.js";

const LAYERS = 6;
const HEADS = 12; // in a layer
const EXAMPLE = "The trophy didn't fit in the suitcase because it was too big.";
const PRONOUNS = new Set(["it", "he", "she", "they", "him", "her", "them", "his", "its", "their"]); // the query at first, if there is one
const NARROW = 20; // tokens whose weights fit on a phone

// The measures that need no more than the weights, as snippets/seeing/measure.py computes them, and the page that explains each.
const MEASURES = [
  ["entropy", "softmax/temperature/#most-entropy", (rows) => mean(rows.map(entropy))],
  ["first token", "bounds/sinks/", (rows) => mean(rows.map((row) => row[0]))],
  ["previous token", "seeing/heads/", (rows) => mean(rows.slice(1).map((row, i) => row[i]))],
  ["next token", "seeing/heads/", (rows) => mean(rows.slice(0, -1).map((row, i) => row[i + 1]))],
  ["same token", "attention/basic/#self-first", (rows) => mean(rows.map((row, i) => row[i]))],
];
const ROOT = new URL("../../../", import.meta.url); // of the site

const FAILURES = {
  fetch: (why) => `A file of the model could not be fetched (${why}). Check the connection, and press the button again.`,
  compute: (why) => `The heads could not be computed (${why}). Press the button again, or load the page again.`,
  start: () => "This browser could not start the computation. Press the button again, or use another browser.",
};

const mean = (values) => sum(values) / values.length;
const rem = () => parseFloat(getComputedStyle(document.documentElement).fontSize);
const megabytes = (bytes) => `${shown(bytes / 1e6, 1)} MB`;

// What this browser lacks, in words; "" if it lacks nothing.
function lacks() {
  if (!globalThis.Worker) return "This browser cannot compute beside the page (it has no workers), so there is no form here.";
  if (!globalThis.DecompressionStream) return "This browser cannot unpack the model (it has no DecompressionStream), so there is no form here.";
  return "";
}

export function start(place) {
  const missing = lacks();
  if (missing) return place.replaceChildren(make("p", {}, missing));
  const { version, shared, embeddings } = place.dataset;
  const text = make("input", { type: "text", class: "sentence__text", autocomplete: "off", enterkeyhint: "go" });
  text.value = EXAMPLE;
  const all = make("input", { type: "checkbox" });
  const form = make(
    "form",
    { class: "sentence__form" },
    make("label", { class: "sentence__label" }, make("span", { class: "play__title" }, "Your sentence"), text),
    make("label", { class: "play__both sentence__all" }, all, make("span", {}, `Hide my words from the server: fetch the embeddings of all words (${megabytes(embeddings)})`)),
    make("button", { type: "submit", class: "play__button sentence__go" }, "Show all 72 heads"),
  );
  const bar = make("progress", { "aria-label": "loading the model", max: 1 });
  const amount = make("span", {});
  const progress = make("p", { class: "sentence__progress", hidden: "" }, bar, amount);
  const status = readout();
  status.say(`The first sentence loads ${megabytes(shared)} and the embeddings of its words.`);
  const note = make("p", { class: "play__says" }); // what stays to be read after the heads are there
  const heads = make("div", { class: "sentence__heads" });

  let worker, view, needed;
  let [asked, loaded] = [0, 0]; // the number of the last sentence, and the bytes that came for it

  function ask(event) {
    event.preventDefault();
    if (!text.value.trim()) {
      status.say("Type a sentence first.");
      return text.focus();
    }
    [loaded, needed] = [0, undefined];
    status.say("Loading the model.");
    worker ??= employ();
    worker.postMessage({ id: ++asked, version, text: text.value, all: all.checked });
  }

  function employ() {
    const made = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
    made.addEventListener("message", ({ data }) => {
      if (data.id === asked) hear(data);
    });
    made.addEventListener("error", () => {
      worker = undefined; // the next press starts another
      fail("start");
    });
    return made;
  }

  function hear(said) {
    if (said.tokens) begin(said);
    if ("loaded" in said) load(said.loaded);
    if (said.weights) show(said.layer, said.weights);
    if (said.failed) fail(said.failed, said.why);
    if (said.done) progress.hidden = true;
  }

  function begin({ tokens, left, needed: bytes }) {
    needed = bytes;
    load(loaded);
    const cut = left ? `The sentence is cut to ${tokens.length} tokens; ${left} are left out.` : `${tokens.length} tokens.`;
    status.say(bytes > loaded ? `${cut} ${megabytes(bytes - loaded)} to load.` : cut);
    note.textContent = left ? cut : "";
    const names = MEASURES.map(([name]) => name);
    const pages = MEASURES.map(([, page]) => new URL(page, ROOT));
    const pronoun = tokens.findIndex((token, place) => place > 1 && PRONOUNS.has(token)); // not the first word, which follows no noun
    const query = pronoun > 0 ? pronoun : tokens.findLastIndex((token) => /^[\p{L}\p{N}]/u.test(token));
    const pair = [Math.max(query, 0)];
    const drawing = arcs(tokens, place.clientWidth, getComputedStyle(place).fontFamily, rem(), (key) => view.ask(key));
    const caption = make("p", { class: "play__says" });
    drawing.show(pair[0], []);
    view = headView({ tokens, perRow: HEADS, count: LAYERS * HEADS, names, pages, first: view?.chosen(), pair, open: true, changed });
    view.show();
    heads.replaceChildren(drawing.element, caption, ...view.parts);

    function changed(head, query, weights) {
      drawing.show(query, weights);
      caption.textContent = `What “${tokens[query]}” looks at in head ${head % HEADS} of layer ${Math.floor(head / HEADS)}. The numbers are its weights. Press another word to see what it looks at.`;
    }
    if (tokens.length > NARROW) heads.querySelector(".play__scroll").tabIndex = 0; // for the arrow keys
  }

  function load(bytes) {
    loaded = bytes;
    progress.hidden = !(needed > 0);
    bar.value = needed ? loaded / needed : 0;
    amount.textContent = needed ? `${megabytes(loaded)} of ${megabytes(needed)}` : "";
  }

  function show(layer, weights) {
    const n = Math.sqrt(weights.length / HEADS);
    for (let head = 0; head < HEADS; head++) {
      const own = Array.from(weights.subarray(head * n * n, (head + 1) * n * n));
      const rows = Array.from({ length: n }, (_, query) => own.slice(query * n, (query + 1) * n));
      view.fill(layer * HEADS + head, own.map((weight) => 100 * weight), MEASURES.map(([, , measure]) => measure(rows)));
    }
    view.show();
    status.say(layer < LAYERS - 1 ? `Layer ${layer} is shown; ${LAYERS - 1 - layer} more to come.` : "All 72 heads are shown.");
  }

  function fail(kind, why) {
    progress.hidden = true;
    status.say(FAILURES[kind](why));
  }

  form.addEventListener("submit", ask);
  place.replaceChildren(form, progress, status.element, note, heads);
  place.classList.add("play", "play--wide");
}
