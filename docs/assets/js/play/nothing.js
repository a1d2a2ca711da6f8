// Softmax, and softmax with one added to the denominator, for scores that a reader raises and lowers together: as `softmax_plus_one` of
// snippets/heads/nothing.py, whose weights are those beside one more score of zero.

import { cell, each, integer, limits, listed, make, matrix, put, readout, shown, slider, softmax, strength, sum } from "./parts.js";

const SHIFTS = Array.from({ length: 41 }, (_, place) => place - 20);

export const caption = "The weights of three keys. With one added to the denominator, low scores give a small sum.";

export function start(stage, { scores }) {
  const ways = [["softmax", softmax], ["plus one", (row) => softmax([...row, 0]).slice(0, -1)]];
  const weights = each(ways.length, scores.length, () => cell());
  const tracks = ways.map(([name]) => {
    const parts = scores.map(() => make("span", { class: "play__bar play__bar--part" }));
    const number = make("span", { class: "play__number" });
    return { parts, number, element: make("div", { class: "play__row" }, make("span", {}, name), make("span", { class: "play__track" }, ...parts), number) };
  });
  const said = readout();
  let shift = 0;

  function show() {
    const rows = ways.map(([, weigh]) => weigh(scores.map((score) => score + shift)));
    rows.forEach((row, i) => {
      row.forEach((weight, j) => {
        put(weights[i][j], weight, 1, 4);
        strength(tracks[i].parts[j], weight);
      });
      tracks[i].number.textContent = shown(sum(row), 4);
    });
    const kept = sum(rows[1]);
    const words = `plus one: ${shown(kept, 4)} of the weight goes to keys, ${shown(1 - kept, 4)} to nothing`;
    said.say(words, `${ways.map(([name], i) => `${name}: weights ${listed(rows[i], 4)}`).join(" · ")} · ${words}`);
  }

  const cells = scores.map((score, j) => integer(score, `score ${j + 1}`, (value) => { scores[j] = value; show(); }));
  const knob = slider("added to all scores", SHIFTS, shift, (value) => { shift = value; show(); });
  const head = make("div", { class: "play__row play__heads" }, make("span"), make("span"), make("span", {}, "sum"));
  stage.append(
    knob.element,
    matrix("scores and weights", [cells, ...weights], { rows: [`scores, ${limits()}`, ...ways.map(([name]) => name)], columns: scores.map((_, j) => `key ${j + 1}`), css: "play__matrix--wide" }),
    head, ...tracks.map(({ element }) => element), said.element,
  );
  knob.moved();
}
