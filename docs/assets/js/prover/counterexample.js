// The message of a rejected claim, with its counterexample as formulas.

import { make } from "../play/parts.js";

const FOUND = /^(?<before>.*?)(?:at|with) (?<values>.+?): left [=≈] (?<left>.+?), right [=≈] (?<right>(?:(?!\. ).)+?)(?:, where .+)?$/s;

/** Splits a text at commas outside brackets. */
function split(text) {
  const parts = [""];
  let depth = 0;
  for (const sign of text) {
    if ("[(".includes(sign)) depth++;
    if ("])".includes(sign)) depth--;
    if (sign === "," && depth === 0) parts.push("");
    else parts[parts.length - 1] += sign;
  }
  return parts.map((part) => part.trim()).filter(Boolean);
}

const GREEK = /(?<![A-Za-z])(alpha|beta|gamma|delta|epsilon|zeta|eta|theta|kappa|lambda|mu|nu|xi|pi|rho|sigma|tau|phi|chi|psi|omega|Gamma|Delta|Theta|Lambda|Xi|Pi|Sigma|Phi|Psi|Omega)(?![A-Za-z])/g;

const spellGreek = (text) => text.replace(GREEK, "\\$1");

const nameToLatex = (name) => spellGreek(name.replace(/_(\w+)/g, "_{$1}")).replace(/\bVar\b/, "\\operatorname{Var}").replace(/\bE\b(?=\[)/, "\\operatorname{E}");

/** LaTeX of a value as messages print it: a number, or nested lists. */
function valueToLatex(value) {
  if (value.startsWith("undefined")) return `\\text{${value}}`;
  if (!value.startsWith("[")) return spellGreek(value).replace(/sqrt\((\\?\w+)\)/g, "\\sqrt{$1}").replace("…", "\\dots").replaceAll("*", "\\,");
  const rows = split(value.slice(1, -1));
  if (!rows[0]?.startsWith("[")) return `\\begin{pmatrix}${rows.map(valueToLatex).join("\\\\")}\\end{pmatrix}`;
  if (split(rows[0].slice(1, -1))[0]?.startsWith("[")) return `\\text{${value}}`;
  const cells = rows.map((row) => split(row.slice(1, -1)).map(valueToLatex).join("&"));
  return `\\begin{pmatrix}${cells.join("\\\\")}\\end{pmatrix}`;
}

function bindingToLatex(binding) {
  const [name, value] = binding.split(" = ");
  return value === undefined ? `\\text{${binding}}` : `${nameToLatex(name)} = ${valueToLatex(value)}`;
}

/**
 * Shows why a claim was rejected. `setFormula(latex, element)` sets a formula, and `sides` are the names of the two sides. Unless `isWhole`, the formulas
 * of the sides are not shown: to a reader who answers an exercise, they would give it away. */
export function describeRejection(message, setFormula, { sides = ["left side", "right side"], isWhole = true } = {}) {
  const found = FOUND.exec(message)?.groups;
  const whole = make("p", { class: "claim__note" }, isWhole ? message : message.split(", where ")[0]);
  if (!found) return [whole];
  const row = (label, latexes) => {
    const values = make("dd", { class: "prove__values" });
    for (const latex of latexes) {
      const place = make("span", {});
      setFormula(latex, place);
      values.append(place);
    }
    return [make("dt", {}, label), values];
  };
  const rows = make("dl", { class: "prove__rows" });
  rows.append(...row("at", split(found.values).map(bindingToLatex)), ...row(sides[0], [valueToLatex(found.left)]), ...row(sides[1], [valueToLatex(found.right)]));
  if (!isWhole) return [rows];
  return [rows, make("details", { class: "prove__whole" }, make("summary", {}, "The whole message"), whole)];
}
