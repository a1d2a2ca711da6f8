// The weights of one query in two heads, and in one head of all their features: as `attention_weights` of snippets/attention/formula.py
// makes them from each part of the features.

import { cell, choice, dot, each, make, matrix, put, readout, softmax } from "./parts.js";

export const caption = "Weights of one word in two heads, and in one head with all features. We chose the queries and keys by hand.";

export function start(stage, { names, queries, keys, query: first, split: [left] }) {
  const all = keys[0].length;
  const rows = each(3, keys.length, () => cell());
  const labels = rows.map(() => make("span"));
  const said = readout();
  let [query, width] = [first, left];

  function show() {
    const parts = [["head 1", 0, width], ["head 2", width, all], ["one head", 0, all]];
    const told = parts.map(([name, from, to], i) => {
      const part = (row) => row.slice(from, to);
      const weights = softmax(keys.map((key) => dot(part(queries[query]), part(key)) / Math.sqrt(to - from)));
      weights.forEach((weight, j) => put(rows[i][j], weight, 1, 2));
      labels[i].textContent = `${name}, width ${to - from}`;
      const most = names.filter((_, j) => weights[j] > Math.max(...weights) - 1e-9);
      return `${name}: ${most.length < names.length ? `largest for ${most.join(" and ")}` : "equal weights"}`;
    });
    said.say(told.join(" · "));
  }

  const widths = Array.from({ length: all - 1 }, (_, k) => k + 1);
  stage.append(
    choice("query", names, first, (place) => { query = place; show(); }),
    choice("widths", widths.map((one) => `${one} and ${all - one}`), left - 1, (place) => { width = widths[place]; show(); }),
    matrix("weights", rows, { rows: labels, columns: names }),
    said.element,
  );
  show();
}
