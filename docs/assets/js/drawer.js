// The drawer of a narrow page by keyboard. The theme opens it by a label, and goes back in it by others, which no key reaches.

const drawer = document.querySelector(".md-sidebar--primary");
const isOpen = document.getElementById("__drawer");
const label = document.querySelector(".md-header__button[for='__drawer']");

/** A button in the label's place, which says what it does and whether it has. `for` stays: the theme's style sheet goes by it. */
function asButton(label) {
  const button = document.createElement("button");
  button.type = "button";
  for (const name of ["class", "id", "for"]) if (label.hasAttribute(name)) button.setAttribute(name, label.getAttribute(name));
  button.append(...label.childNodes);
  label.replaceWith(button);
  const toggle = document.getElementById(button.getAttribute("for"));
  const tell = () => button.setAttribute("aria-expanded", String(toggle.checked));
  toggle.addEventListener("change", tell);
  tell();
  return button;
}

const isShown = (one) => one.checkVisibility({ visibilityProperty: true });
const within = () => [...drawer.querySelectorAll("a[href], button")].filter(isShown);

function set(toggle, open) {
  toggle.checked = open;
  toggle.dispatchEvent(new Event("change"));
}

/** A button for a label of the drawer. It leads a level down or up; by a key, to the button there that leads back. */
function asLevel(label) {
  const button = asButton(label);
  const toggle = document.getElementById(label.htmlFor);
  drawer.querySelector(`[aria-labelledby="${label.id}"]`)?.removeAttribute("aria-expanded"); // the button says it
  button.addEventListener("click", ({ detail }) => {
    set(toggle, !toggle.checked);
    if (detail === 0) [...drawer.querySelectorAll(`button[for="${label.htmlFor}"]`)].find((one) => one !== button && isShown(one))?.focus();
  });
}

// The title of the contents is a label for the drawer's own contents, which a page outside the navigation lacks.
if (!document.getElementById("__toc")) document.querySelectorAll(".md-nav__title[for='__toc']").forEach((title) => title.removeAttribute("for"));

if (drawer && label) {
  const opener = asButton(label);
  opener.classList.add("drawer-button");
  opener.setAttribute("aria-label", "Navigation");
  opener.addEventListener("click", (event) => {
    set(isOpen, !isOpen.checked);
    if (isOpen.checked && event.detail === 0) within()[0]?.focus(); // by a key
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !isOpen.checked) return;
    set(isOpen, false);
    opener.focus();
  });
  // Who goes on behind the last link is on the page again, and sees it.
  document.addEventListener("focusin", ({ target }) => {
    if (isOpen.checked && target !== opener && !drawer.contains(target)) set(isOpen, false);
  });
  // The theme looks for its labels when the page is ready: the buttons come later.
  addEventListener("load", () => {
    drawer.querySelectorAll(".md-nav__title[for^='__nav'], .md-nav__title[for='__toc'], .md-nav__link[for]").forEach(asLevel);
    drawer.querySelectorAll(".md-nav__item--active > .md-nav__link--active").forEach((link) => link.setAttribute("aria-current", "page"));
  });
}
