// At the foot of each claim: a button that has it proved again in this browser. Nothing more is fetched before a press.

for (const base of document.querySelectorAll(".claim__base[data-claim]")) {
  const claim = base.closest(".claim");
  const number = claim.querySelector(".claim__number").textContent.trim();
  const button = document.createElement("button");
  button.type = "button";
  button.className = "take__button prove__button";
  button.textContent = "Prove it again here";
  button.setAttribute("aria-label", `Prove it again here: claim ${number}`);
  button.setAttribute("aria-expanded", "false");
  button.addEventListener("click", async () => (await import("./prover/panel.js")).toggle(claim, base, button));
  base.querySelector(".take")?.prepend(button);
}

for (const place of document.querySelectorAll(".answer[data-answer]")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "take__button prove__check";
  button.textContent = "Answer it here";
  button.addEventListener("click", async () => (await import("./prover/answer.js")).open(place, button));
  place.append(button);
  place.classList.add("answer--ready");
}
let hasAnswered = false;
try {
  hasAnswered = localStorage.getItem("answered exercises") !== null;
} catch {
  // storage is denied
}
if (hasAnswered) import("./prover/progress.js").then((module) => module.showProgress());

const whole = document.getElementById("prove-the-whole-site-again");
if (whole) import("./prover/site.js").then((module) => module.start(whole));
