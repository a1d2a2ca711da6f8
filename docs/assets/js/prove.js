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

const whole = document.getElementById("prove-the-whole-site-again");
if (whole) import("./prover/site.js").then((module) => module.start(whole));
