// Which exercises the reader has answered. It is stored on the reader's device and nowhere else.

import { make } from "../play/parts.js";

const KEY = "answered exercises";
const ROOT = new URL("../../prover/", import.meta.url);

function read() {
  try {
    return new Set(JSON.parse(localStorage.getItem(KEY) ?? "[]"));
  } catch {
    return new Set(); // storage is denied
  }
}

/** The name of an exercise: its claim, and the part that is asked for. */
export function exerciseName({ dataset: { answer, part } }) {
  return part && part !== "counterexample" ? `${answer} ${part}` : answer;
}

/** Notes that an exercise was answered. */
export function note(name) {
  try {
    localStorage.setItem(KEY, JSON.stringify([...read().add(name)]));
  } catch {
    // nothing is stored, and the answer is right all the same
  }
}

function erase() {
  localStorage.removeItem(KEY);
  showProgress();
}

/** Marks the answered exercises of this page, and on the start page says how many were answered. */
export async function showProgress() {
  const answered = read();
  for (const place of document.querySelectorAll(".answer[data-answer]")) {
    const head = place.closest(".exercise").querySelector(".exercise__head");
    head.querySelector(".exercise__done")?.remove();
    if (answered.has(exerciseName(place))) head.append(make("span", { class: "exercise__done" }, "✓ answered"));
  }
  const start = document.querySelector(".start")?.closest("p");
  if (start) await showOnStartPage(start, answered);
}

async function showOnStartPage(start, answered) {
  document.querySelector(".progress")?.remove();
  if (!answered.size) return;
  const pages = await fetch(new URL("exercises.json", ROOT)).then((response) => response.json());
  const names = Object.values(pages).flat();
  const count = names.filter((name) => answered.has(name)).length;
  const button = make("button", { type: "button", class: "take__button" }, "Forget them");
  button.addEventListener("click", erase);
  const begun = Object.entries(pages).filter(([, all]) => all.some((name) => answered.has(name)));
  const list = make("ul", {}, ...begun.map(([page, all]) => make("li", {}, make("a", { href: `${page}/` }, page), ` ${all.filter((name) => answered.has(name)).length} of ${all.length}`)));
  const box = make("div", { class: "progress prove" }, make("p", { class: "prove__actions" }, `You have answered ${count} of ${names.length} exercises. This is stored on your device only.`, button));
  box.append(make("details", { class: "prove__whole" }, make("summary", {}, "On which pages"), list));
  start.after(box);
}
