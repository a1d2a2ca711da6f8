// What widgets share: arithmetic as in the snippets, numbers as in the pictures, and the few things that a reader moves.

// Arithmetic: rows are arrays, matrices are arrays of rows -----------------------------------------------------------------

export const sum = (row) => row.reduce((total, one) => total + one, 0);
export const dot = (row, other) => sum(row.map((one, k) => one * other[k]));
export const transposed = (matrix) => matrix[0].map((_, j) => matrix.map((row) => row[j]));

export function product(left, right) {
  const columns = transposed(right);
  return left.map((row) => columns.map((column) => dot(row, column)));
}

// The largest score is taken off first, so that no exponential overflows. A row without keys has no weights, as in `masked_softmax`.
export function softmax(scores) {
  const largest = Math.max(...scores);
  if (largest === -Infinity) return scores.map(() => 0);
  const terms = scores.map((score) => Math.exp(score - largest));
  const total = sum(terms);
  return terms.map((term) => term / total);
}

export const entropy = (weights) => -sum(weights.map((weight) => (weight ? weight * Math.log(weight) : 0)));

// Numbers as pictures print them ------------------------------------------------------------------------------------------

export function shown(value, digits = 2) {
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const rounded = Number(value.toFixed(digits)) + 0; // no minus before a zero
  const [whole, rest] = Math.abs(rounded).toFixed(digits).split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return (rounded < 0 ? "−" : "") + grouped + (rest ? `.${rest}` : "");
}

export const listed = (values, digits = 2) => values.map((value) => shown(value, digits)).join(", ");

// Elements ----------------------------------------------------------------------------------------------------------------

const SVG = "http://www.w3.org/2000/svg";

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

export const make = (tag, attributes = {}, ...children) => filled(document.createElement(tag), attributes, children);
export const draw = (tag, attributes = {}, ...children) => filled(document.createElementNS(SVG, tag), attributes, children);

// How strong a cell's colour is, from 0 to 1: the style sheet does the rest.
export const strength = (element, value, most = 1) => element.style.setProperty("--strength", Math.min(Math.abs(value) / most, 1));

// What is heard when it changes. While a reader moves something, it changes at each step: only what it says after a pause is heard. What it
// says before it is on the page is not announced.
const PAUSE = 700; // in milliseconds: longer than the time between two steps of a key that is held down

export function announcer() {
  const element = make("div", { class: "play__heard", role: "status" });
  let waiting;
  const put = (words) => (element.textContent = words);
  return {
    element,
    say(words) {
      clearTimeout(waiting);
      if (element.isConnected) waiting = setTimeout(put, PAUSE, words);
      else put(words);
    },
  };
}

// What the figure shows, in words. Readers see them at once, and those who hear the page hear them after a pause: the same words, or
// `instead`, with numbers that others see in the figure.
export function readout() {
  const [seen, heard] = [make("p", { class: "play__readout", "aria-hidden": "true" }), announcer()];
  return {
    element: make("div", { class: "play__summary" }, seen, heard.element),
    say(words, instead = words) {
      seen.textContent = words;
      heard.say(instead);
    },
  };
}

// What a reader moves -----------------------------------------------------------------------------------------------------

// A slider over a list of values, so that each value is a short number; `act` gets the value, at once and at each move.
export function slider(label, values, first, act, digits = 0) {
  const says = make("span", { class: "play__value", "aria-hidden": "true" }); // heard as the value of the slider
  const range = make("input", { type: "range", min: 0, max: values.length - 1, step: 1, class: "play__range" });
  range.value = values.indexOf(first);
  const moved = () => {
    const value = values[range.valueAsNumber];
    const said = typeof digits === "function" ? digits(value) : shown(value, digits);
    says.textContent = said;
    range.setAttribute("aria-valuetext", said);
    act(value);
  };
  range.addEventListener("input", moved);
  return { element: make("label", { class: "play__slider" }, make("span", {}, label), range, says), range, says, moved };
}

// What a cell takes, for who sees it and, as its description, for who hears it.
export const limits = (most = 9) => `−${most} to ${most}`;

// A cell that holds a whole number; the arrow keys change it by one. Once it is left, what is beyond its limits or between two numbers
// becomes the nearest that it takes, and what is no number is put back. `refuse` is called when a number is typed that the cell does not take.
export function integer(value, label, act, most = 9, refuse = () => {}) {
  const title = `a whole number, ${limits(most)}`;
  const input = make("input", { type: "number", step: 1, min: -most, max: most, class: "play__integer", "aria-label": label, title });
  let last = value;
  input.value = value;
  const take = (typed) => {
    if (typed !== last) act((last = typed));
  };
  input.addEventListener("input", () => {
    const typed = input.valueAsNumber;
    if (Number.isInteger(typed) && Math.abs(typed) <= most) take(typed);
    else if (!Number.isNaN(typed)) refuse();
  });
  input.addEventListener("change", () => {
    const typed = input.valueAsNumber;
    if (!Number.isNaN(typed)) take(Math.max(-most, Math.min(most, Math.round(typed))) + 0); // no minus zero
    input.value = last;
  });
  for (const event of ["focus", "click"]) input.addEventListener(event, () => input.select()); // a slider moved by touch leaves the focus here
  return input;
}

// Two or more choices, of which one holds: radio buttons, which arrow keys move between. `act` gets the place of the choice.
let groups = 0;
export function choice(label, names, first, act) {
  const group = `play-${groups++}`;
  const box = make("div", { class: "play__choice", role: "radiogroup", "aria-label": label }, make("span", { class: "play__title" }, label));
  names.forEach((name, place) => {
    const radio = make("input", { type: "radio", name: group });
    radio.checked = place === first;
    radio.addEventListener("change", () => act(place));
    box.append(make("label", {}, radio, make("span", {}, name)));
  });
  return box;
}

// One of many choices, in a list that opens.
export function select(label, names, first, act) {
  const list = make("select", {}, ...names.map((name, place) => make("option", { value: place }, name)));
  list.value = first;
  list.addEventListener("change", () => act(Number(list.value)));
  return make("label", { class: "play__select" }, make("span", { class: "play__title" }, label), list);
}

export function button(label, act) {
  const made = make("button", { type: "button", class: "play__button" }, label);
  made.addEventListener("click", act);
  return made;
}

// A button that takes a step and one that takes it back; `act` gets the number of steps taken. `go(at, last)` goes there, of as many as `last`.
export function steps(on, act) {
  let [at, last] = [0, 0];
  const by = (change) => () => go(at + change);
  const buttons = [button("one back", by(-1)), button(on, by(1))];
  function go(to, most = last) {
    [at, last] = [to, most];
    const pressed = buttons.indexOf(document.activeElement);
    buttons.forEach((one, which) => (one.disabled = at === [0, last][which]));
    if (buttons[pressed]?.disabled) buttons[1 - pressed].focus(); // a disabled button would lose the focus of the keyboard
    act(at);
  }
  return { element: make("div", { class: "play__buttons" }, ...buttons), go };
}

// Drawings ----------------------------------------------------------------------------------------------------------------

export const words = (x, y, said, anchor = "middle") => draw("text", { x, y, "font-size": 13, "text-anchor": anchor, class: "picture__number" }, said);

// Two axes from the first to the last of their marks, each mark a number and what is printed there; `path` connects points, given by
// their numbers. The drawing is hidden from those who hear the page: a readout says what it shows.
export function chart(across, up, high = 130) {
  const left = Math.max(38, 12 + 8 * Math.max(...up.map(([, said]) => said.length))); // for the numbers of the axis, at a font size of 13
  const [wide, top] = [300, 8];
  const along = (marks, size) => (value) => (size * (value - marks[0][0])) / (marks.at(-1)[0] - marks[0][0]);
  const [x, y] = [(value) => left + along(across, wide)(value), (value) => top + high - along(up, high)(value)];
  const element = draw("svg", { class: "picture__svg play__plot", viewBox: `0 0 ${2 * left + wide} ${top + high + 26}`, width: `${(2 * left + wide) / 20}rem`, "aria-hidden": "true" },
    ...up.flatMap(([value, said]) => [draw("path", { class: "picture__grid", d: `M${left} ${y(value)}h${wide}` }), words(left - 8, y(value) + 4.5, said, "end")]),
    ...across.map(([value, said]) => words(x(value), top + high + 22, said)));
  return { element, x, y, path: (points) => `M${points.map(([one, other]) => `${x(one)} ${y(other)}`).join("L")}` };
}

// Matrices ----------------------------------------------------------------------------------------------------------------

// Buttons in a grid are one stop of the Tab key; the arrow keys, Home and End move inside. `columns` and `now`, the buttons in their present
// order, are read at each key. Returns a function that makes a button the one where the Tab key stops.
export function roving(buttons, columns, now = () => buttons) {
  const stopAt = (button) => buttons.forEach((one) => (one.tabIndex = one === button ? 0 : -1));
  for (const button of buttons) {
    button.addEventListener("focus", () => stopAt(button));
    button.addEventListener("keydown", (event) => {
      const all = now();
      const at = all.indexOf(button);
      const to = { ArrowLeft: at - 1, ArrowRight: at + 1, ArrowUp: at - columns(), ArrowDown: at + columns(), Home: 0, End: all.length - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault(); // the page would scroll
      all[to]?.focus();
    });
  }
  stopAt(buttons[0]);
  return stopAt;
}

export const each = (rows, columns, of) =>
  Array.from({ length: rows }, (_, i) => Array.from({ length: columns }, (_, j) => of(i, j)));

// Cells in a grid, which is a table for those who hear the page. There may be names above and at the left, and `corner` says what the names
// above are. An empty name keeps the room of a name, and is heard as the number of the row or column.
export function matrix(label, cells, { rows = [], columns = [], corner = "", css = "" } = {}) {
  const table = make("div", { class: `play__matrix ${css}`, role: "table", "aria-label": label });
  table.style.setProperty("--columns", cells[0].length);
  const line = (...parts) => table.append(make("div", { class: "play__cells", role: "row" }, ...parts));
  const heard = (role, place) => make("span", { class: "play__heard" }, `${role} ${place + 1}`);
  const head = (role, css) => (words, place) => make("span", { class: `play__head ${css}`, role: `${role}header` }, words || heard(role, place));
  const left = rows.map(head("row", "play__head--row"));
  if (columns.length) line(...(rows.length ? [make("span", { class: "play__head play__head--row", role: "cell" }, corner)] : []), ...columns.map(head("column", "")));
  cells.forEach((row, i) => line(...left.slice(i, i + 1), ...row.map(inTable)));
  if (rows.length) table.classList.add("play__matrix--named");
  return table;
}

// A cell of a table. What can be pressed or written in keeps its own role inside.
function inTable(one) {
  if (one.matches("button, input")) return make("span", { class: "play__cells", role: "cell" }, one);
  one.setAttribute("role", "cell");
  return one;
}

export const cell = (tag = "span", attributes = {}) => make(tag, { class: "play__cell", ...attributes });

// A number in a cell, on a colour as strong as the number is large.
export function put(cell, value, most, digits = 0) {
  cell.textContent = shown(value, digits);
  cell.classList.toggle("play__cell--minus", value < 0);
  strength(cell, value, most);
}

// Something with a name above it.
export const titled = (title, element, role) =>
  make("div", { class: "play__titled" }, make("span", { class: `play__title${role ? ` role--${role}` : ""}` }, title), element);
