// When each chunk of the delta rule solves its system and passes its state on: steps as `chunked_steps` of snippets/linear/chunks.py.

import { draw, make, readout, shown, slider, words } from "./parts.js";

export const caption = "Wide bars: the systems of all chunks, at once. Short bars: states, one chunk after another. Dashed: token by token.";

const [LEFT, WIDE, HIGH] = [12, 320, 150]; // of the plot, in its own units

export function start(stage, { chunks, chunk, texts, tokens, each, recurrent }) {
  const chosen = { chunk, tokens };
  const bars = draw("g");
  const end = words(LEFT + WIDE, HIGH + 24, "", "end");
  const plot = draw("svg", { class: "picture__svg play__plot", viewBox: `0 0 ${WIDE + 2 * LEFT} ${HIGH + 30}`, width: `${(WIDE + 2 * LEFT) / 20}rem`, "aria-hidden": "true" },
    draw("path", { class: "picture__grid", d: `M${LEFT} ${HIGH + 6}h${WIDE}` }),
    draw("path", { class: "picture__curve picture__curve--1", d: `M${LEFT + WIDE} 4v${HIGH + 2}` }),
    words(LEFT, HIGH + 24, "0", "start"), end, bars);
  const said = readout();

  function show() {
    const count = chosen.tokens / chosen.chunk;
    const [step, row] = [WIDE / chosen.tokens, HIGH / count];
    const bar = (from, length, place, role) => draw("rect", {
      x: LEFT + from * step, y: 4 + place * row + row * 0.1, width: length * step, height: row * 0.8, class: "picture__cell", "fill-opacity": role,
    });
    bars.replaceChildren(...Array.from({ length: count }, (_, place) => [
      bar(0, chosen.chunk - 1, place, 0.25), bar(chosen.chunk - 1 + place, 1, place, 0.9),
    ]).flat());
    end.textContent = `${shown(chosen.tokens, 0)} steps`;
    const total = chosen.chunk - 1 + count;
    said.say(`${shown(chosen.chunk - 1, 0)} steps for systems, then ${shown(count, 0)} for states: ${shown(total, 0)}`
      + ` · ${shown(each[chunks.indexOf(chosen.chunk)] / recurrent)} times the multiplications`);
  }

  const take = (name) => (value) => {
    chosen[name] = value;
    show();
  };
  const knobs = [
    slider("tokens in a chunk", chunks, chunk, take("chunk")),
    slider("tokens of the text", texts, tokens, take("tokens")),
  ];
  stage.append(...knobs.map((knob) => knob.element), make("span", { class: "play__title" }, "each row is a chunk; steps from left to right"), plot, said.element);
  knobs.forEach((knob) => knob.moved());
}
