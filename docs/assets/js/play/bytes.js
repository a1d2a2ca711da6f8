// Bytes of a cache, by the heads of keys and values or by the width of a latent row: as `bytes_per_token` of snippets/inference/memory.py
// counts them. A latent row takes as many bytes as a key and a value of half its width.

import { make, readout, shown, slider, strength } from "./parts.js";

export const caption = "Llama 2 7B with the key-value heads that you set, at two bytes a number. MLA keeps one latent row for each token and layer.";

export function start(stage, { layers, heads, width, itemsize, kept, first, latents, latent, lengths, length }) {
  const strips = ["query heads", "keys and values"].map((name) => {
    const strip = make("span", { class: "play__strip" });
    return { strip, element: make("div", { class: "play__row", "aria-hidden": "true" }, make("span", {}, name), strip) };
  });
  const parts = ["keys and values", "latent row"].map((name) => {
    const [bar, number] = [make("span", { class: "play__bar" }), make("span", { class: "play__number" })];
    return { bar, number, element: make("div", { class: "play__row" }, make("span", {}, name), make("span", { class: "play__track" }, bar), number) };
  });
  const said = readout();
  const chosen = { groups: first, latent, length };
  const name = (groups) => (groups === heads ? "MHA" : groups === 1 ? "MQA" : "GQA");
  const fill = ({ strip }, count, role) => strip.replaceChildren(...Array.from({ length: count }, () => make("span", { class: `role--${role}` })));

  function show() {
    const bytes = [2 * layers * chosen.groups * width * itemsize, layers * chosen.latent * itemsize];
    fill(strips[1], chosen.groups, "key");
    parts.forEach(({ bar, number }, k) => {
      strength(bar, bytes[k], 2 * layers * heads * width * itemsize);
      number.textContent = shown(bytes[k] / 2 ** 10, 0);
    });
    const whole = bytes.map((each) => shown((each * chosen.length) / 2 ** 30));
    said.say(`after ${shown(chosen.length, 0)} tokens: ${name(chosen.groups)} ${whole[0]} GiB · MLA ${whole[1]} GiB`);
  }

  const moved = (what) => (value) => {
    chosen[what] = value;
    show();
  };
  const knobs = [
    slider("key-value heads", kept, first, moved("groups"), (value) => `${value} ${name(value)}`),
    slider("latent width", latents, latent, moved("latent")),
    slider("tokens", lengths, length, moved("length")),
  ];
  const head = make("div", { class: "play__row play__heads" }, make("span"), make("span", {}, "KiB for each token"));
  fill(strips[0], heads, "query");
  stage.append(...knobs.map((knob) => knob.element), make("div"), ...strips.map(({ element }) => element), head, ...parts.map(({ element }) => element), said.element);
  knobs.forEach((knob) => knob.moved());
}
