// The drawer of a narrow page by keyboard. The theme opens it by a label, and goes back in it by others, which no key reaches.

const drawer = document.querySelector(".md-sidebar--primary");
const isOpen = document.getElementById("__drawer");
const opener = document.querySelector(".md-header__button[for='__drawer']");

/** A label is a button to those who cannot press it otherwise. */
function asButton(label, name) {
  label.setAttribute("role", "button");
  label.setAttribute("tabindex", "0");
  if (name) label.setAttribute("aria-label", name);
  label.addEventListener("keydown", (event) => {
    if (!["Enter", " "].includes(event.key)) return;
    event.preventDefault(); // the page would scroll, and
    event.stopPropagation(); // the theme would press a second time
    label.click();
  });
}

/** What a key reaches in the drawer: what its own level shows. */
const within = () => [...drawer.querySelectorAll("a[href], [tabindex='0']")].filter((one) => one.checkVisibility({ visibilityProperty: true }));

function tell() {
  opener.setAttribute("aria-expanded", String(isOpen.checked));
}

function shut(back = true) {
  if (!isOpen.checked) return;
  isOpen.checked = false;
  isOpen.dispatchEvent(new Event("change"));
  if (back) opener.focus();
}

if (drawer && opener) {
  asButton(opener, "Navigation");
  tell();
  isOpen.addEventListener("change", tell);
  opener.addEventListener("keydown", (event) => {
    if (["Enter", " "].includes(event.key) && isOpen.checked) within()[0]?.focus();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") shut();
  });
  // Who goes on behind the last link is on the page again, and sees it.
  document.addEventListener("focusin", ({ target }) => {
    if (target !== opener && !drawer.contains(target)) shut(false);
  });
  // The theme asks much of the labels that it finds with a tabindex when the page is ready: these come later.
  addEventListener("load", () => {
    for (const label of drawer.querySelectorAll(".md-nav__title[for^='__nav'], .md-nav__link[for='__toc']")) asButton(label);
  });
}
