// How many sequences fit beside the weights of a model, and how long everything takes to read: as `cached_numbers`, `fitting_sequences` and
// `reading_time` of snippets/serving/models.py compute them.

import { choice, make, readout, select, shown, slider, strength } from "./parts.js";

export const caption = "Set your own model and machines. Weights and caches are spread evenly over the machines, and nothing else takes memory.";

const gigabytes = (size) => `${shown(size, size < 10 ? 1 : 0)} GB`;

export function start(stage, { models, parts, model, machines, bandwidths, counts, count, memories, memory, sizes, weights, lengths, length }) {
  const chosen = { model, machine: 1, count, memory, weights, length, itemsize: 2 };
  const rows = ["weights", "caches", "free"].map((name) => {
    const [bar, number] = [make("span", { class: "play__bar" }), make("span", { class: "play__number" })];
    return { bar, number, element: make("div", { class: "play__row" }, make("span", {}, name), make("span", { class: "play__track" }, bar), number) };
  });
  const said = readout();

  function cache() {
    const [each, inWindow, states, window] = parts[chosen.model];
    return ((each * chosen.length + inWindow * Math.min(window, chosen.length) + states) * chosen.itemsize) / 1e9;
  }

  function show() {
    const [all, own] = [chosen.memory * chosen.count, cache()];
    const fitting = Math.max(Math.floor((all - chosen.weights) / own), 0);
    const filled = [chosen.weights, fitting * own, Math.max(all - chosen.weights - fitting * own, 0)];
    rows.forEach(({ bar, number }, place) => {
      strength(bar, filled[place], Math.max(all, chosen.weights));
      number.textContent = gigabytes(filled[place]);
    });
    if (chosen.weights > all) return said.say(`The weights need more than ${gigabytes(all)}.`);
    const time = (filled[0] + filled[1]) / (bandwidths[chosen.machine] * chosen.count);
    said.say(`${gigabytes(own)} for a sequence: ${shown(fitting, 0)} fit · everything is read in ${shown(1000 * time, 1)} ms`);
  }

  const take = (name) => (value) => {
    chosen[name] = value;
    show();
  };
  const knobs = [
    slider("GB in each", memories, memory, take("memory")),
    slider("GB of weights", sizes, weights, take("weights")),
    slider("tokens", lengths, length, take("length")),
  ];
  stage.append(
    select("model", models, model, take("model")),
    select("machine", machines, 1, take("machine")),
    choice("machines", counts.map(String), counts.indexOf(count), (place) => take("count")(counts[place])),
    choice("bytes a number", ["2", "1"], 0, (place) => take("itemsize")(2 - place)),
    ...knobs.map((knob) => knob.element),
    ...rows.map(({ element }) => element),
    said.element,
  );
  knobs.forEach((knob) => knob.moved());
}
