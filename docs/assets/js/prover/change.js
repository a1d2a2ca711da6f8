// An editor for the lines that state a claim: buttons that change them as a mistake would, and what the exact witness says of the result.

import { check, describeLanguage, locate, proposeEdits, stop } from "./ask.js";
import { editorModule } from "./build.js";
import { describeRejection } from "./counterexample.js";
import { describeFailure, duration, verdictLine } from "./words.js";
import { make } from "../play/parts.js";

/** An editor for a claim of a script; `text` is the whole script. */
export async function changeClaim({ topic, id, text }) {
  const [{ createEditor, setFormula }, words, place] = await Promise.all([editorModule(), describeLanguage(), locate(text, id)]);
  if (!place) throw new Error("the script states this claim in a loop, so its lines cannot be changed alone");
  return new ChangedClaim({ topic, id, text, place, words, createEditor, setFormula });
}

class ChangedClaim {
  constructor({ topic, id, text, place, words, createEditor, setFormula }) {
    Object.assign(this, { topic, id, setFormula });
    this.lines = text.split("\n");
    this.place = place;
    this.original = this.lines.slice(place.first - 1, place.last).join("\n");
    this.tried = {}; // how many changes of each kind were tried
    this.status = make("p", { class: "prove__status", role: "status" });
    this.found = make("div", { class: "prove__found" });
    this.edits = make("p", { class: "prove__actions" });
    const box = make("div", { class: "prove__editor" });
    const check = this.action("Check it", () => this.check());
    check.classList.add("prove__check");
    const restore = this.action("Restore", () => this.restore());
    this.element = make("div", { class: "prove__change" }, this.edits, box, make("p", { class: "prove__actions" }, check, restore), this.status, this.found);
    this.editor = createEditor({ parent: box, text: this.original, label: "The lines of the claim", words, onSubmit: () => this.check() });
  }

  /** Adds the buttons of the changes that this claim allows. */
  async start() {
    const found = await proposeEdits(this.lines.join("\n"), this.id);
    this.proposed = groupByKind(found);
    this.edits.replaceChildren(...Object.keys(this.proposed).map((kind) => this.action(kind, () => this.apply(kind))));
    this.editor.focus();
    return this;
  }

  /** Applies the next change of a kind to the original lines, and checks the result. */
  apply(kind) {
    const edits = this.proposed[kind];
    const edit = edits[(this.tried[kind] = (this.tried[kind] ?? -1) + 1) % edits.length];
    const before = this.lines.slice(0, this.place.first - 1).join("\n").length + (this.place.first > 1 ? 1 : 0);
    const points = [...this.lines.join("\n")]; // Python counts characters, and JavaScript counts halves of some
    const units = (end) => points.slice(0, end).join("").length;
    const [start, end] = [units(edit.start) - before, units(edit.end) - before];
    this.editor.replace(this.original.slice(0, start) + edit.new + this.original.slice(end), start, start + edit.new.length);
    return this.check();
  }

  restore() {
    this.editor.replace(this.original);
    this.status.textContent = "These are the lines of the script again.";
    this.found.replaceChildren();
  }

  async check() {
    const edited = this.editor.text().split("\n");
    const text = [...this.lines.slice(0, this.place.first - 1), ...edited, ...this.lines.slice(this.place.last)].join("\n");
    const lines = edited.map((_, k) => this.place.first + k);
    this.status.textContent = "Checking.";
    this.found.replaceChildren(this.action("Stop", stop));
    this.show(await check({ topic: this.topic, text, lines }), edited.join("\n").trim() === this.original.trim());
  }

  show(said, unchanged) {
    this.found.replaceChildren();
    if (said.failed) return (this.status.textContent = describeFailure(said));
    const [claim] = said.claims;
    if (!claim) return this.showProblem(said.problem);
    const right = claim.verdict !== "rejected";
    this.status.textContent = right
      ? `The exact witness says: ${verdictLine(claim.verdict, claim.scope)} (${duration(claim.seconds)}).${unchanged ? "" : " It is still true."}`
      : `The exact witness rejects it (${duration(claim.seconds)}).`;
    this.status.dataset.verdict = claim.verdict;
    if (claim.latex) {
      const formula = make("div", { class: "prove__formula" });
      this.setFormula(claim.latex, formula);
      this.found.append(formula);
    }
    if (!right) this.found.append(...describeRejection(claim.message, this.setFormula));
  }

  showProblem(problem) {
    this.status.dataset.verdict = "problem";
    if (!problem) return (this.status.textContent = "These lines state no claim.");
    const line = problem.line - this.place.first + 1;
    const where = line >= 1 && line <= this.editor.text().split("\n").length ? `Line ${line}: ` : "";
    this.status.textContent = `It cannot be read. ${where}${problem.message}.`;
  }

  action(word, act) {
    const made = make("button", { type: "button", class: "take__button" }, word);
    made.addEventListener("click", act);
    return made;
  }
}

function groupByKind(edits) {
  const found = {};
  for (const edit of edits) (found[edit.kind] ??= []).push(edit);
  return found;
}
