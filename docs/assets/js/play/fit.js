// How many sequences fit beside the weights of a model, and how long everything takes to read: as `cached_numbers`, `fitting_sequences` and
// `reading_time` of snippets/serving/models.py compute them.

import { choice, make, readout, select, shown, slider, strength } from "./parts.js";

export const caption = "Set your own model and machines. Nothing but weights and caches takes memory, and both are spread evenly over the machines.";

const gigabytes = (size) => `${shown(size, size < 1 ? 3 : size < 100 ? 1 : 0)} GB`;

export function start(stage, { models, parts, model, machines, bandwidths, usual, counts, count, memories, billions, lengths, length }) {
  const chosen = { model, machine: 1, count, memory: usual[1], length, itemsize: 2, stored: 2 };
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
    const [all, own, weights] = [chosen.memory * chosen.count, cache(), billions[chosen.model] * chosen.stored];
    const fitting = Math.max(Math.floor((all - weights) / own), 0);
    const filled = [weights, fitting * own, Math.max(all - weights - fitting * own, 0)];
    rows.forEach(({ bar, number }, place) => {
      strength(bar, filled[place], Math.max(all, weights));
      number.textContent = gigabytes(filled[place]);
    });
    if (weights > all) return said.say(`The weights take ${gigabytes(weights)}, and there are ${gigabytes(all)}.`);
    const time = (filled[0] + filled[1]) / (bandwidths[chosen.machine] * chosen.count);
    said.say(`${gigabytes(own)} for a sequence: ${shown(fitting, 0)} fit · everything is read in ${shown(1000 * time, 1)} ms`);
  }

  const take = (name) => (value) => {
    chosen[name] = value;
    show();
  };
  const memory = slider("GB in each", memories, usual[1], take("memory"));
  const knobs = [memory, slider("tokens", lengths, length, take("length"))];

  // Another machine starts with its usual memory.
  function change(machine) {
    chosen.machine = machine;
    memory.range.value = memories.indexOf(usual[machine]);
    memory.moved();
  }

  stage.append(
    select("model", models, model, take("model")),
    select("machine", machines, 1, change),
    choice("machines", counts.map(String), counts.indexOf(count), (place) => take("count")(counts[place])),
    choice("bytes of a weight", ["2", "1", "0.5"], 0, (place) => take("stored")(2 / 2 ** place)),
    choice("bytes of a cached number", ["2", "1"], 0, (place) => take("itemsize")(2 - place)),
    ...knobs.map((knob) => knob.element),
    ...rows.map(({ element }) => element),
    said.element,
  );
  knobs.forEach((knob) => knob.moved());
}
