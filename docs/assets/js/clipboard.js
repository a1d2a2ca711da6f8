// Buttons that copy something. What was copied is said where a screen reader hears it.

const LASTS = 2000; // milliseconds for which a button says that it has copied

const said = document.createElement("div");
said.className = "take__said";
said.setAttribute("role", "status");
document.body.append(said);

/** A button that copies what `text()` returns, or promises; `name` is its name for those who hear the page. */
export function copyButton(word, name, text) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "take__button";
  made.textContent = word;
  made.setAttribute("aria-label", name);
  made.addEventListener("click", async () => {
    let outcome = "Copied";
    try {
      await navigator.clipboard.writeText(await text());
    } catch {
      outcome = "Not copied"; // no clipboard over plain http, or it was denied
    }
    tell(made, word, outcome);
  });
  return made;
}

/** A button that copies the address of an element, and puts it into the address bar. */
export function linkButton(element, name) {
  return copyButton("Copy link", name, () => {
    const address = new URL(`#${element.id}`, location.href).href;
    history.replaceState(null, "", address);
    return address;
  });
}

/** Says it on the button, and aloud. */
function tell(made, word, outcome) {
  made.textContent = outcome;
  said.textContent = `${word}: ${outcome.toLowerCase()}`;
  clearTimeout(made.back);
  made.back = setTimeout(() => {
    made.textContent = word;
  }, LASTS);
}
