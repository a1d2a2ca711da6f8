// Every head of a model on one sentence: the weights of snippets/seeing/atlas.json in percent, and the measures of its heads. A reader sorts
// the heads by a measure, or by the weight of one token on another, and chooses one to see its weights and measures.

import { headView } from "./head_grid.js";

export const caption = "Every head on the sentence. Choose one to see its weights: a row for each query, a column for each key.";

export function start(stage, { tokens, perRow, weights, names, pages, values, first }) {
  const pair = ["it", "animal"].map((word) => Math.max(0, tokens.indexOf(word)));
  const view = headView({ tokens, perRow, count: weights.length, names, pages, first, pair });
  weights.forEach((row, head) => view.fill(head, row, values[head]));
  view.show();
  stage.append(...view.parts);
  stage.classList.add("play--wide");
}
