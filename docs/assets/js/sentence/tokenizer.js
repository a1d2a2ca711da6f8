// The tokenizer of BERT's uncased models: text is cut at spaces and punctuation, and words into the longest pieces of the vocabulary.
// It follows `tokenizers`, with the browser's version of Unicode: tests/site/test_own_sentence.py counts the code points that differ.

const SPECIAL = /(\[(?:PAD|UNK|CLS|SEP|MASK)\])/;
// Unassigned code points stay, and become [UNK]. Surrogates without a partner are not text.
const CONTROL = /(?![\t\n\r])[\0\ufffd\p{Cc}\p{Cf}\p{Co}\p{Cs}]/gu;
const IDEOGRAPH =
  /[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u{20000}-\u{2a6df}\u{2a700}-\u{2b81f}\u{2b920}-\u{2ceaf}\u{2f800}-\u{2fa1f}]/gu;
const PUNCTUATION = /[!-/:-@[-`{-~]|\p{P}/gu; // BERT counts all symbols of ASCII
const LONGEST = 100; // a longer word is [UNK]

// The words of a text in lower case and without accents. Each letter is lowered by itself, so that a final sigma is no special case.
function split(text) {
  const spaced = text.replace(CONTROL, "").replace(/\p{White_Space}/gu, " ").replace(IDEOGRAPH, " $& ");
  const plain = spaced.normalize("NFD").replace(/\p{Mn}/gu, "");
  const lowered = [...plain].map((letter) => letter.toLowerCase()).join("");
  return lowered.replace(PUNCTUATION, " $& ").split(" ").filter(Boolean);
}

export function makeTokenizer(vocabulary) {
  const places = new Map(vocabulary.map((token, place) => [token, place]));

  function cut(word) {
    const letters = [...word];
    const unknown = [places.get("[UNK]")];
    if (letters.length > LONGEST) return unknown;
    const found = [];
    for (let start = 0; start < letters.length; ) {
      let end = letters.length;
      const piece = () => places.get((start ? "##" : "") + letters.slice(start, end).join(""));
      while (end > start && piece() === undefined) end--;
      if (end === start) return unknown;
      found.push(piece());
      start = end;
    }
    return found;
  }

  // The tokens of a text between the marks of its start and its end.
  return (text) => {
    const inside = text.split(SPECIAL).flatMap((part, k) => (k % 2 ? [places.get(part)] : split(part).flatMap(cut)));
    return [places.get("[CLS]"), ...inside, places.get("[SEP]")];
  };
}
