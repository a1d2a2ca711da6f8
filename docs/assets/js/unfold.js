// A button above the heading unfolds the proofs and the code of the whole page.

// Witnesses, solutions and whole files stay folded: they are not part of the text.
const FOLDED = ".md-content details:not(.claim__witnesses, .claim__step, .claim__assumption, .solution, .whole-file)";

function connect(button, folds) {
  let areOpen = false;
  button.addEventListener("click", () => {
    areOpen = !areOpen;
    for (const fold of folds) fold.open = areOpen;
    button.textContent = areOpen ? "Fold proofs and code" : "Unfold proofs and code";
  });
  button.classList.add("kind__button--ready"); // until here the button keeps its place but is not shown
}

const button = document.querySelector(".md-content .kind__button");
const folds = document.querySelectorAll(FOLDED);
if (button && folds.length) connect(button, folds);
