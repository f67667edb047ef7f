// The sentences of the scripts, translated by the server: those of every page in one JSON block,
// and those of this page in another where it has some.

let table;

export function word(id, values = {}) {
  table ??= { ...block("words"), ...block("page-words") };
  return (table[id] ?? id).replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

function block(id) {
  return JSON.parse(document.getElementById(id)?.textContent ?? "{}");
}
