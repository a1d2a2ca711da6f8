// Asks the index. It lies in parts, made with the site (derivations/kernel/site/search_index.py): a list of the pages and rules for words, files of
// words in alphabetical order, and a file for each page with what to show of it. What was fetched is kept.

const FOLDER = new URL("../../../search/", import.meta.url);
const MOST_PAGES = 10; // that are shown
const MOST_ON_A_PAGE = 3; // beside the page itself
const LEAST = 0.15; // of the best, what counts as found
const LEAST_ON_A_PAGE = 0.3;
const PAIR = 0.7; // what two neighbours as one word count for
const MOST_WORDS = 24; // of a query
const SYNONYM = 0.7; // what a synonym counts for
const WHOLE = 1.25; // what a page counts for beside a place on it

const kept = new Map();
let rules;

async function fetched(name, options) {
  if (!kept.has(name)) {
    const answer = fetch(new URL(name, FOLDER), options).then((found) => {
      if (!found.ok) throw new Error(`${name}: ${found.status}`);
      return found.json();
    });
    answer.catch(() => kept.delete(name)); // so that the next try fetches it again
    kept.set(name, answer);
  }
  return kept.get(name);
}

async function index() {
  const found = await fetched("index.json", { cache: "no-cache" });
  if (!rules) {
    rules = Object.fromEntries(
      Object.entries(found.rules).map(([name, list]) => [name, list.map(([pattern, instead]) => [new RegExp(pattern, "gu"), instead])]),
    );
    let number = 0;
    found.begins = found.records.map((count) => (number += count) - count);
  }
  return found;
}

// Words ------------------------------------------------------------------------------------------------------------------
// As derivations/kernel/site/tokenizer.py does it, with its rules.

const ruled = (name, text) => rules[name].reduce((so, [pattern, instead]) => so.replace(pattern, instead), text);

const stem = (word) => (word.length > 3 ? ruled("stem", word) : word);

export const words = (text) => (ruled("text", text.normalize("NFKC")).toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).map(stem);

export const folded = (formula) => ruled("formula", formula.normalize("NFKC"));

const looksLikeMathematics = (text) => /[\\^_√∑∂·⋅*@=+|()[\]{}ᵀ]|(^|\s)\p{L}(\s|$)/u.test(text);

// A query without the words that any question may have, unless it has no others. Before one letter, "a" is a letter too: a b.
function topic(query, ofQuestions) {
  const said = query.trim().split(/\s+/);
  const kept = said.filter((word, k) => !ofQuestions.includes(word.toLowerCase()) || (word.length === 1 && said[k + 1]?.length === 1));
  return (kept.length ? kept : said).join(" ");
}

export const asked = (query) => words(looksLikeMathematics(query) ? folded(query) : query);

// Postings ---------------------------------------------------------------------------------------------------------------

async function wordsLike(found, word) {
  // The files that may hold what begins with the word: from the one that the word falls into on.
  const first = Math.max(0, found.words.findLastIndex((begin) => begin <= word));
  const numbers = [first];
  for (let k = first + 1; k < found.words.length && found.words[k].startsWith(word); k++) numbers.push(k);
  const files = await Promise.all(numbers.slice(0, 4).map((k) => fetched(`words${k}.json?${found.version}`)));
  return Object.assign({}, ...files);
}

const nearby = (a, b) => {
  // Is one letter more, less, other, or are two neighbours swapped?
  if (Math.abs(a.length - b.length) > 1) return false;
  let k = 0;
  while (k < a.length && a[k] === b[k]) k++;
  const rest = (text, n) => text.slice(k + n);
  return (
    rest(a, 1) === rest(b, 1) || rest(a, 1) === rest(b, 0) || rest(a, 0) === rest(b, 1) || (a[k] === b[k + 1] && a[k + 1] === b[k] && rest(a, 2) === rest(b, 2))
  );
};

function strength(word, term, isLast) {
  if (term === word) return 1;
  return term.startsWith(word) && (word.length > 2 || isLast) ? (0.6 * word.length) / term.length : 0;
}

// While a word is typed its stem is not there yet: "scali", "scal".
const isStem = (word, term) => term.length > 3 && word.startsWith(term) && word.length - term.length < 4;

async function placesOf(found, word, isLast) {
  const synonyms = found.synonyms[word] ?? [];
  const [like, ...others] = await Promise.all([word, ...synonyms].map((one) => wordsLike(found, one)));
  let terms = Object.keys(like).map((term) => [term, strength(word, term, isLast)]).filter(([, s]) => s);
  if (!terms.length && word.length > 4) terms = Object.keys(like).filter((term) => nearby(word, term)).map((term) => [term, 0.4]);
  if (!terms.length && isLast) terms = Object.keys(like).filter((term) => isStem(word, term)).map((term) => [term, 0.5]);
  synonyms.forEach((synonym, k) => {
    if (!others[k][synonym]) return;
    like[synonym] = others[k][synonym];
    terms = [...terms.filter(([term]) => term !== synonym), [synonym, SYNONYM]];
  });
  const places = new Map();
  for (const [term, s] of terms) {
    const list = like[term];
    for (let k = 0; k < list.length; k += 2) places.set(list[k], Math.max(places.get(list[k]) ?? 0, s * list[k + 1]));
  }
  return { places, terms: terms.map(([term]) => term), weight: Math.max(1, ...places.values()) };
}

// A whole name, or a whole formula, as one word.
const nameOf = (said) => `=${said.join("").slice(0, 80)}`;

async function scored(found, tokens, name) {
  const lists = await Promise.all(tokens.map((word, k) => placesOf(found, word, k === tokens.length - 1)));
  const total = lists.reduce((sum, { weight }) => sum + weight, 0);
  const scores = new Map();
  for (const { places, weight } of lists) {
    for (const [place, score] of places) {
      const so = scores.get(place) ?? { score: 0, covered: 0 };
      scores.set(place, { score: so.score + score, covered: so.covered + weight / total });
    }
  }
  const best = Math.max(0, ...[...scores.values()].map((so) => so.score * so.covered ** 2)); // before what only a few can have
  const joined = [...tokens.slice(1).map((word, k) => tokens[k] + word), name];
  const more = await Promise.all(joined.map((word) => placesOf(found, word, false)));
  for (const { places } of more) {
    for (const [place, score] of places) {
      const so = scores.get(place) ?? { score: 0, covered: 0.5 };
      scores.set(place, { ...so, score: so.score + PAIR * score });
    }
  }
  for (const [place, so] of scores) scores.set(place, so.score * so.covered ** 2);
  return { scores, best, terms: new Set([...tokens, ...lists.flatMap((list) => list.terms)]) };
}

// Pages ------------------------------------------------------------------------------------------------------------------

function byPage(found, scores, best) {
  const least = LEAST * best;
  const pages = new Map();
  for (const [place, score] of scores) {
    if (score < least) continue;
    const page = found.begins.findLastIndex((begin) => begin <= place);
    const here = pages.get(page) ?? { page, hits: [] };
    const at = place - found.begins[page];
    here.hits.push({ at, score: at ? score : score * WHOLE });
    pages.set(page, here);
  }
  for (const here of pages.values()) {
    here.hits.sort((a, b) => b.score - a.score);
    here.score = here.hits[0].score + 0.3 * (here.hits[1]?.score ?? 0);
  }
  return [...pages.values()].sort((a, b) => b.score - a.score);
}

async function shown(found, { page, hits }) {
  const best = hits.filter((hit) => hit.at === 0 || hit.score > LEAST_ON_A_PAGE * hits[0].score).slice(0, MOST_ON_A_PAGE + 1);
  const places = await fetched(`pages/${page}.json?${found.version}`);
  return best.map(({ at }) => {
    const [kind, anchor, title, text, statement] = places[at];
    return { kind, title, text, statement, page: places[0][2], href: new URL(`../${found.pages[page]}${anchor && `#${anchor}`}`, FOLDER).href };
  });
}

// A claim that stands on several pages is shown where it is found first.
function once(hits) {
  const seen = new Set();
  return hits.filter(({ title, statement }) => !statement || (!seen.has(title + statement) && seen.add(title + statement)));
}

const NOTHING = { hits: [], pages: 0, count: 0, terms: new Set() };

// What the query finds, best first, how much there is of it, and the words that were found; undefined where nobody waits for it any more.
// Rejects where something cannot be fetched.
export async function find(query, isAwaited = () => true) {
  const found = await index();
  const said = asked(topic(query, found.question));
  const tokens = [...new Set(said)].slice(0, MOST_WORDS);
  const { scores, best, terms } = tokens.length ? await scored(found, tokens, nameOf(said)) : NOTHING;
  if (!isAwaited()) return undefined;
  if (!scores?.size) return NOTHING;
  const pages = byPage(found, scores, best);
  const all = (await Promise.all(pages.slice(0, MOST_PAGES).map((page) => shown(found, page)))).flat();
  const hits = once(all);
  const count = pages.reduce((sum, page) => sum + page.hits.length, 0) - (all.length - hits.length);
  return { hits, pages: pages.length, count, terms };
}
