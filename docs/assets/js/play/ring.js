// Devices in a ring, whose pieces of keys and values move on by one in each step: as `ring_attention` of snippets/io/ring.py. The figure gives
// the pairs that each device computes in each step, by `step_pairs` there.

import { cell, choice, draw, each, make, matrix, put, readout, steps, sum, titled } from "./parts.js";

export const caption = "Four devices in a ring. Take a step, and each piece of keys and values moves to the next device.";
const [RADIUS, SIZE] = [70, 22];

export function start(stage, { names, pairs }) {
  const devices = pairs[0][0].length;
  const angle = (2 * Math.PI) / devices;
  const spots = pairs[0].map((_, r) => [RADIUS * Math.sin(r * angle), -RADIUS * Math.cos(r * angle)]);
  const held = spots.map(([x, y]) => draw("text", { x, y: y + 5, "text-anchor": "middle", class: "role--key", "font-size": 15 }));
  const arrows = spots.map((from, r) => {
    const to = spots[(r + 1) % devices];
    const way = [0, 1].map((axis) => (to[axis] - from[axis]) / Math.hypot(to[0] - from[0], to[1] - from[1]));
    const middle = [0, 1].map((axis) => (from[axis] + to[axis]) / 2);
    const at = (along, aside) => `${middle[0] + along * way[0] - aside * way[1]} ${middle[1] + along * way[1] + aside * way[0]}`;
    return draw("path", { class: "play__arrow", d: `M${at(-16, 0)}L${at(16, 0)}M${at(9, 5)}L${at(16, 0)}L${at(9, -5)}` });
  });
  const ring = draw("svg", { class: "picture__svg play__plane", viewBox: "-126 -118 252 236", "aria-hidden": "true" },
    ...arrows, ...spots.map(([x, y]) => draw("circle", { class: "picture__grid", cx: x, cy: y, r: SIZE })), ...held,
    ...spots.map(([x, y], r) => draw("text", { x: 0.9 * x, y: y + (y < -1 ? -SIZE - 7 : SIZE + 16), "text-anchor": x > 1 ? "start" : x < -1 ? "end" : "middle", "font-size": 13 }, `device ${r + 1}`)));
  const cells = each(devices, devices, () => cell());
  const said = readout();
  let which = 0;

  function show(step) {
    const counts = pairs[which];
    const most = Math.max(...counts.flat());
    for (let r = 0; r < devices; r++) {
      for (let s = 0; s < devices; s++) {
        const piece = (r - s + devices) % devices; // what device r holds in step s
        if (s === step) held[r].textContent = `${piece + 1}`;
        if (s <= step) put(cells[r][piece], counts[s][r], most);
        else cells[r][piece].replaceChildren();
        cells[r][piece].classList.toggle("play__cell--later", s > step);
        cells[r][piece].toggleAttribute("data-marked", s === step);
      }
    }
    const slowest = counts.slice(0, step + 1).map((row) => Math.max(...row));
    said.say(`step ${step + 1}: the slowest device computes ${slowest[step]} pairs; the slowest of each step so far, ${sum(slowest)} in all`);
  }

  const walk = steps("pass the pieces on", show);
  const choose = choice("mask", names, which, (place) => {
    which = place;
    walk.go(0);
  });
  const numbers = spots.map((_, r) => `${r + 1}`);
  stage.append(
    choose,
    make("div", { class: "play__line play__line--plane" }, ring,
      titled("pairs with each piece of keys", matrix("pairs", cells, { rows: numbers.map((r) => `device ${r}`), columns: numbers, corner: "piece" }))),
    walk.element,
    said.element,
  );
  walk.go(0, devices - 1);
}
