// all-MiniLM-L6-v2 up to its attention weights: snippets/together/encoder.py in plain JavaScript. A state is a Float32Array, token by token.

const HEADS = 12;
const EPS = 1e-12;

// One product for four tokens at a time, so that a weight is read once for four. The entries of a matrix are whole multiples of its step.
function linear(x, n, { whole, rows, columns, step }, bias) {
  const y = new Float32Array(n * rows);
  const padded = new Float32Array(Math.ceil(n / 4) * 4 * columns);
  padded.set(x);
  for (let token = 0; token < n; token += 4) {
    const a = token * columns;
    const b = a + columns;
    const c = b + columns;
    const d = c + columns;
    for (let row = 0; row < rows; row++) {
      let [first, second, third, fourth] = [0, 0, 0, 0];
      for (let j = 0, at = row * columns; j < columns; j++) {
        const weight = whole[at + j];
        first += weight * padded[a + j];
        second += weight * padded[b + j];
        third += weight * padded[c + j];
        fourth += weight * padded[d + j];
      }
      const sums = [first, second, third, fourth];
      for (let k = 0; k < 4 && token + k < n; k++) y[(token + k) * rows + row] = sums[k] * step + bias[row];
    }
  }
  return y;
}

function normalise(x, n, gain, bias) {
  const d = gain.length;
  for (let at = 0; at < n * d; at += d) {
    let [mean, squares] = [0, 0];
    for (let j = 0; j < d; j++) mean += x[at + j] / d;
    for (let j = 0; j < d; j++) squares += (x[at + j] - mean) ** 2 / d;
    const scale = 1 / Math.sqrt(squares + EPS);
    for (let j = 0; j < d; j++) x[at + j] = (x[at + j] - mean) * scale * gain[j] + bias[j];
  }
  return x;
}

// The weights of a layer's heads: entry (head * n + query) * n + key.
function attentionWeights(queries, keys, n) {
  const d = queries.length / n;
  const width = d / HEADS;
  const weights = new Float32Array(HEADS * n * n);
  for (let head = 0; head < HEADS; head++) {
    for (let query = 0; query < n; query++) {
      const at = (head * n + query) * n;
      let [largest, total] = [-Infinity, 0];
      for (let key = 0; key < n; key++) {
        let score = 0;
        for (let j = head * width; j < (head + 1) * width; j++) score += queries[query * d + j] * keys[key * d + j];
        largest = Math.max(largest, (weights[at + key] = score / Math.sqrt(width)));
      }
      for (let key = 0; key < n; key++) total += weights[at + key] = Math.exp(weights[at + key] - largest);
      for (let key = 0; key < n; key++) weights[at + key] /= total;
    }
  }
  return weights;
}

function mix(weights, values, n) {
  const d = values.length / n;
  const width = d / HEADS;
  const mixed = new Float32Array(n * d);
  for (let head = 0; head < HEADS; head++) {
    for (let query = 0; query < n; query++) {
      for (let key = 0; key < n; key++) {
        const weight = weights[(head * n + query) * n + key];
        for (let j = head * width; j < (head + 1) * width; j++) mixed[query * d + j] += weight * values[key * d + j];
      }
    }
  }
  return mixed;
}

// The error function within 1.5e-7: Abramowitz and Stegun, 7.1.26.
function erf(x) {
  const t = 1 / (1 + 0.3275911 * Math.abs(x));
  const sum = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t;
  return Math.sign(x) * (1 - sum * Math.exp(-x * x));
}

const gelu = (x) => x.map((one) => (one * (1 + erf(one * Math.SQRT1_2))) / 2);

function add(x, y) {
  for (let place = 0; place < x.length; place++) x[place] += y[place];
}

// Yields the weights of each layer as soon as its matrices are there. `embeddings` has a row for each token; `vectors` are the positions,
// biases and norms; `matrices(kind, layer)` returns a promise of the matrices of a file.
export async function* layerWeights(embeddings, n, layers, vectors, matrices) {
  const x = embeddings.map((entry, place) => entry + vectors.positions[place]);
  normalise(x, n, vectors["norm.gain"], vectors["norm.bias"]);
  for (let layer = 0; layer < layers; layer++) {
    const project = (state, name, from) => linear(state, n, from[name], vectors[`${layer}.${name}.bias`]);
    const after = (name) => normalise(x, n, vectors[`${layer}.${name}.gain`], vectors[`${layer}.${name}.bias`]);
    const scores = await matrices("scores", layer);
    const weights = attentionWeights(project(x, "query", scores), project(x, "key", scores), n);
    yield weights;
    if (layer === layers - 1) return;
    const rest = await matrices("rest", layer);
    add(x, project(mix(weights, project(x, "value", rest), n), "output", rest));
    after("norm1");
    add(x, project(gelu(project(x, "wide", rest)), "narrow", rest));
    after("norm2");
  }
}
