// Weights of softmax, entmax, sparsemax, sigmoid and ReLU for three scores: as in snippets/softmax/entmax.py.

import { cell, each, matrix, put, readout, shown, slider, softmax, sum } from "./parts.js";

export const caption = "The weights of the scores that you set. A 0 without decimals is exactly zero.";

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
const relu = (scores) => scores.map((score) => positive(score) / scores.length);
const WAYS = { softmax, "entmax 1.5": entmax, sparsemax, sigmoid, ReLU: relu };

export function start(stage, { scores, choices }) {
  const names = Object.keys(WAYS);
  const cells = each(names.length, scores.length + 1, () => cell());
  const columns = [...scores.map((_, j) => `key ${j + 1}`), "sum"];
  const said = readout();

  function show() {
    const kept = names.map((name, i) => {
      const weights = WAYS[name](scores);
      [...weights, sum(weights)].forEach((weight, j) => put(cells[i][j], weight, j < scores.length ? 1 : Infinity, weight ? 2 : 0));
      return weights.filter((weight) => weight > 0).length;
    });
    said.say(`keys that keep a weight: softmax ${kept[0]} · entmax ${kept[1]} · sparsemax ${kept[2]}`);
  }

  const knobs = scores.map((score, j) => slider(`score ${j + 1}`, choices, score, (value) => {
    scores[j] = value;
    show();
  }, 1));
  stage.append(...knobs.map((knob) => knob.element), matrix("weights", cells, { rows: names, columns }), said.element);
  knobs.forEach((knob) => knob.moved());
}
