// A figure as a file: as an SVG that needs no style sheet, or as a PNG. It shows what the screen shows, with the colours and the fonts, so
// that it looks alike elsewhere: the picture, or in its place a widget as its reader has set it.

import { inlined, svgElement } from "./inlined.js";
import { drawWidget } from "./widget.js";

const MARGIN = 12;
const SCALE = 2; // pixels of the PNG for each unit of the picture

export async function fileOf(figure, kind) {
  const { text, size } = await standalone(figure);
  return kind === "PNG" ? asPNG(text, size) : new Blob([text], { type: "image/svg+xml" });
}

/** The picture or the widget, on paper and with its fonts. */
async function standalone(figure) {
  const { drawing, width, height } = drawn(figure);
  const size = [width + 2 * MARGIN, height + 2 * MARGIN];
  const place = { x: -MARGIN, y: -MARGIN, width: size[0], height: size[1] };
  const fonts = svgElement("style", {});
  fonts.textContent = await embeddedFonts([...drawing.querySelectorAll("text, tspan")].map(({ style }) => style.fontFamily).join());
  drawing.prepend(fonts, svgElement("rect", { ...place, fill: getComputedStyle(document.body).backgroundColor }));
  for (const [name, value] of Object.entries({ viewBox: Object.values(place).join(" "), width: size[0], height: size[1], xmlns: drawing.namespaceURI })) {
    drawing.setAttribute(name, value);
  }
  return { text: new XMLSerializer().serializeToString(drawing), size };
}

function drawn(figure) {
  const picture = figure.querySelector(".picture__box .picture__svg");
  if (figure.dataset.played === undefined) return { drawing: inlined(picture), ...sizeOf(picture.viewBox.baseVal) };
  const stage = figure.querySelector(".play");
  const drawing = svgElement("svg", {}, picture.querySelector("title").cloneNode(true), ...drawWidget(stage));
  return { drawing, width: stage.scrollWidth, height: stage.scrollHeight };
}

const sizeOf = ({ width, height }) => ({ width, height });

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

async function asPNG(text, size) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = size.map((one) => Math.ceil(one * SCALE));
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}
