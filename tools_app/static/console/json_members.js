// The members of a JSON object as raw text, so that editing one keeps the others byte for byte.

const SPACE = /[ \t\n\r]/;

// Map of name → raw JSON text, in order. Throws SyntaxError for what is no JSON object, and for a
// name that comes twice, since only one of its values could be sent.
export function members(text) {
  return new Map(spans(text).map(({ name, start, end }) => [name, text.slice(start, end)]));
}

// The text with one member set to a raw value, or removed when `raw` is undefined.
export function withMember(text, name, raw) {
  const found = spans(text);
  const present = found.find((span) => span.name === name);
  if (present && raw !== undefined) {
    return text.slice(0, present.start) + raw + text.slice(present.end);
  }
  if (!present && raw === undefined) return text;
  const kept = found.filter((span) => span !== present);
  const lines = kept.map(({ nameText, start, end }) => `${nameText}: ${text.slice(start, end)}`);
  if (!present) lines.push(`${JSON.stringify(name)}: ${raw}`);
  return lines.length ? `{\n  ${lines.join(",\n  ")}\n}` : "{}";
}

function spans(text) {
  const value = JSON.parse(text);
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw new SyntaxError("not an object");
  }
  const found = [];
  let at = skip(text, text.indexOf("{") + 1);
  while (text[at] !== "}") {
    const nameEnd = endOfString(text, at);
    const nameText = text.slice(at, nameEnd);
    const start = skip(text, skip(text, nameEnd) + 1);
    const end = endOfValue(text, start);
    const name = JSON.parse(nameText);
    if (found.some((span) => span.name === name)) throw new SyntaxError(`${name} comes twice`);
    found.push({ name, nameText, start, end });
    at = skip(text, end);
    if (text[at] === ",") at = skip(text, at + 1);
  }
  return found;
}

function skip(text, at) {
  while (SPACE.test(text[at] ?? "")) at += 1;
  return at;
}

function endOfString(text, at) {
  at += 1;
  while (text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at + 1;
}

// JSON.parse accepted the text before, so brackets match and this only has to count them.
function endOfValue(text, at) {
  let depth = 0;
  for (;;) {
    const sign = text[at];
    if (sign === '"') at = endOfString(text, at);
    else at += 1;
    if ("{[".includes(sign)) depth += 1;
    else if ("}]".includes(sign)) depth -= 1;
    const next = text[at];
    if (depth === 0 && (next === "," || next === "}" || next === "]" || SPACE.test(next))) return at;
  }
}
