// Keys that are kept for a query, one by one or in blocks with the largest mean scores: the missed weight and the error, as `missed_weight`
// and `selection_error` of snippets/sparse/learned.py.

import { choice, dot, make, readout, shown, slider, softmax, strength, sum } from "./parts.js";

export const caption = "Weights of sixteen keys. Filled: kept keys. Dashed: missed keys. Blocks are kept by the mean of their scores.";

export function start(stage, { scores, values, sizes, kept, first }) {
  const weights = softmax(scores);
  const most = Math.max(...weights);
  const columns = weights.map((weight) => {
    const column = make("span", { class: "play__column" });
    strength(column, weight, most);
    return column;
  });
  const said = readout();
  const chosen = { size: 1, kept: first };
  const largest = Math.max(...values.map(Math.abs));

  function show() {
    const wide = chosen.size;
    const means = Array.from({ length: scores.length / wide }, (_, k) => sum(scores.slice(k * wide, (k + 1) * wide)) / wide);
    const ranked = means.map((_, k) => k).sort((one, other) => means[other] - means[one]).slice(0, chosen.kept / wide);
    const keep = scores.map((_, j) => ranked.includes(Math.floor(j / wide)));
    columns.forEach((column, j) => column.classList.toggle("play__column--missed", !keep[j]));
    const own = softmax(scores.map((score, j) => (keep[j] ? score : -Infinity)));
    const missed = sum(weights.filter((_, j) => !keep[j]));
    const error = dot(weights, values) - dot(own, values);
    said.say(`missed weight ${shown(missed)} · error ${shown(Math.abs(error))}, at most ${shown(2 * largest * missed)}`);
  }

  const knob = slider("kept keys", kept, first, (value) => {
    chosen.kept = value;
    show();
  });
  const choose = choice("kept in", sizes.map((size) => (size > 1 ? `blocks of ${size}` : "single keys")), 0, (place) => {
    chosen.size = sizes[place];
    show();
  });
  stage.append(choose, knob.element, make("div", { class: "play__columns", "aria-hidden": "true" }, ...columns), said.element);
  knob.moved();
}
