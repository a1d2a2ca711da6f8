// What a claim's code computes, as the code witness read it in the build, compared with the claim in this browser.

import { compareCode } from "./ask.js";
import { codeOf } from "./build.js";
import { describeRejection } from "./counterexample.js";
import { make } from "../play/parts.js";

/** Returns for each call of a claim's code whether it computes what the claim says in `text`, and whether the claim no longer names code. */
export async function askCode({ topic, id, text }) {
  const calls = (await codeOf(topic))[id] ?? [];
  const found = await compareCode({ topic, text, id, calls });
  return found.failed ? { calls: [], isDropped: false } : { calls: found, isDropped: calls.length > 0 && !found.length };
}

const SAYS = {
  right: ({ right }) => `computes the ${right.join(" and the ")}`,
  wrong: ({ right, wrong }) => (right.length ? `computes the ${right[0]}, and not the ${wrong[0]}` : "computes something else"),
  unread: ({ unread }, why) => (unread ? "was compared without a result: that would need more assumptions" : `was not compared: ${why}`),
};

/** A call's file, line and function, such as "attention/formula.py, line 181: scores". */
export function nameOf({ name, line }) {
  const [file, number] = line.split(":");
  const own = name.split(".").at(-1).replace(/\[\d+\]$/, "");
  return line ? `${file}, line ${number}: ${own}` : own;
}

/** What is to be said of a call in one line. */
export const verdictOf = ({ verdict, sides, message }) => SAYS[verdict](sides, message);

/** What a call computes as a formula, and where it differs from the changed claim. */
export function describeCode(call, setFormula) {
  const parts = [make("p", { class: "prove__name" }, `${nameOf(call)} ${verdictOf(call)}.`)];
  if (!call.latex) return parts;
  const formula = make("div", { class: "prove__formula", role: "group", tabindex: 0, "aria-label": "what the code computes" });
  setFormula(call.latex, formula);
  parts.push(formula);
  if (call.verdict === "wrong") parts.push(...describeRejection(call.message, setFormula, { sides: ["the claim", "the code"] }));
  return parts;
}
