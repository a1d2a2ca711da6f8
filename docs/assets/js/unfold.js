// A link to a folded claim unfolds it, and a button above the heading unfolds the proofs and the code of the whole page.

// The theme opens the box that contains a link's target. A folded claim is itself the target, and its box lies inside it.
function unfoldTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const folded = target?.querySelector(":scope > .claim__folded");
  if (folded) folded.open = true;
}

addEventListener("hashchange", unfoldTarget);
unfoldTarget();

// Witnesses, solutions and whole files stay folded: they are not part of the text.
const FOLDED = ".md-content details:not(.claim__witnesses, .claim__step, .claim__assumption, .solution, .whole-file)";

function addButton(kind, folds) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "kind__button";
  const show = (open) => {
    button.textContent = open ? "Fold proofs and code" : "Unfold proofs and code";
    button.setAttribute("aria-pressed", String(open));
  };
  button.addEventListener("click", () => {
    const open = button.getAttribute("aria-pressed") !== "true";
    for (const fold of folds) fold.open = open;
    show(open);
  });
  show(false);
  kind.append(button);
}

const kind = document.querySelector(".md-content .kind");
const folds = document.querySelectorAll(FOLDED);
if (kind && folds.length) addButton(kind, folds);
