// The files from which the worker builds Python. Each is fetched once, kept in the browser's cache storage, and counted while it comes.

const ROOT = new URL("../../prover/", import.meta.url);
const SHELF = "prover"; // in the cache storage, which a page without https lacks

export class FetchError extends Error {}

async function openShelf() {
  try {
    return await caches.open(SHELF);
  } catch {
    return undefined;
  }
}

/** Tells `onBytes` of each piece of a response's body, and returns them all. */
async function readAll(response, onBytes) {
  const reader = response.body.getReader();
  const pieces = [];
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    pieces.push(piece.value);
    onBytes(piece.value.length);
  }
  return new Blob(pieces);
}

async function fetchFile(address, options) {
  let response;
  try {
    response = await fetch(address, options);
  } catch (error) {
    throw new FetchError(error.message);
  }
  if (!response.ok) throw new FetchError(`the server says ${response.status} for ${address.split("/").at(-1)}`);
  return response;
}

export class Files {
  constructor(onBytes) {
    this.onBytes = onBytes;
    this.blobs = new Map(); // by the file's name
  }

  /** Reads the index: anew from the server, or if there is no connection, as it was kept. */
  async start() {
    this.shelf = await openShelf();
    const address = new URL("index.json", ROOT).href;
    try {
      const response = await fetchFile(address, { cache: "no-cache" });
      await this.shelf?.put(address, response.clone());
      this.index = await response.json();
    } catch (error) {
      const kept = await this.shelf?.match(address);
      if (!kept) throw error;
      this.index = await kept.json();
    }
  }

  size(part) {
    return this.index[part].reduce((sum, [, bytes]) => sum + bytes, 0);
  }

  /** Fetches the files of a part, and removes kept files that the index no longer lists. */
  async load(part) {
    await Promise.all(this.index[part].map(([name]) => this.#loadFile(name)));
    const listed = new Set([...this.index.exact, ...this.index.sympy].map(([name]) => new URL(name, ROOT).href));
    listed.add(new URL("index.json", ROOT).href);
    for (const request of (await this.shelf?.keys()) ?? []) if (!listed.has(request.url)) await this.shelf.delete(request);
  }

  async #loadFile(name) {
    if (this.blobs.has(name)) return;
    const address = new URL(name, ROOT).href;
    const kept = await this.shelf?.match(address);
    const blob = await readAll(kept ?? (await fetchFile(address)), this.onBytes);
    if (!kept) await this.shelf?.put(address, new Response(blob)).catch(() => {}); // the disk may be full
    this.blobs.set(name, blob);
  }

  address(name) {
    return new URL(name, ROOT).href;
  }

  named(part, ending) {
    return this.index[part].map(([name]) => name).filter((name) => name.endsWith(ending));
  }

  /** What `fetch` answers for an address whose file is here, unpacked if it was packed; otherwise undefined. */
  answer(address) {
    const name = String(address).replace(ROOT.href, "");
    const type = name.endsWith(".wasm") ? "application/wasm" : "application/octet-stream";
    const packed = this.blobs.get(`${name}.bin`);
    const body = packed ? packed.stream().pipeThrough(new DecompressionStream("gzip")) : this.blobs.get(name);
    return body && new Response(body, { headers: { "Content-Type": type } });
  }
}
