// The page on which readers state claims of their own. Python is fetched after a press, and a text that came with a link is shown and does not run.

import { describeLanguage, lacks, makeTopic } from "./ask.js";
import { editorModule, examples } from "./build.js";
import { action, ClaimEditor } from "./claim_editor.js";
import { readLink, writeLink } from "./links.js";
import { progressBar } from "./words.js";
import { copyButton } from "../clipboard.js";
import { make } from "../play/parts.js";

const TOPIC = /^[a-z][a-z0-9_]*\/[a-z][a-z0-9_]*$/;
const PRESENT = "doubt/claims"; // the topic of a text that has none yet

const place = make("div", { class: "prove playground" });
document.querySelector(".md-content h1 ~ p:last-of-type").after(place);
const missing = lacks();
if (missing) place.append(make("p", {}, missing));
else begin();

let editor;

/** Lists the examples. The editor comes after a press, since it is large. */
async function begin() {
  const found = await examples();
  const choice = make("select", { id: "playground-choice" }, ...found.map(({ title }, k) => make("option", { value: k }, title)));
  const said = make("p", { class: "prove__status", role: "status" });
  const start = action("Open the editor", () => open(found[choice.value].text, ""));
  start.classList.add("prove__check");
  const head = make("p", { class: "prove__actions" }, make("label", { for: choice.id }, "Example"), choice);
  const progress = progressBar();
  choice.addEventListener("change", () => editor && show(found[choice.value].text));
  place.replaceChildren(head, make("p", { class: "prove__actions" }, start), said, progress.element);
  const linked = await readLink();
  if (linked !== undefined) await open(linked, 'This text came with the link and has not run. Read it, and press "Check it".');

  async function open(text, note) {
    said.textContent = "Fetching the editor.";
    try {
      const module = await editorModule();
      const words = note ? [] : describeLanguage(progress.show).finally(progress.hide); // a link starts nothing
      editor = new ClaimEditor({ topic: PRESENT, text, label: "Your claims", words, ...module });
    } catch (error) {
      said.textContent = `The editor could not be fetched (${error.message}). Check the connection, and press the button again.`;
      return;
    }
    editor.actions.append(copyButton("Copy link", "Copy a link to this text", () => writeLink(editor.editor.text())), action("Make a topic of it", askForTopic));
    place.replaceChildren(head, editor.element, progress.element, topicForm.element);
    editor.clear(note);
    editor.editor.focus();
    if (!note) await editor.offerEdits();
  }
}

async function show(text) {
  editor.open(text);
  await editor.offerEdits();
}

// The four files of a topic -------------------------------------------------------------------------------------------------------

const topicForm = makeTopicForm();

function makeTopicForm() {
  const name = make("input", { id: "playground-topic", type: "text", placeholder: "chapter/topic", autocomplete: "off", spellcheck: "false" });
  const said = make("div", { role: "status" });
  const label = make("label", { for: name.id }, "Chapter and topic, such as softmax/shift");
  const form = make("form", { class: "prove__actions" }, label, name, make("button", { type: "submit", class: "take__button" }, "Show the files"));
  const element = make("div", { class: "playground__topic", hidden: "" }, form, said);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    said.replaceChildren(...(TOPIC.test(name.value) ? await listFiles(name.value) : ["Write two names of lower-case letters, with a slash between them."]));
  });
  return { element, name };
}

function askForTopic() {
  topicForm.element.hidden = false;
  topicForm.name.focus();
}

async function listFiles(topic) {
  const files = await makeTopic(topic, editor.editor.text());
  if (files.failed) return ["The files could not be made. Press the button again."];
  const links = Object.entries(files).map(([path, text]) => {
    const address = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
    return make("li", {}, make("a", { href: address, download: path.split("/").at(-1) }, path));
  });
  return [make("p", {}, "Save these files in a copy of the repository. The snippet and its test are examples: replace them by code that computes your claims."), make("ul", {}, ...links)];
}
