// Tokens of a step of speculative decoding and their speed: as `expected_tokens` and `speed` of snippets/serving/speculative.py.

import { chart, draw, make, readout, shown, slider } from "./parts.js";

const MOST = 8; // the largest speed on the plot, and more than any that can be chosen

export function start(stage, { rates, rate, guesses, first, costs, cost }) {
  const chosen = { rate, guesses: first, cost };
  const plot = chart([0, 4, 8, 12].map((count) => [count, shown(count, 0)]), [0, 2, 4, 6, MOST].map((value) => [value, shown(value, 0)]));
  const curve = draw("path", { class: "picture__curve picture__curve--0" });
  const even = draw("path", { class: "picture__curve picture__curve--1", d: plot.path([[0, 1], [guesses.at(-1), 1]]) });
  const dot = draw("circle", { r: 4.5, class: "picture__dot picture__dot--0" });
  plot.element.append(even, curve, dot);
  const said = readout();

  const tokens = (count) => (1 - chosen.rate ** (count + 1)) / (1 - chosen.rate);
  const speed = (count) => tokens(count) / (1 + count * chosen.cost);

  function show() {
    curve.setAttribute("d", plot.path(guesses.map((count) => [count, speed(count)])));
    dot.setAttribute("cx", plot.x(chosen.guesses));
    dot.setAttribute("cy", plot.y(speed(chosen.guesses)));
    said.say(`${shown(tokens(chosen.guesses))} tokens in a step · ${shown(speed(chosen.guesses))} times as fast as without guesses`);
  }

  const take = (name) => (value) => {
    chosen[name] = value;
    show();
  };
  const knobs = [
    slider("guesses accepted", rates, rate, take("rate"), 2),
    slider("guesses in a step", guesses, first, take("guesses")),
    slider("cost of a guess, in steps", costs, cost, take("cost"), 2),
  ];
  stage.append(...knobs.map((knob) => knob.element), make("span", { class: "play__title" }, "speed, by guesses in a step; dashed: without guesses"), plot.element, said.element);
  knobs.forEach((knob) => knob.moved());
}
