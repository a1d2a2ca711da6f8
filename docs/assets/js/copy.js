// At the foot of each claim: its place on the map, and two buttons that copy its LaTeX and its address.

import { copyButton, linkButton } from "./clipboard.js";

/** Where the claim stands among all others. */
function onMap(claim, number) {
  const made = document.createElement("a");
  made.className = "take__button";
  made.textContent = "Map";
  made.title = "What this claim rests on, and what rests on it";
  made.setAttribute("aria-label", `${made.title}, ${number}`);
  made.href = new URL(`../../map/#${claim.querySelector(".claim__base").dataset.claim.replace("#", "--")}`, import.meta.url).href;
  return made;
}

for (const claim of document.querySelectorAll(".claim:has(.claim__base[data-latex])")) {
  const script = claim.querySelector(".claim__script");
  const number = claim.querySelector(".claim__number").textContent.trim();
  const foot = document.createElement("div");
  const take = document.createElement("span");
  foot.className = "claim__foot";
  take.className = "take";
  take.append(
    onMap(claim, number),
    copyButton("Copy LaTeX", `Copy LaTeX of claim ${number}`, () => claim.querySelector(".claim__base").dataset.latex),
    linkButton(claim, `Copy link to claim ${number}`),
  );
  script.replaceWith(foot); // beside the script, so that on a narrow page the two go to a line of their own
  foot.append(script, take);
}
