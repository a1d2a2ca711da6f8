// A service worker: keeps the pages that a reader visits after the first press on "Prove it again here", so that they open without a connection.
// While there is a connection, everything comes from the server. It is here and not in assets, because it may only answer for its own folder.

const SHELF = "pages"; // in the cache storage; what Python needs has a shelf of its own (assets/js/prover/files.js)
const LARGE = /\.(bin|whl|zip)$/;

addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => event.waitUntil(clients.claim()));
addEventListener("message", (event) => event.waitUntil(keepAll(event.data)));
addEventListener("fetch", (event) => {
  const { method, url, headers } = event.request;
  if (method !== "GET" || !isOurs(url) || headers.has("range")) return;
  event.respondWith(answer(event.request));
});

const isOurs = (url) => url.startsWith(registration.scope) && !LARGE.test(url);

/** Keeps what an open page has loaded, unless it came through here and is kept already. */
async function keepAll(urls) {
  const shelf = await caches.open(SHELF);
  await Promise.allSettled(urls.filter(isOurs).map(async (url) => (await shelf.match(url)) ?? shelf.add(url)));
}

async function answer(request) {
  try {
    const response = await fetch(request);
    if (response.status === 200) keep(request, response.clone());
    return response;
  } catch (error) {
    const kept = await caches.match(request, { ignoreVary: true });
    if (kept) return kept;
    throw error;
  }
}

async function keep(request, response) {
  const shelf = await caches.open(SHELF);
  await shelf.put(request, response).catch(() => {}); // the disk may be full
}
