// The derivatives of weights with respect to scores that a reader moves: as `softmax_jacobian` of snippets/softmax/jacobian.py.

import { cell, each, listed, make, matrix, put, readout, shown, slider, softmax, sum, titled } from "./parts.js";

const STEPS = Array.from({ length: 33 }, (_, step) => (step - 16) / 4);

export const caption = "Three scores, their weights, and the Jacobian. The marked column belongs to the score that you moved last.";

export function start(stage, { scores: first }) {
  const scores = [...first];
  const weights = each(scores.length, 1, () => cell());
  const derivatives = each(scores.length, scores.length, () => cell());
  const said = readout();

  function show(moved) {
    const p = softmax(scores);
    const jacobian = p.map((weight, i) => p.map((other, j) => (i === j ? weight : 0) - weight * other));
    p.forEach((weight, i) => {
      put(weights[i][0], weight, 1, 3);
      p.forEach((_, j) => {
        put(derivatives[i][j], jacobian[i][j], 0.25, 3);
        derivatives[i][j].toggleAttribute("data-marked", j === moved);
      });
    });
    const words = `largest weight ${shown(Math.max(...p), 3)} · trace ${shown(1 - sum(p.map((weight) => weight ** 2)), 3)}`;
    said.say(words, `weights ${listed(p, 3)} · derivatives by score ${moved + 1}: ${listed(jacobian[moved], 3)} · ${words}`);
  }

  // Each score moves in quarters from where it starts, so that the weights of the example can be set again.
  const knobs = first.map((score, j) => slider(`score ${j + 1}`, STEPS.map((step) => score + step), score, (value) => {
    scores[j] = value;
    show(j);
  }, 2));
  const names = (what) => first.map((_, i) => `${what} ${i + 1}`);
  stage.append(
    ...knobs.map((knob) => knob.element),
    make("div", { class: "play__line play__line--jacobian" },
      titled("weights", matrix("weights", weights, { rows: names("weight"), columns: [""] })),
      titled("derivatives of the weights", matrix("derivatives of the weights", derivatives, { columns: names("score") }))),
    said.element,
  );
  knobs.forEach((knob) => knob.moved());
}
