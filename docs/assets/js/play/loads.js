// Loads of experts while a bias for each of them moves: as `balance_by_bias` of snippets/layers/routing.py.

import { chart, choice, draw, listed, make, readout, shown, slider } from "./parts.js";

export function start(stage, { affinity, rates, rate, steps, first, marks }) {
  const experts = affinity[0].length;
  const chosen = { rate, step: first, k: 1 };
  const plot = chart([0, steps / 3, (2 * steps) / 3, steps].map((step) => [step, shown(step, 0)]), marks.map((share) => [share, shown(share, 1)]));
  const now = draw("path", { class: "picture__thin" });
  const curves = affinity[0].map((_, e) => draw("path", { class: `picture__curve picture__curve--${e}` }));
  const dots = affinity[0].map((_, e) => draw("circle", { r: 4, class: `picture__dot picture__dot--${e}` }));
  plot.element.append(now, ...curves, ...dots);
  const said = readout();

  function simulated() {
    let bias = Array(experts).fill(0);
    const mean = (chosen.k * affinity.length) / experts;
    return Array.from({ length: steps + 1 }, () => {
      const [load, before] = [Array(experts).fill(0), bias];
      for (const row of affinity) {
        const order = row.map((one, e) => [one + bias[e], e]).sort(([one], [other]) => other - one);
        for (const [, e] of order.slice(0, chosen.k)) load[e] += 1;
      }
      bias = bias.map((one, e) => one - chosen.rate * Math.sign(load[e] - mean));
      return { load, bias: before, mean };
    });
  }

  function show() {
    const states = simulated();
    const { load, bias, mean } = states[chosen.step];
    now.setAttribute("d", plot.path([[chosen.step, 0], [chosen.step, marks.at(-1)]]));
    curves.forEach((curve, e) => curve.setAttribute("d", plot.path(states.map((state, step) => [step, state.load[e] / mean]))));
    dots.forEach((dot, e) => {
      dot.setAttribute("cx", plot.x(chosen.step));
      dot.setAttribute("cy", plot.y(load[e] / mean));
    });
    said.say(`tokens ${listed(load, 0)} · biases ${listed(bias, 3)}`);
  }

  const take = (name) => (value) => {
    chosen[name] = value;
    show();
  };
  const every = Array.from({ length: steps + 1 }, (_, step) => step);
  const knobs = [slider("step of the bias", rates, rate, take("rate"), 3), slider("steps taken", every, first, take("step"))];
  const pick = choice("experts of a token", ["one", "two"], 0, (place) => take("k")(place + 1));
  stage.append(...knobs.map((knob) => knob.element), pick, make("span", { class: "play__title" }, "load of each expert, in mean loads, by steps"), plot.element, said.element);
  knobs.forEach((knob) => knob.moved());
}
