// Under each picture: what it shows as an SVG or PNG file, and its address.

import { linkButton } from "./clipboard.js";

const svgOf = (figure) => figure.querySelector(".picture__box .picture__svg");

async function save(figure, kind) {
  const { fileOf } = await import("./figures/file.js");
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await fileOf(figure, kind));
  link.download = `${location.pathname.split("/").filter(Boolean).slice(-2).join("-") || "home"}-${figure.id}.${kind.toLowerCase()}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function saveButton(figure, kind, title) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "take__button";
  button.textContent = kind;
  button.setAttribute("aria-label", `${kind} file of the picture: ${title}`);
  button.addEventListener("click", () => save(figure, kind).catch(() => { button.textContent = "Not saved"; }));
  return button;
}

function offer(figure) {
  const title = svgOf(figure).querySelector("title").textContent;
  const line = document.createElement("p");
  line.className = "picture__take";
  line.append(saveButton(figure, "SVG", title), saveButton(figure, "PNG", title), linkButton(figure, `Copy link to the picture: ${title}`));
  figure.append(line);
}

for (const figure of document.querySelectorAll("figure.picture[id]")) if (svgOf(figure)) offer(figure);
