// A mask cut into blocks: which of them are skipped, partial and full, as `block_kinds` of snippets/attention/packing.py says. The figure gives
// the masks, by the functions of positions there.

import { choice, draw, each, make, readout, slider, sum } from "./parts.js";

export const caption = "Queries are rows, keys are columns. Strong: allowed pairs. Faint: masked pairs that a block computes all the same. Empty: skipped.";
const SIDE = 19;

export function start(stage, { names, masks, sizes, size }) {
  const n = masks[0].length;
  const chosen = { mask: 1, size };
  const cells = each(n, n, (i, j) => draw("rect", { class: "picture__cell", x: 1 + j * SIDE, y: 1 + i * SIDE, width: SIDE, height: SIDE }));
  const frames = draw("path", { class: "picture__line" });
  const grid = draw("svg", { class: "picture__svg play__plot", viewBox: `0 0 ${n * SIDE + 2} ${n * SIDE + 2}`, width: `${(n * SIDE + 2) / 20}rem`, "aria-hidden": "true" },
    ...cells.flat(), frames);
  const said = readout();

  function show() {
    const kept = masks[chosen.mask];
    const wide = chosen.size;
    const counts = [0, 0, 0]; // blocks: skipped, partial, full
    each(n / wide, n / wide, (row, column) => {
      const pairs = sum(kept.slice(row * wide, (row + 1) * wide).map((line) => sum(line.slice(column * wide, (column + 1) * wide))));
      const kind = pairs ? 1 + (pairs === wide ** 2) : 0;
      counts[kind]++;
      each(wide, wide, (i, j) => {
        const [y, x] = [row * wide + i, column * wide + j];
        cells[y][x].setAttribute("fill-opacity", kind ? (kept[y][x] ? 0.7 : 0.14) : 0);
      });
    });
    frames.setAttribute("d", Array.from({ length: n / wide + 1 }, (_, k) => `M1 ${1 + k * wide * SIDE}h${n * SIDE}M${1 + k * wide * SIDE} 1v${n * SIDE}`).join(""));
    said.say(`blocks: ${counts[0]} skipped, ${counts[1]} partial, ${counts[2]} full · pairs: ${(counts[1] + counts[2]) * wide ** 2} computed, ${sum(kept.map(sum))} allowed`);
  }

  const knob = slider("tokens in a block", sizes, size, (value) => {
    chosen.size = value;
    show();
  });
  const choose = choice("mask", names, chosen.mask, (place) => {
    chosen.mask = place;
    show();
  });
  stage.append(choose, knob.element, make("div", { class: "play__line" }, grid), said.element);
  knob.moved();
}
