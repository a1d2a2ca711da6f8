// Parameters of a published model, part by part, with another number of heads of keys and values: as `model_parts` of
// snippets/together/block.py.

import { make, readout, select, shown, slider, strength, sum } from "./parts.js";

export function start(stage, { models, sizes, parts, model, shared }) {
  const chosen = { model, shared: sizes[model][4] };
  const rows = parts.map((name) => {
    const [bar, number] = [make("span", { class: "play__bar" }), make("span", { class: "play__number" })];
    return { bar, number, element: make("div", { class: "play__row" }, make("span", {}, name), make("span", { class: "play__track" }, bar), number) };
  });
  const said = readout();

  function show() {
    const [layers, width, inner, heads, , head, norms, gains, table] = sizes[chosen.model];
    const counts = [
      table * width,
      layers * 2 * width * (heads + chosen.shared) * head,
      layers * 3 * width * inner,
      layers * (norms * width + gains) + width,
    ];
    const all = sum(counts);
    rows.forEach(({ bar, number }, place) => {
      strength(bar, counts[place], all);
      number.textContent = shown((100 * counts[place]) / all, counts[place] < all / 1000 ? 3 : 1);
    });
    said.say(`${shown(all, 0)} parameters · ${shown(counts.at(-1), 0)} of them in norms`);
  }

  const knob = slider("key-value heads", shared, chosen.shared, (value) => {
    chosen.shared = value;
    show();
  });
  const choose = select("model", models, model, (place) => {
    chosen.model = place;
    knob.range.value = shared.indexOf(sizes[place][4]);
    knob.moved();
  });
  stage.append(choose, knob.element, make("span", { class: "play__title" }, "percent of all parameters"), ...rows.map((row) => row.element), said.element);
  knob.moved();
}
