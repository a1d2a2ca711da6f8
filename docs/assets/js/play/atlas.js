// Every head of a model on one sentence: the weights of snippets/seeing/atlas.json in percent, and the measures of its heads. A reader sorts
// the heads by a measure, or by the weight of one token on another, and chooses one to see its weights and measures.

import { cell, draw, each, make, matrix, readout, select, shown, strength } from "./parts.js";

const LEVELS = [4, 12, 30, 60, 101]; // in percent: a cell is drawn as strongly as the step that its weight has reached
export const caption = "Every head on the sentence. Choose one to see its weights: a row for each query, a column for each key.";

export function start(stage, { tokens, perRow, weights, names, pages, values, first }) {
  const n = tokens.length;
  const label = (head) => `layer ${Math.floor(head / perRow)}, head ${head % perRow}`;
  const tiles = weights.map((row, head) => {
    const tile = make("button", { type: "button", class: "play__tile" }, thumbnail(row, n));
    tile.addEventListener("click", () => choose(head));
    return tile;
  });
  const grid = make("div", { class: "play__tiles", role: "group", "aria-label": "heads" });
  const [query, key] = ["it", "animal"].map((word) => Math.max(0, tokens.indexOf(word)));
  const pair = [query, key];
  let [order, chosen] = [0, first];

  const places = tokens.map((token, place) => (tokens.indexOf(token) === tokens.lastIndexOf(token) ? token : `${token} (${place})`));
  const orders = ["layer and head", "the weight of a token on another", ...names];
  const sorted = select("sort by", orders, 0, (place) => {
    order = place;
    show();
  });
  const words = ["from", "to"].map((name, which) => select(name, places, pair[which], (place) => {
    pair[which] = place;
    show();
  }));
  const cells = each(n, n, () => cell("span", { class: "play__cell play__cell--small" }));
  const facts = make("dl", { class: "play__facts" });
  const title = make("p", { class: "play__title play__heading", "aria-live": "polite" });
  const said = readout();

  const worth = (head) => (order === 1 ? weights[head][pair[0] * n + pair[1]] / 100 : order > 1 ? values[head][order - 2] : -head);

  function show() {
    for (const word of words) word.hidden = order !== 1;
    tell();
    const heads = weights.map((_, head) => head).sort((one, other) => worth(other) - worth(one) || one - other);
    grid.append(...heads.map((head) => tiles[head]));
    tiles.forEach((tile, head) => tile.setAttribute("aria-label", label(head) + (order ? `: ${shown(worth(head))}` : "")));
    const [best, least] = [heads[0], heads[heads.length - 1]];
    said.textContent = order ? `${label(best)}: ${shown(worth(best))} · ${label(least)}: ${shown(worth(least))}` : "";
  }

  function tell() {
    title.textContent = `${label(chosen)} · ${places[pair[0]]} to ${places[pair[1]]}: ${shown(weights[chosen][pair[0] * n + pair[1]] / 100)}`;
  }

  function choose(head) {
    tiles[chosen].removeAttribute("aria-current");
    tiles[(chosen = head)].setAttribute("aria-current", "true");
    tell();
    cells.forEach((row, i) => row.forEach((one, j) => {
      const weight = weights[head][i * n + j] / 100;
      strength(one, weight, 0.6);
      one.title = `${places[i]} to ${places[j]}: ${shown(weight)}`;
      one.dataset.weight = shown(weight);
    }));
    facts.replaceChildren(...names.flatMap((name, place) => [
      make("dt", {}, make("a", { href: pages[place] }, name)),
      make("dd", {}, exact(values[head][place])),
    ]));
  }

  const named = { rows: places, columns: places, corner: "", css: "play__matrix--tokens" };
  stage.append(
    make("div", { class: "play__selects" }, sorted, ...words),
    grid,
    said,
    title,
    make("div", { class: "play__line" }, matrix("weights of the chosen head", cells, named), facts),
  );
  stage.classList.add("play--wide");
  show();
  choose(first);
}

// A small number needs a third digit.
const exact = (value) => shown(value, Math.abs(value) < 0.1 ? 3 : 2);

// The weights of a head as a small picture: one path for each step of strength.
function thumbnail(row, n) {
  const paths = LEVELS.slice(0, -1).map((least, level) => {
    const at = row.flatMap((weight, place) => (weight >= least && weight < LEVELS[level + 1] ? [`M${place % n} ${Math.floor(place / n)}h1v1h-1z`] : []));
    return draw("path", { d: at.join(""), "fill-opacity": (level + 1) / (LEVELS.length - 1) });
  });
  return draw("svg", { viewBox: `0 0 ${n} ${n}`, "aria-hidden": "true" }, ...paths);
}
