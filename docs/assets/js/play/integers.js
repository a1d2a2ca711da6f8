// Three tokens in integers, all of which a reader may change: queries, keys, values and scores follow, as `project_tokens` of
// snippets/example/integers.py and `scores` of snippets/attention/formula.py (with a scale of one) make them. Whoever goes to a number
// sees the row and the column that it is made of.

import { cell, choice, dot, each, integer, limits, listed, make, matrix, product, put, readout, roving, shown, titled, transposed } from "./parts.js";

const ROLES = [["query", "queries"], ["key", "keys"], ["value", "values"]];
const MOST = 9;

const factor = (value) => (value < 0 ? `(${shown(value, 0)})` : shown(value, 0));
const written = (row, other) => row.map((one, k) => `${factor(one)}·${factor(other[k])}`).join(" + ");
const size = (matrix) => [matrix.length, matrix[0].length];
const largest = (matrices) => Math.max(1, ...matrices.flat(2).map(Math.abs));

export function start(stage, { tokens, projections }) {
  const said = readout();
  let refused = false; // whether a cell has a number that it does not take
  const refuse = () => {
    refused = true;
    said.say(`This cell takes a whole number, ${limits(MOST)}. The tables keep the number before.`);
  };
  const editable = (matrix, name, changes) =>
    matrix.map((row, i) => row.map((value, j) => integer(value, `${name}, row ${i + 1}, column ${j + 1}`, (typed) => {
      matrix[i][j] = typed;
      show(() => changes(i, j));
    }, MOST, refuse)));
  const scoresOf = (i) => `scores of query ${i + 1}: ${listed(table[i], 0)}`;
  const inputs = editable(tokens, "tokens", (i) => `query ${i + 1}: ${listed(results[0][i], 0)}; ${scoresOf(i)}`);
  const weights = projections.map((matrix, role) => editable(matrix, `matrix for ${ROLES[role][1]}`, (_, j) =>
    [`feature ${j + 1} of the ${ROLES[role][1]}: ${listed(transposed(results[role])[j], 0)}`, ...(role < 2 ? table.map((_, i) => scoresOf(i)) : [])].join("; ")));
  const computed = (rows, columns, name, go) =>
    each(rows, columns, (i, j) => {
      const made = cell("button", { type: "button", "data-name": name(i, j) });
      for (const event of ["focus", "click"]) made.addEventListener(event, () => go(i, j)); // not every touch gives the focus
      return made;
    });
  const made = ROLES.map(([one], role) =>
    computed(tokens.length, projections[role][0].length, (i, j) => `${one} ${i + 1}, feature ${j + 1}`, (i, j) => follow(role, i, j)));
  const scores = computed(tokens.length, tokens.length, (i, j) => `score of query ${i + 1} with key ${j + 1}`, (i, j) => follow(3, i, j));
  let [results, table, at] = [[], [], [0, 2, 2]];

  // After a change, those who hear the page hear what follows from it; the row and the column that are marked stay.
  function show(changes) {
    results = projections.map((matrix) => product(tokens, matrix));
    table = product(results[0], transposed(results[1]));
    const most = largest(results);
    made.forEach((cells, role) => fill(cells, results[role], most));
    fill(scores, table, largest([table]));
    mark(changes?.());
  }

  function fill(cells, values, most) {
    cells.forEach((row, i) => row.forEach((one, j) => {
      put(one, values[i][j], most);
      one.setAttribute("aria-label", `${one.dataset.name}: ${shown(values[i][j], 0)}`);
    }));
  }

  // From a number to what it is made of: a row of tokens and a column of a matrix, or a query and a key.
  function follow(role, i, j) {
    at = [role, i, j];
    if (role < 3) turnTo(role);
    mark();
  }

  function mark(heard) {
    const [role, i, j] = at;
    for (const one of stage.querySelectorAll("[data-marked]")) delete one.dataset.marked;
    const own = role < 3 ? made[role][i][j] : scores[i][j];
    const parts = role < 3 ? [...inputs[i], ...weights[role].map((row) => row[j])] : [...made[0][i], ...made[1][j]];
    for (const one of [own, ...parts]) one.dataset.marked = "";
    const [row, column] = role < 3 ? [tokens[i], transposed(projections[role])[j]] : [results[0][i], results[1][j]];
    said.say(`${own.dataset.name}: ${written(row, column)} is ${shown(dot(row, column), 0)}`, heard);
  }

  const shelves = weights.map((cells, role) => matrix(`matrix for ${ROLES[role][1]}`, cells));
  const choose = choice("matrix for", ROLES.map(([, many]) => many), 0, (role) => follow(role, at[1], Math.min(at[2], size(projections[role])[1] - 1)));
  function turnTo(role) {
    shelves.forEach((shelf, k) => (shelf.hidden = k !== role));
    choose.querySelectorAll("input")[role].checked = true;
  }

  for (const cells of [...made, scores]) roving(cells.flat(), () => cells[0].length);
  const names = tokens.map((_, i) => `token ${i + 1}`);
  stage.append(
    choose,
    make("div", { class: "play__line play__line--integers" }, titled(`tokens, ${limits(MOST)}`, matrix("tokens", inputs, { rows: names })), titled(`matrix, ${limits(MOST)}`, make("div", {}, ...shelves))),
    make("div", { class: "play__line play__line--integers" }, ...made.map((cells, role) => titled(ROLES[role][1], matrix(ROLES[role][1], cells, { css: `role--${ROLES[role][0]}` }), ROLES[role][0]))),
    titled("scores", matrix("scores", scores, {
      rows: tokens.map((_, i) => `query ${i + 1}`),
      columns: tokens.map((_, j) => `${j + 1}`),
      corner: "key",
      css: "play__matrix--wide",
    })),
    said.element,
  );
  stage.addEventListener("change", () => {
    if (refused) mark(); // the cell is left, and holds a number again
    refused = false;
  });
  turnTo(0);
  show();
}
