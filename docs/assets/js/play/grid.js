// Two patches of an image that a reader moves, and the score of a key at each place: as `grid_score` of snippets/positions/images.py.

import { cell, choice, dot, each, matrix, put, readout, roving, shown } from "./parts.js";

export const caption = "Scores of a query with the same key at every place, for a query and a key that you move. Their frames show where they are.";

export function start(stage, { side, query, keys, kinds, frequencies, places }) {
  const at = places.map((place) => [...place]);
  const chosen = { kind: 0, moved: [0, 1] };
  const contents = keys.map((key) => ({
    plain: query[0].map((_, i) => query[0][i] * key[0][i] + query[1][i] * key[1][i]),
    quarter: query[0].map((_, i) => query[1][i] * key[0][i] - query[0][i] * key[1][i]),
  }));
  const said = readout();

  const displacement = (place) => place.map((one, axis) => one - at[0][axis]);
  function score(place) {
    const { plain, quarter } = contents[chosen.kind];
    const angles = frequencies[chosen.kind].map((row) => dot(row, displacement(place)));
    return dot(plain, angles.map(Math.cos)) + dot(quarter, angles.map(Math.sin));
  }

  function show() {
    cells.forEach((row, r) => row.forEach((one, c) => {
      const value = score([r, c]);
      put(one, value, query[0].length, 1);
      ["query", "key"].forEach((role, which) => one.classList.toggle(`play__cell--${role}`, at[which][0] === r && at[which][1] === c));
      one.setAttribute("aria-label", `row ${r}, column ${c}: score ${shown(value, 1)}`);
    }));
    const [rows, columns] = displacement(at[1]).map((one) => shown(one, 0));
    said.say(`rows ${rows} · columns ${columns} · score ${shown(score(at[1]), 3)}`);
  }

  // The first of those that move goes to the place, or as far as the others can follow.
  function move(place) {
    const [lead] = chosen.moved;
    for (const axis of [0, 1]) {
      const [back, on] = [-Math.min(...chosen.moved.map((one) => at[one][axis])), side - 1 - Math.max(...chosen.moved.map((one) => at[one][axis]))];
      const by = Math.max(back, Math.min(on, place[axis] - at[lead][axis]));
      for (const one of chosen.moved) at[one][axis] += by;
    }
    show();
  }

  const cells = each(side, side, (r, c) => {
    const made = cell("button", { type: "button" });
    made.addEventListener("click", () => move([r, c]));
    made.addEventListener("pointerenter", (event) => event.buttons && move([r, c]));
    return made;
  });
  roving(cells.flat(), () => side);
  const moves = [[0, 1], [0], [1]];
  stage.append(
    choice("frequencies", kinds, 0, (place) => { chosen.kind = place; show(); }),
    choice("move", ["both patches", "the query", "the key"], 0, (place) => (chosen.moved = moves[place])),
    matrix("scores", cells, { css: "play__matrix--grid" }),
    said.element,
  );
  show();
}
