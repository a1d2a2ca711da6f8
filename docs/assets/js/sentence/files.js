// The files of the model, which derivations/kernel/site/model_files.py writes: fetched once, kept by the browser, and unpacked.

const CACHE = "attention-model-";
const AT_ONCE = 6; // files that are fetched at the same time

export class FetchError extends Error {}

async function unzip(bytes) {
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(plain).arrayBuffer());
}

// Whole numbers of two bytes: all low bytes, then all high bytes.
function wholeNumbers(bytes, start, count, offset) {
  const numbers = new Float32Array(count);
  for (let place = 0; place < count; place++) {
    const [low, high] = [bytes[start + place], bytes[start + count + place]];
    numbers[place] = (((low | (high << 8)) << 16) >> 16) - offset;
  }
  return numbers;
}

function half(bits) {
  const [exponent, fraction] = [(bits >> 10) & 31, bits & 1023];
  const size = exponent ? (1 + fraction / 1024) * 2 ** (exponent - 15) : fraction * 2 ** -24;
  return bits & 0x8000 ? -size : size;
}

export class Files {
  // `report` is called whenever bytes have come, from the network or from those that the browser keeps.
  constructor(version, report) {
    this.address = new URL(`../../model/${version}/`, import.meta.url);
    this.cacheName = CACHE + version;
    this.report = report;
    this.unpacked = new Map();
  }

  async start() {
    // Without a secure connection, browsers keep no files.
    this.cache = await globalThis.caches?.open(this.cacheName).catch(() => undefined);
    for (const name of (await globalThis.caches?.keys().catch(() => [])) ?? []) {
      if (name.startsWith(CACHE) && name !== this.cacheName) await caches.delete(name);
    }
    const parse = (bytes) => JSON.parse(new TextDecoder().decode(bytes));
    this.index = await this.read("index.json", await this.bytes("index.json"), parse);
  }

  has(name) {
    return this.unpacked.has(name);
  }

  size(name) {
    return this.index.sizes[name];
  }

  // The bytes of a file as they are stored.
  async bytes(name) {
    const address = new URL(name, this.address);
    const kept = await this.cache?.match(address);
    if (kept) {
      const bytes = new Uint8Array(await kept.arrayBuffer());
      this.report(bytes.length);
      return bytes;
    }
    const bytes = await this.download(address);
    await this.cache?.put(address, new Response(bytes)).catch(() => {}); // there may be no room
    return bytes;
  }

  async download(address) {
    try {
      const answer = await fetch(address);
      if (!answer.ok) throw new Error(`status ${answer.status}`);
      const chunks = [];
      const reader = answer.body.getReader();
      for (let next = await reader.read(); !next.done; next = await reader.read()) {
        chunks.push(next.value);
        this.report(next.value.length);
      }
      return new Uint8Array(await new Blob(chunks).arrayBuffer());
    } catch (error) {
      throw new FetchError(`${address.pathname.split("/").pop()}: ${error.message}`);
    }
  }

  // What `unpack` makes of a file, which is kept for the next sentence. `fetched` is a promise of its bytes.
  async open(name, unpack, fetched) {
    if (!this.has(name)) {
      const read = async (bytes) => unpack(await unzip(bytes));
      this.unpacked.set(name, await this.read(name, await (fetched ?? this.bytes(name)), read));
    }
    return this.unpacked.get(name);
  }

  // What `read` makes of the bytes of a file. A damaged file is not kept, so that it is fetched again.
  async read(name, bytes, read) {
    try {
      return await read(bytes);
    } catch (error) {
      await this.cache?.delete(new URL(name, this.address));
      throw error;
    }
  }

  vocabulary() {
    return this.open("vocabulary.bin", (bytes) => new TextDecoder().decode(bytes).trimEnd().split("\n"));
  }

  vectors(fetched) {
    const name = "vectors.bin";
    return this.open(
      name,
      (bytes) => {
        const halves = new Uint16Array(bytes.buffer); // every browser's machine has the low byte first
        const found = {};
        let at = 0;
        for (const [part, count] of this.index.contents[name]) {
          found[part] = Float32Array.from(halves.subarray(at, (at += count)), half);
        }
        return found;
      },
      fetched,
    );
  }

  matrices(name, fetched) {
    return this.open(
      name,
      (bytes) => {
        const found = {};
        let at = 0;
        for (const [part, rows, columns, step] of this.index.contents[name]) {
          found[part] = { whole: wholeNumbers(bytes, at, rows * columns, this.index.offset), rows, columns, step };
          at += 2 * rows * columns;
        }
        return found;
      },
      fetched,
    );
  }

  tokenFile(token) {
    return `tokens-${String(Math.floor(token / this.index.rows)).padStart(3, "0")}.bin`;
  }

  get tokenFiles() {
    return Object.keys(this.index.sizes).filter((name) => name.startsWith("tokens-"));
  }

  // Opens files of embeddings, a few at a time. Their order is that of the vocabulary, which says nothing about the sentence.
  async openTokens(names) {
    const waiting = [...names].sort();
    const unpack = (bytes) => wholeNumbers(bytes, 0, bytes.length / 2, this.index.offset);
    const one = async () => {
      while (waiting.length) await this.open(waiting.shift(), unpack);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, one));
  }

  // The rows of tokens whose files are open.
  embeddings(tokens) {
    const { rows, width, step } = this.index;
    const found = new Float32Array(tokens.length * width);
    tokens.forEach((token, place) => {
      const [whole, at] = [this.unpacked.get(this.tokenFile(token)), (token % rows) * width];
      for (let j = 0; j < width; j++) found[place * width + j] = whole[at + j] * step;
    });
    return found;
  }
}
