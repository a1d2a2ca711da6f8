// Values that a reader writes under keys of length one, into two states: as `delta_step` and `additive_step` of snippets/linear/delta.py.
// Under the state stands what each key reads.

import { button, cell, choice, each, integer, make, matrix, product, put, readout, shown, slider, titled } from "./parts.js";

export const caption = "Write values under three keys of length one. Key b is at a right angle to key a, and key c is at a right angle to neither of them.";

export function start(stage, { keys, names, values, rates, rate, most }) {
  const rules = ["delta rule", "plain addition"].map((name) => {
    const [state, reads] = [each(keys[0].length, values.length, () => cell()), each(keys.length, values.length, () => cell())];
    return { name, state, reads, held: null };
  });
  const said = readout();
  let [key, beta] = [0, rate];

  function write(value) {
    rules.forEach((rule, adds) => {
      const [read] = product([keys[key]], rule.held);
      const error = value.map((entry, k) => entry - (adds ? 0 : read[k]));
      rule.held = rule.held.map((row, i) => row.map((entry, k) => entry + beta * keys[key][i] * error[k]));
    });
    show(`wrote ${value.map((entry) => shown(entry, 0)).join(", ")} under ${names[key]}`);
  }

  function show(did) {
    const read = rules.map(({ held, state, reads }) => {
      const found = product(keys, held);
      state.forEach((row, i) => row.forEach((one, k) => put(one, held[i][k], most, 2)));
      reads.forEach((row, i) => row.forEach((one, k) => {
        put(one, found[i][k], most, 2);
        one.toggleAttribute("data-marked", i === key);
      }));
      return found[key].map((entry) => shown(entry)).join(", ");
    });
    said.say(`${did}: ${names[key]} reads ${read[0]} by the delta rule · ${read[1]} by plain addition`);
  }

  function empty() {
    for (const rule of rules) rule.held = keys[0].map(() => values.map(() => 0));
    show("empty");
  }

  const typed = [...values];
  const cells = values.map((value, k) => integer(value, `feature ${k + 1} of the value`, (entry) => (typed[k] = entry)));
  const knob = slider("rate", rates, rate, (value) => (beta = value), 1);
  const choose = choice("key", names, key, (place) => {
    key = place;
    show(`key ${shown(keys[key][0], 1)}, ${shown(keys[key][1], 1)}`);
  });
  const told = names.map((name) => `${name} reads`);
  stage.append(
    make("div", { class: "play__line play__line--keys" }, choose, make("div", { class: "play__both" }, make("span", { class: "play__title" }, "value"), ...cells)),
    knob.element,
    make("div", { class: "play__buttons" }, button("write", () => write(typed)), button("write zeros", () => write(values.map(() => 0))), button("empty the states", empty)),
    make("div", { class: "play__line" }, ...rules.map(({ name, state, reads }) => titled(name, make("div", { class: "play__stack" },
      matrix(`state, ${name}`, state, { rows: ["state", ""], css: "play__matrix--pair" }),
      matrix(`reads, ${name}`, reads, { rows: told, css: "play__matrix--pair" }))))),
    said.element,
  );
  knob.moved();
  empty();
  write(typed);
}
