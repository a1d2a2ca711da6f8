// The drawer of a narrow page by keyboard. The theme opens it by a label, and goes back in it by others, which no key reaches.

const drawer = document.querySelector(".md-sidebar--primary");
const isOpen = document.getElementById("__drawer");
const label = document.querySelector(".md-header__button[for='__drawer']");

/** A button in the label's place, which says what it does and whether it has. */
function asButton(label) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = `${label.className} drawer-button`;
  button.setAttribute("aria-label", "Navigation");
  button.append(...label.childNodes);
  label.replaceWith(button);
  return button;
}

const isShown = (one) => one.checkVisibility({ visibilityProperty: true });
const within = () => [...drawer.querySelectorAll("a[href], [tabindex='0']")].filter(isShown);

/** A label that the keyboard reaches. It leads a level down or up, to the label there that leads back. */
function reached(label) {
  label.setAttribute("tabindex", "0");
  label.addEventListener("keydown", (event) => {
    if (!["Enter", " "].includes(event.key)) return;
    event.preventDefault(); // the page would scroll, and
    event.stopPropagation(); // the theme would press a second time
    label.click();
    [...drawer.querySelectorAll(`label[for="${label.htmlFor}"]`)].find((one) => one !== label && isShown(one))?.focus();
  });
}

if (drawer && label) {
  const opener = asButton(label);
  const set = (open) => {
    isOpen.checked = open;
    isOpen.dispatchEvent(new Event("change"));
  };
  const tell = () => opener.setAttribute("aria-expanded", String(isOpen.checked));
  tell();
  isOpen.addEventListener("change", tell);
  opener.addEventListener("click", (event) => {
    set(!isOpen.checked);
    if (isOpen.checked && event.detail === 0) within()[0]?.focus(); // by a key
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !isOpen.checked) return;
    set(false);
    opener.focus();
  });
  // Who goes on behind the last link is on the page again, and sees it.
  document.addEventListener("focusin", ({ target }) => {
    if (isOpen.checked && target !== opener && !drawer.contains(target)) set(false);
  });
  // The theme asks much of the labels that it finds with a tabindex when the page is ready: these come later.
  addEventListener("load", () => drawer.querySelectorAll(".md-nav__title[for^='__nav'], .md-nav__title[for='__toc'], .md-nav__link[for]").forEach(reached));
}
