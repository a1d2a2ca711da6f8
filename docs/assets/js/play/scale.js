// One query and its keys in heads of more and more features, with the scale and without: weights as `attention_weights` of
// snippets/attention/formula.py makes them. `scores` has, for each width, the products of the query with the keys.

import { announcer, entropy, make, shown, slider, softmax, strength } from "./parts.js";

export function start(stage, { widths, first, scores }) {
  const sides = ["with the scale", "without the scale"].map((name) => {
    const bars = scores[0].map(() => make("span", { class: "play__column" }));
    const says = make("span", { class: "play__says" });
    return { name, bars, says, element: make("div", { class: "play__titled" }, make("span", { class: "play__title" }, name), make("div", { class: "play__columns", "aria-hidden": "true" }, ...bars), says) };
  });
  const said = announcer(); // those who see read it at the sides

  function show(width) {
    const products = scores[widths.indexOf(width)];
    const told = sides.map(({ name, bars, says }, side) => {
      const weights = softmax(products.map((score) => (side ? score : score / Math.sqrt(width))));
      weights.forEach((weight, j) => strength(bars[j], weight));
      says.textContent = `largest weight ${shown(Math.max(...weights))}, entropy ${shown(entropy(weights))}`;
      return `${name}: ${says.textContent}`;
    });
    said.say(told.join("; "));
  }

  const label = make("span", {}, "features ", make("span", { class: "play__name" }, "d", make("sub", {}, "k")));
  const knob = slider(label, widths, first, show);
  stage.append(knob.element, make("div", { class: "play__line play__line--half" }, ...sides.map((side) => side.element)), said.element);
  knob.moved();
}
