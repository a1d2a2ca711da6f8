// How well a position is recovered from the weight of the first token: as `counting_errors` of snippets/positions/nope.py.

import { chart, choice, draw, readout, shown, slider } from "./parts.js";

export const caption = "The error of the position recovered from one over the position, stored in the format that you choose.";

// The nearest number with so many significant bits. No signal here is below the normal numbers of a format.
function stored(signal, bits) {
  const unit = 2 ** (Math.floor(Math.log2(signal)) + 1 - bits);
  const [below, rest] = [Math.floor(signal / unit), (signal / unit) % 1];
  return unit * (below + (rest > 0.5 || (rest === 0.5 && below % 2 === 1) ? 1 : 0));
}

export function start(stage, { formats, bits, format, positions, position }) {
  const chosen = { format, position };
  const plot = chart([1, 100, 200, 300].map((at) => [at, shown(at, 0)]), [-1, -0.5, 0, 0.5, 1].map((error) => [error, shown(error, 1)]));
  const curve = draw("path", { class: "picture__curve picture__curve--0" });
  const dot = draw("circle", { r: 4.5, class: "picture__dot picture__dot--0" });
  plot.element.append(curve, dot);
  const said = readout();
  const signal = (at) => stored(1 / at, bits[chosen.format]);
  const error = (at) => 1 / signal(at) - at;

  function show() {
    const at = chosen.position;
    curve.setAttribute("d", plot.path(positions.map((one) => [one, error(one)])));
    dot.setAttribute("cx", plot.x(at));
    dot.setAttribute("cy", plot.y(error(at)));
    said.say(`signal ${shown(signal(at), 6)} · next ${shown(signal(at + 1), 6)} · recovered position ${shown(1 / signal(at), 1)}`);
  }

  const knob = slider("position", positions, position, (value) => {
    chosen.position = value;
    show();
  });
  const box = choice("signal stored in", formats, format, (place) => {
    chosen.format = place;
    show();
  });
  stage.append(box, knob.element, plot.element, said.element);
  knob.moved();
}
