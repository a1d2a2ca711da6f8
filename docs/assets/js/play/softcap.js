// Scores before and after a cap that a reader sets, and their weights: as `soft_cap` and `capped_weights` of snippets/bounds/softcap.py.
// The ceiling is the largest weight that scores between minus the cap and the cap allow, as `bounded_weights` of snippets/bounds/qknorm.py.

import { cell, chart, draw, each, integer, limits, listed, matrix, put, readout, shown, slider, softmax } from "./parts.js";

const CAPS = [1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 100];
const MOST = 20; // the largest score that a cell takes

export const caption = "The curve shows each score after the cap. The table compares the weights with and without it.";

export function start(stage, { scores, cap: first }) {
  let cap = first;
  const capped = (score) => cap * Math.tanh(score / cap);
  const marks = [-MOST, -MOST / 2, 0, MOST / 2, MOST].map((value) => [value, shown(value, 0)]);
  const { element, x, y, path } = chart(marks, marks);
  const curve = draw("path", { class: "picture__curve picture__curve--0" });
  const dots = scores.map(() => draw("circle", { class: "picture__dot picture__dot--0", r: 4.5 }));
  element.append(draw("path", { class: "picture__thin", d: path([[-MOST, -MOST], [MOST, MOST]]) }), curve, ...dots);
  const rows = each(3, scores.length, () => cell());
  const said = readout();

  function show() {
    const after = scores.map(capped);
    const weights = [softmax(after), softmax(scores)];
    curve.setAttribute("d", path(Array.from({ length: 81 }, (_, k) => (MOST * (k - 40)) / 40).map((score) => [score, capped(score)])));
    scores.forEach((score, j) => {
      dots[j].setAttribute("cx", x(score));
      dots[j].setAttribute("cy", y(after[j]));
      put(rows[0][j], after[j], MOST, 2);
      weights.forEach((row, i) => put(rows[i + 1][j], row[j], 1, 3));
    });
    const ceiling = 1 / (1 + (scores.length - 1) * Math.exp(-2 * cap));
    const words = `largest weight ${shown(Math.max(...weights[0]), 4)} · ceiling for this cap ${shown(ceiling, 4)}`;
    said.say(words, `after the cap ${listed(after)} · weights ${listed(weights[0], 3)} · ${words}`);
  }

  const cells = scores.map((score, j) => integer(score, `score ${j + 1}`, (value) => { scores[j] = value; show(); }, MOST));
  const knob = slider("cap", CAPS, cap, (value) => { cap = value; show(); });
  const names = [`scores, ${limits(MOST)}`, "after the cap", "weights", "uncapped weights"];
  stage.append(knob.element, matrix("scores and weights", [cells, ...rows], { rows: names, columns: scores.map((_, j) => `key ${j + 1}`), css: "play__matrix--wide" }), element, said.element);
  knob.moved();
}
