// The editor of claims, and formulas from LaTeX. fetch.py makes one file of this and of the packages that it imports; a page fetches that file
// when a reader wants to change a claim.

import { autocompletion, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { pythonLanguage } from "@codemirror/lang-python";
import { bracketMatching, HighlightStyle, LanguageSupport, syntaxHighlighting } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, keymap } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import temml from "temml";

const colours = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--code-keyword)" },
  { tag: tags.string, color: "var(--code-string)" },
  { tag: [tags.number, tags.bool], color: "var(--code-number)" },
  { tag: tags.comment, color: "var(--quiet)" },
]);

/** Completes the names of the claim language. `words` is a promise of {name, signature, summary}, or of nothing if they could not be read. */
function completeLanguage(words) {
  const options = Promise.resolve(words).then((found) =>
    Array.isArray(found) ? found.map(({ name, signature, summary }) => ({ label: name, detail: signature, info: summary, type: "function" })) : [],
  );
  return async (context) => {
    const word = context.matchBefore(/\w+/);
    return word || context.explicit ? { from: word?.from ?? context.pos, options: await options, validFor: /^\w*$/ } : null;
  };
}

/** An editor in `parent`. Ctrl-Enter calls `onSubmit`; the Tab key moves on, as everywhere on the page. */
export function createEditor({ parent, text, label, words, onSubmit, onChange = () => {} }) {
  const submit = { key: "Mod-Enter", run: () => (onSubmit(), true) };
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        keymap.of([submit, ...completionKeymap, ...defaultKeymap, ...historyKeymap]),
        history(),
        drawSelection(),
        bracketMatching(),
        new LanguageSupport(pythonLanguage),
        syntaxHighlighting(colours),
        autocompletion({ override: [completeLanguage(words)] }),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ "aria-label": label }),
        EditorView.updateListener.of((update) => update.docChanged && onChange(view.state.doc.toString())),
      ],
    }),
  });
  return {
    text: () => view.state.doc.toString(),
    focus: () => view.focus(),
    /** Replaces the whole text, and selects from `from` to `to`. */
    replace(whole, from = 0, to = from) {
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: whole }, selection: { anchor: from, head: to }, scrollIntoView: true });
    },
  };
}

/** Sets LaTeX as a formula in an element. What is no LaTeX is shown as it is. */
export function setFormula(latex, element) {
  temml.render(latex, element, { displayMode: true, throwOnError: false, trust: false, maxExpand: 100 });
}
