// On the trust page: a button that proves all claims of the site again in this browser, with a running count.

import { lacks, stop } from "./ask.js";
import { verdicts } from "./build.js";
import { action } from "./claim_editor.js";
import { describeCounts, proveAll } from "./page.js";
import { progressBar } from "./words.js";
import { make, sum } from "../play/parts.js";

export function start(heading) {
  const said = make("p", { class: "prove__status", role: "status" });
  const count = make("p", { class: "prove__count", "aria-hidden": "true" });
  const bar = make("progress", { max: 1, value: 0, "aria-label": "claims that were checked", class: "prove__bar", hidden: "" });
  const progress = progressBar();
  const actions = make("p", { class: "prove__actions" });
  const panel = make("div", { class: "prove" }, actions, progress.element, bar, count, said);
  heading.nextElementSibling.after(panel);

  const offer = () => {
    const press = action("Prove all claims here", run);
    press.classList.add("prove__check");
    actions.replaceChildren(press);
  };

  async function run() {
    const missing = lacks();
    if (missing) return (said.textContent = missing);
    actions.replaceChildren(action("Stop", stop));
    said.textContent = "Starting Python in this browser. The first time, its files must be fetched.";
    try {
      const built = await verdicts();
      const wanted = Object.fromEntries(Object.entries(built).map(([topic, claims]) => [topic, Object.keys(claims)]));
      const total = sum(Object.values(wanted).map((ids) => ids.length));
      const onTopic = (counts) => {
        bar.hidden = false;
        said.textContent = "Proving the claims, topic by topic.";
        bar.value = counts.claims / total;
        count.textContent = `${counts.claims} of ${total} claims; ${counts.same} verdicts as in the build`;
      };
      said.textContent = describeCounts(await proveAll(wanted, onTopic, progress.show), "of this site");
    } catch (error) {
      said.textContent = `A file could not be fetched (${error.message}). Check the connection, and press the button again.`;
    }
    progress.hide();
    offer();
  }

  offer();
}
