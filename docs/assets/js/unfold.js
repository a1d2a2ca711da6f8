// A link to a claim that is folded opens it: it leads to a formula, and not to a closed line. (The theme opens what a target lies in.)

function unfold() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const folded = target?.querySelector(":scope > .claim__folded");
  if (folded) folded.open = true;
}

addEventListener("hashchange", unfold);
unfold();
