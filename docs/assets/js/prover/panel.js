// The panel below a claim: a witness's verdict in this browser, beside its verdict in the build.

import { check, lacks, stop } from "./ask.js";
import { scriptOf, verdicts } from "./build.js";
import { action } from "./claim_editor.js";
import { askCode, nameOf, verdictOf } from "./code.js";
import { describeFailure, duration, progressBar, verdictLine } from "./words.js";
import { make } from "../play/parts.js";

const NAMES = { exact: "The exact witness", sympy: "SymPy" };
const SHORT = { exact: "exact", sympy: "SymPy" };
const panels = new WeakMap(); // by claim

/** Opens a claim's panel and asks, or closes it. */
export function toggle(claim, base, button) {
  if (!panels.has(claim)) panels.set(claim, new Panel(base, button));
  const panel = panels.get(claim);
  if (panel.isOpen()) panel.close();
  else panel.open();
}

class Panel {
  constructor(base, button) {
    [this.topic, this.id] = base.dataset.claim.split("#");
    this.button = button;
    this.status = make("p", { class: "prove__status", role: "status" });
    this.progress = progressBar();
    this.rows = make("dl", { class: "prove__rows" });
    this.actions = make("p", { class: "prove__actions" });
    this.changed = make("div", {});
    this.element = make(
      "div",
      { class: "prove", role: "group", "aria-label": button.getAttribute("aria-label"), hidden: "" },
      this.status,
      this.progress.element,
      this.rows,
      this.actions,
      this.changed,
    );
    base.after(this.element);
  }

  isOpen() {
    return !this.element.hidden;
  }

  close() {
    this.element.hidden = true;
    this.button.setAttribute("aria-expanded", "false");
  }

  async open() {
    this.element.hidden = false;
    this.button.setAttribute("aria-expanded", "true");
    const missing = lacks();
    if (missing) return this.say(missing);
    this.rows.replaceChildren();
    this.changed.replaceChildren();
    this.asked = [];
    if (await this.prove("exact")) this.offer();
  }

  say(text) {
    this.status.textContent = text;
  }

  /** Has a witness check the claim, and shows what it says. Returns whether it answered. */
  async prove(witness) {
    this.say("Starting Python in this browser. The first time, its files must be fetched.");
    this.actions.replaceChildren(action("Stop", stop));
    try {
      const text = await scriptOf(this.topic);
      const said = await check({ topic: this.topic, text, witness, ids: [this.id], limit: false }, this.progress.show);
      if (said.failed) return this.fail(describeFailure(said));
      await this.show(witness, said);
      return true;
    } catch (error) {
      return this.fail(`The script could not be fetched (${error.message}). Check the connection, and press the button again.`);
    } finally {
      this.progress.hide();
    }
  }

  fail(text) {
    this.say(text);
    this.actions.replaceChildren(action("Try again", () => this.open()));
    return false;
  }

  async show(witness, { problem, claims }) {
    const [found] = claims;
    if (!found) return this.say(`Line ${problem.line} of the script: ${problem.message}`);
    this.say(`${NAMES[witness]} says, on your device: ${found.message || verdictLine(found.verdict, found.scope)}`);
    this.addRow(`${SHORT[witness]}, here`, `${verdictLine(found.verdict, found.scope)} · ${duration(found.seconds)}`, found.note);
    const built = witness === "exact" && (await verdicts())[this.topic]?.[this.id];
    if (built) this.addRow("exact, in the build", verdictLine(built[0], built[1]), found.note === built[2] ? "" : built[2]);
    if (witness === "exact") await this.compareCode();
  }

  async compareCode() {
    const { calls } = await askCode({ topic: this.topic, id: this.id, text: await scriptOf(this.topic) });
    for (const call of calls) this.addRow("code, here", verdictOf(call), nameOf(call));
  }

  addRow(where, verdict, note) {
    const said = make("dd", {}, make("span", { class: "claim__verdict" }, verdict));
    if (note) said.append(make("span", { class: "claim__note" }, note));
    this.rows.append(make("dt", {}, where), said);
  }

  /** Offers what else can be asked, but for what was asked already. */
  offer(asked = []) {
    this.asked = [...(this.asked ?? []), ...asked];
    const offers = {
      change: action("Change it", () => this.change()),
      sympy: action("Ask SymPy, too", async () => (await this.prove("sympy")) && this.offer(["sympy"])),
      page: action("Prove this whole page", () => this.provePage()),
    };
    this.actions.replaceChildren(...Object.keys(offers).filter((name) => !this.asked.includes(name)).map((name) => offers[name]));
  }

  async change() {
    this.say("Fetching the editor.");
    try {
      const { changeClaim } = await import("./change.js");
      const editor = await changeClaim({ topic: this.topic, id: this.id, text: await scriptOf(this.topic) });
      this.changed.replaceChildren(editor.element);
      editor.editor.focus();
      this.say("Change the lines of the claim, and ask again.");
      this.offer(["change", "sympy", "page"]); // they would speak of the claim as it was
    } catch (error) {
      this.say(`The claim cannot be changed here: ${error.message}.`);
      this.offer(["change"]);
    }
  }

  async provePage() {
    const { provePage } = await import("./page.js");
    this.actions.replaceChildren(action("Stop", stop));
    this.say("Proving the claims of this page.");
    this.say(await provePage());
    this.offer(["page"]);
  }
}
