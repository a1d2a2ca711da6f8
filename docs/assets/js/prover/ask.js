// Asks the worker. A question that computes for too long ends the worker; the next question starts another.

import { keepPage } from "./offline.js";

const SECONDS = matchMedia("(pointer: coarse)").matches ? 10 : 20; // that a question may compute
const FOR_AN_ANSWER = 60; // seconds for a formula in one of the site's own scripts, which ends on any machine

let worker;
let count = 0;
const waiting = new Map(); // what to do with the answers, by the question's number

/** What this browser lacks, in words; "" if it lacks nothing. */
export function lacks() {
  if (!globalThis.Worker) return "This browser cannot compute beside the page (it has no workers), so it cannot prove anything here.";
  if (!globalThis.WebAssembly) return "This browser cannot run Python (it has no WebAssembly), so it cannot prove anything here.";
  if (!globalThis.DecompressionStream) return "This browser cannot unpack Python (it has no DecompressionStream), so it cannot prove anything here.";
  return "";
}

function employ() {
  keepPage();
  worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  worker.addEventListener("message", ({ data }) => waiting.get(data.id)?.(data));
  worker.addEventListener("error", (event) => dismiss({ failed: "start", why: event.message ?? "" }));
}

/** Ends the worker, and answers all open questions with `said`. */
function dismiss(said) {
  worker?.terminate();
  worker = undefined;
  for (const hear of [...waiting.values()]) hear(said);
}

/** Ends what is being computed. */
export function stop() {
  dismiss({ failed: "stopped" });
}

/**
 * Asks the kernel: `function` and `arguments` as in its room browser. `sympy` says whether SymPy is needed, and `onProgress(loaded, needed)` hears
 * of bytes. The site's own scripts need no `limit` on the time. Returns the answer, or {failed, why}.
 */
function ask(name, given, { sympy = false, limit = true, seconds = SECONDS, onProgress = () => {} } = {}) {
  if (!worker) employ();
  const id = ++count;
  return new Promise((resolve) => {
    let timer;
    waiting.set(id, (said) => {
      if ("loaded" in said) return onProgress(said.loaded, said.needed);
      if (said.begun) return limit && (timer = setTimeout(() => dismiss({ failed: "slow", seconds }), seconds * 1000));
      clearTimeout(timer);
      waiting.delete(id);
      if (said.failed === "broken") dismiss({ failed: "stopped" });
      return resolve("answer" in said ? said.answer : said);
    });
    worker.postMessage({ id, function: name, arguments: given, sympy });
  });
}

const HOME = "/kernel/derivations"; // of the scripts, so that messages name them as in the repository

const needsSympy = (text) => /^\s*(from|import) sympy/m.test(text);

/** Asks what a witness says of claims: those with these ids, or that begin on these lines, or all. Returns {problem, claims} or {failed, why}. */
export function check({ topic, text, witness = "exact", ids = [], lines = [], limit = true }, onProgress) {
  const sympy = witness === "sympy" || needsSympy(text);
  return ask("check", { path: `${HOME}/${topic}.py`, text, witness, ids, lines }, { sympy, limit, onProgress });
}

/** Asks whether code computes what a claim says: for each of its calls {name, line, latex, verdict, message, sides}. */
export const compareCode = ({ topic, text, id, calls }) =>
  ask("code", { path: `${HOME}/${topic}.py`, text, id, calls }, { sympy: needsSympy(text) });

/** Asks on which lines a text states a claim: {first, last}, or null. */
export const locate = (text, id) => ask("locate", { text, id });

/** Asks for small changes to a claim: a list of {kind, shown, start, end, new}. */
export const proposeEdits = (text, id) => ask("edits", { text, id });

/** Asks for the names of the claim language: a list of {name, signature, summary}. */
export const describeLanguage = (onProgress) => ask("language", {}, { onProgress });

/** Asks for the four files of a topic whose script is `text`: {path: text}. */
export const makeTopic = (topic, text) => ask("topic", { topic, text });

/**
 * Asks whether an answer is right: {verdict, message, latex}, where the verdict is "right", "wrong" or "unread". `part` is the expression of the
 * claim that is asked for, or "counterexample".
 */
export function judgeAnswer({ topic, id, text, typed, part }, onProgress) {
  const given = { path: `${HOME}/${topic}.py`, text, id, typed };
  const options = { sympy: needsSympy(text), seconds: FOR_AN_ANSWER, onProgress };
  return part === "counterexample" ? ask("counterexample", given, options) : ask("answer", { ...given, part }, options);
}

/** Asks whether a claim fails without the chosen assumption where it fails without the asked one: {verdict, message}. */
export const judgeAssumption = ({ topic, id, text, chosen, asked }, onProgress) =>
  ask("assumption", { path: `${HOME}/${topic}.py`, text, id, chosen, asked }, { sympy: needsSympy(text), seconds: FOR_AN_ANSWER, onProgress });

/** Asks for the LaTeX of an answer: {latex, message}. */
export const previewAnswer = ({ topic, id, text, typed }, onProgress) =>
  ask("preview", { path: `${HOME}/${topic}.py`, text, id, typed }, { sympy: needsSympy(text), seconds: FOR_AN_ANSWER, onProgress });
