// Operations of attention for each byte, and what a machine can do in the time of a byte: as `model_intensity` and `ridge_point` of
// snippets/serving/roofline.py compute them. Both axes of the plot are logarithmic.

import { chart, choice, draw, make, readout, select, shown, slider } from "./parts.js";

const MARKS = [[0, "1"], [5, "32"], [10, "1,024"], [15, "32,768"], [20, ""]]; // powers of two, and what is printed there

export function start(stage, { models, queries, machines, ridges, tokens, cached, new: fresh, model, machine }) {
  const plot = chart([[0, "1"], [5, "32"], [10, "1,024"], [13, ""]], MARKS);
  const [curve, roof] = [0, 1].map((order) => draw("path", { class: `picture__curve picture__curve--${order}` }));
  const dot = draw("circle", { r: 4.5, class: "picture__dot picture__dot--0" });
  plot.element.append(roof, curve, dot);
  const said = readout();
  const chosen = { model, machine, fresh: 1, cached, itemsize: 2 };

  const intensity = (count) => {
    const [u, keys] = [queries[chosen.model] * count, chosen.cached + count];
    const kept = (chosen.cached + (count + 1) / 2) / keys; // by the causal mask
    return (2 / chosen.itemsize) * kept * ((u * keys) / (u + keys));
  };
  const height = (value) => Math.min(Math.max(Math.log2(value), 0), MARKS.at(-1)[0]);

  function show() {
    const [value, needed] = [intensity(chosen.fresh), ridges[chosen.machine]];
    roof.setAttribute("d", plot.path([[0, height(needed)], [Math.log2(fresh.at(-1)), height(needed)]]));
    curve.setAttribute("d", plot.path(fresh.map((count) => [Math.log2(count), height(intensity(count))])));
    dot.setAttribute("cx", plot.x(Math.log2(chosen.fresh)));
    dot.setAttribute("cy", plot.y(height(value)));
    const bound = value < needed ? `reading takes longer: ${shown((100 * value) / needed, 1)} percent of the peak at most` : "computing takes longer";
    said.say(`${shown(value, 1)} operations for each byte, ${shown(needed, 0)} needed: ${bound}`);
  }

  const take = (name) => (value) => {
    chosen[name] = value;
    show();
  };
  const knobs = [slider("new tokens", fresh, 1, take("fresh")), slider("tokens before", tokens, cached, take("cached"))];
  stage.append(
    select("model", models, model, take("model")),
    select("machine", machines, machine, take("machine")),
    choice("bytes a number", ["2", "1"], 0, (place) => take("itemsize")(2 - place)),
    ...knobs.map((knob) => knob.element),
    make("span", { class: "play__title" }, "operations for each byte, by new tokens; dashed: the ridge point"),
    plot.element,
    said.element,
  );
  knobs.forEach((knob) => knob.moved());
}
