// The heads of a model on a sentence: a small picture of the weights of each, which a reader sorts, and one head in full. The atlas shows stored
// weights with it, and the form for a reader's own sentence those that the browser computes.

import { announcer, cell, draw, each, make, matrix, roving, select, shown, strength } from "./parts.js";

const LEVELS = [4, 12, 30, 60]; // in percent: a cell is drawn as strongly as the level that its weight has reached, of all of them

// The parts of the view, which is empty until `fill` gives a head its weights in percent, query by query, and its values, one for each of the
// measures `names`, which the `pages` explain; `show` then shows what has been filled. `pair` is a query and a key; a reader can choose others,
// at all times if `open`. `changed` gets the head, the query and its weights, whenever they are shown. Without a `first` head or a key, the view
// opens on those with the largest weight, until the reader chooses.
export function headView({ tokens, perRow, count, names, pages, first, pair: [query, key], open = false, changed }) {
  const n = tokens.length;
  const [weights, values] = [Array(count), Array(count)];
  const label = (head) => `layer ${Math.floor(head / perRow)}, head ${head % perRow}`;
  const tiles = Array.from({ length: count }, (_, head) => {
    const tile = make("button", { type: "button", class: "play__tile", role: "option", "aria-selected": "false", disabled: "", "aria-label": `${label(head)}: not computed yet` });
    tile.addEventListener("click", () => {
      [own.head, own.key] = [head, pair[1]];
      choose(head);
      heard.say(title.textContent);
    });
    return tile;
  });
  const grid = make("div", { class: "play__tiles", role: "listbox", "aria-label": "heads" }, ...tiles);
  const labels = (css, many, name) => make("div", { class: `play__labels ${css}`, "aria-hidden": "true" }, ...Array.from({ length: many }, (_, place) => make("span", {}, `${name}${place}`)));
  const corner = make("span", { class: "play__labels", "aria-hidden": "true" }, "head");
  const atlas = make("div", { class: "play__atlas" }, corner, labels("play__labels--heads", perRow, ""), labels("play__labels--layers", count / perRow, "layer "), grid);
  const columns = () => getComputedStyle(grid).gridTemplateColumns.split(" ").length;
  const stopAt = roving(tiles, columns, () => [...grid.children].filter((tile) => !tile.disabled));
  const own = { head: first, key }; // what the reader chose
  const pair = [query, key ?? query];
  let [order, chosen] = [0, first ?? 0];

  const places = tokens.map((token, place) => (tokens.indexOf(token) === tokens.lastIndexOf(token) ? token : nth(tokens, place)));
  const orders = ["layer and head", "the weight of a token on another", ...names];
  const sorted = select("sort by", orders, 0, (place) => {
    order = place;
    sort();
    heard.say(said.textContent || title.textContent);
  });
  const words = ["from", "to"].map((name, which) => select(name, places, pair[which], (place) => {
    pair[which] = place;
    if (which) own.key = place;
    show();
    heard.say(title.textContent);
  }));
  const cells = each(n, n, () => cell("span", { class: "play__cell play__cell--small" }));
  const facts = make("dl", { class: "play__facts" });
  const title = make("p", { class: "play__title play__heading" });
  const said = make("p", { class: "play__readout" });
  const heard = announcer();

  const weight = (head) => weights[head][pair[0] * n + pair[1]] / 100;
  const worth = (head) => (order === 1 ? weight(head) : order > 1 ? values[head][order - 2] : -head);

  function sort() {
    for (const word of words) word.hidden = order !== 1 && !open;
    atlas.classList.toggle("play__atlas--sorted", order > 0); // then a row is no layer
    tell();
    const filled = tiles.map((_, head) => head).filter((head) => weights[head]);
    const heads = filled.sort((one, other) => worth(other) - worth(one) || one - other);
    const sequence = [...heads.map((head) => tiles[head]), ...tiles.filter((_, head) => !weights[head])];
    if (sequence.some((tile, place) => tile !== grid.children[place])) {
      grid.append(...sequence); // a tile that moves loses the focus
      stopAt(sequence[0]);
    }
    for (const head of heads) tiles[head].setAttribute("aria-label", label(head) + (order ? `: ${shown(worth(head))}` : ""));
    const [best, least] = [heads[0], heads[heads.length - 1]];
    said.textContent = order && heads.length ? `${label(best)}: ${shown(worth(best))} · ${label(least)}: ${shown(worth(least))}` : "";
  }

  function tell() {
    const pairing = weights[chosen] ? ` · ${places[pair[0]]} to ${places[pair[1]]}: ${shown(weight(chosen))}` : "";
    title.textContent = label(chosen) + pairing;
    if (weights[chosen]) changed?.(chosen, pair[0], weights[chosen].slice(pair[0] * n, (pair[0] + 1) * n).map((percent) => percent / 100));
  }

  // Goes to the largest weight that the query gives to another word: in the head that the reader chose, or else in any; on the key that the
  // reader chose, or else on any.
  function lead() {
    const keys = own.key === undefined ? others(tokens, pair[0]) : [own.key];
    const all = weights.flatMap((row, head) => (head === (own.head ?? head) ? keys.map((key) => [row[pair[0] * n + key], head, key]) : []));
    if (!all.length) return;
    const [, head, key] = all.reduce((best, one) => (one[0] > best[0] ? one : best));
    words[1].querySelector("select").value = pair[1] = key;
    choose(head);
  }

  function show() {
    lead();
    sort();
  }

  function choose(head) {
    tiles[chosen].setAttribute("aria-selected", "false");
    tiles[(chosen = head)].setAttribute("aria-selected", "true");
    stopAt(tiles[head]);
    tell();
    cells.forEach((row, i) => row.forEach((one, j) => {
      const percent = weights[head][i * n + j];
      strength(one, reached(percent), LEVELS.length);
      one.setAttribute("aria-label", shown(percent / 100));
      one.title = `${places[i]} to ${places[j]}: ${shown(percent / 100)}`;
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
  }

  const named = { rows: tokens, columns: tokens, corner: "", css: "play__matrix--tokens" };
  const parts = [
    make("div", { class: "play__selects" }, sorted, ...words),
    atlas,
    said,
    heard.element,
    title,
    make("div", { class: "play__line" }, make("div", { class: "play__scroll" }, matrix("weights of the chosen head", cells, named)), facts),
  ];
  // Chooses a query.
  function ask(place) {
    words[0].querySelector("select").value = pair[0] = place;
    show();
    heard.say(title.textContent);
  }

  return { parts, fill, show, ask, chosen: () => own.head };
}

// The keys whose weights tell most of a query: words other than itself and its neighbours, those before it if there are any, because a pronoun
// mostly follows its noun. Some heads look at the neighbours, at the full stop or at the marks of start and end in any sentence. If the sentence
// has no such word, all other tokens.
function others(tokens, query) {
  const keys = tokens.map((_, key) => key).filter((key) => key !== query);
  const words = keys.filter((key) => Math.abs(key - query) > 1 && /[\p{L}\p{N}]/u.test(tokens[key]) && !/^\[.*\]$/.test(tokens[key]));
  return [words.filter((key) => key < query), words, keys].find((found) => found.length);
}

// A repeated token: 'second “the”'.
const NAMES = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"];
const ENDS = { one: "st", two: "nd", few: "rd", other: "th" };
function nth(tokens, place) {
  const before = tokens.slice(0, place).filter((token) => token === tokens[place]).length;
  const count = NAMES[before] ?? `${before + 1}${ENDS[new Intl.PluralRules("en", { type: "ordinal" }).select(before + 1)]}`;
  return `${count} “${tokens[place]}”`;
}

// A small number needs a third digit.
const exact = (value) => shown(value, Math.abs(value) < 0.1 ? 3 : 2);

const reached = (percent) => LEVELS.filter((least) => percent >= least).length;

// The weights of a head as a small picture: one path for each level.
function thumbnail(percents, n) {
  const paths = LEVELS.map((_, level) => {
    const at = [];
    percents.forEach((percent, place) => {
      if (reached(percent) === level + 1) at.push(`M${place % n} ${Math.floor(place / n)}h1v1h-1z`);
    });
    return draw("path", { d: at.join(""), "fill-opacity": (level + 1) / LEVELS.length });
  });
  return draw("svg", { viewBox: `0 0 ${n} ${n}`, "aria-hidden": "true" }, ...paths);
}
