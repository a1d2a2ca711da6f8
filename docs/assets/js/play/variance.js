// Scores of random queries and keys in heads of more and more features, as they are and divided by the root of the width, with the standard
// deviation that `predicted_moments` of snippets/scaling/variance.py gives. `scores` has a sample for each width.

import { chart, choice, draw, make, readout, shown, slider, sum } from "./parts.js";

const GOLDEN = (Math.sqrt(5) - 1) / 2; // its multiples spread the dots over the height, and the same in each picture

export const caption = "Each dot is the score of a random query and key. The band ends one standard deviation from zero on each side. The height of a dot has no meaning.";

function deviation(sample) {
  const mean = sum(sample) / sample.length;
  return Math.sqrt(sum(sample.map((one) => (one - mean) ** 2)) / (sample.length - 1));
}

export function start(stage, { widths, first, scores }) {
  const most = 10 * Math.ceil(Math.max(...scores.flat().map(Math.abs)) / 10);
  const { element, x, y } = chart([-most, -most / 2, 0, most / 2, most].map((value) => [value, shown(value, 0)]), [[0, ""], [1, ""]], 90);
  const band = draw("rect", { class: "play__band", y: y(1), height: y(0) - y(1) });
  const dots = scores[0].map((_, k) => draw("circle", { class: "picture__spots", r: 2.2, cy: y(0.06 + 0.88 * ((k * GOLDEN) % 1)) }));
  element.append(band, ...dots);
  const said = readout();
  let [width, divided] = [first, 0];

  function show() {
    const scale = divided ? 1 / Math.sqrt(width) : 1;
    const sample = scores[widths.indexOf(width)].map((score) => score * scale);
    const predicted = Math.sqrt(width) * scale;
    sample.forEach((score, k) => dots[k].setAttribute("cx", x(score)));
    band.setAttribute("x", x(-predicted));
    band.setAttribute("width", x(predicted) - x(-predicted));
    said.say(`standard deviation of these ${sample.length} scores ${shown(deviation(sample))} · in theory ${shown(predicted)}`);
  }

  const name = () => make("span", { class: "play__name" }, "d");
  const knob = slider(make("span", {}, "width ", name()), widths, first, (value) => { width = value; show(); });
  const choose = choice("scores", ["as they are", make("span", {}, "divided by √", name())], divided, (place) => { divided = place; show(); });
  stage.append(knob.element, choose, element, said.element);
  knob.moved();
}
