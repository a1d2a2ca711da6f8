// Opens the search: by its button, by "/" or by "s". Nothing else of it is fetched before.

let failures = 0;

let typed = null; // ahead, while the dialog is fetched

async function open() {
  said.textContent = "";
  typed = "";
  try {
    const dialog = await import(`./search/dialog.js${failures ? `?${failures}` : ""}`);
    await dialog.open(() => typed);
  } catch {
    failures += 1; // a browser may keep a failed import, under its address
    said.textContent = "Search could not be fetched. Are you offline?";
  }
  typed = null;
}

const isTyping = (target) => target.closest("input:not([type=checkbox], [type=radio], [type=range]), textarea, select, [contenteditable]");

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || document.querySelector("dialog[open]")) return;
  if (typed === null && !["/", "s"].includes(event.key)) return;
  if (typed === null) open();
  else if (event.key.length === 1) typed += event.key;
  else return;
  event.preventDefault();
  event.stopPropagation(); // letters are the theme's keys elsewhere
}, true);

const button = document.createElement("button");
button.type = "button";
button.className = "find-button";
button.setAttribute("aria-keyshortcuts", "/ s");
button.setAttribute("aria-haspopup", "dialog");
button.textContent = "Search";
button.ariaLabel = "Search"; // without the key
button.addEventListener("click", open);
const said = document.createElement("span");
said.className = "find-said";
said.setAttribute("role", "status");
document.querySelector(".md-header__inner")?.append(said, button);
