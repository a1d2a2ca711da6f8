// A query and a key of two features, turned by the places that a reader gives them: as `turn` and `rotated_score` of
// snippets/order/rotary.py. Moved together, they keep their distance, and with it their score.

import { draw, make, readout, shown, slider } from "./parts.js";

const PLACES = Array.from({ length: 21 }, (_, place) => place);
const UNIT = 88; // how long an arrow of length one is drawn

function turn([first, second], angle) {
  const [cosine, sine] = [Math.cos(angle), Math.sin(angle)];
  return [first * cosine - second * sine, first * sine + second * cosine];
}

export const caption = "One pair of features of a query and of a key. If both move together, the angle between them and the score stay the same.";

export function start(stage, { query, key, omega, places }) {
  const at = [...places];
  const arrows = ["query", "key"].map((role) => draw("path", { class: `play__arrow role--${role}` }));
  const names = ["query", "key"].map((role) => draw("text", { class: `role--${role}`, "font-size": 13 }, role));
  const between = draw("path", { class: "picture__thin" });
  const plane = draw("svg", { class: "picture__svg play__plane", viewBox: "-126 -106 252 212", "aria-hidden": "true" },
    draw("circle", { class: "picture__grid", r: UNIT }), draw("path", { class: "picture__grid", d: `M${-UNIT} 0H${UNIT}M0 ${-UNIT}V${UNIT}` }),
    between, ...arrows, ...names);
  const said = readout();

  function show() {
    const turned = [turn(query, at[0] * omega), turn(key, at[1] * omega)];
    turned.forEach(([x, y], which) => {
      arrows[which].setAttribute("d", arrow(x * UNIT, -y * UNIT));
      const [length, name] = [Math.hypot(x, y), names[which]];
      const far = UNIT + 11 / length;
      name.setAttribute("x", x * far);
      name.setAttribute("y", -y * far + 4.5);
      name.setAttribute("text-anchor", Math.abs(x) < 0.4 * length ? "middle" : x > 0 ? "start" : "end");
    });
    between.setAttribute("d", arc(...turned, 30));
    const score = turned[0][0] * turned[1][0] + turned[0][1] * turned[1][1];
    said.say(`distance ${shown(at[1] - at[0], 0)} · score ${shown(score, 4)}`);
  }

  // The one that a reader moves takes the other along, where they are to stay together, and goes no farther than the other can.
  const together = make("input", { type: "checkbox", class: "play__check", checked: "" });
  const knobs = ["query", "key"].map((role, which) => slider(make("span", { class: `role--${role}` }, `${role} at place`), PLACES, places[which], (place) => {
    const moved = together.checked ? [0, 1] : [which];
    const [back, on] = [Math.min(...moved.map((one) => at[one])), PLACES.at(-1) - Math.max(...moved.map((one) => at[one]))];
    const by = Math.max(-back, Math.min(on, place - at[which]));
    for (const one of moved) put(one, (at[one] += by));
    show();
  }));
  function put(which, place) {
    const { range, says } = knobs[which];
    range.value = PLACES.indexOf(place);
    range.setAttribute("aria-valuetext", (says.textContent = shown(place, 0)));
  }

  stage.append(make("div", { class: "play__line play__line--plane" }, plane,
    make("div", { class: "play__knobs" }, ...knobs.map((knob) => knob.element), make("label", { class: "play__both" }, together, make("span", {}, "keep the distance")), said.element)));
  knobs.forEach((_, which) => put(which, at[which]));
  show();
}

function arrow(x, y) {
  const angle = Math.atan2(y, x);
  const wing = (side) => `${x - 9 * Math.cos(angle + side)} ${y - 9 * Math.sin(angle + side)}`;
  return `M0 0L${x} ${y}M${wing(0.4)}L${x} ${y}L${wing(-0.4)}`;
}

// The angle between two arrows, the short way round.
function arc(one, other, radius) {
  const end = ([x, y]) => `${(radius * x) / Math.hypot(x, y)} ${(-radius * y) / Math.hypot(x, y)}`;
  const clockwise = one[0] * other[1] - one[1] * other[0] < 0;
  return `M${end(one)}A${radius} ${radius} 0 0 ${clockwise ? 1 : 0} ${end(other)}`;
}
