// FlashAttention tile by tile: as `flash_tile` of snippets/io/flash.py, which reads a tile of queries once, then one tile of keys and values
// after another, and writes a tile of outputs. A query that is done keeps no state, and one that has not come yet has none.

import { cell, choice, dot, each, make, matrix, put, readout, shown, steps, strength, sum, titled } from "./parts.js";

export const caption = "Four tokens. Each step moves a tile of keys and values into fast memory. The counts assume two features; for values, the picture shows one.";

const state = (scores, values) => {
  const largest = Math.max(...scores);
  const terms = scores.map((score) => Math.exp(score - largest));
  return [largest, sum(terms), dot(terms, values)];
};

export function start(stage, { scores, values, width, sizes, size, plain, tiled }) {
  const n = scores.length;
  const tokens = scores.map((_, i) => `${i + 1}`);
  const [slow, fast] = each(2, n, () => cell("div", { class: "play__cell role--value" }));
  const squares = each(n, n, () => cell());
  const states = each(n, 4, () => cell("span", { class: "play__entry" }));
  const [done, open, plainly] = ["", " play__bar--open", ""].map((css) => make("span", { class: `play__bar${css}` }));
  const [whole, total] = each(1, 2, () => make("span", { class: "play__number" }))[0];
  const row = (name, number, ...bars) => make("div", { class: "play__row" }, make("span", {}, name), make("span", { class: "play__track" }, ...bars), number);
  const said = readout();
  const [most, largest] = [values, scores.flat()].map((all) => Math.max(...all));
  let length = size;

  function show(step) {
    const tiles = n / length;
    const [query, key] = [Math.ceil(step / tiles) - 1, (step - 1) % tiles]; // the tiles that are in fast memory
    const here = (place, tile) => step > 0 && Math.floor(place / length) === tile;
    values.forEach((value, j) => {
      put(slow[j], value, most);
      slow[j].toggleAttribute("data-marked", here(j, key));
      if (here(j, key)) put(fast[j], value, most);
      else fast[j].replaceChildren();
      fast[j].classList.toggle("play__cell--none", !here(j, key));
    });
    scores.forEach((line, i) => {
      line.forEach((score, j) => {
        const there = here(i, query) && here(j, key);
        if (there) put(squares[i][j], score, largest);
        else squares[i][j].replaceChildren();
        squares[i][j].classList.toggle("play__cell--later", !there);
      });
      const seen = here(i, query) ? (key + 1) * length : i < query * length ? n : 0;
      const kept = seen ? state(line.slice(0, seen), values.slice(0, seen)) : [];
      const output = seen === n ? shown(kept[2] / kept[1]) : "";
      const entries = here(i, query) ? [shown(kept[0], 0), shown(kept[1], 3), shown(kept[2])] : ["", "", ""];
      [...entries, output].forEach((entry, k) => (states[i][k].textContent = entry));
    });
    const tile = length * width;
    const [read, written] = [(query + 1) * tile + 2 * step * tile, Math.floor(step / tiles) * tile];
    const [moved, all, longest] = [read + written, ...[tiled, plain].map((counts) => counts[sizes.indexOf(length)])];
    strength(done, moved, longest);
    strength(open, all - moved, longest);
    strength(plainly, 1);
    whole.textContent = shown(all, 0);
    total.textContent = shown(longest, 0);
    said.say(`step ${step} of ${tiles * tiles}: FlashAttention has read ${read} numbers and written ${written}, together ${moved} of ${all}`);
  }

  const walk = steps("next tile", show);
  const rows = ["slow memory", "fast memory", ...tokens.map((i) => `query ${i}`)];
  const choose = choice("tokens in a tile", sizes.map(String), sizes.indexOf(size), (place) => {
    length = sizes[place];
    walk.go(1, (n / length) ** 2);
  });
  stage.append(
    choose,
    make("div", { class: "play__line play__line--tiles" },
      titled("values, and scores of the tile", matrix("tiles", [slow, fast, ...squares], { rows, columns: tokens, corner: "token" })),
      titled("state in fast memory, and output", matrix("states", states, { rows: tokens, columns: ["maximum", "sum", "weighted", "output"], corner: "query", css: "play__states" }))),
    walk.element,
    make("div", { class: "play__row play__heads" }, make("span"), make("span", {}, "numbers moved in all")),
    row("FlashAttention", whole, done, open),
    row("plain attention", total, plainly),
    said.element,
  );
  walk.go(1, (n / length) ** 2);
}
