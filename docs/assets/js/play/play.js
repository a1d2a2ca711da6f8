// Finds the figures that a widget plays, and loads the widgets that this page asks for, and no others.
// A widget is a module that exports `start(stage, numbers)`: it fills an element that is shown in place of the picture when it is done.
// It may export a `caption`, no longer than the picture's, where that one speaks of what the widget does not show.
// Until then, and wherever anything fails, the picture stands.

const WIDGETS = {
  alibi: () => import("./alibi.js"),
  atlas: () => import("./atlas.js"),
  blend: () => import("./blend.js"),
  block: () => import("./block.js"),
  bytes: () => import("./bytes.js"),
  cache: () => import("./cache.js"),
  causal: () => import("./causal.js"),
  chunks: () => import("./chunks.js"),
  cost: () => import("./cost.js"),
  delta: () => import("./delta.js"),
  dilution: () => import("./dilution.js"),
  entmax: () => import("./entmax.js"),
  exchange: () => import("./exchange.js"),
  fit: () => import("./fit.js"),
  flash: () => import("./flash.js"),
  gated: () => import("./gated.js"),
  grid: () => import("./grid.js"),
  guesses: () => import("./guesses.js"),
  heads: () => import("./heads.js"),
  hybrid: () => import("./hybrid.js"),
  integers: () => import("./integers.js"),
  interpolation: () => import("./interpolation.js"),
  jacobian: () => import("./jacobian.js"),
  levels: () => import("./levels.js"),
  loads: () => import("./loads.js"),
  masks: () => import("./masks.js"),
  merge: () => import("./merge.js"),
  nope: () => import("./nope.js"),
  nothing: () => import("./nothing.js"),
  pages: () => import("./pages.js"),
  permutation: () => import("./permutation.js"),
  ring: () => import("./ring.js"),
  roofline: () => import("./roofline.js"),
  rotary: () => import("./rotary.js"),
  scale: () => import("./scale.js"),
  selection: () => import("./selection.js"),
  softcap: () => import("./softcap.js"),
  splits: () => import("./splits.js"),
  state: () => import("./state.js"),
  symbols: () => import("./symbols.js"),
  temperature: () => import("./temperature.js"),
  tiles: () => import("./tiles.js"),
  variance: () => import("./variance.js"),
  window: () => import("./window.js"),
};

function caption(place, text) {
  for (const own of place.children) own.classList.add("play__instead");
  const said = document.createElement("p");
  said.className = "play__caption";
  said.textContent = text;
  place.append(said);
}

async function play(figure) {
  const widget = await WIDGETS[figure.dataset.play]?.();
  if (!widget) return;
  const stage = document.createElement("div");
  stage.className = "play";
  stage.setAttribute("role", "group");
  stage.setAttribute("aria-label", figure.querySelector("title").textContent);
  widget.start(stage, JSON.parse(figure.dataset.numbers));
  figure.querySelector(".play__stage").append(stage);
  if (widget.caption) caption(figure.querySelector("figcaption"), widget.caption);
  figure.dataset.played = ""; // from here on the style sheet hides the picture
}

for (const figure of document.querySelectorAll("figure.picture[data-play]")) play(figure);

for (const place of document.querySelectorAll(".sentence")) import("../sentence/form.js").then((form) => form.start(place));
