// Runs Python beside the page, and answers requests: {id, function, arguments, sympy}, where `function` is a name in the kernel's room browser,
// and `sympy` says that SymPy is needed. The answers are {id, loaded, needed} as bytes come, {id, begun}, and last {id, answer} or
// {id, failed, why}. After "broken", this worker is of no more use.

import { FetchError, Files } from "./files.js";

const HOME = "/kernel"; // where the kernel is unpacked
let [current, loaded] = [0, 0];
let files, python, respond, starting, startingSympy;

/** Has Pyodide get its files from those that are here. */
function serveFiles() {
  const original = self.fetch.bind(self);
  self.fetch = async (request, options) => files.answer(request?.url ?? request) ?? original(request, options);
}

const count = (bytes) => postMessage({ id: current, loaded: (loaded += bytes), needed: files.needed });

async function start() {
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
  python.runPython("from derivations.kernel.browser import prover, requests\nprover.collect_garbage_rarely()");
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

/** Calls `begin` unless it has been called before and succeeded. */
async function once(begun, begin, forget) {
  try {
    await (begun ?? begin());
  } catch (error) {
    forget();
    throw error;
  }
}

async function answer({ id, sympy, ...request }) {
  await once(starting, () => (starting = start()), () => (starting = undefined));
  if (sympy) await once(startingSympy, () => (startingSympy = startSympy()), () => (startingSympy = undefined));
  postMessage({ id, begun: true });
  return JSON.parse(respond(JSON.stringify(request)));
}

function describeFailure(error) {
  if (error instanceof FetchError) return "fetch";
  if (/Content Security/i.test(error?.message)) return "policy";
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
