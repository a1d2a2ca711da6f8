// Under each picture: the picture as an SVG or PNG file, and its address. The files carry the colours that the reader sees and the fonts, so
// that they look alike elsewhere. They show the picture, not what a reader set in a figure that responds.

const DRAWN = ["fill", "fill-opacity", "stroke", "stroke-opacity", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin",
  "font-family", "font-size", "font-style", "font-weight", "font-variant-numeric", "text-anchor", "dominant-baseline"];
const MARGIN = 12;
const SCALE = 2; // pixels of the PNG for each unit of the picture

const svgOf = (figure) => figure.querySelector(".picture__box .picture__svg");

/** A copy that needs no style sheet. */
async function standalone(figure) {
  const original = svgOf(figure);
  const copy = original.cloneNode(true);
  const parts = [...original.querySelectorAll("*")];
  const families = new Set();
  [...copy.querySelectorAll("*")].forEach((part, k) => {
    const style = getComputedStyle(parts[k]);
    part.setAttribute("style", DRAWN.map((name) => `${name}:${style.getPropertyValue(name)}`).join(";"));
    if (part.localName === "text" || part.localName === "tspan") families.add(style.fontFamily);
    part.removeAttribute("class");
  });
  for (const name of ["class", "data-search-exclude", "width"]) copy.removeAttribute(name);
  const { width, height } = original.viewBox.baseVal;
  const size = [width + 2 * MARGIN, height + 2 * MARGIN];
  copy.setAttribute("viewBox", [-MARGIN, -MARGIN, ...size].join(" "));
  for (const [name, value] of [["width", size[0]], ["height", size[1]], ["xmlns", "http://www.w3.org/2000/svg"]]) copy.setAttribute(name, value);
  const paper = document.createElementNS(copy.namespaceURI, "rect");
  for (const [name, value] of [["x", -MARGIN], ["y", -MARGIN], ["width", size[0]], ["height", size[1]], ["fill", getComputedStyle(document.body).backgroundColor]]) paper.setAttribute(name, value);
  const fonts = document.createElementNS(copy.namespaceURI, "style");
  fonts.textContent = await embeddedFonts([...families].join());
  copy.prepend(fonts, paper);
  return { text: new XMLSerializer().serializeToString(copy), size };
}

/** The rules for the fonts of the site that a picture uses, with the files in them. */
async function embeddedFonts(families) {
  const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules].filter((rule) => rule instanceof CSSFontFaceRule).map((rule) => [rule, sheet.href]));
  const used = rules.filter(([rule]) => families.includes(rule.style.getPropertyValue("font-family")) && rule.cssText.includes("url("));
  return (await Promise.all(used.map(async ([rule, sheet]) => {
    const address = rule.cssText.match(/url\("([^"]+)"\)/)[1];
    const file = await (await fetch(new URL(address, sheet))).blob();
    return rule.cssText.replace(address, await dataAddress(file));
  }))).join("\n");
}

function dataAddress(blob) {
  return new Promise((done, failed) => {
    const reader = new FileReader();
    reader.onload = () => done(reader.result);
    reader.onerror = () => failed(reader.error);
    reader.readAsDataURL(blob);
  });
}

async function asPNG({ text, size }) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = size.map((one) => Math.ceil(one * SCALE));
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

async function save(figure, kind) {
  const picture = await standalone(figure);
  const file = kind === "PNG" ? await asPNG(picture) : new Blob([picture.text], { type: "image/svg+xml" });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = `${location.pathname.split("/").filter(Boolean).slice(-2).join("-") || "home"}-${figure.id}.${kind.toLowerCase()}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function offer(figure) {
  const title = svgOf(figure).querySelector("title").textContent;
  const line = document.createElement("p");
  line.className = "picture__take";
  for (const kind of ["SVG", "PNG"]) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "take__button";
    button.textContent = kind;
    button.setAttribute("aria-label", `${kind} file of the picture: ${title}`);
    button.addEventListener("click", () => save(figure, kind).catch(() => { button.textContent = "Not saved"; }));
    line.append(button);
  }
  const link = document.createElement("a");
  link.className = "take__button";
  link.href = `#${figure.id}`;
  link.textContent = "Link";
  link.setAttribute("aria-label", `Link to the picture: ${title}`);
  line.append(link);
  figure.append(line);
}

for (const figure of document.querySelectorAll("figure.picture[id]")) if (svgOf(figure)) offer(figure);
