// Runs Python beside the page, and answers requests: {id, function, arguments, sympy}, where `function` is a name in the kernel's room browser,
// and `sympy` says that SymPy is needed. The answers are {id, loaded, needed} as bytes come, {id, begun}, and last {id, answer} or
// {id, failed, why}. After "broken", this worker is of no more use.

import { FetchError, Files } from "./files.js";

const HOME = "/kernel"; // where the kernel is unpacked
let [current, loaded] = [0, 0];
let files, python, respond;
const begun = {}; // the promises of the parts that were started, by name

/** Has Pyodide get its files from those that are here. */
function serveFiles() {
  const original = self.fetch.bind(self);
  self.fetch = async (request, options) => files.answer(request?.url ?? request) ?? original(request, options);
}

const count = (bytes) => postMessage({ id: current, loaded: (loaded += bytes), needed: files.needed });

class PolicyError extends Error {}

/** Throws PolicyError if the server's policy forbids WebAssembly. Pyodide would wait for ever. */
function requireWebAssembly() {
  try {
    new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0)); // the empty module
  } catch (error) {
    throw new PolicyError(error.message);
  }
}

async function startExact() {
  requireWebAssembly();
  files = new Files(count);
  await files.start();
  files.needed = files.size("exact");
  await files.load("exact");
  const indexURL = files.address(files.index.python);
  const [{ loadPyodide }, { default: createPyodideModule }] = await Promise.all(["pyodide.js", "pyodide.asm.js"].map((name) => import(indexURL + name)));
  serveFiles();
  const env = { HOME: "/home/pyodide", PYTHONHASHSEED: "0" };
  python = await loadPyodide({ indexURL, createPyodideModule, env, stdout: () => {}, stderr: () => {} });
  await install("exact");
  python.runPython(`import sys\nsys.path.insert(0, "${HOME}")\nsys.dont_write_bytecode = True`);
  python.runPython("from derivations.kernel.browser import requests\nfrom derivations.kernel.script.loading import collect_garbage_rarely\ncollect_garbage_rarely()");
  respond = python.runPython("requests.answer");
}

async function startSympy() {
  files.needed = loaded + files.size("sympy");
  await files.load("sympy");
  await install("sympy");
}

/** Installs the wheels of a part, and unpacks its rooms of the kernel. */
async function install(part) {
  const wheels = files.named(part, ".whl").map((name) => files.address(name));
  await python.loadPackage(wheels, { checkIntegrity: false, messageCallback: () => {} });
  for (const name of files.named(part, ".zip")) python.unpackArchive(await files.blobs.get(name).arrayBuffer(), "zip", { extractDir: HOME });
}

/** Starts a part unless it was started before. A part that failed is started again at the next request. */
async function begin(part, start) {
  begun[part] ??= start();
  try {
    await begun[part];
  } catch (error) {
    delete begun[part];
    throw error;
  }
}

async function answer({ id, sympy, ...request }) {
  await begin("exact", startExact);
  if (sympy) await begin("sympy", startSympy);
  postMessage({ id, begun: true });
  return JSON.parse(respond(JSON.stringify(request)));
}

function describeFailure(error) {
  if (error instanceof FetchError) return "fetch";
  if (error instanceof PolicyError) return "policy";
  return error instanceof RangeError || error?.pyodide_fatal_error ? "broken" : "compute";
}

// One question after another: the answer to the second may not begin while Python still starts for the first.
let last = Promise.resolve();
onmessage = ({ data }) => {
  last = last.then(async () => {
    current = data.id;
    try {
      postMessage({ id: data.id, answer: await answer(data) });
    } catch (error) {
      postMessage({ id: data.id, failed: describeFailure(error), why: error.message });
    }
  });
};
