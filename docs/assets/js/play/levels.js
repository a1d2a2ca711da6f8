// Keys rounded to a few levels, and the error of their scores: as `quantize_channels`, `quantize_tokens`, `hadamard_rotation` and
// `score_error` of snippets/serving/quantized.py.

import { chart, choice, dot, draw, make, product, readout, shown, slider, softmax, sum, transposed } from "./parts.js";

const odd = (bits) => (bits ? 1 - odd(bits & (bits - 1)) : 0); // whether the number of ones is odd

function tokens(rows, bits) {
  return rows.map((row) => {
    const [low, high] = [Math.min(...row), Math.max(...row)];
    const step = (high - low) / (2 ** bits - 1);
    return row.map((x) => (step ? Math.round((x - low) / step) * step : 0) + low);
  });
}

export function start(stage, { query, key, bits, first, offsets, offset, channel }) {
  const chosen = { bits: first, offset, channels: 1, rotated: 0 };
  const rotation = query[0].map((_, a, all) => all.map((_, b) => (odd(a & b) ? -1 : 1) / Math.sqrt(all.length)));
  const plot = chart(bits.map((one) => [one, shown(one, 0)]), [-3, -2, -1, 0, 1].map((power) => [power, String(10 ** power)]));
  const [plain, curve] = [1, 0].map((k) => draw("path", { class: `picture__curve picture__curve--${k}` }));
  const mark = draw("circle", { r: 4.5, class: "picture__dot picture__dot--0" });
  plot.element.append(plain, curve, mark);
  const said = readout();

  const moved = () => key.map((row) => row.map((x, a) => (a === channel ? x + chosen.offset : x)));
  const scores = (keys) => query.map((row) => keys.map((one) => dot(row, one) / Math.sqrt(row.length)));
  const stored = (keys, count, channels) => (channels ? transposed(tokens(transposed(keys), count)) : tokens(keys, count));

  // The error of a score, and the largest change of a weight.
  function errors(count, channels, rotated) {
    const exact = moved();
    const kept = rotated ? product(stored(product(exact, rotation), count, channels), rotation) : stored(exact, count, channels); // symmetric
    const [right, found] = [scores(exact), scores(kept)];
    const squares = right.flatMap((row, i) => row.map((one, j) => (found[i][j] - one) ** 2));
    const changes = right.flatMap((row, i) => { const after = softmax(found[i]); return softmax(row).map((p, j) => Math.abs(after[j] - p)); });
    return [Math.sqrt(sum(squares) / squares.length), Math.max(...changes)];
  }

  function show() {
    const at = (count, ...how) => [count, Math.log10(errors(count, ...how)[0])];
    plain.setAttribute("d", plot.path(bits.map((count) => at(count, 0, 0))));
    curve.setAttribute("d", plot.path(bits.map((count) => at(count, chosen.channels, chosen.rotated))));
    const [error, change] = errors(chosen.bits, chosen.channels, chosen.rotated);
    mark.setAttribute("cx", plot.x(chosen.bits));
    mark.setAttribute("cy", plot.y(Math.log10(error)));
    said.say(`error of a score ${shown(error, 4)} · largest change of a weight ${shown(change, 4)}`);
  }

  const take = (name) => (value) => {
    chosen[name] = value;
    show();
  };
  const knobs = [slider("bits of a number", bits, first, take("bits")), slider(`added to channel ${channel + 1}`, offsets, offset, take("offset"))];
  const choices = [choice("levels", ["per token", "per channel"], chosen.channels, take("channels")), choice("keys", ["as they are", "rotated"], chosen.rotated, take("rotated"))];
  stage.append(...knobs.map((knob) => knob.element), ...choices, make("span", { class: "play__title" }, "error of a score, by bits; dashed: per token, not rotated"), plot.element, said.element);
  knobs.forEach((knob) => knob.moved());
}
