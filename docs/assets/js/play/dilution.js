// The largest weight among n keys that a gap allows: as `most_weight` and `needed_gap` of snippets/softmax/dilution.py.

import { draw, make, readout, shown, slider } from "./parts.js";

const POWERS = Array.from({ length: 17 }, (_, power) => 2 ** (power + 1));
const GAPS = Array.from({ length: 29 }, (_, half) => half / 2);
const [LEFT, WIDE, TOP, HIGH] = [34, 300, 26, 130]; // where the curve is drawn
const ALL = 2 * LEFT + WIDE;

const mostWeight = (gap, n) => 1 / (1 + (n - 1) * Math.exp(-gap));
const neededGap = (weight, n) => Math.log(((n - 1) * weight) / (1 - weight));

export const caption = "The largest weight that a gap between scores allows, for different numbers of keys. To keep the same weight, the gap must grow each time the number of keys doubles.";

export function start(stage, { gap: first, keys }) {
  let [gap, n] = [first, keys];
  const across = (count) => LEFT + (WIDE * (Math.log2(count) - 1)) / 16;
  const up = (weight) => TOP + HIGH * (1 - weight);
  const curve = draw("path", { class: "picture__curve picture__curve--0" });
  const point = draw("circle", { class: "picture__dot picture__dot--0", r: 4.5 });
  const words = (x, y, said, anchor) => draw("text", { x, y, "font-size": 13, "text-anchor": anchor, class: "picture__number" }, said);
  const chart = draw("svg", { class: "picture__svg", viewBox: `0 0 ${ALL} ${TOP + HIGH + 46}`, width: `${ALL / 20}rem`, "aria-hidden": "true" },
    ...[0, 0.5, 1].flatMap((weight) => [draw("path", { class: "picture__grid", d: `M${LEFT} ${up(weight)}h${WIDE}` }), words(LEFT - 8, up(weight) + 4.5, shown(weight, 1), "end")]),
    ...[2, 32, 1024, 32768].map((count) => words(across(count), TOP + HIGH + 22, shown(count, 0), "middle")),
    words(0, 12, "largest weight", "start"), words(LEFT + WIDE / 2, TOP + HIGH + 42, "number of keys", "middle"), curve, point);
  const said = readout();

  function show() {
    curve.setAttribute("d", `M${Array.from({ length: 129 }, (_, k) => 2 ** (1 + k / 8)).map((count) => `${across(count)} ${up(mostWeight(gap, count))}`).join("L")}`);
    point.setAttribute("cx", across(n));
    point.setAttribute("cy", up(mostWeight(gap, n)));
    said.say(`largest weight ${shown(mostWeight(gap, n), 4)} · for half the weight, a gap of ${shown(neededGap(0.5, n))}`);
  }

  const knobs = [
    slider("number of keys", POWERS, n, (value) => { n = value; show(); }),
    slider("gap", GAPS, gap, (value) => { gap = value; show(); }, 1),
  ];
  stage.append(...knobs.map((knob) => knob.element), chart, said.element);
  knobs.forEach((knob) => knob.moved());
}
