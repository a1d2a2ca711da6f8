// Links that contain a text: compressed, in the part of the address that no server sees.

const SIGN = "#text=";

const toBase64 = (bytes) => btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
const fromBase64 = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (sign) => sign.charCodeAt(0));

const through = (bytes, stream) => new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer();

/** The address of this page with a text in it. */
export async function writeLink(text) {
  const packed = await through(new TextEncoder().encode(text), new CompressionStream("deflate-raw"));
  return location.href.split("#")[0] + SIGN + toBase64(new Uint8Array(packed));
}

/** The text in this page's address; undefined if there is none, or if it is damaged. */
export async function readLink() {
  if (!location.hash.startsWith(SIGN)) return undefined;
  try {
    return new TextDecoder().decode(await through(fromBase64(location.hash.slice(SIGN.length)), new DecompressionStream("deflate-raw")));
  } catch {
    return undefined;
  }
}
