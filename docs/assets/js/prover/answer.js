// The forms in which a reader answers an exercise. The kernel compares what is typed with the claim's expression, in any form of it.

import { judgeAnswer, judgeAssumption, lacks, previewAnswer } from "./ask.js";
import { editorModule, scriptOf } from "./build.js";
import { action } from "./claim_editor.js";
import { describeRejection } from "./counterexample.js";
import { exerciseName, note, showProgress } from "./progress.js";
import { describeFailure, progressBar } from "./words.js";
import { make } from "../play/parts.js";

const PAUSE = 300; // milliseconds without a key before the formula is set

/** Replaces the button of an exercise by the form. */
export async function open(place, button) {
  const missing = lacks();
  if (missing) return button.replaceWith(make("p", {}, missing));
  const form = place.dataset.part.startsWith("assumption") ? new ChoiceForm(place) : new AnswerForm(place);
  button.replaceWith(form.element);
  form.focus();
  form.ready = form.start();
}

/** A form for one exercise, with what the kernel said of the answer. */
class Form {
  constructor(place, ...fields) {
    [this.topic, this.id] = place.dataset.answer.split("#");
    this.part = place.dataset.part;
    this.name = exerciseName(place);
    this.status = make("p", { class: "prove__status", role: "status" });
    this.progress = progressBar();
    this.found = make("div", { class: "prove__found" });
    const submit = make("button", { type: "submit", class: "take__button prove__check" }, "Check my answer");
    this.element = make("form", { class: "answer__form" }, ...fields, submit, this.progress.element, this.status, this.found);
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      this.judge();
    });
  }

  /** Fetches the script and what sets formulas. */
  async start() {
    try {
      const [text, module] = await Promise.all([scriptOf(this.topic), editorModule()]);
      [this.text, this.setFormula] = [text, module.setFormula];
    } catch (error) {
      this.problem = `A file could not be fetched (${error.message}). Check the connection, and load the page again.`;
      this.say(this.problem);
    }
  }

  /** Waits for the files that are needed, and returns whether they are here. */
  async isReady() {
    this.clear();
    this.say("Comparing.");
    await this.ready;
    if (this.problem) this.say(this.problem);
    return !this.problem;
  }

  clear() {
    this.say("");
    this.found.replaceChildren();
  }

  say(text, verdict = "") {
    this.status.textContent = text;
    this.status.dataset.verdict = { right: "proved", wrong: "rejected" }[verdict] ?? "";
    if (verdict) this.status.scrollIntoView({ block: "nearest" });
  }

  /** Notes that the exercise is done, and says so. */
  praise(text) {
    note(this.name);
    showProgress();
    this.say(text, "right");
  }
}

/** A choice among the assumptions of a claim. */
class ChoiceForm extends Form {
  constructor(place) {
    const list = place.previousElementSibling.querySelector(".answer__choices");
    const choices = make("fieldset", { class: "answer__options" }, make("legend", {}, "Which of these does not hold there?"), list);
    super(place, choices);
    for (const [k, item] of [...list.children].entries()) {
      const option = make("input", { type: "radio", name: exerciseName(place), value: k + 1, required: "" });
      if (item.ariaLabel) option.ariaLabel = item.ariaLabel; // browsers leave formulas out of a name
      item.removeAttribute("aria-label");
      item.replaceChildren(make("label", {}, option, make("span", {}, ...item.childNodes)));
    }
    this.options = choices;
    choices.addEventListener("change", () => this.clear());
  }

  focus() {
    this.options.querySelector("input").focus();
  }

  get chosen() {
    return Number(this.options.querySelector("input:checked")?.value);
  }

  async judge() {
    const { chosen } = this;
    if (!(await this.isReady())) return;
    const asked = Number(this.part.split(" ")[1]);
    const said = await judgeAssumption({ topic: this.topic, id: this.id, text: this.text, chosen, asked }, this.progress.show);
    this.progress.hide();
    if (chosen !== this.chosen) return; // the reader has chosen another one
    if (said.failed) return this.say(describeFailure(said));
    if (said.verdict === "right") return this.praise("Right. The others hold there, and the solution below says why this one does not.");
    if (said.verdict === "unread") return this.say(endWithStop(said.message));
    this.say("This one holds at these values. Without it:", "wrong");
    this.found.replaceChildren(...describeRejection(said.message, this.setFormula, { isWhole: false }));
  }
}

/** An answer that the reader types: a formula, or the values of a counterexample. */
class AnswerForm extends Form {
  constructor(place) {
    const isFormula = place.dataset.part !== "counterexample";
    const label = isFormula ? "Your answer" : "Your values, such as x = 2, y = [1, 0]";
    const input = make("input", { type: "text", class: "answer__input", autocomplete: "off", autocapitalize: "off", spellcheck: "false", "aria-label": label, placeholder: isFormula ? "" : "x = 2, y = [1, 0]" });
    super(place, input);
    [this.isFormula, this.input] = [isFormula, input];
    this.preview = make("div", { class: "answer__preview" });
    this.progress.element.before(this.preview);
    this.input.addEventListener("input", () => {
      this.judged = undefined;
      this.clear();
      this.previewSoon();
    });
  }

  focus() {
    this.input.focus();
  }

  async start() {
    await super.start();
    this.previewSoon(); // this starts Python, so that the answer is shown as a formula while it is typed
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
    if (!this.input.value.trim()) return this.say("Type an answer first.");
    if (!(await this.isReady())) return;
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
    if (said.verdict === "right") return this.praise(this.isFormula ? "Right. The solution below says why." : "Right: at these values the two sides differ.");
    if (said.verdict === "unread") return this.say(endWithStop(said.message));
    this.say(this.isFormula ? "Not equal to the answer." : "These values refute nothing.", "wrong");
    this.found.replaceChildren(...describeRejection(said.message, this.setFormula, { sides: ["expected", "yours"], isWhole: !this.isFormula }));
  }
}

const endWithStop = (text) => (/[.!?:]$/.test(text) ? text : `${text}.`);
