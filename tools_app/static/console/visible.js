// The rules of tools_app/console/visible.py for text that arrives by the stream: characters that
// draw nothing or draw other text differently are written out as ⟨U+202E⟩, blanks as ⟨␠×400⟩.

const BLANKS = { " ": "␠", "\t": "⇥", "\n": "␤" };
const HIDDEN = new RegExp(
  " {9,}|\\t{3,}|\\n{9,}" +
    "|(?![ \\t\\n])[\\p{C}\\p{Z}⟨\\u034F\\u115F\\u1160\\u17B4\\u17B5\\u180B-\\u180F\\u2065" +
    "\\u2800\\u3164\\uFE00-\\uFE0F\\uFFA0\\u{E0000}-\\u{E0FFF}]" +
    "|(?<=\\p{M}{4})\\p{M}",
  "gu",
);

// Fills an element with the text, what was written out in a span of its own.
export function showText(place, text) {
  place.replaceChildren(...nodes(text));
}

function* nodes(text) {
  let end = 0;
  for (const { 0: found, index } of text.matchAll(HIDDEN)) {
    if (index > end) yield text.slice(end, index);
    const mark = document.createElement("span");
    mark.className = "marked";
    mark.textContent = writtenOut(found);
    yield mark;
    end = index + found.length;
  }
  if (end < text.length) yield text.slice(end);
}

function writtenOut(found) {
  if (BLANKS[found[0]]) return `⟨${BLANKS[found[0]]}×${found.length}⟩`;
  return `⟨U+${found.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`;
}
