// Softmax at a temperature that a reader sets, for scores that a reader sets: as `softmax_with_temperature` in
// snippets/softmax/temperature.py, with `entropy` of snippets/scaling/saturation.py.

import { dot, entropy, integer, limits, listed, make, readout, shown, slider, softmax, strength } from "./parts.js";

const TEMPERATURES = [0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.8, 1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 100];

export const caption = "The weights of four scores, at the temperature that you set.";

export function start(stage, { scores }) {
  const bars = scores.map(() => make("span", { class: "play__bar" }));
  const numbers = scores.map(() => make("span", { class: "play__number", "data-number": "weight" }));
  const said = readout();
  let temperature = 1;

  function show() {
    const weights = softmax(scores.map((score) => score / temperature));
    weights.forEach((weight, j) => {
      strength(bars[j], weight);
      numbers[j].textContent = shown(weight);
    });
    const words = `entropy ${shown(entropy(weights))} · mean score ${shown(dot(weights, scores))}`;
    said.say(words, `weights ${listed(weights)} · ${words}`);
  }

  const rows = scores.map((score, j) => {
    const cell = integer(score, `score ${j + 1}`, (value) => {
      scores[j] = value;
      show();
    });
    return make("div", { class: "play__row" }, cell, make("span", { class: "play__track" }, bars[j]), numbers[j]);
  });
  const knob = slider("temperature", TEMPERATURES, temperature, (value) => {
    temperature = value;
    show();
  }, (value) => String(value));
  const heads = make("div", { class: "play__row play__heads" }, make("span", {}, `score, ${limits()}`), make("span", {}, "weight"));
  stage.append(knob.element, heads, ...rows, said.element);
  knob.moved();
}
