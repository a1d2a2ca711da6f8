// At the foot of each claim: its place on the map, and two buttons, for its LaTeX and its address. What was copied is said where a screen
// reader hears it.

const WORDS = { latex: "LaTeX", link: "Link" };
const LASTS = 2000; // milliseconds for which a button says that it has copied

const said = document.createElement("div");
said.className = "take__said";
said.setAttribute("role", "status");

/** What a button copies: the claim as its certificate has it, or where it stands. */
function textOf(claim, what) {
  return what === "latex" ? claim.querySelector(".claim__base").dataset.latex : new URL(`#${claim.id}`, location.href).href;
}

function button(claim, what) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "take__button";
  made.textContent = WORDS[what];
  made.title = what === "latex" ? "Copy this claim as LaTeX" : "Copy a link to this claim";
  made.setAttribute("aria-label", `${made.title}, ${claim.querySelector(".claim__number").textContent.trim()}`);
  made.addEventListener("click", () => copy(made, claim, what));
  return made;
}

/** Where the claim stands among all others. */
function onMap(claim) {
  const made = document.createElement("a");
  const number = claim.querySelector(".claim__number").textContent.trim();
  made.className = "take__button";
  made.textContent = "Map";
  made.title = "What this claim rests on, and what rests on it";
  made.setAttribute("aria-label", `${made.title}, ${number}`);
  made.href = new URL(`../../map/#${claim.querySelector(".claim__base").dataset.claim.replace("#", "--")}`, import.meta.url).href;
  return made;
}

async function copy(made, claim, what) {
  let done = true;
  try {
    await navigator.clipboard.writeText(textOf(claim, what));
  } catch {
    done = false; // no clipboard over plain http, or it was denied
  }
  tell(made, what, done ? "Copied" : "Not copied");
}

/** Says it on the button, and aloud. */
function tell(made, what, outcome) {
  made.textContent = outcome;
  said.textContent = `${WORDS[what]}: ${outcome.toLowerCase()}`;
  clearTimeout(made.back);
  made.back = setTimeout(() => {
    made.textContent = WORDS[what];
  }, LASTS);
}

for (const claim of document.querySelectorAll(".claim:has(.claim__base[data-latex])")) {
  const script = claim.querySelector(".claim__script");
  const foot = document.createElement("div");
  const take = document.createElement("span");
  foot.className = "claim__foot";
  take.className = "take";
  take.append(onMap(claim), "Copy ", button(claim, "latex"), button(claim, "link"));
  script.replaceWith(foot); // beside the script, so that on a narrow page the two go to a line of their own
  foot.append(script, take);
}
document.body.append(said);
