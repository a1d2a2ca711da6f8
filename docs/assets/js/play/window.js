// A sliding window through layers: the weights of tokens in the last output, from the layer that computes it down to the tokens. Each layer
// averages over a window, as `distance_shares` of snippets/sparse/window.py does it.

import { cell, each, matrix, put, readout, shown, slider } from "./parts.js";

export const caption = "The weight of each token in the last output, in percent. Here all weights within a window are assumed equal.";

export function start(stage, { tokens, windows, window, depths, depth }) {
  const most = depths[depths.length - 1];
  const cells = each(most + 1, tokens, () => cell());
  const said = readout();
  const chosen = { window, depth };

  // A token passes its weight on to those in its window, in equal parts.
  const below = (row) => row.map((_, j) => row.slice(j, j + chosen.window).reduce((one, other) => one + other, 0) / chosen.window);

  function show() {
    const weights = [cells[0].map((_, j) => (j === tokens - 1 ? 1 : 0))];
    while (weights.length <= chosen.depth) weights.push(below(weights[weights.length - 1]));
    cells.forEach((line, layer) => line.forEach((one, j) => {
      const weight = weights[layer]?.[j];
      if (weight) put(one, 100 * weight, 60, weight < 0.01 ? 1 : 0);
      else one.replaceChildren();
      one.classList.toggle("play__cell--later", !weight);
      one.toggleAttribute("data-marked", weight > 0 && layer === chosen.depth);
    }));
    const reach = chosen.depth * (chosen.window - 1);
    const far = shown(100 * weights[chosen.depth][tokens - 1 - reach]);
    said.say(`tokens within reach ${reach + 1} · the farthest is ${reach} back and has ${far} percent of the weight`);
  }

  const knobs = [
    slider("window", windows, window, (value) => { chosen.window = value; show(); }),
    slider("layers", depths, depth, (value) => { chosen.depth = value; show(); }),
  ];
  const names = cells.map((_, layer) => (layer ? `${layer} layer${layer > 1 ? "s" : ""}` : "output"));
  stage.append(
    ...knobs.map((knob) => knob.element),
    matrix("weights", cells, { rows: names, columns: cells[0].map((_, j) => `${j + 1}`), corner: "token", css: "play__matrix--reach" }),
    said.element,
  );
  knobs.forEach((knob) => knob.moved());
}
