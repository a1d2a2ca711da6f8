// A causal mask on two texts of a batch, the shorter of which is padded: weights as `masked_softmax` and `mask_scores` of
// snippets/attention/masks.py make them, with `padding_mask` there. A query that sees no key gets zeros, as there.

import { cell, choice, each, make, matrix, put, readout, slider, softmax, titled } from "./parts.js";

export const caption = "Two texts of a batch, padded to the same length. Change a length or the side of the padding, and see which keys remain.";

export function start(stage, { scores, lengths }) {
  const n = scores[0].length;
  const cells = scores.map(() => each(n, n, () => cell()));
  const said = readout();
  let left = false;

  function show() {
    const told = scores.map((rows, text) => {
      const own = (j) => (left ? j >= n - lengths[text] : j < lengths[text]);
      let pairs = 0;
      rows.forEach((row, i) => {
        const kept = row.map((_, j) => j <= i && own(j));
        const weights = softmax(row.map((score, j) => (kept[j] ? score : -Infinity)));
        pairs += kept.filter(Boolean).length * own(i);
        cells[text][i].forEach((one, j) => {
          put(one, weights[j], 1, 2);
          if (!kept[j]) one.replaceChildren();
          one.classList.toggle("play__cell--masked", !kept[j]);
          one.classList.toggle("play__cell--later", !own(i));
        });
      });
      return `text ${text + 1} keeps ${pairs} pairs of its own tokens`;
    });
    said.say(told.join(" · "));
  }

  const all = scores[0].map((_, i) => i + 1);
  const knobs = scores.map((_, text) => slider(`tokens in text ${text + 1}`, all, lengths[text], (value) => { lengths[text] = value; show(); }));
  const places = all.map(String);
  stage.append(
    ...knobs.map((knob) => knob.element),
    choice("padding", ["on the right", "on the left"], 0, (place) => { left = place === 1; show(); }),
    make("div", { class: "play__line play__line--batch" }, ...cells.map((square, text) =>
      titled(`weights in text ${text + 1}`, matrix(`weights in text ${text + 1}`, square, { rows: places, columns: places })))),
    said.element,
  );
  knobs.forEach((knob) => knob.moved());
}
