// The weights of the last query over distances, for the slope of a head: as `alibi_weights` of snippets/positions/alibi.py. All contents
// score the same, except that of the farthest key, which a reader may let lead.

import { chart, choice, draw, readout, shown, slider, softmax, words } from "./parts.js";

const LEADS = Array.from({ length: 21 }, (_, half) => half / 2);

export const caption = "The weights of the last query, for one of eight slopes. You can raise the content score of the farthest key.";

export function start(stage, { slopes, first, distances }) {
  const farthest = distances[0];
  const { element, x, y } = chart([farthest, (3 * farthest) / 4, farthest / 2, farthest / 4, 0].map((back, k) => [back, k ? shown(back, 0) : `${back} back`]), [[0, "0"], [0.5, ""], [1, ""]]);
  const bars = distances.map((distance) => draw("rect", { class: "picture__bar", x: x(distance) - 3.8, width: 7.6 }));
  const labels = [0.5, 1].map((part) => words(x(farthest) - 8, y(part) + 4.5, "", "end"));
  element.append(...bars, ...labels);
  const said = readout();
  let [slope, lead] = [slopes[first], 0];

  function show() {
    const weights = softmax(distances.map((distance, j) => (j ? 0 : lead) - slope * distance));
    const most = Math.max(...weights) > 0.4 ? 1 : 0.4; // the highest mark, so that the small weights of flat slopes are seen
    labels.forEach((label, k) => (label.textContent = shown((most * (k + 1)) / 2, 1)));
    weights.forEach((weight, j) => {
      bars[j].setAttribute("y", y(weight / most));
      bars[j].setAttribute("height", y(0) - y(weight / most));
    });
    said.say(`farthest key ${shown(weights[0], 4)} · own key ${shown(weights.at(-1), 4)} · one step back multiplies a weight by ${shown(Math.exp(-slope), 3)}`);
  }

  const choose = choice("slope", slopes.map((one) => `1/${shown(1 / one, 0)}`), first, (place) => { slope = slopes[place]; show(); });
  choose.classList.add("play__choice--many");
  const knob = slider("lead of the farthest", LEADS, lead, (value) => { lead = value; show(); }, 1);
  stage.append(choose, knob.element, element, said.element);
  knob.moved();
}
