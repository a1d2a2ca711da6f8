// Opens the search: by its button, by "/" or by "s". Nothing else of it is fetched before.

let failures = 0;

async function open() {
  said.textContent = "";
  try {
    (await import(`./search/dialog.js${failures ? `?${failures}` : ""}`)).open();
  } catch {
    failures += 1; // a browser may keep a failed import, under its address
    said.textContent = "Search could not be fetched. Are you offline?";
  }
}

const isTyping = (target) => target.closest("input:not([type=checkbox], [type=radio], [type=range]), textarea, select, [contenteditable]");

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !["/", "s"].includes(event.key) || isTyping(event.target)) return;
  if (document.querySelector("dialog[open]")) return;
  event.preventDefault();
  open();
});

const button = document.createElement("button");
button.type = "button";
button.className = "find-button";
button.setAttribute("aria-keyshortcuts", "/ s");
button.setAttribute("aria-haspopup", "dialog");
button.textContent = "Search";
button.addEventListener("click", open);
const said = document.createElement("span");
said.className = "find-said";
said.setAttribute("role", "status");
document.querySelector(".md-header__inner")?.append(said, button);
