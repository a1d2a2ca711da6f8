// Tokens that a reader puts in another order, and the weights and outputs of that order: as `attention_weights` and `attention` of
// snippets/attention/formula.py make them of the reordered tokens.

import { cell, each, make, matrix, product, put, readout, softmax, titled, transposed } from "./parts.js";

export const caption = "The weights and the outputs of the three tokens in two orders. Each weight moves with its query and its key, each output with its token.";

export function start(stage, { tokens, names, order }) {
  const [n, width] = [tokens.length, tokens[0].length];
  const most = Math.max(...tokens.flat().map(Math.abs)); // an output is a mean of tokens
  const grid = () => [each(n, n, () => cell()), each(n, width, () => cell())];
  const [before, after] = [grid(), grid()];
  const frame = make("div", { class: "play__mixed" });
  const said = readout();
  const chips = names.map((name, token) => {
    const chip = make("button", { type: "button", class: "play__chip" }, name);
    chip.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      event.preventDefault();
      swap(order.indexOf(token), order.indexOf(token) + step);
      chip.focus();
    });
    // A finger or a mouse: it changes places with the one behind it, the last with the one before.
    chip.addEventListener("click", () => {
      const place = order.indexOf(token);
      swap(place, place + (place < n - 1 ? 1 : -1));
      chip.focus();
    });
    return chip;
  });
  const row = make("div", { class: "play__chips" }, ...chips);

  function swap(one, other) {
    if (other < 0 || other >= n) return;
    [order[one], order[other]] = [order[other], order[one]];
    show();
  }

  function fill([cells, outputs], moved) {
    const weights = product(moved, transposed(moved)).map((line) => softmax(line.map((score) => score / Math.sqrt(width))));
    weights.forEach((line, i) => line.forEach((weight, j) => put(cells[i][j], weight, 1, 2)));
    product(weights, moved).forEach((line, i) => line.forEach((value, k) => put(outputs[i][k], value, most, 2)));
  }

  function show() {
    fill(after, order.map((token) => tokens[token]));
    const labels = order.map((token) => names[token]);
    row.append(...order.map((token) => chips[token]));
    chips.forEach((chip, token) => chip.setAttribute("aria-label", `token ${names[token]}, place ${order.indexOf(token) + 1}; arrow keys move it`));
    frame.replaceChildren(...tables(after, labels, "in this order"));
    said.say(`order ${labels.join(", ")} · a tap or an arrow key moves a token`);
  }

  const tables = ([cells, outputs], labels, when) => [
    matrix(`weights ${when}`, cells, { rows: labels, columns: labels }),
    matrix(`outputs ${when}`, outputs, { columns: ["output"], css: "role--output" }),
  ];

  fill(before, tokens);
  stage.append(
    make("div", { class: "play__line" },
      titled("as they come", make("div", { class: "play__mixed" }, ...tables(before, names, "as they come"))),
      titled(row, frame)),
    said.element,
  );
  show();
}
