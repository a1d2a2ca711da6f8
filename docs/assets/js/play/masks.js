// A mask that a reader sets square by square, and the weights under it: as `mask_scores` and `masked_softmax` of
// snippets/attention/masks.py make them. A query that sees no key gets zeros, as there.

import { cell, choice, each, listed, make, matrix, put, readout, roving, shown, softmax, titled } from "./parts.js";

export const caption = "Two queries and four keys. Press a square, and the mask keeps that key or takes it out; the weights follow.";

export function start(stage, { scores }) {
  const [n, m] = [scores.length, scores[0].length];
  const presets = [["upper left", (i, j) => j <= i], ["lower right", (i, j) => j <= i + m - n], ["all", () => true]];
  const said = readout();
  let kept;
  const squares = each(n, m, (i, j) => {
    const square = cell("button", { type: "button", class: "play__cell play__square" });
    square.append(shown(scores[i][j], 0));
    square.addEventListener("click", (event) => event.detail || set(i, j, !kept[i][j])); // by key: a pointer has painted already
    return square;
  });

  function set(i, j, keeps) {
    kept[i][j] = keeps;
    for (const radio of choose.querySelectorAll("input")) radio.checked = false;
    show(i);
  }

  // A pointer gives each square that it crosses the new state of the first.
  function paint(grid) {
    let keeps;
    const cross = (event, first) => {
      const place = squares.flat().indexOf(document.elementFromPoint(event.clientX, event.clientY));
      if (place < 0) return;
      const [i, j] = [Math.floor(place / m), place % m];
      if (first) {
        keeps = !kept[i][j];
        grid.setPointerCapture(event.pointerId);
      }
      if (kept[i][j] !== keeps) set(i, j, keeps);
    };
    grid.addEventListener("pointerdown", (event) => event.button === 0 && cross(event, true));
    grid.addEventListener("pointermove", (event) => grid.hasPointerCapture(event.pointerId) && cross(event));
    return grid;
  }

  const weights = each(n, m, () => cell());

  function show(changed) {
    const rows = scores.map((row, i) => softmax(row.map((score, j) => (kept[i][j] ? score : -Infinity))));
    rows.forEach((row, i) => row.forEach((weight, j) => {
      put(weights[i][j], weight, 1, 2);
      squares[i][j].setAttribute("aria-pressed", kept[i][j]);
      squares[i][j].setAttribute("aria-label", `query ${i + 1}, key ${j + 1}, score ${shown(scores[i][j], 0)}; ${kept[i][j] ? "" : "not "}seen`);
    }));
    const sees = (row) => kept[row].flatMap((keep, j) => (keep ? [j + 1] : []));
    const told = (row) => `query ${row + 1} sees ${sees(row).length ? `key${sees(row).length > 1 ? "s" : ""} ${sees(row).join(", ")}` : "no key"}`;
    const changes = changed === undefined ? scores.map((_, i) => i) : [changed];
    said.say(changes.map(told).join("; "), changes.map((i) => `${told(i)}, weights ${listed(rows[i])}`).join("; "));
  }

  const take = (place) => {
    kept = each(n, m, presets[place][1]);
    show();
  };
  const choose = choice("mask", presets.map(([name]) => name), 0, take);
  const [queries, keys] = [scores.map((_, i) => `query ${i + 1}`), scores[0].map((_, j) => `${j + 1}`)];
  const named = { rows: queries, columns: keys, corner: "key" };
  roving(squares.flat(), () => m);
  stage.append(
    choose,
    make("div", { class: "play__line" },
      titled("scores, and what the mask keeps", paint(matrix("mask", squares, { ...named, css: "play__matrix--painted" }))),
      titled("weights", matrix("weights", weights, named))),
    said.element,
  );
  take(0);
}
