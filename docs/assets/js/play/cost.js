// Operations of projections and of pairs as the number of tokens grows: as `projection_operations` and `pair_operations` of
// snippets/order/cost.py count them. The bars are shares of the larger of the two, since the numbers soon leave any page.

import { make, readout, shown, slider, strength } from "./parts.js";

const projections = (n, d) => 8 * n * d ** 2;
const pairs = (n, d) => 4 * n ** 2 * d;

export function start(stage, { lengths, first, widths, width }) {
  const parts = [["projections", projections], ["pairs", pairs]].map(([name, count]) => {
    const [bar, number] = [make("span", { class: "play__bar" }), make("span", { class: "play__number" })];
    return { count, bar, number, element: make("div", { class: "play__row" }, make("span", {}, name), make("span", { class: "play__track" }, bar), number) };
  });
  const said = readout();
  let [n, d] = [first, width];

  function show() {
    const counts = parts.map(({ count }) => count(n, d));
    parts.forEach(({ bar, number }, k) => {
      strength(bar, counts[k], Math.max(...counts));
      number.textContent = shown(counts[k] / 1e9, counts[k] < 1e12 ? 3 : 0);
    });
    said.say(`pairs take ${shown((100 * counts[1]) / (counts[0] + counts[1]), 1)} percent of all operations`);
  }

  const knobs = [
    slider("tokens", lengths, first, (value) => { n = value; show(); }),
    slider("width", widths, width, (value) => { d = value; show(); }),
  ];
  const head = make("div", { class: "play__row play__heads" }, make("span"), make("span", {}, "billion operations"));
  stage.append(...knobs.map((knob) => knob.element), head, ...parts.map(({ element }) => element), said.element);
  knobs.forEach((knob) => knob.moved());
}
