// A prompt, and tokens that are decoded after it one by one: as `attend` of snippets/inference/cache.py, which keeps keys and values.
// The row of weights that a step computes is dark; the rows before it were computed when their own token came, and are not needed again.

import { cell, dot, each, make, matrix, product, put, readout, shown, slider, softmax, titled, transposed } from "./parts.js";

export const caption = "The prefill computes all queries of a prompt of four tokens at once. Each step after it has one query and adds one key. The tokens are random.";

export function start(stage, { tokens, projections, prompt }) {
  const n = tokens.length;
  const rows = each(n, n, () => cell());
  const kept = [1, 2].map((role) => each(n, projections[role][0].length, () => cell()));
  const said = readout();
  const [queries, keys, values] = projections.map((matrix) => product(tokens, matrix));
  const most = Math.max(...[keys, values].flat(2).map(Math.abs));

  function show(count) {
    const first = count === prompt ? 0 : count - 1; // a prefill takes all rows at once, and a step of decoding one
    rows.forEach((row, i) => {
      const seen = keys.slice(0, i + 1).map((key) => dot(queries[i], key) / Math.sqrt(key.length));
      const weights = softmax(seen);
      row.forEach((one, j) => {
        if (i < count && j <= i) put(one, weights[j], 1, 2);
        else one.replaceChildren();
        one.classList.toggle("play__cell--none", i >= count || j > i);
        one.classList.toggle("play__cell--later", i < first);
      });
    });
    [keys, values].forEach((numbers, which) => kept[which].forEach((row, i) => row.forEach((one, k) => {
      if (i < count) put(one, numbers[i][k], most, 1);
      else one.replaceChildren();
      one.classList.toggle("play__cell--none", i >= count);
      one.toggleAttribute("data-marked", i >= first && i < count);
    })));
    const last = softmax(keys.slice(0, count).map((key) => dot(queries[count - 1], key) / Math.sqrt(key.length)));
    const output = transposed(values.slice(0, count)).map((feature) => dot(last, feature));
    const did = count === prompt ? `prefill of ${prompt} tokens` : `decode token ${count}`;
    said.say(`${did}: ${count === prompt ? prompt : 1} of ${count} rows computed · last output ${output.map((one) => shown(one)).join(", ")}`);
  }

  const knob = slider("tokens", Array.from({ length: n - prompt + 1 }, (_, k) => prompt + k), prompt, show);
  const places = tokens.map((_, i) => `${i + 1}`);
  stage.append(
    knob.element,
    make("div", { class: "play__line play__line--cache" },
      titled("weights", matrix("weights", rows, { rows: places, columns: places, css: "play__matrix--places" })),
      titled("keys", matrix("keys", kept[0], { columns: kept[0][0].map(() => ""), css: "role--key" }), "key"),
      titled("values", matrix("values", kept[1], { columns: kept[1][0].map(() => ""), css: "role--value" }), "value")),
    said.element,
  );
  knob.moved();
}
