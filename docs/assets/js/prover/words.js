// Words for the kernel's answers.

import { make, shown } from "../play/parts.js";

export const megabytes = (bytes) => `${shown(bytes / 1e6, 1)} MB`;

export const duration = (seconds) => (seconds < 0.0095 ? `${shown(seconds * 1000, 1)} ms` : seconds < 0.95 ? `${shown(seconds * 1000, 0)} ms` : `${shown(seconds, 1)} s`);

/** A verdict in one line, such as "proved · every shape". */
export const verdictLine = (verdict, scope) => [verdict, scope].filter(Boolean).join(" · ");

const FAILURES = {
  fetch: ({ why }) => `A file could not be fetched (${why}). Check the connection, and press the button again.`,
  start: () => "This browser could not start a worker for Python. Load the page again, or use another browser.",
  policy: () => "This server's policy forbids WebAssembly, so Python cannot run here. Whoever runs the server finds in the README what to allow.",
  compute: ({ why }) => `Python stopped (${why.trim().split("\n").at(-1)}). Press the button again.`,
  broken: () => "The expression is nested too deeply to check here; split it with define.",
  slow: ({ seconds }) => `Stopped after ${seconds} seconds without an answer. The script may never end, or it needs a larger machine.`,
  stopped: () => "Stopped.",
};

export const describeFailure = (said) => FAILURES[said.failed](said);

/** A bar that shows how much of a download is here. */
export function progressBar() {
  const bar = make("progress", { "aria-label": "fetching Python", max: 1, value: 0 });
  const amount = make("span", {});
  const element = make("p", { class: "sentence__progress prove__progress", hidden: "" }, bar, amount);
  const show = (loaded, needed) => {
    element.hidden = loaded >= needed;
    bar.value = loaded / needed;
    amount.textContent = `${megabytes(loaded)} of ${megabytes(needed)}`;
  };
  return { element, show, hide: () => (element.hidden = true) };
}
