// Tokens that a reader puts in another order, and the weights of that order: as `attention_weights` of snippets/attention/formula.py
// makes them of the reordered tokens.

import { cell, each, make, matrix, product, put, readout, softmax, titled, transposed } from "./parts.js";

export function start(stage, { tokens, names, order }) {
  const [n, width] = [tokens.length, tokens[0].length];
  const cells = each(n, n, () => cell());
  const frame = make("div");
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

  function fill(cells, moved) {
    const scores = product(moved, transposed(moved));
    scores.forEach((line, i) => softmax(line.map((score) => score / Math.sqrt(width))).forEach((weight, j) => put(cells[i][j], weight, 1, 2)));
  }

  function show() {
    fill(cells, order.map((token) => tokens[token]));
    const labels = order.map((token) => names[token]);
    row.append(...order.map((token) => chips[token]));
    chips.forEach((chip, token) => chip.setAttribute("aria-label", `token ${names[token]}, place ${order.indexOf(token) + 1}; arrow keys move it`));
    frame.replaceChildren(matrix("weights in this order", cells, { rows: labels, columns: labels }));
    said.say(`order ${labels.join(", ")} · a tap or an arrow key moves a token`);
  }

  const before = each(n, n, () => cell());
  fill(before, tokens);
  stage.append(
    make("div", { class: "play__line" },
      titled("as they come", matrix("weights as they come", before, { rows: names, columns: names })),
      titled(row, frame)),
    said.element,
  );
  show();
}
