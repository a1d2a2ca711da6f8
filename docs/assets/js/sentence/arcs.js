// A sentence in lines, and from one token a curve to each that it gives weight, as `sentence_weights` of
// derivations/kernel/site/weight_pictures.py draws them. Here the number of lines depends on the room.

import { draw, shown } from "../play/parts.js";

const WORD = 18; // the font size of a sentence
const [LEAST_LINE, LEAST_NUMBER] = [0.005, 0.02]; // weights below these are not drawn, or have no number
const [FAINTEST, MOST_OPACITY] = [0.4, 0.43]; // of a line, and of the colour behind a word
const QUIET = 0.2; // up to this weight, the colour behind a token in brackets is weak enough for quiet letters
const [TOP, FAR, NEAR] = [42, 120, 88]; // the middle of the first line, and the distance of two lines, or of more
const UNITS = 20; // in a rem

// What follows the token before it closely: a sign, a piece of a word, and what comes after an apostrophe.
const isClose = (token, before) => /^[^\p{L}\p{N}[]/u.test(token) || before === "'";

// Cuts words into lines of at most `room`; each word has a `wide`.
function cut(words, room) {
  const lines = [];
  let left = 0;
  for (const word of words) {
    if (!lines.length || word.wide + 6 > left) [left] = [room, lines.push([])];
    lines.at(-1).push(word);
    left -= word.wide + 6;
  }
  return lines;
}

// Lines of about the same length: as narrow as the number of lines allows.
function evenLines(words, room) {
  const { length } = cut(words, room);
  let narrow = room;
  while (narrow > 20 && cut(words, narrow - 10).length === length) narrow -= 10;
  return cut(words, narrow);
}

function place(tokens, room, font) {
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `${WORD}px ${font}`;
  const words = [];
  tokens.forEach((token, key) => {
    if (!key || !isClose(token, tokens[key - 1])) words.push({ keys: [], wide: 0 });
    const wide = pen.measureText(token).width + 8;
    words.at(-1).keys.push([key, wide]);
    words.at(-1).wide += wide;
  });
  const lines = evenLines(words, room);
  const lengths = lines.map((line) => line.reduce((sum, word) => sum + word.wide + 6, -6));
  const longest = Math.max(...lengths) + 2;
  const places = [];
  lines.forEach((line, number) => {
    let x = (longest - lengths[number]) / 2;
    for (const { keys } of line) {
      for (const [key, wide] of keys) {
        places[key] = { x: x + wide / 2, y: TOP + number * (lines.length > 2 ? NEAR : FAR), wide, line: number };
        x += wide;
      }
      x += 6;
    }
  });
  return { places, wide: longest };
}

// A curve from the query to a key: from above it to its own line and the lines above, and from below it to the lines below.
function curve(from, to, weight) {
  const down = to.line > from.line ? 1 : -1;
  const [bend, enter] = to.line === from.line ? [-30, to.y - 15] : [60 * down, to.y - 15 * down];
  const start = from.y + 15 * down;
  const control = to.line === from.line ? enter - 30 : enter - bend;
  return draw("path", {
    class: "picture__thread", pathLength: 1, d: `M${from.x} ${start}C${from.x} ${start + bend} ${to.x} ${control} ${to.x} ${enter}`,
    "stroke-opacity": FAINTEST + (1 - FAINTEST) * weight, "stroke-width": 0.75 + 5 * weight,
  });
}

const text = (x, y, said, size, css) => draw("text", { x, y: y + 0.35 * size, "font-size": size, "text-anchor": "middle", class: css }, said);

// The tokens fill `room` pixels, and one that is pressed goes to `ask`; `show` draws the `weights` of a query, and without them the words alone. Hidden from those who hear the
// page, to whom a caption and the table of weights say the same.
export function arcs(tokens, room, font, rem, ask) {
  const { places, wide } = place(tokens, (room / rem) * UNITS, font);
  const high = places.at(-1).y + 40;
  const element = draw("svg", { class: "picture__svg sentence__arcs", viewBox: `0 0 ${wide} ${high}`, width: `${wide / UNITS}rem`, "aria-hidden": "true" });

  element.addEventListener("click", ({ target }) => {
    const { key } = target.closest("[data-key]")?.dataset ?? {};
    if (key) ask(Number(key));
  });

  function show(query, weights) {
    const lines = weights.map((weight, key) => (key === query || weight < LEAST_LINE ? "" : curve(places[query], places[key], weight)));
    const words = tokens.flatMap((token, key) => {
      const { x, y, wide: room, line } = places[key];
      const own = key === query ? { class: "picture__mark" } : { class: "picture__cell", "fill-opacity": MOST_OPACITY * (weights[key] ?? 0) };
      const word = draw("g", { "data-key": key },
        draw("rect", { x: x - room / 2, y: y - 15, width: room, height: 30, rx: 4, ...own }),
        text(x, y, token, WORD, /^\[.*\]$/.test(token) && !(weights[key] > QUIET) ? "picture__quiet" : ""));
      return [
        word,
        weights[key] >= LEAST_NUMBER ? text(x, y + (line < places[query].line ? -25 : 27), shown(weights[key]), 13, "picture__quiet") : "",
      ];
    });
    element.replaceChildren(...[...lines, ...words].filter(Boolean));
  }

  return { element, show };
}
