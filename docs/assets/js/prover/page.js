// Proves many claims, and compares each verdict with that of the build.

import { check } from "./ask.js";
import { scriptOf, verdicts } from "./build.js";
import { describeFailure, duration } from "./words.js";
import { sum } from "../play/parts.js";

/** The claims on this page as {topic: [ids]}. */
export function claimsOnPage() {
  const found = {};
  for (const base of document.querySelectorAll(".claim__base[data-claim]")) {
    const [topic, id] = base.dataset.claim.split("#");
    found[topic] = [...new Set([...(found[topic] ?? []), id])];
  }
  return found;
}

/**
 * Proves claims, given as {topic: [ids]}. `onTopic(counts)` is called after each topic. Returns the counts: {claims, same, seconds, other}, where
 * `other` lists the claims about which the build says something else, or {failed, …} if Python stopped.
 */
export async function proveAll(wanted, onTopic = () => {}, onProgress = () => {}) {
  const built = await verdicts();
  const counts = { claims: 0, same: 0, seconds: 0, other: [] };
  for (const [topic, ids] of Object.entries(wanted)) {
    const said = await check({ topic, text: await scriptOf(topic), ids, limit: false }, onProgress);
    if (said.failed) return { ...counts, ...said, topic };
    for (const found of said.claims) {
      const [verdict, scope, note] = built[topic]?.[found.id] ?? [];
      const same = verdict === found.verdict && scope === found.scope && note === found.note;
      counts.same += same;
      if (!same) counts.other.push(`${topic}#${found.id}`);
    }
    counts.claims += said.claims.length;
    counts.seconds += sum(said.claims.map((found) => found.seconds));
    onTopic(counts);
  }
  return counts;
}

/** What was found, in words. */
export function describeCounts(counts, what) {
  if (counts.failed) return describeFailure(counts);
  const other = counts.other.length ? ` It says something else of ${counts.other.join(", ")}.` : "";
  const agree = counts.same === counts.claims ? `of each of the ${counts.claims} claims` : `of ${counts.same} of the ${counts.claims} claims`;
  return `On your device, the exact witness says ${agree} ${what} what it said in the build. That took ${duration(counts.seconds)}.${other}`;
}

/** Proves the claims of this page, and returns in words what was found. */
export async function provePage() {
  try {
    return describeCounts(await proveAll(claimsOnPage()), "on this page");
  } catch (error) {
    return `A file could not be fetched (${error.message}). Check the connection, and press the button again.`;
  }
}
