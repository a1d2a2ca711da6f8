// Weights of softmax, entmax, sparsemax and sigmoid for three scores: as in snippets/softmax/entmax.py.

import { cell, each, matrix, put, readout, shown, slider, softmax, sum } from "./parts.js";

export const caption = "The weights of the scores that you set. An empty cell is a weight of zero.";

const positive = (number) => Math.max(number, 0);

function sparsemax(scores) {
  const largest = [...scores].sort((one, other) => other - one);
  const threshold = Math.max(...largest.map((_, k) => (sum(largest.slice(0, k + 1)) - 1) / (k + 1)));
  return scores.map((score) => positive(score - threshold));
}

function entmax(scores) { // alpha is 1.5
  let high = Math.max(...scores) / 2;
  let low = high - 1;
  const weights = (threshold) => scores.map((score) => positive(score / 2 - threshold) ** 2);
  for (let halved = 0; halved < 60; halved++) {
    const middle = (low + high) / 2;
    if (sum(weights(middle)) >= 1) low = middle;
    else high = middle;
  }
  return weights(low);
}

const sigmoid = (scores) => scores.map((score) => 1 / (1 + scores.length * Math.exp(-score)));
const WAYS = { softmax, "entmax 1.5": entmax, sparsemax, sigmoid };

export function start(stage, { scores, choices }) {
  const names = Object.keys(WAYS);
  const cells = each(names.length, scores.length + 1, () => cell());
  const columns = [...scores.map((_, j) => `key ${j + 1}`), "sum"];
  const said = readout();

  function show() {
    const zeros = names.map((name, i) => {
      const weights = WAYS[name](scores);
      [...weights, sum(weights)].forEach((weight, j) => {
        put(cells[i][j], weight, j < scores.length ? 1 : Infinity, 2);
        if (weight === 0) cells[i][j].textContent = "";
      });
      return `${name} ${weights.filter((weight) => weight === 0).length}`;
    });
    said.say(`weights of zero: ${zeros.join(" · ")}`);
  }

  const knobs = scores.map((score, j) => slider(`score ${j + 1}`, choices, score, (value) => {
    scores[j] = value;
    show();
  }, 1));
  stage.append(...knobs.map((knob) => knob.element), matrix("weights", cells, { rows: names, columns }), said.element);
  knobs.forEach((knob) => knob.moved());
}
