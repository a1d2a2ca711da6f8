// Computes the heads of a sentence beside the page, so that the page stays responsive. The page sends {id, version, text, all}. The answers are
// {id, tokens, left, needed}, then {id, loaded} as bytes come and {id, layer, weights} for each layer, and last {id, done} or {id, failed, why}.
// A new sentence ends the work on the one before.

import { layerWeights } from "./encoder.js";
import { FetchError, Files } from "./files.js";
import { makeTokenizer } from "./tokenizer.js";

let files, tokenize, starting;
let [current, loaded] = [0, 0];

async function start(version) {
  try {
    files = new Files(version, (bytes) => postMessage({ id: current, loaded: (loaded += bytes) }));
    await files.start();
    tokenize = makeTokenizer(await files.vocabulary());
  } catch (error) {
    starting = undefined; // the next sentence begins anew
    throw error;
  }
}

async function compute({ id, version, text, all }) {
  await (starting ??= start(version));
  const { layers, maxTokens } = files.index;
  const whole = tokenize(text);
  const tokens = whole.length > maxTokens ? [...whole.slice(0, maxTokens - 1), whole.at(-1)] : whole;
  const words = await files.vocabulary();
  const rows = all ? files.tokenFiles : [...new Set(tokens.map((token) => files.tokenFile(token)))];
  const later = ["vectors.bin"];
  for (let layer = 0; layer < layers; layer++) later.push(`scores-${layer}.bin`, ...(layer < layers - 1 ? [`rest-${layer}.bin`] : []));
  const missing = [...rows, ...later].filter((name) => !files.has(name));
  postMessage({
    id,
    tokens: tokens.map((token) => words[token]),
    left: whole.length - tokens.length,
    needed: loaded + missing.reduce((sum, name) => sum + files.size(name), 0),
  });

  // One after another in the order of use, so that the first layer is not kept waiting for the last. When a newer sentence has come, this one
  // gets no further file, and waits for ever.
  const fetched = {};
  let last = files.openTokens(rows);
  const opened = last;
  for (const name of later.filter((one) => !files.has(one))) {
    fetched[name] = last = last.then(() => (id === current ? files.bytes(name) : new Promise(() => {})));
    last.catch(() => {}); // told below, where it is awaited
  }
  await opened;
  const vectors = await files.vectors(fetched["vectors.bin"]);
  const matrices = (kind, layer) => files.matrices(`${kind}-${layer}.bin`, fetched[`${kind}-${layer}.bin`]);
  let layer = 0;
  for await (const weights of layerWeights(files.embeddings(tokens), tokens.length, layers, vectors, matrices)) {
    postMessage({ id, layer: layer++, weights }); // copied, since the next step of the layer needs them
  }
  postMessage({ id, done: true });
}

onmessage = async ({ data }) => {
  current = data.id;
  loaded = 0;
  try {
    await compute(data);
  } catch (error) {
    postMessage({ id: data.id, failed: error instanceof FetchError ? "fetch" : "compute", why: error.message });
  }
};
