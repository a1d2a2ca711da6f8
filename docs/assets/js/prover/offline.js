// Has the service worker keep this page, so that it opens without a connection.

/** Keeps this page, what it has loaded and what it loads from now on. A page without https has no service worker, and a reader may forbid storage. */
export async function keepPage() {
  if (!navigator.serviceWorker) return;
  try {
    await navigator.serviceWorker.register(new URL("../../../offline.js", import.meta.url));
    const { active } = await navigator.serviceWorker.ready;
    active.postMessage([location.href]);
    const observer = new PerformanceObserver((seen) => active.postMessage(seen.getEntries().map(({ name }) => name)));
    observer.observe({ type: "resource", buffered: true });
  } catch {
    // then the page needs a connection, as any other
  }
}
