// A widget as its reader has set it, as SVG: its boxes, its lines of text, its drawings, and where its sliders stand. Buttons are left out.

import { inlined, svgElement } from "./inlined.js";

const LEFT_OUT = ".play__buttons, .play__heard, label.play__both";
const KNOB = 8; // pixels: the radius of a slider's knob

/** The parts of a widget, in pixels from its corner. */
export function drawWidget(stage) {
  const corner = stage.getBoundingClientRect();
  const at = { x: corner.left - stage.scrollLeft, y: corner.top };
  const [below, above] = [[], []]; // a mark around a cell lies above its neighbours

  function visit(element) {
    const style = getComputedStyle(element);
    const isSeen = style.display === "contents" || element.checkVisibility({ visibilityProperty: true, opacityProperty: true }); // a row of cells has no box
    if (!isSeen || element.matches(LEFT_OUT)) return;
    const box = moved(element.getBoundingClientRect(), at);
    if (element.localName === "svg") return below.push(placed(element, box));
    if (element.type === "range") return below.push(...slider(element, box, style));
    below.push(...ground(box, style));
    above.push(...outline(box, style));
    if (element.matches("input, select")) return below.push(value(element, box, style));
    for (const child of element.childNodes) {
      if (child.nodeType === Node.ELEMENT_NODE) visit(child);
      else if (child.nodeType === Node.TEXT_NODE) below.push(...lines(child, style, at));
    }
  }

  visit(stage);
  return [...below, ...above];
}

const moved = ({ left, top, width, height }, { x, y }) => ({ x: left - x, y: top - y, width, height });

function placed(svg, box) {
  const copy = inlined(svg);
  for (const [name, value] of Object.entries({ ...box, overflow: "visible" })) copy.setAttribute(name, value);
  return copy;
}

function slider(range, { x, y, width, height }, style) {
  const middle = y + height / 2;
  const share = (range.value - range.min) / (range.max - range.min || 1);
  return [
    svgElement("path", { d: `M${x} ${middle}h${width}`, stroke: style.getPropertyValue("--quiet") }),
    svgElement("circle", { cx: x + KNOB + share * (width - 2 * KNOB), cy: middle, r: KNOB, fill: style.getPropertyValue("--paper"), stroke: style.getPropertyValue("--data"), "stroke-width": 1.5 }),
  ];
}

// Boxes -------------------------------------------------------------------------------------------------------------------

const SIDES = {
  Top: ({ x, y, width }, half) => `M${x} ${y + half}h${width}`,
  Right: ({ x, y, width, height }, half) => `M${x + width - half} ${y}v${height}`,
  Bottom: ({ x, y, width, height }, half) => `M${x} ${y + height - half}h${width}`,
  Left: ({ x, y, height }, half) => `M${x + half} ${y}v${height}`,
};

const isClear = (colour) => /^rgba\(.*, 0\)$|\/ 0\)$/.test(colour);

/** The colour of a box, the line through what a mask takes out, and its borders. */
function ground(box, style) {
  const parts = [];
  if (!isClear(style.backgroundColor)) parts.push(svgElement("rect", { ...box, rx: radius(box, style), fill: style.backgroundColor }));
  const through = style.backgroundImage.match(/^linear-gradient\(to right bottom, .*?px\), (.*?) calc/);
  if (through) parts.push(svgElement("path", { d: `M${box.x} ${box.y + box.height}l${box.width} ${-box.height}`, stroke: through[1] }));
  return [...parts, ...borders(box, style)];
}

function borders(box, style) {
  const sides = Object.keys(SIDES).map((side) => ({ side, wide: parseFloat(style[`border${side}Width`]), colour: style[`border${side}Color`] }));
  const [one, ...others] = sides;
  if (radius(box, style) && others.every(({ wide, colour }) => wide === one.wide && colour === one.colour)) {
    return frame(box, -one.wide / 2, one.wide, one.colour, radius(box, style));
  }
  return sides
    .filter(({ wide, colour }) => wide && !isClear(colour))
    .map(({ side, wide, colour }) => svgElement("path", { d: SIDES[side](box, wide / 2), stroke: colour, "stroke-width": wide }));
}

function outline(box, style) {
  const wide = style.outlineStyle === "solid" ? parseFloat(style.outlineWidth) : 0;
  return frame(box, parseFloat(style.outlineOffset) + wide / 2, wide, style.outlineColor, 0);
}

/** A line around a box, so many pixels outside of its edge. */
function frame({ x, y, width, height }, outside, wide, colour, rx) {
  if (!wide || isClear(colour)) return [];
  const place = { x: x - outside, y: y - outside, width: width + 2 * outside, height: height + 2 * outside };
  return [svgElement("rect", { ...place, rx, fill: "none", stroke: colour, "stroke-width": wide })];
}

const radius = ({ height }, style) => Math.min(parseFloat(style.borderTopLeftRadius), height / 2);

// Text --------------------------------------------------------------------------------------------------------------------

const pen = document.createElement("canvas").getContext("2d");

/** Words that stand in the middle of a box; `anchor` says where they begin. */
function words(text, box, style, anchor = "start") {
  pen.font = style.font;
  const { fontBoundingBoxAscent: up, fontBoundingBoxDescent: down } = pen.measureText(text);
  const isUpright = style.writingMode.startsWith("vertical");
  const side = isUpright ? "middle" : anchor;
  const [x, middle] = [box.x + (side === "middle" ? box.width / 2 : 0), box.y + box.height / 2];
  const element = svgElement("text", { x, y: middle + (up - down) / 2, "text-anchor": side }, text);
  if (isUpright) element.setAttribute("transform", `rotate(-90 ${x} ${middle})`);
  for (const name of ["font-family", "font-size", "font-style", "font-weight", "font-variant-numeric"]) element.style.setProperty(name, style.getPropertyValue(name));
  element.style.fill = style.color;
  return element;
}

/** What stands in a cell to write in, or is chosen from a list. */
function value(field, box, style) {
  if (field.localName !== "select") return words(field.value.replace("-", "−"), box, style, "middle");
  return words(field.selectedOptions[0].textContent, { ...box, x: box.x + parseFloat(style.paddingLeft) }, style);
}

/** The lines of a text, as the page breaks them. */
function lines(node, style, at) {
  const found = [];
  for (const { index, 0: word } of node.data.matchAll(/\S+/g)) {
    const last = found.at(-1);
    const box = boxOf(node, index, index + word.length);
    if (last && Math.abs(last.box.top - box.top) < 1) last.end = index + word.length;
    else found.push({ box, start: index, end: index + word.length });
  }
  return found.map(({ start, end }) => words(node.data.slice(start, end), moved(boxOf(node, start, end), at), style));
}

function boxOf(node, start, end) {
  const range = document.createRange();
  range.setStart(node, start);
  range.setEnd(node, end);
  return range.getBoundingClientRect();
}
