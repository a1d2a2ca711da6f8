// An editor for a script, or for some of its lines: buttons that change claims as a mistake would, and what the exact witness says of the result.

import { check, proposeEdits, stop } from "./ask.js";
import { askCode, describeCode } from "./code.js";
import { describeRejection } from "./counterexample.js";
import { describeFailure, duration, progressBar, verdictLine } from "./words.js";
import { make } from "../play/parts.js";

// JavaScript counts some characters twice, and Python counts each once.
const unitsBefore = (text, characters) => [...text].slice(0, characters).join("").length;

export class ClaimEditor {
  /**
   * `before` and `after` are the lines of the script around those that are edited. `id` is the claim that the buttons change; without it, they
   * change all claims. `createEditor` and `setFormula` are the editor module's, and `words` complete what is typed.
   */
  constructor({ topic, id = "", before = "", text, after = "", label, words, createEditor, setFormula }) {
    Object.assign(this, { topic, id, before, after, original: text, setFormula });
    this.base = text; // what the reader typed last; buttons change this
    this.tried = {}; // how many changes of each kind were tried on it
    this.status = make("p", { class: "prove__status", role: "status" });
    this.progress = progressBar();
    this.found = make("div", { class: "prove__found" });
    this.edits = make("p", { class: "prove__actions" });
    const box = make("div", { class: "prove__editor" });
    const ask = action("Check it", () => this.check());
    ask.classList.add("prove__check");
    this.actions = make("p", { class: "prove__actions" }, ask, action("Restore", () => this.restore()));
    this.element = make("div", { class: "prove__change" }, this.edits, box, this.actions, this.status, this.progress.element, this.found);
    const onChange = (changed) => {
      if (!this.isReplacing) [this.base, this.tried] = [changed, {}];
    };
    this.editor = createEditor({ parent: box, text, label, words, onSubmit: () => this.check(), onChange });
  }

  whole(text) {
    return this.before + text + this.after;
  }

  replace(text, from, to) {
    this.isReplacing = true;
    this.editor.replace(text, from, to);
    this.isReplacing = false;
  }

  /** Shows another text, as if the script had always had it. */
  open(text) {
    [this.original, this.base, this.tried] = [text, text, {}];
    this.replace(text);
    this.clear();
  }

  clear(said = "") {
    this.status.textContent = said;
    delete this.status.dataset.verdict;
    this.found.replaceChildren();
  }

  /** Adds the buttons of the changes that the text allows. */
  async offerEdits() {
    const found = await proposeEdits(this.whole(this.base), this.id);
    const kinds = found.failed ? [] : [...new Set(found.map((edit) => edit.kind))];
    this.edits.replaceChildren(...kinds.map((kind) => action(kind, () => this.apply(kind))));
  }

  /** Applies the next change of a kind to what the reader typed, and checks the result. */
  async apply(kind) {
    const whole = this.whole(this.base);
    const edits = (await proposeEdits(whole, this.id)).filter((edit) => edit.kind === kind);
    if (!edits.length) return this.clear("The text no longer allows this change.");
    this.tried[kind] = (this.tried[kind] ?? -1) + 1;
    const edit = edits[this.tried[kind] % edits.length];
    const [start, end] = [edit.start, edit.end].map((characters) => unitsBefore(whole, characters) - this.before.length);
    this.replace(this.base.slice(0, start) + edit.new + this.base.slice(end), start, start + edit.new.length);
    return this.check();
  }

  restore() {
    this.open(this.original);
    this.clear("This is the original text again.");
  }

  async check() {
    const edited = this.editor.text();
    const first = this.before.split("\n").length;
    const lines = edited.split("\n").map((_, k) => first + k);
    this.clear("Checking.");
    this.found.replaceChildren(action("Stop", stop));
    const said = await check({ topic: this.topic, text: this.whole(edited), lines }, this.progress.show);
    this.progress.hide();
    this.found.replaceChildren();
    if (said.failed) this.clear(describeFailure(said));
    else this.show(said, first, edited);
    if (!said.failed && !said.problem && this.id) await this.compareCode(edited);
    if (edited === this.base) await this.offerEdits();
  }

  show({ problem, claims }, first, edited) {
    const rejected = claims.filter((claim) => claim.verdict === "rejected").length;
    if (!claims.length && !problem) return this.clear("These lines state no claim.");
    if (claims.length) this.status.textContent = summarise(claims, rejected, this.id && edited !== this.original);
    this.status.dataset.verdict = problem || rejected ? "rejected" : "proved";
    for (const claim of claims) this.found.append(...this.describe(claim, claims.length > 1));
    if (problem) this.showProblem(problem, first, edited, claims.length);
  }

  /** Says what the claim's code computes, if it names code, and whether the changed claim still says so. */
  async compareCode(edited) {
    const { calls, isDropped } = await askCode({ topic: this.topic, id: this.id, text: this.whole(edited) });
    if (edited !== this.editor.text()) return;
    this.found.append(...calls.flatMap((call) => describeCode(call, this.setFormula)));
    if (isDropped) this.found.append(make("p", { class: "claim__note" }, "This text names no code for the claim, so none was compared."));
  }

  showProblem(problem, first, edited, count) {
    const line = problem.line - first + 1;
    const where = line >= 1 && line <= edited.split("\n").length ? `Line ${line}: ` : "";
    const said = `${where}${problem.message}${/[.!?]$/.test(problem.message) ? "" : "."}`;
    if (count) this.found.append(make("p", { class: "prove__problem" }, `Then the script stops. ${said}`));
    else this.status.textContent = `The script stops. ${said}`;
  }

  /** The formula of a claim, and why it was rejected. */
  describe(claim, named) {
    const parts = [];
    if (named) parts.push(make("p", { class: "prove__name" }, `${claim.id}: ${verdictLine(claim.verdict, claim.scope)}`));
    if (claim.latex) {
      const formula = make("div", { class: "prove__formula", role: "group", tabindex: 0, "aria-label": "the claim as a formula" });
      this.setFormula(claim.latex, formula);
      parts.push(formula);
    }
    if (claim.verdict === "rejected") parts.push(...describeRejection(claim.message, this.setFormula));
    return parts;
  }
}

function summarise(claims, rejected, changed) {
  const seconds = duration(claims.reduce((sum, claim) => sum + claim.seconds, 0));
  if (claims.length > 1) return `The exact witness accepts ${claims.length - rejected} of ${claims.length} claims (${seconds}).`;
  const [claim] = claims;
  if (claim.code === "false-claim") return `It is false: the exact witness found a counterexample (${seconds}).`;
  if (rejected) return `The exact witness does not accept it, and found no counterexample (${seconds}). The message says what is missing.`;
  return `The exact witness says: ${verdictLine(claim.verdict, claim.scope)} (${seconds}).${changed ? " The formula is still true." : ""}`;
}

/** A button. */
export function action(word, act) {
  const made = make("button", { type: "button", class: "take__button" }, word);
  made.addEventListener("click", act);
  return made;
}
