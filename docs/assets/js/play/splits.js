// A sum of fp32 numbers in parts, by a fixed number of workers or by a fixed size of the parts: as `sum_in_parts` of
// snippets/serving/invariance.py, and its last bits, as `last_bits` there.

import { cell, choice, make, matrix, readout, slider, strength } from "./parts.js";

export const caption = "Bits that differ from those of a sequence alone are framed. The sum is computed in fp32, from left to right in each part.";

export function start(stage, { terms, workers, size, batches, batch, rules, count }) {
  const rows = ["alone", "in the batch"].map(() => Array.from({ length: count }, () => cell()));
  const bars = Array.from({ length: workers }, () => make("span", { class: "play__bar play__bar--part" }));
  const number = make("span", { class: "play__number" });
  const said = readout();
  const chosen = { batch, rule: 0 };

  const add = (numbers) => numbers.reduce((total, one) => Math.fround(total + one));
  const parts = (many) => (chosen.rule ? terms.length / size : Math.max(1, Math.floor(workers / many)));
  const summed = (many) => add(Array.from({ length: parts(many) }, (_, k) => {
    const length = terms.length / parts(many);
    return add(terms.slice(k * length, (k + 1) * length));
  }));
  const bits = (x) => new Uint32Array(new Float32Array([x]).buffer)[0].toString(2).slice(-count);

  function show() {
    const [alone, now] = [summed(1), summed(chosen.batch)];
    [alone, now].forEach((x, row) => [...bits(x)].forEach((bit, k) => {
      rows[row][k].textContent = bit;
      strength(rows[row][k], Number(bit));
      rows[row][k].toggleAttribute("data-marked", bit !== bits(alone)[k]);
    }));
    const [many, other] = [parts(chosen.batch), [...bits(now)].filter((bit, k) => bit !== bits(alone)[k]).length];
    bars.forEach((bar, k) => {
      bar.hidden = k >= many;
      strength(bar, 1 / many);
    });
    number.textContent = many;
    const same = other ? `${other} bits differ from those alone` : "the same bits as alone";
    said.say(`${many} ${many > 1 ? "parts" : "part"} of ${terms.length / many} terms · sum ${now.toPrecision(9).replace("-", "−")} · ${same}`);
  }

  const choose = choice("fixed", rules, 0, (place) => {
    chosen.rule = place;
    show();
  });
  const knob = slider("sequences", batches, batch, (value) => {
    chosen.batch = value;
    show();
  });
  stage.append(
    choose,
    knob.element,
    make("div", { class: "play__row" }, make("span", {}, "parts"), make("span", { class: "play__track" }, ...bars), number),
    matrix("last bits", rows, { rows: ["alone", "in the batch"], css: "play__matrix--bits" }),
    said.element,
  );
  knob.moved();
}
