// An output in the plane, with a temperature and a gate: as `softmax_with_temperature` of snippets/softmax/temperature.py and `gate_output` of
// snippets/bounds/gated.py.

import { chart, dot, draw, listed, make, readout, shown, slider, softmax, transposed } from "./parts.js";

export function start(stage, { values, scores, logits, logit, temperatures, tau, most }) {
  const chosen = { logit, tau };
  const marks = [0, most / 2, most].map((value) => [value, shown(value, 0)]);
  const plot = chart(marks, marks, 190);
  const at = (x, y, kind) => draw("circle", { r: 4.5, class: `picture__dot picture__dot--${kind}`, cx: plot.x(x), cy: plot.y(y) });
  const hull = draw("path", { class: "picture__thin", d: `${plot.path(values)}Z` });
  const ray = draw("path", { class: "picture__curve picture__curve--0" });
  const warmed = draw("path", { class: "picture__curve picture__curve--1" });
  const mark = at(0, 0, 0);
  plot.element.append(hull, warmed, ray, ...values.map(([x, y]) => at(x, y, 1)), mark);
  const said = readout();

  const weigh = (tau) => softmax(scores.map((score) => score / tau));
  const mix = (weights) => transposed(values).map((column) => dot(weights, column));
  warmed.setAttribute("d", plot.path(temperatures.map((one) => mix(weigh(one)))));

  function show() {
    const weights = weigh(chosen.tau);
    const [mixed, gate] = [mix(weights), 1 / (1 + Math.exp(-chosen.logit))];
    const output = mixed.map((x) => gate * x);
    ray.setAttribute("d", plot.path([[0, 0], mixed]));
    mark.setAttribute("cx", plot.x(output[0]));
    mark.setAttribute("cy", plot.y(output[1]));
    said.say(`weights ${listed(weights)} · without the gate ${listed(mixed)} · with it ${listed(output)}`);
  }

  const take = (name) => (value) => {
    chosen[name] = value;
    show();
  };
  const knobs = [slider("logit of the gate", logits, logit, take("logit")), slider("temperature", temperatures, tau, take("tau"), 1)];
  stage.append(...knobs.map((knob) => knob.element), make("span", { class: "play__title" }, "solid: where the gate takes the output; dashed: where a temperature takes it"), plot.element, said.element);
  knobs.forEach((knob) => knob.moved());
}
