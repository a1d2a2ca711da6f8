// SVG that needs no style sheet.

const DRAWN = ["fill", "fill-opacity", "stroke", "stroke-opacity", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin",
  "font-family", "font-size", "font-style", "font-weight", "font-variant-numeric", "text-anchor", "dominant-baseline"];

export function svgElement(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** A copy of a drawing, with the styles that its parts have on the page. */
export function inlined(svg) {
  const copy = svg.cloneNode(true);
  const parts = [...svg.querySelectorAll("*")];
  [...copy.querySelectorAll("*")].forEach((part, k) => {
    const style = getComputedStyle(parts[k]);
    part.setAttribute("style", DRAWN.map((name) => `${name}:${style.getPropertyValue(name)}`).join(";"));
    part.removeAttribute("class");
  });
  for (const name of ["class", "data-search-exclude", "width"]) copy.removeAttribute(name);
  return copy;
}
