// Bytes of a stack of linear and full layers, as a share of those with full attention everywhere: as `hybrid_bytes` over `full_bytes` of
// snippets/linear/hybrids.py, with the bytes of a token in one cache as the unit.

import { chart, draw, make, readout, shown, slider } from "./parts.js";

export const caption = "Dashed: the limit for long texts. Both axes are logarithmic.";

const { log2 } = Math;

export function start(stage, { lengths, tokens, linear, first, worth, state }) {
  const chosen = { tokens, linear: first, state };
  const marks = [64, 1024, 16384, 262144, lengths.at(-1)].map((n, place) => [log2(n), place < 4 ? shown(n, 0) : ""]);
  const plot = chart(marks, [[-4, ""], [-2, "0.25"], [0, "1"], [2, "4"], [5, ""]]);
  const curve = draw("path", { class: "picture__curve picture__curve--0" });
  const limit = draw("path", { class: "picture__curve picture__curve--1" });
  const dot = draw("circle", { r: 4.5, class: "picture__dot picture__dot--0" });
  plot.element.append(curve, limit, dot);
  const said = readout();

  const share = (n) => (n + chosen.linear * chosen.state) / ((chosen.linear + 1) * n);

  function show() {
    const floor = -log2(chosen.linear + 1);
    curve.setAttribute("d", plot.path(lengths.map((n) => [log2(n), log2(share(n))])));
    limit.setAttribute("d", plot.path([[log2(lengths[0]), floor], [log2(lengths.at(-1)), floor]]));
    dot.setAttribute("cx", plot.x(log2(chosen.tokens)));
    dot.setAttribute("cy", plot.y(log2(share(chosen.tokens))));
    said.say(`${shown(share(chosen.tokens), 3)} times the bytes of full attention everywhere · as many at ${shown(chosen.state, 0)} tokens`);
  }

  const take = (name) => (value) => {
    chosen[name] = value;
    show();
  };
  const knobs = [
    slider("tokens", lengths, tokens, take("tokens")),
    slider("linear layers", linear, first, take("linear")),
    slider("a state, in tokens", worth, state, take("state")),
  ];
  stage.append(...knobs.map((knob) => knob.element), make("span", { class: "play__title" }, "share of bytes, by tokens"), plot.element, said.element);
  knobs.forEach((knob) => knob.moved());
}
