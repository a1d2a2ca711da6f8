// What is wrong with the page that is shown, as far as its layout tells: a list of faults of each kind, and where its links lead.
() => {
  const faults = { wide: [], cut: [], formulas: [], ids: [] };
  const SLACK = 1.5; // pixels that rounding takes

  /** An element in a few words. */
  const called = (one) => {
    const id = one.id ? `#${one.id}` : "";
    const classes = [...one.classList].slice(0, 2).map((name) => `.${name}`).join("");
    const claim = one.closest(".claim[id]");
    return `${one.localName}${id}${classes}${claim && claim !== one ? ` in #${claim.id}` : ""}: ${one.textContent.replace(/\s+/g, " ").trim().slice(0, 40)}`;
  };
  const isSeen = (one) => one.checkVisibility({ visibilityProperty: true });
  const isHeardOnly = (one) => one.clientWidth <= 1 && one.clientHeight <= 1;
  const scrolls = (style) => /auto|scroll/.test(style.overflowX);
  const clips = (overflow) => /hidden|clip/.test(overflow);

  // Wider than the window -----------------------------------------------------------------------------------------------

  const root = document.documentElement;
  const inScroller = (one) => {
    for (let up = one.parentElement; up && up !== document.body; up = up.parentElement) if (getComputedStyle(up).overflowX !== "visible") return true;
    return false;
  };
  if (root.scrollWidth > root.clientWidth) {
    const wider = [...document.body.querySelectorAll("*")].filter((one) => one.getBoundingClientRect().right > root.clientWidth + SLACK);
    const first = wider.filter((one) => isSeen(one) && !inScroller(one));
    faults.wide.push(`${root.scrollWidth} pixels`, ...first.slice(-3).map(called));
  }

  // Cut, or out of the keyboard's reach ---------------------------------------------------------------------------------

  const TAKES_KEYS = "a[href], button:enabled, input:enabled, select, textarea, summary, [tabindex]:not([tabindex='-1'])";
  const isReached = (one) => one.tabIndex >= 0 || [...one.querySelectorAll(TAKES_KEYS)].some(isSeen);
  const shown = [...document.querySelectorAll(".md-content *, .preview, .preview *")];
  for (const one of shown) {
    if (!one.clientWidth || isHeardOnly(one) || one.matches("input")) continue; // the cursor scrolls a field
    // A line is higher than the ink of a formula in it, whose own boxes are looked at below.
    const over = { x: one.scrollWidth > one.clientWidth + SLACK, y: !one.querySelector("math") && one.scrollHeight > one.clientHeight + SLACK };
    if (!(over.x || over.y) || !isSeen(one)) continue;
    const style = getComputedStyle(one);
    if (over.x && clips(style.overflowX)) faults.cut.push(`cut at its side: ${called(one)}`);
    if (over.y && clips(style.overflowY)) faults.cut.push(`cut below: ${called(one)}`);
    if (((over.x && scrolls(style)) || (over.y && /auto|scroll/.test(style.overflowY))) && !one.matches(".preview") && !isReached(one)) faults.cut.push(`no key scrolls it: ${called(one)}`);
  }
  const boxOf = (one) => {
    for (let up = one.parentElement; up; up = up.parentElement) {
      const style = getComputedStyle(up);
      if (style.overflowX !== "visible" && style.display !== "inline") return up;
    }
    return root;
  };
  for (const one of document.querySelectorAll(".md-content math, .md-content pre > code")) {
    if (!isSeen(one)) continue;
    const box = boxOf(one);
    const [ink, edge] = [one.getBoundingClientRect(), box.getBoundingClientRect()];
    const left = box === root ? 0 : edge.left - box.scrollLeft;
    if (ink.left < left - SLACK) faults.cut.push(`begins before its box: ${called(one)}`);
    if (!clips(getComputedStyle(box).overflowY) || box === root) continue;
    if (ink.bottom > edge.bottom + SLACK || ink.top < edge.top - SLACK) faults.cut.push(`cut above or below: ${called(one)}`);
  }

  // Formulas ------------------------------------------------------------------------------------------------------------

  const FONT = "STIX Two Math";
  const maths = [...document.querySelectorAll("math")].filter((one) => !one.closest("[hidden]"));
  const isEmpty = (one) => !one.getClientRects().length || !one.getBoundingClientRect().width || !one.getBoundingClientRect().height;
  for (const one of maths) {
    if (isEmpty(one)) faults.formulas.push(`of no size: ${called(one)}`);
    if (one.querySelector("merror")) faults.formulas.push(`an error: ${called(one)}`);
    for (const sign of one.querySelectorAll("mi, mn, mo, mtext, ms")) {
      if (!/[^\s\u2061-\u2064]/.test(sign.textContent)) continue;
      const family = getComputedStyle(sign).fontFamily;
      if (!family.replaceAll('"', "").startsWith(FONT)) faults.formulas.push(`set in ${family}: ${called(one)}`);
      else if (isEmpty(sign)) faults.formulas.push(`a sign of no size, ${sign.textContent}: ${called(one)}`);
    }
  }
  const isLoaded = [...document.fonts].some((font) => font.family.replaceAll('"', "") === FONT && font.status === "loaded");
  if (maths.length && !isLoaded) faults.formulas.push(`${FONT} is not loaded`);

  // Names ---------------------------------------------------------------------------------------------------------------

  const counts = new Map();
  for (const one of document.querySelectorAll("[id]")) counts.set(one.id, (counts.get(one.id) ?? 0) + 1);
  for (const [id, count] of counts) if (count > 1) faults.ids.push(`${count} times #${id}`);
  const NAMING = ["for", "aria-labelledby", "aria-describedby", "aria-controls", "aria-owns", "aria-activedescendant", "headers"];
  for (const name of NAMING) {
    for (const one of document.querySelectorAll(`[${name}]`)) {
      for (const id of one.getAttribute(name).split(/\s+/)) if (id && !counts.has(id)) faults.ids.push(`${name} of nothing, #${id}: ${called(one)}`);
    }
  }
  for (const one of document.querySelectorAll("svg *")) {
    for (const { name, value } of one.attributes) {
      const ids = [...value.matchAll(/url\(["']?#([^"')]+)/g)].map((found) => found[1]);
      if (/href$/.test(name) && one.localName === "use") ids.push(value.slice(1));
      for (const id of ids) if (!counts.has(id)) faults.ids.push(`${name} of nothing, #${id}: ${called(one)}`);
    }
  }

  const links = [...new Set([...document.querySelectorAll("a[href], area[href]")].map((one) => new URL(one.getAttribute("href"), document.baseURI).href))];
  return { ...faults, links, targets: [...counts.keys(), ...[...document.querySelectorAll("a[name]")].map((one) => one.name)] };
}
