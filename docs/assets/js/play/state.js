// Causal linear attention in its two forms: as `masked_product`, a table of scores that grows with the square of the tokens, and as
// `running_state`, a state of fixed size, both of snippets/linear/attention.py; with `positive_features` there, if a reader chooses them.

import { cell, choice, dot, each, make, matrix, product, put, readout, shown, slider, titled, transposed } from "./parts.js";

export const caption = "Add token after token. The table of scores grows, the state keeps its size, and both give the same output.";
const MAPS = [["the entries", (x) => x], ["ELU plus one", (x) => Math.max(x, 0) + Math.exp(Math.min(x, 0))]];

export function start(stage, { queries, keys, values, first, most }) {
  const n = queries.length;
  const squares = each(n, n, () => cell());
  const state = each(keys[0].length, values[0].length, () => cell());
  const said = readout();
  let [count, map] = [first, MAPS[0][1]];

  function show() {
    const [F, G] = [queries, keys].map((rows) => rows.map((row) => row.map(map)));
    const scores = product(F, transposed(G));
    squares.forEach((row, i) => row.forEach((one, j) => {
      const there = i < count && j <= i;
      if (there) put(one, scores[i][j], most, 1);
      else one.replaceChildren();
      one.classList.toggle("play__cell--later", !there);
      one.toggleAttribute("data-marked", there && i === count - 1);
    }));
    const seen = (rows) => rows.slice(0, count);
    const held = product(transposed(seen(G)), seen(values));
    state.forEach((row, i) => row.forEach((one, k) => put(one, held[i][k], most, 2)));
    const last = scores[count - 1].slice(0, count);
    const outputs = [transposed(seen(values)).map((feature) => dot(last, feature)), product([F[count - 1]], held)[0]];
    const [quadratic, recurrent] = outputs.map((output) => output.map((entry) => shown(entry)).join(", "));
    said.say(`output ${count}: from its scores ${quadratic} · from the state ${recurrent}`);
  }

  const knob = slider("tokens", queries.map((_, i) => i + 1), first, (value) => { count = value; show(); });
  const places = queries.map((_, i) => `${i + 1}`);
  stage.append(
    knob.element,
    choice("features", MAPS.map(([name]) => name), 0, (place) => { map = MAPS[place][1]; show(); }),
    make("div", { class: "play__line" },
      titled("scores", matrix("scores", squares, { rows: places, columns: places, css: "play__matrix--scores" })),
      titled("state", matrix("state", state, { columns: values[0].map(() => ""), css: "play__matrix--state" }), "value")),
    said.element,
  );
  knob.moved();
}
