// A formula, a row of numbers for each step of its computation, and the code that computes the row. A reader points at a part of one of the
// three, or chooses a step, and all three show that step. Formula and code are copies of a claim and of a snippet that the page shows.

import { cell, choice, make, matrix, put, readout } from "./parts.js";

export const caption = "Point at, or tap, a part of the formula, a row or a line of code, or choose a step.";

// The parts of a formula that consist of these letters. A part that contains another with the same letters comes first.
function partsOf(formula, letters) {
  const found = [...formula.querySelectorAll("mi, msub, msqrt")].filter((part) => part.textContent === letters);
  return found.filter((part) => !found.includes(part.parentElement));
}

// The statement that gives a name its value, up to the bracket that closes it.
function statementOf(code, name) {
  const [found, indent] = code.match(new RegExp(`^( +)${name} = .*(?:\\n(?!\\1[^ )]).+)*`, "m"));
  return found.replaceAll(`\n${indent}`, "\n").trim();
}

export function start(stage, { claim, code, steps, letters, names, rows, says }) {
  const formula = document.querySelector(`#${claim} .claim__right math`).cloneNode(true);
  [...formula.querySelectorAll("mo")].find((sign) => sign.textContent === "=").remove();
  const shown = [...document.querySelectorAll(".highlight code")].find((one) => one.textContent.includes(`def ${code}(`)).textContent;
  const most = Math.max(...rows.flat().filter(Number.isFinite));
  const cells = rows.map((row) => row.map((value) => {
    const one = cell();
    if (Number.isFinite(value)) put(one, value, most, Number.isInteger(value) ? 0 : 1);
    else one.textContent = value;
    return one;
  }));
  const lines = steps.map((step) => make("code", { class: "play__statement" }, statementOf(shown, step)));
  const parts = steps.map((_, place) => [...letters[place].flatMap((one) => partsOf(formula, one)), ...cells[place], lines[place]]);
  const said = readout();

  function show(place) {
    parts.forEach((those, at) => those.forEach((part) => part.classList.toggle("play__lit", at === place)));
    choose.querySelectorAll("input")[place].checked = true;
    said.say(says[place]);
  }

  parts.forEach((those, place) => those.forEach((part) => {
    for (const event of ["pointerenter", "click"]) part.addEventListener(event, () => show(place));
  }));
  const choose = choice("step", steps, 0, show);
  stage.append(
    make("div", { class: "play__formula" }, formula),
    choose,
    matrix("numbers", cells, { rows: names, columns: rows[0].map((_, j) => `${j + 1}`), corner: "key" }),
    make("div", { class: "play__statements" }, ...lines),
    said.element,
  );
  show(0);
}
