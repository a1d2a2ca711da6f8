// The heads of a model on a sentence: a small picture of the weights of each, which a reader sorts, and one head in full. The atlas shows stored
// weights with it, and the form for a reader's own sentence those that the browser computes.

import { cell, draw, each, make, matrix, readout, select, shown, strength } from "./parts.js";

const LEVELS = [4, 12, 30, 60, 101]; // in percent: a cell is drawn as strongly as the step that its weight has reached
const STRONGEST = 60; // in percent: from this weight on, a cell of the chosen head has the full colour; in a head without one, the largest has it

// The parts of the view, which is empty until `fill` gives a head its weights in percent, query by query, and its values, one for each of the
// measures `names`, which the `pages` explain. `pair` is a query and a key; a reader can choose others, at all times if `open`.
export function headView({ tokens, perRow, count, names, pages, first, pair, open = false }) {
  const n = tokens.length;
  const [weights, values] = [Array(count), Array(count)];
  const label = (head) => `layer ${Math.floor(head / perRow)}, head ${head % perRow}`;
  const tiles = Array.from({ length: count }, (_, head) => {
    const tile = make("button", { type: "button", class: "play__tile", disabled: "", "aria-label": `${label(head)}: not computed yet` });
    tile.addEventListener("click", () => choose(head));
    return tile;
  });
  const grid = make("div", { class: "play__tiles", role: "group", "aria-label": "heads" }, ...tiles);
  let [order, chosen] = [0, first];

  const places = tokens.map((token, place) => (tokens.indexOf(token) === tokens.lastIndexOf(token) ? token : `${token} (${place})`));
  const orders = ["layer and head", "the weight of a token on another", ...names];
  const sorted = select("sort by", orders, 0, (place) => {
    order = place;
    sort();
  });
  const words = ["from", "to"].map((name, which) => select(name, places, pair[which], (place) => {
    pair[which] = place;
    sort();
  }));
  const cells = each(n, n, () => cell("span", { class: "play__cell play__cell--small" }));
  const facts = make("dl", { class: "play__facts" });
  const title = make("p", { class: "play__title play__heading", "aria-live": "polite" });
  const said = readout();

  const weight = (head) => weights[head][pair[0] * n + pair[1]] / 100;
  const worth = (head) => (order === 1 ? weight(head) : order > 1 ? values[head][order - 2] : -head);

  function sort() {
    for (const word of words) word.hidden = order !== 1 && !open;
    tell();
    const filled = tiles.map((_, head) => head).filter((head) => weights[head]);
    const heads = filled.sort((one, other) => worth(other) - worth(one) || one - other);
    const sequence = [...heads.map((head) => tiles[head]), ...tiles.filter((_, head) => !weights[head])];
    if (sequence.some((tile, place) => tile !== grid.children[place])) grid.append(...sequence); // a tile that moves loses the focus
    for (const head of heads) tiles[head].setAttribute("aria-label", label(head) + (order ? `: ${shown(worth(head))}` : ""));
    const [best, least] = [heads[0], heads[heads.length - 1]];
    said.textContent = order && heads.length ? `${label(best)}: ${shown(worth(best))} · ${label(least)}: ${shown(worth(least))}` : "";
  }

  function tell() {
    const pairing = weights[chosen] ? ` · ${places[pair[0]]} to ${places[pair[1]]}: ${shown(weight(chosen))}` : "";
    title.textContent = label(chosen) + pairing;
  }

  function choose(head) {
    tiles[chosen].removeAttribute("aria-current");
    tiles[(chosen = head)].setAttribute("aria-current", "true");
    tell();
    const strongest = Math.min(STRONGEST, Math.max(...weights[head]));
    cells.forEach((row, i) => row.forEach((one, j) => {
      const percent = weights[head][i * n + j];
      strength(one, percent, strongest);
      one.title = `${places[i]} to ${places[j]}: ${shown(percent / 100)}`;
      one.dataset.weight = shown(percent / 100);
    }));
    facts.replaceChildren(...names.flatMap((name, place) => [
      make("dt", {}, make("a", { href: pages[place] }, name)),
      make("dd", {}, exact(values[head][place])),
    ]));
  }

  function fill(head, percents, measured) {
    [weights[head], values[head]] = [percents, measured];
    tiles[head].replaceChildren(thumbnail(percents, n));
    tiles[head].disabled = false;
    if (head === chosen) choose(head);
  }

  const named = { rows: places, columns: places, corner: "", css: "play__matrix--tokens" };
  const parts = [
    make("div", { class: "play__selects" }, sorted, ...words),
    grid,
    said,
    title,
    make("div", { class: "play__line" }, make("div", { class: "play__scroll" }, matrix("weights of the chosen head", cells, named)), facts),
  ];
  return { parts, fill, sort, chosen: () => chosen };
}

// A small number needs a third digit.
const exact = (value) => shown(value, Math.abs(value) < 0.1 ? 3 : 2);

// The weights of a head as a small picture: one path for each step of strength.
function thumbnail(percents, n) {
  const paths = LEVELS.slice(0, -1).map((least, level) => {
    const at = [];
    percents.forEach((percent, place) => {
      if (percent >= least && percent < LEVELS[level + 1]) at.push(`M${place % n} ${Math.floor(place / n)}h1v1h-1z`);
    });
    return draw("path", { d: at.join(""), "fill-opacity": (level + 1) / (LEVELS.length - 1) });
  });
  return draw("svg", { viewBox: `0 0 ${n} ${n}`, "aria-hidden": "true" }, ...paths);
}
