// Two sequences that begin with the same tokens, in a pool of pages: as `PagedCache` of snippets/serving/paged.py, with `share` and `append`.

import { button, cell, choice, make, matrix, readout, strength, sum, titled } from "./parts.js";

export const caption = "Each row of the pool is a page. A page that both tables list has the stronger colour. Let A and B write, and see when a page is copied.";

export function start(stage, { prefix, most, names, sizes, size, pools }) {
  const frame = make("div", { class: "play__line" });
  const said = readout();
  let [length, pages, tables, counts] = [size];

  const uses = (page) => tables.filter((table) => table.includes(page)).length;
  const take = () => pages.findIndex((_, page) => !uses(page));

  function write(who) {
    const [table, place] = [tables[who], counts[who] % length];
    let did = "";
    if (place === 0) table.push(take());
    else if (uses(table.at(-1)) > 1) {
      const [old, fresh] = [table.at(-1), take()];
      pages[fresh] = pages[old].map((token, k) => (k < place ? token : ""));
      table[table.length - 1] = fresh;
      did = `copies ${place > 1 ? `${place} tokens` : "a token"} and `;
    }
    counts[who]++;
    pages[table.at(-1)][place] = `${names[who]}${counts[who]}`;
    show(`${names[who]} ${did}writes token ${counts[who]}`, [table.at(-1), place]);
  }

  function show(did, [newest, place] = []) {
    const cells = pages.map((row, page) => row.map((token, k) => {
      const one = cell("span", { "data-marked": page === newest && k === place });
      one.textContent = token;
      strength(one, token ? uses(page) : 0, 2);
      return one;
    }));
    const across = Math.ceil(most / length);
    const entries = tables.map((table) => Array.from({ length: across }, (_, k) => {
      const one = cell();
      one.textContent = k in table ? table[k] + 1 : "";
      return one;
    }));
    frame.replaceChildren(
      titled("pool", matrix("pool", cells, { rows: pages.map((_, page) => `page ${page + 1}`), css: "role--key play__matrix--pool" })),
      titled("page tables", matrix("tables", entries, { rows: names, css: "play__matrix--pool" })));
    const used = pages.filter((_, page) => uses(page)).length;
    const empty = used * length - sum(pages.map((row, page) => (uses(page) ? row.filter(Boolean).length : 0)));
    writers.forEach((one, who) => (one.disabled = counts[who] === most));
    said.say(`${did}: ${used} pages, ${sum(tables.map((table) => table.length))} without sharing · ${empty} empty places`);
  }

  function restart() {
    counts = names.map(() => prefix);
    const shared = Array.from({ length: Math.ceil(prefix / length) }, (_, page) => page);
    tables = names.map(() => [...shared]);
    pages = Array.from({ length: pools[sizes.indexOf(length)] }, (_, page) =>
      Array.from({ length }, (_, k) => (page * length + k < prefix ? `${page * length + k + 1}` : "")));
    show(`A and B share ${prefix} tokens`);
  }

  const choose = choice("tokens in a page", sizes.map(String), sizes.indexOf(size), (place) => {
    length = sizes[place];
    restart();
  });
  const writers = names.map((name, who) => button(`${name} writes`, () => write(who)));
  stage.append(choose, frame, make("div", { class: "play__buttons" }, ...writers, button("start again", restart)), said.element);
  restart();
}
