// Files of the build: the scripts of the topics, and the exact witness's verdict on each claim.

const ROOT = new URL("../../prover/", import.meta.url);
const kept = new Map();

/** Fetches a file once. A file that could not be fetched is tried again at the next call. */
function fetchOnce(name, read) {
  if (!kept.has(name)) {
    const coming = fetch(new URL(name, ROOT)).then((response) => {
      if (!response.ok) throw new Error(`the server says ${response.status} for ${name}`);
      return read(response);
    });
    kept.set(name, coming);
    coming.catch(() => kept.delete(name));
  }
  return kept.get(name);
}

export const scriptOf = (topic) => fetchOnce(`scripts/${topic}.py`, (response) => response.text());

const indexed = () => fetchOnce("index.json", (response) => response.json());

/** Returns the module of the editor and of formulas. */
export const editorModule = async () => import(new URL((await indexed()).editor, ROOT).href);

/** Returns the examples of the page on which readers state claims: a list of {title, text}. */
export const examples = () => fetchOnce("examples.json", (response) => response.json());

/** Returns what the code of a topic's claims computes: {id: [{call, name, line, expression}]}. */
export const codeOf = (topic) => fetchOnce(`code/${topic}.json`, (response) => response.json());

/** Returns {topic: {id: [verdict, scope, note]}}. */
export const verdicts = () => fetchOnce("verdicts.json", (response) => response.json());
