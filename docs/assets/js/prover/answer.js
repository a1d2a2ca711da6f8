// The form in which a reader answers an exercise. The kernel compares the answer with the claim's expression, in whatever form it is typed.

import { judgeAnswer, lacks, previewAnswer } from "./ask.js";
import { editorModule, scriptOf } from "./build.js";
import { action } from "./claim_editor.js";
import { describeRejection } from "./counterexample.js";
import { note, showProgress } from "./progress.js";
import { describeFailure, progressBar } from "./words.js";
import { make } from "../play/parts.js";

const PAUSE = 300; // milliseconds without a key before the formula is set

/** Replaces the button of an exercise by the form. */
export async function open(place, button) {
  const missing = lacks();
  if (missing) return button.replaceWith(make("p", {}, missing));
  const form = new AnswerForm(place);
  button.replaceWith(form.element);
  form.input.focus();
  await form.start();
}

class AnswerForm {
  constructor(place) {
    [this.topic, this.id] = place.dataset.answer.split("#");
    this.part = place.dataset.part;
    this.name = place.dataset.answer;
    this.isFormula = this.part !== "counterexample";
    const label = this.isFormula ? "Your answer" : "Your values, such as x = 2, y = [1, 0]";
    this.input = make("input", { type: "text", class: "answer__input", autocomplete: "off", autocapitalize: "off", spellcheck: "false", "aria-label": label, placeholder: this.isFormula ? "" : "x = 2, y = [1, 0]" });
    const submit = make("button", { type: "submit", class: "take__button prove__check" }, "Check my answer");
    this.preview = make("div", { class: "answer__preview" });
    this.status = make("p", { class: "prove__status", role: "status" });
    this.progress = progressBar();
    this.found = make("div", { class: "prove__found" });
    this.element = make("form", { class: "answer__form" }, this.input, submit, this.preview, this.progress.element, this.status, this.found);
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      this.judge();
    });
    this.input.addEventListener("input", () => {
      this.judged = undefined;
      this.say("");
      this.found.replaceChildren();
      this.previewSoon();
    });
  }

  /** Fetches the script and what sets formulas, and starts Python, so that the answer is shown as a formula while it is typed. */
  async start() {
    try {
      const [text, module] = await Promise.all([scriptOf(this.topic), editorModule()]);
      [this.text, this.setFormula] = [text, module.setFormula];
      this.previewSoon();
    } catch (error) {
      this.say(`A file could not be fetched (${error.message}). Check the connection, and load the page again.`);
    }
  }

  say(text, verdict = "") {
    this.status.textContent = text;
    this.status.dataset.verdict = { right: "proved", wrong: "rejected" }[verdict] ?? "";
    if (verdict) this.status.scrollIntoView({ block: "nearest" });
  }

  previewSoon() {
    clearTimeout(this.timer);
    if (this.isFormula && this.text) this.timer = setTimeout(() => this.showPreview(), PAUSE);
  }

  async showPreview() {
    const typed = this.input.value;
    if (typed === this.judged) return; // the answer was judged meanwhile
    if (!typed.trim()) return this.preview.replaceChildren();
    const said = await previewAnswer({ topic: this.topic, id: this.id, text: this.text, typed }, this.progress.show);
    this.progress.hide();
    if (typed === this.input.value && !said.failed) this.setPreview(said.latex, said.message);
  }

  /** Shows an answer as a formula, or says why it is none. */
  setPreview(latex, message) {
    this.preview.classList.toggle("answer__preview--unread", !latex);
    if (latex) this.setFormula(latex, this.preview);
    else this.preview.textContent = message;
  }

  async judge() {
    if (!this.text) return;
    if (!this.input.value.trim()) return this.say("Type an answer first.");
    this.say("Comparing.");
    this.found.replaceChildren();
    this.judged = this.input.value;
    const question = { topic: this.topic, id: this.id, text: this.text, typed: this.input.value, part: this.part };
    const said = await judgeAnswer(question, this.progress.show);
    this.progress.hide();
    if (question.typed !== this.input.value) return; // the reader has typed on
    if (said.failed) return this.say(describeFailure(said));
    this.show(said);
  }

  /** Shows whether the answer is right. */
  show(said) {
    if (this.isFormula) this.setPreview(said.latex, ""); // the status says why it is no formula
    if (said.verdict === "right") {
      note(this.name);
      showProgress();
      return this.say(this.isFormula ? "Right. The solution below says why." : "Right: at these values the two sides differ.", "right");
    }
    if (said.verdict === "unread") return this.say(endWithStop(said.message));
    this.say(this.isFormula ? "Not equal to the answer." : "These values refute nothing.", "wrong");
    this.found.replaceChildren(...describeRejection(said.message, this.setFormula, { sides: ["expected", "yours"], isWhole: !this.isFormula }));
  }
}

const endWithStop = (text) => (/[.!?:]$/.test(text) ? text : `${text}.`);
