// The angle of a pair of features over a text that is longer than those of the training: without a change, with the base of `ntk_base` of
// snippets/positions/interpolation.py, and under PI. `omega` has the trained frequencies, `trained` is the trained length, and `times` says
// how many times as long the text is.

import { chart, draw, make, readout, shown, slider, words } from "./parts.js";

const FACTORS = [1, 1.5, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16];

export const caption = "The angle of a pair of features, by position. The shaded rectangle holds the positions and the angles of training.";

const short = (angle) => shown(angle, angle < 100 ? 2 : 0);

export function start(stage, { omega, base, trained, times, factor, pair: first }) {
  let [s, pair] = [factor, first];
  const places = Array.from({ length: times + 1 }, (_, place) => [place, shown(place * trained, 0)]);
  const { element, x, y, path } = chart(places, [[0, "0"], [1, ""], [times, ""]], 150);
  const ways = ["unchanged", "NTK-aware", "PI"].map((name, k) => {
    const css = `picture__curve picture__curve--${[1, 3, 0][k]}`;
    const number = make("span", { class: "play__number" });
    const sample = draw("svg", { class: "picture__svg play__sample", viewBox: "0 0 24 8", "aria-hidden": "true" }, draw("path", { class: css, d: "M0 4H24" }));
    return { name, line: draw("path", { class: css }), number, element: make("span", { class: "play__way" }, sample, `${name} `, number) };
  });
  const labels = [1, times].map((part) => words(x(0) - 8, y(part) + 4.5, "", "end"));
  element.prepend(draw("rect", { class: "play__band", x: x(0), y: y(1), width: x(1) - x(0), height: y(0) - y(1) }));
  element.append(...ways.map(({ line }) => line), ...labels);
  const said = readout();

  function show() {
    const half = omega.length;
    const reach = omega[pair - 1] * trained; // the largest angle in training
    const scaled = (base * s ** (half / (half - 1))) ** (-(pair - 1) / half);
    const ends = [omega[pair - 1], scaled, omega[pair - 1] / s].map((frequency) => frequency * times * trained);
    ways.forEach(({ line, number }, k) => {
      line.setAttribute("d", path([[0, 0], [times, ends[k] / reach]]));
      number.textContent = short(ends[k]);
    });
    labels.forEach((label, k) => (label.textContent = short(reach * (k ? times : 1))));
    const inside = ways.filter((_, k) => ends[k] <= reach * (1 + 1e-9)).map(({ name }) => name);
    const turns = Math.floor(reach / (2 * Math.PI));
    said.say(turns
      ? `this pair made ${shown(turns, 0)} whole rotations in training, so that all angles of the circle occurred`
      : `in training the angle reached ${short(reach)} · within this range: ${inside.length ? inside.join(" and ") : "none"}`);
  }

  const knobs = [
    slider(make("span", {}, "factor ", make("span", { class: "play__name" }, "s")), FACTORS, factor, (value) => { s = value; show(); }, String),
    slider("pair, fast to slow", omega.map((_, place) => place + 1), pair, (value) => { pair = value; show(); }),
  ];
  const title = make("span", { class: "play__title" }, `angles at position ${shown(times * trained, 0)}`);
  stage.append(...knobs.map((knob) => knob.element), element, make("div", { class: "play__ways" }, title, ...ways.map((way) => way.element)), said.element);
  knobs.forEach((knob) => knob.moved());
}
