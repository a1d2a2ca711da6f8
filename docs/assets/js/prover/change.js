// Opens the lines that state a claim in an editor.

import { describeLanguage, locate } from "./ask.js";
import { editorModule } from "./build.js";
import { ClaimEditor } from "./claim_editor.js";

/** An editor for the claim `id` of the script `text`. */
export async function changeClaim({ topic, id, text }) {
  const [module, place] = await Promise.all([editorModule(), locate(text, id)]);
  if (!place?.first) throw new Error("the script states it in a loop or by a function, so its lines cannot be changed alone");
  const lines = text.split("\n");
  const part = (from, to) => lines.slice(from, to).join("\n");
  const before = place.first > 1 ? `${part(0, place.first - 1)}\n` : "";
  const after = place.last < lines.length ? `\n${part(place.last)}` : "";
  const claim = part(place.first - 1, place.last);
  const editor = new ClaimEditor({ topic, id, before, text: claim, after, label: "The lines of the claim", words: describeLanguage(), ...module });
  await editor.offerEdits();
  return editor;
}
