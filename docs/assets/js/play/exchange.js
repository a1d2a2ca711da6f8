// Bytes that each device sends in a ring, with an all-gather and with Ulysses: as `ring_bytes` and `ulysses_bytes_with_copies` of
// snippets/io/ulysses.py count them.

import { make, readout, shown, slider, strength } from "./parts.js";

export const caption = "Megabytes that each device sends in one layer, for a text of 131,072 tokens and 32 query heads. With fewer key-value heads than devices, Ulysses copies them.";

export function start(stage, { length, width, heads, itemsize, counts, devices, kept, first }) {
  const rows = ["ring", "all-gather", "Ulysses"].map((name) => {
    const [bar, number] = [make("span", { class: "play__bar" }), make("span", { class: "play__number" })];
    return { bar, number, element: make("div", { class: "play__row" }, make("span", {}, name), make("span", { class: "play__track" }, bar), number) };
  });
  const said = readout();
  const chosen = { devices, kept: first };

  function show() {
    const [p, groups] = [chosen.devices, chosen.kept];
    const unit = (2 * (length / p) * width * itemsize * (p - 1)) / 1e6; // one head of keys and values, to all other devices
    const ring = unit * groups;
    const ulysses = (unit * (heads + Math.max(groups, p))) / p;
    [ring, ring, ulysses].forEach((bytes, k) => {
      strength(rows[k].bar, bytes, 2 * (length * width * itemsize * heads) / 1e6);
      rows[k].number.textContent = shown(bytes, 0);
    });
    const least = ring === ulysses ? "all send the same" : ulysses < ring ? "Ulysses sends the fewest bytes" : "a ring and an all-gather send fewer bytes than Ulysses";
    const copies = groups < p ? `each key-value head is on ${p / groups} devices` : "no head is copied";
    said.say(`${least} · ${copies} · an all-gather holds ${shown(p / 2, 0)} times as many keys and values as a ring`);
  }

  const moved = (what) => (value) => {
    chosen[what] = value;
    show();
  };
  const knobs = [
    slider("devices", counts, devices, moved("devices")),
    slider("key-value heads", kept, first, moved("kept")),
  ];
  stage.append(...knobs.map((knob) => knob.element), make("div"), make("div", { class: "play__row play__heads" }, make("span"), make("span", {}, "megabytes")), ...rows.map(({ element }) => element), said.element);
  knobs.forEach((knob) => knob.moved());
}
