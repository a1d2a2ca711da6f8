// The share of its frequency that each pair of Llama 3.1's head keeps, for a factor and borders that a reader chooses: as
// `llama3_frequencies` of snippets/positions/scaled.py. `turns` has the rotations of each pair within the trained length.

import { chart, draw, make, readout, shown, slider } from "./parts.js";

export const caption = "The share of its frequency that each pair keeps, for a factor and two borders, in rotations. Dashed: YaRN's borders, with the same factor.";

export function start(stage, { turns, factors, factor, lows, low, highs, high, start: first, end }) {
  const chosen = { factor, low, high };
  const plot = chart([1, 16, 32, 48, 64].map((pair) => [pair, shown(pair, 0)]), [0, 25, 50, 75, 100].map((share) => [share, shown(share, 0)]));
  const curves = [1, 0].map((k) => draw("path", { class: `picture__curve picture__curve--${k}` }));
  plot.element.append(...curves);
  const said = readout();

  const place = (turn, from, to) => Math.max(0, Math.min(1, (turn - from) / (to - from)));
  const kept = (from, to) => turns.map((turn, k) => [k + 1, 100 * ((1 - place(turn, from, to)) / chosen.factor + place(turn, from, to))]);

  function show() {
    curves[0].setAttribute("d", plot.path(kept(first, end)));
    curves[1].setAttribute("d", plot.path(kept(chosen.low, chosen.high)));
    const [fast, slow] = [turns.filter((turn) => turn > chosen.high).length, turns.filter((turn) => turn < chosen.low).length];
    said.say(`kept ${fast} · blended ${turns.length - fast - slow} · divided by ${shown(chosen.factor, 0)}: ${slow}`);
  }

  const take = (name) => (value) => {
    chosen[name] = value;
    show();
  };
  const knobs = [
    slider("factor", factors, factor, take("factor")),
    slider("low border", lows, low, take("low"), 1),
    slider("high border", highs, high, take("high")),
  ];
  stage.append(...knobs.map((knob) => knob.element), make("span", { class: "play__title" }, "percent of the frequency, by pair; dashed: YaRN"), plot.element, said.element);
  knobs.forEach((knob) => knob.moved());
}
