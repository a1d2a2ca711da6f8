// Online softmax: blocks of keys are merged one at a time into a state, as `attention_state`, `merge_states` and `state_output` of
// snippets/blocks/merge.py do it. A reader says how long a block is, and how many have been merged.

import { button, cell, choice, dot, make, matrix, put, readout, shown, softmax, sum, titled } from "./parts.js";

const EMPTY = { reference: -Infinity, total: 0, mixed: 0 };

function state(scores, values) {
  const reference = Math.max(...scores);
  const terms = scores.map((score) => Math.exp(score - reference));
  return { reference, total: sum(terms), mixed: dot(terms, values) };
}

const move = (reference, to) => Math.exp(reference - (to === -Infinity ? 0 : to));

function merged(first, second) {
  const to = Math.max(first.reference, second.reference);
  const [f, g] = [move(first.reference, to), move(second.reference, to)];
  return { reference: to, total: f * first.total + g * second.total, mixed: f * first.mixed + g * second.mixed, factors: [f, g] };
}

const average = ({ total, mixed }) => mixed / (total || 1);

export function start(stage, { scores, values, sizes, size }) {
  const most = Math.max(...scores.map(Math.abs), ...values.map(Math.abs));
  const lines = [scores, values].map((line) => line.map((value) => {
    const one = cell();
    put(one, value, most);
    return one;
  }));
  const names = ["so far", "next block", "merged"];
  const table = names.map(() => Array.from({ length: 4 }, () => make("span", { class: "play__entry" })));
  const said = readout();
  let [length, done] = [size, 1];

  const block = (k) => [scores, values].map((line) => line.slice(k * length, (k + 1) * length));
  const blocks = () => Math.ceil(scores.length / length);

  function show() {
    let before = EMPTY;
    for (let k = 0; k < done; k++) before = merged(before, state(...block(k)));
    const more = done < blocks();
    const next = more ? state(...block(done)) : EMPTY;
    const after = merged(before, next);
    write(table[0], before, more ? shown(after.factors[0]) : "");
    write(table[1], more ? next : null, more ? shown(after.factors[1]) : "");
    write(table[2], more ? after : null, "");
    for (const line of lines) {
      line.forEach((one, j) => {
        one.classList.toggle("play__cell--later", j >= (done + 1) * length || (!more && j >= scores.length));
        one.toggleAttribute("data-marked", more && j >= done * length && j < (done + 1) * length);
      });
    }
    const seen = Math.min(done * length, scores.length);
    said.say(`output after ${seen} of ${scores.length} keys ${shown(average(before), 3)} · all at once ${shown(dot(softmax(scores), values), 3)}`);
    back.disabled = done === 1;
    on.disabled = !more;
  }

  function write(entries, kept, factor) {
    const written = kept ? [shown(kept.reference, 0), shown(kept.total, 3), shown(kept.mixed, 3), factor] : ["", "", "", ""];
    entries.forEach((entry, k) => (entry.textContent = written[k]));
  }

  const step = (by) => () => {
    done = Math.min(Math.max(done + by, 1), blocks());
    show();
  };
  const [back, on] = [button("one back", step(-1)), button("merge the next block", step(1))];
  const choose = choice("keys in a block", sizes.map(String), sizes.indexOf(size), (place) => {
    [length, done] = [sizes[place], 1];
    show();
  });
  stage.append(
    choose,
    matrix("scores and values", lines, { rows: ["scores", "values"], css: "play__matrix--narrow" }),
    matrix("states", table, { rows: names, columns: ["reference", "sum", "sum of values", "factor"], css: "play__table" }),
    make("div", { class: "play__buttons" }, back, on),
    said.element,
  );
  show();
}
